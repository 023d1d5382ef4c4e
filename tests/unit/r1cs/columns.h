/* A matrix by columns against the rows that shape_visit_rows shows. */
#ifndef TESTS_UNIT_R1CS_COLUMNS_H
#define TESTS_UNIT_R1CS_COLUMNS_H

#include "base/mem.h"
#include "r1cs/transpose.h"
#include "support/support.h"

struct columns_check {
    const struct shape *shape;
    enum matrix which;
    struct shape_columns columns;
    uint32_t *seen; /* entries of each column that rows so far have */
};

/* Rows come in order, so that each of a row's terms must be its column's next entry. */
static inline void columns_check_row(void *context, uint64_t row,
                                     const struct lc combos[MATRIX_COUNT])
{
    struct columns_check *check = context;
    const struct shape_columns *columns = &check->columns;
    const struct lc *combination = &combos[check->which];
    for (size_t t = 0; t < combination->len; t++) {
        const struct term *term = &combination->terms[t];
        const size_t v =
            var_index(term->var) + (var_is_aux(term->var) ? check->shape->n_inputs : 0);
        const uint32_t at = columns->start[v] + check->seen[v]++;
        assert_true(at < columns->start[v + 1]);
        assert_int_equal(columns->row[at], row);
        assert_true(fr_equal(&check->shape->coeffs[columns->coeff[at]], &term->coeff));
    }
}

/* Returns the number of entries. */
static inline uint32_t assert_columns(const struct shape *shape, enum matrix which)
{
    struct cuzk_error err;
    struct columns_check check = {.shape = shape, .which = which};
    assert_ok(shape_columns_make(shape, which, &check.columns, &err), err);
    assert_int_equal(check.columns.n, shape->n_inputs + shape->n_aux);
    assert_int_equal(check.columns.start[0], 0);
    check.seen = mem_zalloc(check.columns.n, sizeof *check.seen);
    assert_ok(shape_visit_rows(shape, columns_check_row, &check, &err), err);
    for (size_t v = 0; v < check.columns.n; v++)
        assert_int_equal(check.seen[v], check.columns.start[v + 1] - check.columns.start[v]);
    const uint32_t n_entries = check.columns.start[check.columns.n];
    mem_free(check.seen);
    shape_columns_free(&check.columns);
    return n_entries;
}

/* Σ_v y^v·(column v), from the columns. */
static inline void assert_combination(const struct shape *shape, enum matrix which,
                                      const struct fr *y, struct pool *pool)
{
    struct cuzk_error err;
    struct shape_columns columns;
    struct fr *expected = mem_zalloc(shape->n_rows, sizeof *expected);
    struct fr *found = mem_alloc(shape->n_rows, sizeof *found);
    struct fr power = fr_one;
    assert_ok(shape_columns_make(shape, which, &columns, &err), err);
    for (size_t v = 0; v < columns.n; v++) {
        for (uint32_t e = columns.start[v]; e < columns.start[v + 1]; e++) {
            struct fr *sum = &expected[columns.row[e]];
            struct fr term;
            fr_mul(&term, &shape->coeffs[columns.coeff[e]], &power);
            fr_add(sum, sum, &term);
        }
        fr_mul(&power, &power, y);
    }
    assert_ok(shape_combine_columns(shape, which, y, pool, found, &err), err);
    assert_memory_equal(found, expected, shape->n_rows * sizeof *found);
    shape_columns_free(&columns);
    mem_free(expected);
    mem_free(found);
}

#endif
