/* Tasks spread over the threads of a pool, where each thread has working memory of its own. */
#ifndef MATH_SPREAD_H
#define MATH_SPREAD_H

#include <stddef.h>

struct pool;

/* Calls fn(context, worker, task) once for every task < n_tasks. Two calls with the same worker
   number never overlap; worker < spread_workers(pool). Which worker runs which task is not defined.
   pool may be NULL: the caller alone. */
typedef void spread_fn(void *context, unsigned worker, size_t task);
void spread(struct pool *pool, size_t n_tasks, spread_fn *fn, void *context);

unsigned spread_workers(const struct pool *pool);

#endif
