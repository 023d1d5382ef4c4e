/* Row values ⟨A,z⟩, ⟨B,z⟩, ⟨C,z⟩ straight from the packed witness and the compiled circuit, for any
   range of rows, so that a prover holds only the rows that it needs.

   Rows are in the order of docs/spec/groth16.md, part A.7: circuit rows, then one row for each
   input (A = the input, B = C = 0), then any number of zero rows. Values are in Montgomery form. */
#ifndef R1CS_ROWS_H
#define R1CS_ROWS_H

#include "r1cs/shape.h"

struct pool;

/* The rows of a shape, compiled for evaluation. The shape must outlive it. It is read-only once
   made: several threads may use it, for any number of witnesses. */
struct row_evaluator;

enum cuzk_status row_evaluator_new(const struct shape *shape, struct row_evaluator **out,
                                   struct cuzk_error *err);
void row_evaluator_free(struct row_evaluator *evaluator);

/* Writes the values of rows first … first + count - 1 to out[MATRIX_A], out[MATRIX_B] and
   out[MATRIX_C]; a NULL one is skipped. Work is spread over the pool (NULL: the caller alone).
   CUZK_NO_MEMORY. */
enum cuzk_status row_evaluator_run(const struct row_evaluator *evaluator,
                                   const struct witness *witness, struct pool *pool, uint64_t first,
                                   size_t count, struct fr *const out[MATRIX_COUNT],
                                   struct cuzk_error *err);

#endif
