/* Many independent checks spread over a pool, of which the first failure in their order is wanted.
   Private to lib/vanilla. */
#ifndef VANILLA_FIRST_FAULT_H
#define VANILLA_FIRST_FAULT_H

#include "base/error.h"

#include <stddef.h>

struct pool;

/* One of the checks. Called from several threads. */
typedef enum cuzk_status check_fn(void *context, size_t index, struct cuzk_error *err);

/* Runs check(context, i) for i < n on the pool (NULL: the caller alone) and returns the failure of
   the lowest i. A check behind a known failure may be left out. */
enum cuzk_status first_fault(struct pool *pool, size_t n, check_fn *check, void *context,
                             struct cuzk_error *err);

#endif
