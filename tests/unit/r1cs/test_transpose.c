/* Matrices by columns: templates used many times, variants with patches, loose rows. */
#include "columns.h"
#include "toy.h"

#include "base/pool.h"

static struct shape *toy_shape(unsigned rounds)
{
    const struct toy toy = {.values = 1, .rounds = rounds};
    const struct circuit_program program = toy_program(&toy);
    struct shape *shape;
    struct cuzk_error err;
    assert_ok(shape_record(&program, &shape, &err), err);
    return shape;
}

static void test_templates(void **state)
{
    (void)state;
    for (unsigned rounds = 0; rounds <= 9; rounds++) {
        struct shape *shape = toy_shape(rounds);
        for (int m = 0; m < MATRIX_COUNT; m++)
            assert_true(assert_columns(shape, (enum matrix)m) > rounds);
        if (rounds > 3) /* variants and repeated uses are among them */
            assert_true(shape->n_patches > 0 && shape->n_placements > 2 * shape->n_templates);
        shape_free(shape);
    }
}

static void test_combinations(void **state)
{
    (void)state;
    struct shape *shape = toy_shape(7);
    struct fr ys[] = {fr_zero, fr_one, fr_minus_one, fr_generator};
    for (unsigned threads = 0; threads <= 3; threads++) {
        struct pool *pool = threads ? pool_new(threads) : NULL;
        for (size_t i = 0; i < ARRAY_LEN(ys); i++) {
            for (int m = 0; m < MATRIX_COUNT; m++)
                assert_combination(shape, (enum matrix)m, &ys[i], pool);
        }
        pool_free(pool);
    }
    shape_free(shape);
}

static void empty_synthesize(struct cs *cs, const void *input)
{
    (void)input;
    (void)cs;
}

static void test_empty(void **state)
{
    (void)state;
    const struct circuit_program program = {empty_synthesize, NULL};
    struct shape *shape;
    struct cuzk_error err;
    assert_ok(shape_record(&program, &shape, &err), err);
    assert_int_equal(assert_columns(shape, MATRIX_C), 0);
    shape_free(shape);
}

/* Two uses of a template that says it has 2^31 terms: refused before any of them is looked at. */
static void test_too_many_entries(void **state)
{
    (void)state;
    uint32_t start[] = {0, UINT32_C(1) << 31};
    struct shape_template template = {.name = "", .n_rows = 1};
    template.matrix[MATRIX_C] = (struct template_matrix){.start = start};
    struct shape_placement placements[2] = {{0}, {.first_row = 1}};
    const struct shape shape = {
        .n_inputs = 1,
        .n_rows = 2,
        .templates = &template,
        .n_templates = 1,
        .placements = placements,
        .n_placements = 2,
    };
    struct shape_columns columns;
    struct cuzk_error err;
    assert_int_equal(shape_columns_make(&shape, MATRIX_C, &columns, &err), CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "4294967296 entries"));
    shape_columns_free(&columns);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct shape *shape = toy_shape(3);
    struct fr *out = mem_alloc(shape->n_rows, sizeof *out);
    const size_t before = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    long after = 0;
    for (; status == CUZK_NO_MEMORY; after++) {
        struct shape_columns columns;
        struct cuzk_error err;
        mem_fail_after(after);
        status = shape_columns_make(shape, MATRIX_C, &columns, &err);
        if (status == CUZK_OK)
            status = shape_combine_columns(shape, MATRIX_C, &fr_generator, NULL, out, &err);
        mem_fail_after(-1);
        shape_columns_free(&columns);
        assert_int_equal(mem_used_bytes(), before);
    }
    assert_int_equal(status, CUZK_OK);
    assert_int_equal(after, 6);
    mem_free(out);
    shape_free(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_templates), cmocka_unit_test(test_combinations),
        cmocka_unit_test(test_empty),     cmocka_unit_test(test_too_many_entries),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
