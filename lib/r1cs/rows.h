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

/* Values of rows first … first + count - 1 to out[MATRIX_A], out[MATRIX_B], out[MATRIX_C]; NULL
   ones are skipped. Work is spread over the pool (NULL: the caller alone). */
enum cuzk_status row_evaluator_run(const struct row_evaluator *evaluator,
                                   const struct witness *witness, struct pool *pool, uint64_t first,
                                   size_t count, struct fr *const out[MATRIX_COUNT],
                                   struct cuzk_error *err);

#endif
