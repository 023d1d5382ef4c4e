/* Which points of a proving key belong to which variables (docs/spec/groth16.md, part A.6), and
   which of them are multiplied by a whole field element.

   A *query* is a sum Σ value · point over variables of a circuit: l over all aux variables; a and b
   (b in both groups) over the inputs and aux variables that occur in matrix A or B. A variable that
   does not occur has no point, so points are numbered by rank: dense inputs first, then dense aux
   variables in order. Nearly all of these variables are bits. Their part of a query is the sum of
   the points that the witness's bit plane selects under `dense`. The rest is the *tail*, a list of
   (point, value) pairs. `dense` and the places of the tail follow from the shape alone, so a device
   gets them once, and only the witness changes. */
#ifndef R1CS_QUERY_H
#define R1CS_QUERY_H

#include "r1cs/shape.h"

/* Layout (stable: it is uploaded to devices as it is): `point` and `source` are arrays of
   little-endian 32-bit words. Entry t of both describes tail variable t, and points ascend. `dense`
   has the layout of the witness's bit plane (r1cs/witness.h), with the same padding.

   source numbers the values as if the full-size ones followed the inputs: input i is i,
   witness->full[k] is shape->n_inputs + k. */
struct query {
    uint32_t n_points;
    uint32_t n_inputs;  /* points of inputs, which come first */
    uint32_t n_scalars; /* length of the tail: inputs with a point, then full-size variables */
    uint32_t *point;
    uint32_t *source;
    uint64_t *dense; /* bitmap of the aux variables with a point; NULL: all */
};

struct queries {
    struct query l, a, b;
};

/* Computes all queries of the circuit. Free with queries_free. Errors: CUZK_NO_MEMORY. */
enum cuzk_status queries_init(struct queries *out, const struct shape *shape,
                              struct cuzk_error *err);
void queries_free(struct queries *queries);
size_t queries_bytes(const struct queries *queries);

#endif
