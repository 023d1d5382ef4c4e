/* Every circuit row of a packed witness, tested: which rows are unsatisfied, and where they are. */
#ifndef ORACLE_ROW_CHECK_H
#define ORACLE_ROW_CHECK_H

#include "r1cs/rows.h"

struct row_check {
    uint64_t unsatisfied;       /* circuit rows with a·b ≠ c */
    uint64_t first_unsatisfied; /* the least of them; this and the rest is valid if there is one */
    const char *template_name;  /* of the placement that has the row: "" outside templates */
    uint32_t template_row;      /* row of the template or stretch */
};

/* Evaluates all three sides of every circuit row. The evaluation is spread over the pool (NULL: the
   caller alone). CUZK_OK also when rows are unsatisfied; CUZK_NO_MEMORY. */
enum cuzk_status row_check_run(const struct row_evaluator *evaluator, const struct witness *witness,
                               struct pool *pool, struct row_check *result, struct cuzk_error *err);

#endif
