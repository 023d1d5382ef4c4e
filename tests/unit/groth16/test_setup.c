/* Development parameters: byte-identical with the reference's for the tiny circuits, and how making
   them fails. The files of the real circuits are in tests/vectors/test_params_files.c. */
#include "support/progress.h"
#include "unit/groth16/files.h"
#include "unit/r1cs/toy.h"

#include "base/pool.h"
#include "groth16/setup.h"

#include <fcntl.h>
#include <sys/file.h>

static const struct tiny_circuit {
    const char *name;
    size_t n_rows;
    uint32_t n_inputs, n_aux;
} tiny_circuits[] = {
    {"t1-mul", 1, 2, 2},
    {"t2-density", 4, 3, 7},
    {"t3-pow2", 6, 2, 6},
    {"t4-pow2-plus1", 7, 2, 7},
};

static struct shape *tiny_shape(const struct tiny_circuit *tiny)
{
    char name[64];
    snprintf(name, sizeof name, "reference/tiny/%s.txt", tiny->name);
    struct text_circuit circuit =
        text_circuit_load(name, tiny->n_rows, tiny->n_inputs, tiny->n_aux);
    struct circuit_program program = text_program(&circuit);
    struct shape *shape;
    struct cuzk_error err;
    assert_ok(shape_record(&program, &shape, &err), err);
    text_circuit_free(&circuit);
    return shape;
}

static void assert_same_as_reference(const char *path, const char *tiny, const char *ending)
{
    char name[64];
    size_t len, wanted_len;
    snprintf(name, sizeof name, "reference/tiny/%s.%s", tiny, ending);
    uint8_t *wanted = vector_read_or_skip(name, &wanted_len);
    uint8_t *found = read_whole(path, &len);
    assert_int_equal(len, wanted_len);
    assert_memory_equal(found, wanted, len);
    mem_free(found);
    mem_free(wanted);
}

static void tiny_files_equal_the_reference(void **state)
{
    struct setup_trapdoor trapdoor;
    struct cuzk_error err;
    setup_dev_trapdoor(&trapdoor);
    struct pool *pool = pool_new(2);
    for (size_t i = 0; i < ARRAY_LEN(tiny_circuits); i++) {
        struct shape *shape = tiny_shape(&tiny_circuits[i]);
        const char *params = folder_path(*state, "made.params");
        assert_ok(setup_write(shape, &trapdoor, params, i % 2 ? pool : NULL, NULL, NULL, &err),
                  err);
        assert_same_as_reference(params, tiny_circuits[i].name, "params");
        assert_same_as_reference(folder_path(*state, "made.vk"), tiny_circuits[i].name, "vk");
        struct params *opened;
        assert_ok(params_open(params, &opened, &err), err);
        assert_ok(params_match_shape(opened, shape, &err), err);
        params_close(opened);
        shape_free(shape);
    }
    pool_free(pool);
}

static void scalars_are_the_documented_ones(void **state)
{
    (void)state;
    size_t len;
    char *text = (char *)vector_read_or_skip("reference/dev-scalars.txt", &len);
    static const char *const names[] = {"alpha",  "beta",   "gamma",    "delta",   "tau",
                                        "test-r", "test-s", "test-r/0", "test-s/1"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct fr scalar;
        uint8_t bytes[FR_BYTES];
        char hex[2 * FR_BYTES + 1], line[128];
        setup_dev_scalar(&scalar, names[i]);
        fr_to_bytes(bytes, &scalar);
        hex_encode(bytes, sizeof bytes, hex);
        snprintf(line, sizeof line, "%s %s\n", names[i], hex);
        assert_non_null(strstr(text, line));
    }
    mem_free(text);
}

static void progress_reaches_the_whole(void **state)
{
    struct shape *shape = tiny_shape(&tiny_circuits[2]);
    struct setup_trapdoor trapdoor;
    struct cuzk_error err;
    struct progress_log log = {0};
    setup_dev_trapdoor(&trapdoor);
    assert_ok(setup_write(shape, &trapdoor, folder_path(*state, "made.params"), NULL, log_progress,
                          &log, &err),
              err);
    assert_true(log.calls >= 5);
    assert_true(log.last > 0.999 && log.last <= 1 + 1e-9);
    shape_free(shape);
}

/* A trapdoor that cannot give a working key is refused before anything is written. */
static void bad_trapdoors_are_refused(void **state)
{
    struct shape *shape = tiny_shape(&tiny_circuits[2]);
    struct setup_trapdoor trapdoor;
    struct cuzk_error err;
    const char *path = folder_path(*state, "refused.params");
    setup_dev_trapdoor(&trapdoor);
    trapdoor.delta = fr_zero;
    assert_int_equal(setup_write(shape, &trapdoor, path, NULL, NULL, NULL, &err),
                     CUZK_INVALID_ARGUMENT);
    setup_dev_trapdoor(&trapdoor);
    fr_omega(&trapdoor.tau, shape->log2_domain);
    assert_int_equal(setup_write(shape, &trapdoor, path, NULL, NULL, NULL, &err),
                     CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "root of unity"));
    assert_false(exists(path));
    shape_free(shape);
}

static void idle_synthesize(struct cs *cs, const void *input)
{
    (void)input;
    cs_num(cs, &fr_one);
    struct lc a = {0};
    lc_add_var(&a, cs_num(cs, &fr_one));
    cs_enforce(cs, &a, NULL, NULL);
    lc_free(&a);
}

static void unused_variable_is_refused(void **state)
{
    struct circuit_program program = {idle_synthesize, NULL};
    struct shape *shape;
    struct setup_trapdoor trapdoor;
    struct cuzk_error err;
    setup_dev_trapdoor(&trapdoor);
    assert_ok(shape_record(&program, &shape, &err), err);
    assert_int_equal(
        setup_write(shape, &trapdoor, folder_path(*state, "made.params"), NULL, NULL, NULL, &err),
        CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "aux variable 0 "));
    shape_free(shape);
}

/* Whatever allocation fails: an error, no file, nothing left behind. */
static void every_allocation_may_fail(void **state)
{
    struct shape *shape = tiny_shape(&tiny_circuits[1]);
    struct setup_trapdoor trapdoor;
    struct cuzk_error err;
    setup_dev_trapdoor(&trapdoor);
    size_t used = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    long after = 0;
    for (; status != CUZK_OK; after++) {
        const char *path = folder_path(*state, "made.params");
        unlink(path);
        mem_fail_after(after);
        status = setup_write(shape, &trapdoor, path, NULL, NULL, NULL, &err);
        mem_fail_after(-1);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        assert_int_equal(exists(path), status == CUZK_OK);
        assert_false(exists(folder_path(*state, "made.params.part")));
        assert_int_equal(mem_used_bytes(), used);
    }
    assert_true(after > 15);
    shape_free(shape);
}

static void unwritable_places_are_named(void **state)
{
    struct shape *shape = tiny_shape(&tiny_circuits[0]);
    struct setup_trapdoor trapdoor;
    struct cuzk_error err;
    setup_dev_trapdoor(&trapdoor);
    const char *path = folder_path(*state, "absent/made.params");
    assert_int_equal(setup_write(shape, &trapdoor, path, NULL, NULL, NULL, &err), CUZK_IO);
    assert_non_null(strstr(err.text, "absent/made.params.part"));
    shape_free(shape);
}

static void a_file_in_the_making_is_left_alone(void **state)
{
    struct shape *shape = tiny_shape(&tiny_circuits[0]);
    struct setup_trapdoor trapdoor;
    struct cuzk_error err;
    const char *path = folder_path(*state, "busy.params");
    const char *part = folder_path(*state, "busy.params.part");
    setup_dev_trapdoor(&trapdoor);
    write_whole(part, "half", 4);
    int fd = open(part, O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(setup_write(shape, &trapdoor, path, NULL, NULL, NULL, &err),
                     CUZK_FAILED_PRECONDITION);
    assert_true(exists(part));
    assert_false(exists(path));
    close(fd); /* its maker died: the rest is no obstacle */
    assert_ok(setup_write(shape, &trapdoor, path, NULL, NULL, NULL, &err), err);
    assert_false(exists(part));
    assert_same_as_reference(path, tiny_circuits[0].name, "params");
    shape_free(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_files_equal_the_reference),
        cmocka_unit_test(scalars_are_the_documented_ones),
        cmocka_unit_test(progress_reaches_the_whole),
        cmocka_unit_test(bad_trapdoors_are_refused),
        cmocka_unit_test(unused_variable_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(unwritable_places_are_named),
        cmocka_unit_test(a_file_in_the_making_is_left_alone),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
