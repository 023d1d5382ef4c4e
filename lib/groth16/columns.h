/* The columns of a circuit's matrices as polynomials, evaluated at one point: what a setup
   multiplies its generators with (docs/spec/groth16.md, part A.8). */
#ifndef GROTH16_COLUMNS_H
#define GROTH16_COLUMNS_H

#include "groth16/coset.h"
#include "r1cs/shape.h"

/* --- Rows ------------------------------------------------------------------------------------- */

/* Row i, with the two numbers from which its factor is made: p = w^i and p / (τ - p). */
struct columns_row {
    struct fr element, ratio;
    const struct lc *combos; /* MATRIX_COUNT, as shape_visit_rows has them */
};

typedef void columns_row_fn(void *context, const struct columns_row *row);

/* Visits all rows in order, the input rows of part A.7 after them. domain is the circuit's. */
enum cuzk_status columns_visit(const struct shape *shape, const struct coset *domain,
                               columns_row_fn *fn, void *context, struct cuzk_error *err);

/* sums[v] += coefficient · value for each term. Variables are numbered inputs first, then aux;
   those among the n_inputs inputs take another value than those of aux. NULL: zero. */
void columns_add_terms(struct fr *sums, size_t n_inputs, const struct lc *combination,
                       const struct fr *on_inputs, const struct fr *on_aux);

/* --- Columns ---------------------------------------------------------------------------------- */

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
