/* A matrix of a circuit by columns: the columns of the inputs, then those of the aux variables.
   Rows are those of the circuit. The rows that the proving system adds for inputs
   (docs/spec/groth16.md, part A.7; in A only) are not included. */
#ifndef R1CS_TRANSPOSE_H
#define R1CS_TRANSPOSE_H

#include "r1cs/shape.h"

struct pool;

/* Column v has entries start[v] … start[v + 1] - 1, rows ascending. 6 bytes an entry and 4 a
   column: 2.2 GB for C of a 32 GiB PoRep. */
struct shape_columns {
    size_t n;
    uint32_t *start;
    uint32_t *row;
    uint16_t *coeff; /* index into shape->coeffs */
};

/* Errors: CUZK_NO_MEMORY; CUZK_INVALID_ARGUMENT if there are 2^32 entries or more. Free with
   shape_columns_free, also after a failure. */
enum cuzk_status shape_columns_make(const struct shape *shape, enum matrix which,
                                    struct shape_columns *out, struct cuzk_error *err);
void shape_columns_free(struct shape_columns *columns);

/* Σ_v y^v·(column v): shape->n_rows elements, straight from the templates. Work is spread over the
   pool (NULL: the caller alone). CUZK_NO_MEMORY. */
enum cuzk_status shape_combine_columns(const struct shape *shape, enum matrix which,
                                       const struct fr *y, struct pool *pool, struct fr *out,
                                       struct cuzk_error *err);

#endif
