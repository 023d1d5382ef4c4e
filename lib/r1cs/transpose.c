#include "r1cs/transpose.h"

#include "base/error.h"
#include "base/mem.h"
#include "math/spread.h"
#include "r1cs/walk.h"

/* The placement's own A-side coefficient of the constant 1 in the row. NULL if the template's
   holds, as it does in other matrices. */
static const struct fr *own_constant(const struct shape *shape,
                                     const struct shape_placement *placement, enum matrix which,
                                     uint32_t *next_patch, uint32_t row)
{
    return which == MATRIX_A ? patched_constant(shape, placement, next_patch, row) : NULL;
}

/* --- All columns ------------------------------------------------------------------------------ */

void shape_columns_free(struct shape_columns *columns)
{
    mem_free(columns->start);
    mem_free(columns->row);
    mem_free(columns->coeff);
    *columns = (struct shape_columns){0};
}

/* The columns of a placement's local variables. */
static void placement_columns(const struct shape *shape, const struct shape_placement *placement,
                              uint32_t *columns)
{
    placement_globals(shape, placement, columns);
    const size_t n = template_locals(&shape->templates[placement->template_index]);
    for (size_t i = 0; i < n; i++) {
        const struct var var = {columns[i]};
        columns[i] = var_index(var) + (var_is_aux(var) ? shape->n_inputs : 0);
    }
}

static uint64_t count_entries(const struct shape *shape, enum matrix which)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < shape->n_placements; i++) {
        const struct shape_template *template =
            &shape->templates[shape->placements[i].template_index];
        n += template->matrix[which].start[template->n_rows];
    }
    return n;
}

/* start[v + 1] becomes the length of column v. */
static void count_columns(const struct shape *shape, enum matrix which, uint32_t *start,
                          uint32_t *columns)
{
    for (uint32_t i = 0; i < shape->n_placements; i++) {
        const struct shape_placement *placement = &shape->placements[i];
        const struct shape_template *template = &shape->templates[placement->template_index];
        const struct template_matrix *matrix = &template->matrix[which];
        const uint32_t n_terms = matrix->start[template->n_rows];
        if (n_terms == 0)
            continue;
        placement_columns(shape, placement, columns);
        for (uint32_t t = 0; t < n_terms; t++)
            start[columns[matrix->local[t]] + 1]++;
    }
}

/* Appends the terms of a placement to their columns. */
static void add_placement(const struct shape *shape, const struct shape_placement *placement,
                          enum matrix which, const uint32_t *columns, struct shape_columns *out)
{
    const struct shape_template *template = &shape->templates[placement->template_index];
    const struct template_matrix *matrix = &template->matrix[which];
    uint32_t next_patch = 0;
    for (uint32_t row = 0; row < template->n_rows; row++) {
        const struct fr *constant = own_constant(shape, placement, which, &next_patch, row);
        for (uint32_t t = matrix->start[row]; t < matrix->start[row + 1]; t++) {
            const uint32_t to = out->start[columns[matrix->local[t]]]++;
            const bool patched = constant && matrix->local[t] == 0;
            out->row[to] = placement->first_row + row;
            out->coeff[to] = patched ? (uint16_t)(constant - shape->coeffs) : matrix->coeff[t];
        }
    }
}

/* While columns are filled, start[v] is where column v continues; at the end it is where column v +
   1 begins. */
static void fill_columns(const struct shape *shape, enum matrix which, uint32_t *columns,
                         struct shape_columns *out)
{
    for (size_t v = 0; v < out->n; v++)
        out->start[v + 1] += out->start[v];
    for (uint32_t i = 0; i < shape->n_placements; i++) {
        const struct shape_placement *placement = &shape->placements[i];
        const struct shape_template *template = &shape->templates[placement->template_index];
        if (template->matrix[which].start[template->n_rows] == 0)
            continue;
        placement_columns(shape, placement, columns);
        add_placement(shape, placement, which, columns, out);
    }
    memmove(out->start + 1, out->start, out->n * sizeof *out->start);
    out->start[0] = 0;
}

enum cuzk_status shape_columns_make(const struct shape *shape, enum matrix which,
                                    struct shape_columns *out, struct cuzk_error *err)
{
    *out = (struct shape_columns){.n = (size_t)shape->n_inputs + shape->n_aux};
    const uint64_t n_entries = count_entries(shape, which);
    if (n_entries > UINT32_MAX)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "a matrix of %llu entries by columns: expected fewer than 2^32",
                         (unsigned long long)n_entries);
    uint32_t *columns = shape_alloc_globals(shape);
    out->start = mem_zalloc(out->n + 1, sizeof *out->start);
    out->row = mem_alloc(n_entries, sizeof *out->row);
    out->coeff = mem_alloc(n_entries, sizeof *out->coeff);
    enum cuzk_status status = CUZK_OK;
    if (columns && out->start && out->row && out->coeff) {
        count_columns(shape, which, out->start, columns);
        fill_columns(shape, which, columns, out);
    } else {
        status = error_set(err, CUZK_NO_MEMORY, "a matrix of %llu entries by columns: no memory",
                           (unsigned long long)n_entries);
    }
    mem_free(columns);
    return status;
}

/* --- A combination of columns ----------------------------------------------------------------- */

struct combination {
    const struct shape *shape;
    enum matrix which;
    const struct fr *y;
    struct fr *out;
    struct fr *powers; /* room of each worker for the local variables of a template */
    size_t most_locals;
};

/* Writes y^v, y^(v + 1), … for n columns, the first of which is that of the variable. */
static struct fr *add_powers(const struct combination *c, struct var first, uint32_t n,
                             struct fr *powers)
{
    struct fr power;
    fr_pow(&power, c->y, var_index(first) + (var_is_aux(first) ? c->shape->n_inputs : 0));
    for (uint32_t i = 0; i < n; i++) {
        *powers++ = power;
        fr_mul(&power, &power, c->y);
    }
    return powers;
}

/* The factors of the columns of a placement's local variables. */
static void placement_powers(const struct combination *c, const struct shape_placement *placement,
                             struct fr *powers)
{
    const struct shape *shape = c->shape;
    *powers++ = fr_one;
    for (uint32_t i = 0; i < placement->n_bindings; i++) {
        const struct shape_binding run = shape->bindings[placement->first_binding + i];
        powers = add_powers(c, run.first, run.count, powers);
    }
    add_powers(c, var_aux(placement->first_aux),
               shape->templates[placement->template_index].n_internal, powers);
}

static void add_term(struct fr *sum, const struct fr *coeff, const struct fr *power)
{
    if (fr_is_one(coeff)) { /* nine of ten are 1 or -1 */
        fr_add(sum, sum, power);
    } else if (fr_equal(coeff, &fr_minus_one)) {
        fr_sub(sum, sum, power);
    } else {
        struct fr product;
        fr_mul(&product, coeff, power);
        fr_add(sum, sum, &product);
    }
}

static void combine_placement(void *context, unsigned worker, size_t number)
{
    const struct combination *c = context;
    const struct shape *shape = c->shape;
    const struct shape_placement *placement = &shape->placements[number];
    const struct shape_template *template = &shape->templates[placement->template_index];
    const struct template_matrix *matrix = &template->matrix[c->which];
    struct fr *powers = c->powers + worker * c->most_locals;
    uint32_t next_patch = 0;
    placement_powers(c, placement, powers);
    for (uint32_t row = 0; row < template->n_rows; row++) {
        struct fr *sum = &c->out[placement->first_row + row];
        const struct fr *constant = own_constant(shape, placement, c->which, &next_patch, row);
        *sum = fr_zero;
        for (uint32_t t = matrix->start[row]; t < matrix->start[row + 1]; t++) {
            const bool patched = constant && matrix->local[t] == 0;
            add_term(sum, patched ? constant : &shape->coeffs[matrix->coeff[t]],
                     &powers[matrix->local[t]]);
        }
    }
}

enum cuzk_status shape_combine_columns(const struct shape *shape, enum matrix which,
                                       const struct fr *y, struct pool *pool, struct fr *out,
                                       struct cuzk_error *err)
{
    struct combination combination = {
        .shape = shape,
        .which = which,
        .y = y,
        .out = out,
        .most_locals = shape_most_locals(shape),
    };
    combination.powers =
        mem_alloc(spread_workers(pool) * combination.most_locals, sizeof *combination.powers);
    if (!combination.powers)
        return error_set(err, CUZK_NO_MEMORY, "a combination of columns: no memory");
    spread(pool, shape->n_placements, combine_placement, &combination);
    mem_free(combination.powers);
    return CUZK_OK;
}
