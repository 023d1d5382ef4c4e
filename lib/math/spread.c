#include "math/spread.h"

#include "base/pool.h"

#include <stdatomic.h>

struct run {
    spread_fn *fn;
    void *context;
    size_t n_tasks;
    atomic_size_t next;
};

static void run_tasks(void *context, size_t worker)
{
    struct run *run = context;
    for (;;) {
        const size_t task = atomic_fetch_add(&run->next, 1);
        if (task >= run->n_tasks)
            return;
        run->fn(run->context, (unsigned)worker, task);
    }
}

void spread(struct pool *pool, size_t n_tasks, spread_fn *fn, void *context)
{
    struct run run = {.fn = fn, .context = context, .n_tasks = n_tasks};
    if (pool)
        pool_run(pool, pool_threads(pool), run_tasks, &run);
    else
        run_tasks(&run, 0);
}

unsigned spread_workers(const struct pool *pool)
{
    return pool ? pool_threads(pool) : 1;
}
