/* A pool of threads for data-parallel work inside one proof. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <cuzk/status.h>
#include <stddef.h>

struct pool;

/* `threads` counts the caller of pool_run as a worker. 0: the number of processors that this
   process may use (cpuset-aware). NULL without memory or threads. */
struct pool *pool_new(unsigned threads);
void pool_free(struct pool *pool);
unsigned pool_threads(const struct pool *pool);

/* Number of processors that this process may use, at least 1. */
unsigned pool_cpus(void);

/* Calls fn(context, i) once for every i < count, on the threads of the pool (NULL: none) and the
   caller. Returns when all calls are done. Which thread runs which i is not defined, so results
   must not depend on it. Several threads may call pool_run on one pool and share its workers. A
   call from inside fn runs on its own thread only. */
void pool_run(struct pool *pool, size_t count, void (*fn)(void *context, size_t i), void *context);

#endif
