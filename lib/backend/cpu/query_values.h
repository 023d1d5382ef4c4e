/* One partition's values in the form that sums want. */
#ifndef BACKEND_CPU_QUERY_VALUES_H
#define BACKEND_CPU_QUERY_VALUES_H

#include "r1cs/query.h"

/* The points of a query whose variables are bits and set (a bitmap over the points), and the
   scalars of its tail. */
struct query_values {
    uint64_t *selected;
    struct fr *scalars;
};
enum cuzk_status query_values_init(struct query_values *out, const struct query *query,
                                   const struct witness *witness, struct cuzk_error *err);
/* Wipes and frees. */
void query_values_free(struct query_values *values, const struct query *query);

#endif
