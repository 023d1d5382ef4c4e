/* The proof that variables kept as bits are bits: for all values that satisfy the rows of a
   template, every internal variable that is not full-size is 0 or 1.

   Rows are taken in order. Consider a row in which one variable v is not proven yet and all other
   variables are proven bits. For each assignment of the others the row is a polynomial in v of
   degree at most two. If all roots of all these polynomials are 0 or 1, v is proven. Assignments
   that contradict the row that proved one of the other variables do not count: the row of a
   majority needs that "b and c" is b·c. Rows in which a variant changes the constant prove nothing.

   With coefficients of at most ±SMALL_MAX and few variables, all of this fits in small integers,
   which are zero exactly when they are zero in the field. External variables are assumed to be bits
   and noted; that they are bits is checked for every placement. They come from earlier placements,
   so the proof is not circular. */
#include "r1cs/coeffs.h"
#include "r1cs/template.h"
#include "r1cs/walk.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/mem.h"

enum { VARS_MAX = 6 }; /* of a row that can prove a variable; a majority has five */

/* A row over few variables: coefficient 0 is that of the constant 1. */
struct small_row {
    int coeff[MATRIX_COUNT][1 + VARS_MAX];
};

struct row_vars {
    uint32_t local[VARS_MAX];
    unsigned count;
};

struct prover {
    const struct shape *shape;
    const struct shape_template *template;
    int16_t *small;    /* of each coefficient of the shape */
    uint64_t *patched; /* rows that a variant changes */
    uint64_t *proven;  /* locals; an external once a proof assumes that it is a bit */
    uint32_t *proof;   /* 1 + the row that proved the local, 0 for none */
};

/* False if the row has more than VARS_MAX variables. */
static bool collect_vars(const struct shape_template *template, uint32_t row, struct row_vars *vars)
{
    vars->count = 0;
    for (int m = 0; m < MATRIX_COUNT; m++) {
        const struct template_matrix *matrix = &template->matrix[m];
        for (uint32_t t = matrix->start[row]; t < matrix->start[row + 1]; t++) {
            unsigned k = 0;
            while (k < vars->count && vars->local[k] != matrix->local[t])
                k++;
            if (matrix->local[t] == 0 || k < vars->count)
                continue;
            if (k == VARS_MAX)
                return false;
            vars->local[vars->count++] = matrix->local[t];
        }
    }
    return true;
}

/* False if the row has a coefficient that is not small, or a variable that is not in vars. */
static bool fill_row(const struct prover *prover, uint32_t row, const struct row_vars *vars,
                     struct small_row *out)
{
    memset(out, 0, sizeof *out);
    for (int m = 0; m < MATRIX_COUNT; m++) {
        const struct template_matrix *matrix = &prover->template->matrix[m];
        for (uint32_t t = matrix->start[row]; t < matrix->start[row + 1]; t++) {
            unsigned k = 0;
            while (k < vars->count && vars->local[k] != matrix->local[t])
                k++;
            int16_t small = prover->small[matrix->coeff[t]];
            if (small == SMALL_NONE || (matrix->local[t] != 0 && k == vars->count))
                return false;
            out->coeff[m][matrix->local[t] == 0 ? 0 : 1 + k] = small;
        }
    }
    return true;
}

/* Value of one side of a row; variable k is bit k of `values`. */
static int side_value(const int coeff[1 + VARS_MAX], unsigned values)
{
    int sum = coeff[0];
    for (; values != 0; values &= values - 1)
        sum += coeff[1 + __builtin_ctz(values)];
    return sum;
}

static bool is_satisfied(const struct small_row *row, unsigned values)
{
    return side_value(row->coeff[MATRIX_A], values) * side_value(row->coeff[MATRIX_B], values) ==
           side_value(row->coeff[MATRIX_C], values);
}

/* Whether all roots of q2·v² + q1·v + q0 are 0 or 1. For q2 ≠ 0 only v², v·(v−1) and (v−1)² are
   recognised. */
static bool roots_are_bits(int q2, int q1, int q0)
{
    if (q2 != 0)
        return (q0 == 0 && (q1 == 0 || q1 == -q2)) || (q0 == q2 && q1 == -2 * q2);
    if (q1 != 0)
        return q0 == 0 || q0 == -q1;
    return q0 != 0; /* no value of v at all satisfies the row */
}

/* Whether the row, as a polynomial in variable `wanted`, has no other roots than 0 and 1. `wanted`
   is 0 in `values`. */
static bool forces_bit(const struct small_row *row, unsigned wanted, unsigned values)
{
    const int a0 = side_value(row->coeff[MATRIX_A], values);
    const int b0 = side_value(row->coeff[MATRIX_B], values);
    const int c0 = side_value(row->coeff[MATRIX_C], values);
    const int a1 = row->coeff[MATRIX_A][1 + wanted];
    const int b1 = row->coeff[MATRIX_B][1 + wanted];
    const int c1 = row->coeff[MATRIX_C][1 + wanted];
    return roots_are_bits(a1 * b1, a0 * b1 + a1 * b0 - c1, a0 * b0 - c0);
}

/* Whether the row forces variable `wanted` of vars to be a bit, given that the others are. */
static bool row_proves(const struct prover *prover, uint32_t row, const struct row_vars *vars,
                       unsigned wanted)
{
    struct small_row proving, earlier[VARS_MAX];
    unsigned n_earlier = 0;
    if (!fill_row(prover, row, vars, &proving))
        return false;
    for (unsigned k = 0; k < vars->count; k++) {
        const uint32_t proof = prover->proof[vars->local[k]];
        if (proof > 0 && fill_row(prover, proof - 1, vars, &earlier[n_earlier]))
            n_earlier++;
    }
    for (unsigned values = 0; values < 1u << vars->count; values++) {
        if (values >> wanted & 1)
            continue;
        unsigned i = 0;
        while (i < n_earlier && is_satisfied(&earlier[i], values))
            i++;
        if (i == n_earlier && !forces_bit(&proving, wanted, values))
            return false;
    }
    return true;
}

/* Index of the only variable that is not proven yet. VARS_MAX if there is no such variable, more
   than one, or a full-size one. */
static unsigned find_unproven(const struct prover *prover, const struct row_vars *vars)
{
    const uint32_t n_externals = prover->template->n_externals;
    unsigned found = VARS_MAX;
    for (unsigned k = 0; k < vars->count; k++) {
        const uint32_t local = vars->local[k];
        if (local <= n_externals || bit_get(prover->proven, local))
            continue;
        if (found < VARS_MAX || bit_get(prover->template->is_full, local - 1 - n_externals))
            return VARS_MAX;
        found = k;
    }
    return found;
}

static void prove_rows(struct prover *prover)
{
    for (uint32_t row = 0; row < prover->template->n_rows; row++) {
        struct row_vars vars;
        if (bit_get(prover->patched, row) || !collect_vars(prover->template, row, &vars))
            continue;
        const unsigned wanted = find_unproven(prover, &vars);
        if (wanted == VARS_MAX || !row_proves(prover, row, &vars, wanted))
            continue;
        prover->proof[vars.local[wanted]] = row + 1;
        for (unsigned k = 0; k < vars.count; k++)
            bit_set(prover->proven, vars.local[k]);
    }
}

static const struct shape_placement *first_placement(const struct shape *shape, uint32_t index)
{
    const struct shape_placement *placement = shape->placements;
    while (placement->template_index != index)
        placement++;
    return placement;
}

static const char *name_of(const struct shape_template *template)
{
    return template->name[0] ? template->name : "outside templates";
}

/* Fails unless every internal bit is proven. */
static enum cuzk_status check_internals(const struct prover *prover, uint32_t index,
                                        struct cuzk_error *err)
{
    const struct shape_template *template = prover->template;
    for (uint32_t i = 0; i < template->n_internal; i++) {
        if (bit_get(template->is_full, i) ||
            bit_get(prover->proven, (size_t)1 + template->n_externals + i))
            continue;
        return error_set(err, CUZK_INTERNAL,
                         "recording: aux %u (%s) is kept as a bit, but no row forces it to be 0 "
                         "or 1",
                         first_placement(prover->shape, index)->first_aux + i, name_of(template));
    }
    return CUZK_OK;
}

/* Fails unless every external that a proof assumes to be a bit is one. full is the bitmap over all
   aux variables. */
static enum cuzk_status check_externals(const struct shape *shape,
                                        const struct shape_placement *placement,
                                        const uint64_t *taken, const uint64_t *full,
                                        struct cuzk_error *err)
{
    const struct shape_template *template = &shape->templates[placement->template_index];
    size_t local = 1;
    for (uint32_t i = 0; i < placement->n_bindings; i++) {
        const struct shape_binding run = shape->bindings[placement->first_binding + i];
        for (uint32_t k = 0; k < run.count; k++, local++) {
            if (!bit_get(taken, local) ||
                (var_is_aux(run.first) && !bit_get(full, var_index(run.first) + k)))
                continue;
            return error_set(err, CUZK_INTERNAL, "recording: rows (%s) take %s %u for a bit",
                             name_of(template), var_is_aux(run.first) ? "full-size aux" : "input",
                             var_index(run.first) + k);
        }
    }
    return CUZK_OK;
}

static void mark_patched(struct prover *prover, uint32_t index)
{
    const struct shape *shape = prover->shape;
    memset(prover->patched, 0, bit_words(prover->template->n_rows) * sizeof *prover->patched);
    for (uint32_t i = 0; i < shape->n_placements; i++) {
        const struct shape_placement *placement = &shape->placements[i];
        for (uint32_t k = 0; placement->template_index == index && k < placement->n_patches; k++)
            bit_set(prover->patched, shape->patches[placement->first_patch + k].row);
    }
}

static enum cuzk_status check_template(struct prover *prover, uint32_t index, const uint64_t *full,
                                       struct cuzk_error *err)
{
    const struct shape *shape = prover->shape;
    prover->template = &shape->templates[index];
    const size_t n_locals = template_locals(prover->template);
    memset(prover->proven, 0, bit_words(n_locals) * sizeof *prover->proven);
    memset(prover->proof, 0, n_locals * sizeof *prover->proof);
    mark_patched(prover, index);
    prove_rows(prover);
    TRY(check_internals(prover, index, err));
    for (uint32_t i = 0; i < shape->n_placements; i++) {
        if (shape->placements[i].template_index == index)
            TRY(check_externals(shape, &shape->placements[i], prover->proven, full, err));
    }
    return CUZK_OK;
}

static bool prover_init(struct prover *prover, const struct shape *shape)
{
    size_t most_locals = 0, most_rows = 0;
    for (uint32_t i = 0; i < shape->n_templates; i++) {
        const size_t n_locals = template_locals(&shape->templates[i]);
        const size_t n_rows = shape->templates[i].n_rows;
        most_locals = n_locals > most_locals ? n_locals : most_locals;
        most_rows = n_rows > most_rows ? n_rows : most_rows;
    }
    *prover = (struct prover){
        .shape = shape,
        .small = mem_alloc(shape->n_coeffs, sizeof *prover->small),
        .patched = mem_alloc(bit_words(most_rows), sizeof *prover->patched),
        .proven = mem_alloc(bit_words(most_locals), sizeof *prover->proven),
        .proof = mem_alloc(most_locals, sizeof *prover->proof),
    };
    if (!prover->small || !prover->patched || !prover->proven || !prover->proof)
        return false;
    for (uint32_t i = 0; i < shape->n_coeffs; i++)
        prover->small[i] = coeff_small(&shape->coeffs[i]);
    return true;
}

enum cuzk_status shape_check_bits(const struct shape *shape, struct cuzk_error *err)
{
    struct prover prover;
    uint64_t *full = NULL;
    enum cuzk_status status = CUZK_NO_MEMORY;
    if (prover_init(&prover, shape))
        status = shape_full_bitmap(shape, &full, err);
    else
        error_set(err, status, "recording: no memory");
    for (uint32_t i = 0; i < shape->n_templates && status == CUZK_OK; i++)
        status = check_template(&prover, i, full, err);
    mem_free(full);
    mem_free(prover.small);
    mem_free(prover.patched);
    mem_free(prover.proven);
    mem_free(prover.proof);
    return status;
}
