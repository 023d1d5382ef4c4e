/* The compiled circuit: templates and placements instead of rows (ARCHITECTURE.md, "Circuits as
   templates").

   Every row belongs to exactly one placement. A placement is one use of a template: where its rows
   and aux variables start, and what its external variables are. A stretch of rows outside any
   template is a template without a name, and equal stretches share one. So a walk over the
   placements in order visits all rows in row order and all aux variables in variable order.

   Local variables of a template: 0 is the constant 1; 1 … n_externals are the externals (in
   stretches, inputs too); then come the internal aux variables in order of allocation. The recorder
   chooses the order of externals so that bindings are few runs. The terms of a row are in ascending
   order of local variables. */
#ifndef R1CS_SHAPE_H
#define R1CS_SHAPE_H

#include "r1cs/cs.h"
#include "r1cs/witness.h"

struct pool;

enum matrix { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_COUNT };

/* Rows of one matrix in compressed form: row i has terms start[i] … start[i+1]-1. */
struct template_matrix {
    uint32_t *start; /* n_rows + 1 */
    uint32_t *local; /* local variable of each term */
    uint16_t *coeff; /* index into shape->coeffs of each term */
};

struct shape_template {
    const char *name; /* "" for a stretch */
    uint32_t n_rows;
    uint32_t n_externals;
    uint32_t n_internal; /* aux variables allocated by one use */
    uint32_t n_full;     /* of them full-size */
    uint64_t *is_full;   /* bitmap over the internal variables */
    struct template_matrix matrix[MATRIX_COUNT];
};

/* The change that a variant makes: the A-side coefficient of the constant 1 in a row. */
struct shape_patch {
    uint32_t row; /* relative to the template */
    uint16_t coeff;
};

struct shape_placement {
    uint32_t template_index;
    uint32_t first_row;
    uint32_t first_aux;
    uint32_t first_full;    /* index of its first full-size variable in witness.full */
    uint32_t first_binding; /* into shape->bindings */
    uint32_t n_bindings;    /* runs */
    uint32_t first_patch;   /* into shape->patches */
    uint32_t n_patches;
};

/* A run of consecutive variables bound to consecutive externals. */
struct shape_binding {
    struct var first;
    uint32_t count;
};

struct shape {
    uint32_t n_inputs; /* with the constant 1 */
    uint32_t n_aux;
    uint32_t n_full;      /* full-size aux variables */
    uint64_t n_rows;      /* circuit rows; the proving system adds n_inputs rows (part A.7) */
    unsigned log2_domain; /* least k with 2^k ≥ n_rows + n_inputs */
    uint32_t a_dense_aux;
    uint32_t b_dense_aux;
    uint32_t b_dense_inputs;

    struct fr *coeffs;
    uint32_t n_coeffs;
    struct shape_template *templates;
    uint32_t n_templates;
    struct shape_placement *placements;
    uint32_t n_placements;
    struct shape_binding *bindings;
    uint32_t n_bindings;
    struct shape_patch *patches;
    uint32_t n_patches;
};

/* Records the program's shape; the values do not matter. Free with shape_free. CUZK_INTERNAL, with
   the number of the variable, if the rows do not force a variable that is kept as a bit to be 0 or
   1 (r1cs/bits.c describes which rows can). CUZK_RESOURCE_EXHAUSTED beyond the limits of the
   format; CUZK_NO_MEMORY. */
enum cuzk_status shape_record(const struct circuit_program *program, struct shape **out,
                              struct cuzk_error *err);
void shape_free(struct shape *shape);
size_t shape_bytes(const struct shape *shape);

/* Bitmaps over the aux variables: dense[MATRIX_A], dense[MATRIX_B] (part A.6). Bit i at
   word[i / 64] >> (i % 64). Inputs: all are dense in A; b_input is a bitmap over the inputs. */
struct density {
    uint64_t *a_aux;
    uint64_t *b_aux;
    uint64_t *b_input;
};
enum cuzk_status shape_density(const struct shape *shape, struct density *out,
                               struct cuzk_error *err);
void density_free(struct density *density);

/* Bitmap over the aux variables: 1 for full-size ones. mem_alloc'ed. */
enum cuzk_status shape_full_bitmap(const struct shape *shape, uint64_t **out,
                                   struct cuzk_error *err);

/* Visits all circuit rows in order. combos[m] are the terms of matrix m with global variables, in
   no particular order, each variable once. The input rows of part A.7 are not included. */
typedef void shape_row_fn(void *context, uint64_t row, const struct lc combos[MATRIX_COUNT]);
enum cuzk_status shape_visit_rows(const struct shape *shape, shape_row_fn *fn, void *context,
                                  struct cuzk_error *err);

/* Row values a_j = ⟨A_j,z⟩ and b_j = ⟨B_j,z⟩ of all rows, then of the input rows of part A.7, then
   zeros up to `domain` = 2^log2_domain elements. Montgomery form. c is not computed: it is a∘b.
   Work is spread over the pool (NULL: the caller alone); the result does not depend on the number
   of threads. */
enum cuzk_status shape_eval_rows(const struct shape *shape, const struct witness *witness,
                                 struct pool *pool, struct fr *a, struct fr *b, size_t domain,
                                 struct cuzk_error *err);

#endif
