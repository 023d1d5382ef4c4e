/* The columns of a circuit's matrices as polynomials, evaluated at one point: what a setup
   multiplies its generators with (the specification, part A.8). */
#ifndef GROTH16_COLUMNS_H
#define GROTH16_COLUMNS_H

#include "r1cs/shape.h"

/* Variables are numbered inputs first, then aux. All arrays have n_variables elements. */
struct columns {
    size_t n_inputs;
    size_t n_variables;
    struct fr *u; /* u_i(τ): column i of A, with the input rows of part A.7 */
    struct fr *v; /* v_i(τ): of B */
    struct fr *w; /* w_i(τ): of C */
};

/* Needs about 96 bytes a variable. CUZK_INVALID_ARGUMENT if τ is in the circuit's domain. Free with
   columns_free, also after a failure. */
enum cuzk_status columns_evaluate(const struct shape *shape, const struct fr *tau,
                                  struct columns *out, struct cuzk_error *err);
void columns_free(struct columns *columns);

#endif
