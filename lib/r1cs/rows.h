/* Row values ⟨A,z⟩, ⟨B,z⟩, ⟨C,z⟩ straight from the packed witness and the compiled circuit, for
   any range of rows, so that a prover holds no more of them than it wants.

   Rows are in the order of part A.7: circuit rows, then one row for each input (A = the input, B =
   C = 0), then zeros without end. Values are in Montgomery form. */
#ifndef R1CS_ROWS_H
#define R1CS_ROWS_H

#include "r1cs/shape.h"

struct pool;

/* The rows of a shape compiled for evaluation. The shape must outlive it. Read-only when made: may
   be used by several threads and for any number of witnesses. */
struct row_evaluator;

enum cuzk_status row_evaluator_new(const struct shape *shape, struct row_evaluator **out,
                                   struct cuzk_error *err);
void row_evaluator_free(struct row_evaluator *evaluator);
size_t row_evaluator_bytes(const struct row_evaluator *evaluator);

/* Values of rows first … first + count - 1 to out[MATRIX_A], out[MATRIX_B], out[MATRIX_C]; NULL
   ones are skipped. Work is spread over the pool (NULL: the caller alone). */
enum cuzk_status row_evaluator_run(const struct row_evaluator *evaluator,
                                   const struct witness *witness, struct pool *pool, uint64_t first,
                                   size_t count, struct fr *const out[MATRIX_COUNT],
                                   struct cuzk_error *err);

struct row_check {
    uint64_t unsatisfied;       /* circuit rows with a·b ≠ c */
    uint64_t first_unsatisfied; /* the least of them; the rest is valid if unsatisfied > 0 */
    const char *template_name;  /* where it is: "" outside templates */
    uint32_t template_row;      /* row of the template or stretch */
};

/* Evaluates all three sides of every circuit row. CUZK_OK also when rows are unsatisfied. */
enum cuzk_status row_evaluator_check(const struct row_evaluator *evaluator,
                                     const struct witness *witness, struct pool *pool,
                                     struct row_check *result, struct cuzk_error *err);

#endif
