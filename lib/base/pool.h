/* A pool of threads for data-parallel work inside one proof. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <cuzk/status.h>
#include <stddef.h>

struct pool;

/* Threads that count as workers including the caller of pool_run; 0: as many as this process may
   use (cpuset-aware). NULL without memory or threads. */
struct pool *pool_new(unsigned threads);
void pool_free(struct pool *pool);
unsigned pool_threads(const struct pool *pool);

/* Number of processors that this process may use, at least 1. */
unsigned pool_cpus(void);

/* Calls fn(context, i) for every i < count, each once, spread over the pool (NULL: none) and the
   caller, and returns when all are done. Which thread runs which i is not determined, so results
   must not depend on it. Calls from several threads share the workers; a call from inside fn runs
   in its caller. */
void pool_run(struct pool *pool, size_t count, void (*fn)(void *context, size_t i), void *context);

#endif
