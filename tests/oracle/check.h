/* The check driver: keeps the values of all variables and tests every row as it comes. It knows
   neither templates nor packing, so the compiled circuit and the packed witness are held against
   it. */
#ifndef ORACLE_CHECK_H
#define ORACLE_CHECK_H

#include "r1cs/cs.h"

struct check_result {
    uint32_t n_inputs;
    uint32_t n_aux;
    uint64_t n_rows;            /* circuit rows */
    uint64_t unsatisfied;       /* rows with a·b ≠ c */
    uint64_t first_unsatisfied; /* row number from 0, valid if unsatisfied > 0 */
    char first_path[256];       /* gadget path of that row, " / " between scopes */
};

/* Receives the values of each row when the row is evaluated. */
typedef void row_value_fn(void *context, const struct fr *a, const struct fr *b,
                          const struct fr *c);

/* Runs the program and tests all rows; CUZK_OK also when rows are unsatisfied. on_row, inputs and
   aux may be NULL. inputs and aux receive the values of all variables; the caller frees them with
   mem_free. */
enum cuzk_status cs_check(const struct circuit_program *program, struct check_result *result,
                          row_value_fn *on_row, void *row_context, struct fr **inputs,
                          struct fr **aux, struct cuzk_error *err);

#endif
