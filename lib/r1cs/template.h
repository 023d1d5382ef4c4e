/* Making and comparing the templates of a shape. Private to lib/r1cs. */
#ifndef R1CS_TEMPLATE_H
#define R1CS_TEMPLATE_H

#include "r1cs/shape.h"

/* Rows of one matrix while they are recorded. Variables are global ids at first, local numbers
   later. */
struct row_list {
    uint32_t *start; /* start[i] … start[i + 1] - 1 are the terms of row i */
    size_t start_capacity;
    uint32_t *var;
    size_t var_capacity;
    uint16_t *coeff;
    size_t coeff_capacity;
};

void row_list_free(struct row_list *list);

/* Puts the terms of every row in ascending order of their variable. False without memory. */
bool row_list_sort(struct row_list *list, uint32_t n_rows);

/* Makes a template without spare capacity. False without memory. */
bool template_make(const char *name, const struct row_list rows[MATRIX_COUNT], uint32_t n_rows,
                   uint32_t n_externals, uint32_t n_internal, const uint64_t *is_full,
                   struct shape_template *out);
void template_free(struct shape_template *template);
size_t template_bytes(const struct shape_template *template);

uint64_t template_hash(const struct shape_template *template);
/* Whether rows and kinds of variables are the same. Names are not compared. */
bool template_equal(const struct shape_template *x, const struct shape_template *y);

/* If `variant` differs from `base` only in A-side coefficients of the constant 1, writes the
   patches that turn base into variant and returns true. patches has room for every row. */
bool template_diff(const struct shape_template *base, const struct shape_template *variant,
                   struct shape_patch *patches, uint32_t *n_patches);

/* Checks template by template that the rows force every variable that is kept as a bit to be 0 or
   1. CUZK_INTERNAL names the first variable for which they do not: the gadget is wrong. */
enum cuzk_status shape_check_bits(const struct shape *shape, struct cuzk_error *err);

/* Computes a_dense_aux, b_dense_aux and b_dense_inputs. */
enum cuzk_status shape_count_dense(struct shape *shape, struct cuzk_error *err);

#endif
