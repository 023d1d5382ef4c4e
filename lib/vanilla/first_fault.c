#include "vanilla/first_fault.h"

#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct run {
    check_fn *check;
    void *context;
    atomic_size_t fault; /* index of the first known failure */
    pthread_mutex_t lock;
    struct cuzk_error error; /* of `fault`; under the lock */
};

static void run_one(void *context, size_t index)
{
    struct run *run = context;
    struct cuzk_error err = {0};
    if (index > atomic_load(&run->fault) || run->check(run->context, index, &err) == CUZK_OK)
        return;
    pthread_mutex_lock(&run->lock);
    if (index < atomic_load(&run->fault)) {
        atomic_store(&run->fault, index);
        run->error = err;
    }
    pthread_mutex_unlock(&run->lock);
}

enum cuzk_status first_fault(struct pool *pool, size_t n, check_fn *check, void *context,
                             struct cuzk_error *err)
{
    struct run run = {.check = check, .context = context, .lock = PTHREAD_MUTEX_INITIALIZER};
    atomic_init(&run.fault, SIZE_MAX);
    pool_run(pool, n, run_one, &run);
    if (run.error.status != CUZK_OK && err)
        *err = run.error;
    return run.error.status;
}
