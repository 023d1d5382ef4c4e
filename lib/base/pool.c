#include "base/pool.h"

#include "base/check.h"
#include "base/mem.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One call of pool_run. It lives on the stack of the caller. Workers find it in the list of the
   pool and take indices from `next` until none is left. `busy` counts the workers inside, so that
   the caller waits for the last one before it returns. */
struct batch {
    void (*fn)(void *context, size_t i);
    void *context;
    size_t count;
    atomic_size_t next;
    unsigned busy; /* guarded by the pool's lock */
    struct batch *after;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work;     /* a batch was added, or stop */
    pthread_cond_t finished; /* the `busy` of a batch fell to 0 */
    struct batch *first;
    bool stop;
    unsigned helpers; /* threads besides the caller */
    pthread_t threads[];
};

static _Thread_local bool inside_pool;

unsigned pool_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (unsigned)count;
}

static void work_on(struct batch *batch)
{
    for (;;) {
        size_t i = atomic_fetch_add(&batch->next, 1);
        if (i >= batch->count)
            return;
        batch->fn(batch->context, i);
    }
}

static struct batch *find_work(struct pool *pool)
{
    for (struct batch *batch = pool->first; batch; batch = batch->after) {
        if (atomic_load(&batch->next) < batch->count)
            return batch;
    }
    return NULL;
}

static void *worker_main(void *argument)
{
    struct pool *pool = argument;
    inside_pool = true;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct batch *batch = find_work(pool);
        if (!batch) {
            if (pool->stop)
                break;
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        batch->busy++;
        pthread_mutex_unlock(&pool->lock);
        work_on(batch);
        pthread_mutex_lock(&pool->lock);
        if (--batch->busy == 0)
            pthread_cond_broadcast(&pool->finished);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

struct pool *pool_new(unsigned threads)
{
    if (threads == 0)
        threads = pool_cpus();
    struct pool *pool = mem_zalloc(1, sizeof *pool + threads * sizeof(pthread_t));
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->finished, NULL);
    for (unsigned i = 1; i < threads; i++) {
        if (pthread_create(&pool->threads[pool->helpers], NULL, worker_main, pool) != 0) {
            pool_free(pool);
            return NULL;
        }
        pool->helpers++;
    }
    return pool;
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    CHECK(!pool->first);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->helpers; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool);
}

unsigned pool_threads(const struct pool *pool)
{
    return pool->helpers + 1;
}

void pool_run(struct pool *pool, size_t count, void (*fn)(void *context, size_t i), void *context)
{
    if (!pool || inside_pool || pool->helpers == 0 || count == 1) {
        for (size_t i = 0; i < count; i++)
            fn(context, i);
        return;
    }
    struct batch batch = {.fn = fn, .context = context, .count = count};
    pthread_mutex_lock(&pool->lock);
    batch.after = pool->first;
    pool->first = &batch;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);

    inside_pool = true;
    work_on(&batch);
    inside_pool = false;

    pthread_mutex_lock(&pool->lock);
    while (batch.busy > 0)
        pthread_cond_wait(&pool->finished, &pool->lock);
    struct batch **link = &pool->first;
    while (*link != &batch)
        link = &(*link)->after;
    *link = batch.after;
    pthread_mutex_unlock(&pool->lock);
}
