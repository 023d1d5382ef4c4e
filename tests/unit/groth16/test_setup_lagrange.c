/* The Lagrange form that is made from the trapdoors of development parameters is the one that a
   backend derives from the parameters, byte for byte. */
#include "support/progress.h"
#include "unit/backend/chain.h"
#include "unit/groth16/files.h"

#include "base/pool.h"
#include "groth16/lagrange_check.h"
#include "groth16/lagrange_make.h"
#include "key/lagrange_file.h"
#include "groth16/multiples.h"
#include "groth16/prove.h"
#include "groth16/setup_lagrange.h"

/* A circuit and its parameters in a folder. */
struct sample {
    struct shape *shape;
    struct setup_trapdoor trapdoor;
    struct params *params;
    char form[512]; /* name of the file */
};

/* With the shape and trapdoors that s has. */
static void sample_write(struct sample *s, const char *folder)
{
    struct cuzk_error err;
    struct pool *pool = pool_new(2);
    const char *path = folder_path(folder, "key.params");
    assert_ok(setup_write(s->shape, &s->trapdoor, path, pool, NULL, NULL, &err), err);
    assert_ok(params_open(path, &s->params, &err), err);
    pool_free(pool);
    snprintf(s->form, sizeof s->form, "%s/key.lagrange", folder);
    remove(s->form);
}

static void sample_init(struct sample *s, const struct chain *chain, const char *folder)
{
    s->shape = chain_shape(chain);
    setup_dev_trapdoor(&s->trapdoor);
    sample_write(s, folder);
}

static void sample_free(struct sample *s)
{
    params_close(s->params);
    shape_free(s->shape);
}

static uint8_t *form_of_cpu(const struct sample *s, size_t *len)
{
    const struct backend *cpu = backend_find("cpu");
    const struct backend_options options = {.threads = 2};
    struct backend_device *device;
    struct cuzk_error err;
    assert_ok(cpu->open(&options, 0, &device, &err), err);
    assert_ok(lagrange_make(s->params, s->shape, cpu, device, NULL, NULL, NULL, &err), err);
    cpu->close(device);
    uint8_t *bytes = read_whole(s->form, len);
    remove(s->form);
    return bytes;
}

static void assert_not_made(const struct sample *s, enum cuzk_status expected, const char *text)
{
    struct cuzk_error err = {0};
    char part[600];
    assert_int_equal(
        setup_write_lagrange(s->params, s->shape, &s->trapdoor, NULL, NULL, NULL, &err), expected);
    if (!strstr(err.text, text))
        fail_msg("'%s' expected in: %s", text, err.text);
    snprintf(part, sizeof part, "%s.part", s->form);
    assert_false(exists(s->form));
    assert_false(exists(part));
}

/* --- What is made ---------------------------------------------------------------------------- */

static void forms_equal_the_derived_ones(void **state)
{
    static const struct {
        struct chain chain;
        unsigned log2_domain;
    } cases[] = {
        {{.first = 3, .n_inputs = 1}, 1},
        {{.first = 4, .n_inputs = 2}, 2},
        {{.first = 7, .n_inputs = 3}, 3},
        {{.first = 5, .rounds = 2, .n_inputs = 3}, 4},
        {{.first = 5, .rounds = 5, .n_inputs = 3}, 5},
        {{.first = 5, .rounds = 10, .n_inputs = 8}, 6},
        {{.first = 6, .rounds = 29, .n_inputs = 5}, 7},
        {{.first = 9, .rounds = 60, .n_inputs = 4}, 8},
    };
    struct pool *pool = pool_new(3);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sample s;
        struct cuzk_error err;
        size_t len, wanted_len;
        sample_init(&s, &cases[i].chain, *state);
        assert_int_equal(s.shape->log2_domain, cases[i].log2_domain);
        uint8_t *wanted = form_of_cpu(&s, &wanted_len);
        assert_ok(setup_write_lagrange(s.params, s.shape, &s.trapdoor, i % 2 ? pool : NULL, NULL,
                                       NULL, &err),
                  err);
        uint8_t *found = read_whole(s.form, &len);
        assert_int_equal(len, wanted_len);
        assert_memory_equal(found, wanted, len);
        mem_free(found);
        mem_free(wanted);
        sample_free(&s);
    }
    pool_free(pool);
}

/* Every second input is in no row of C. */
static void infinity_among_the_inputs_is_marked(void **state)
{
    static const uint8_t infinity[G1_BYTES] = {0x40};
    struct sample s;
    struct cuzk_error err;
    struct lagrange_file *file;
    sample_init(&s, &(struct chain){.first = 5, .rounds = 2, .n_inputs = 5}, *state);
    assert_ok(setup_write_lagrange(s.params, s.shape, &s.trapdoor, NULL, NULL, NULL, &err), err);
    assert_ok(lagrange_open(s.params, s.shape, &file, &err), err);
    for (size_t v = 0; v < 5; v++) {
        const bool is = memcmp(file->points.inputs + v * G1_BYTES, infinity, G1_BYTES) == 0;
        assert_int_equal(is, v % 2 == 1);
    }
    lagrange_close(file);
    sample_free(&s);
}

/* A circuit of more than one block and task passes the check that derived forms get. */
static void a_larger_form_passes_the_check(void **state)
{
    const struct backend *cpu = backend_find("cpu");
    const struct backend_options options = {.threads = 2};
    struct backend_device *device;
    struct key_vectors key;
    struct lagrange_file *file;
    struct cuzk_error err;
    struct sample s;
    struct pool *pool = pool_new(2);
    assert_ok(circuit_shape(circuit_by_id("wpost-2k"), &s.shape, &err), err);
    assert_true((size_t)1 << s.shape->log2_domain > MULTIPLES_AT_ONCE);
    setup_dev_trapdoor(&s.trapdoor);
    sample_write(&s, *state);
    assert_ok(setup_write_lagrange(s.params, s.shape, &s.trapdoor, pool, NULL, NULL, &err), err);
    assert_ok(lagrange_open(s.params, s.shape, &file, &err), err);
    key = s.params->key;
    key.lagrange = file->points;
    assert_ok(cpu->open(&options, 0, &device, &err), err);
    assert_ok(lagrange_check(cpu, device, s.shape, &key, pool, &err), err);
    cpu->close(device);
    lagrange_close(file);
    pool_free(pool);
    sample_free(&s);
}

static void progress_reaches_the_whole(void **state)
{
    struct sample s;
    struct cuzk_error err;
    struct progress_log log = {0};
    sample_init(&s, &(struct chain){.first = 5, .rounds = 2, .n_inputs = 3}, *state);
    assert_ok(setup_write_lagrange(s.params, s.shape, &s.trapdoor, NULL, log_progress, &log, &err),
              err);
    assert_true(log.calls >= 4);
    assert_true(log.last > 0.999 && log.last <= 1 + 1e-9);
    sample_free(&s);
}

/* --- What is not ----------------------------------------------------------------------------- */

static void parameters_from_other_trapdoors_are_refused(void **state)
{
    struct sample s;
    sample_init(&s, &(struct chain){.first = 5, .rounds = 2, .n_inputs = 3}, *state);
    struct fr *const which[] = {&s.trapdoor.alpha, &s.trapdoor.beta, &s.trapdoor.delta,
                                &s.trapdoor.tau};
    for (size_t i = 0; i < ARRAY_LEN(which); i++) {
        const struct fr good = *which[i];
        setup_dev_scalar(which[i], "another");
        assert_not_made(&s, CUZK_BAD_PARAMS, "key.params: not made from the trapdoors");
        *which[i] = good;
    }
    struct fr root; /* τ^n stays what it was */
    fr_omega(&root, s.shape->log2_domain);
    fr_mul(&s.trapdoor.tau, &s.trapdoor.tau, &root);
    assert_not_made(&s, CUZK_BAD_PARAMS, "key.params: not made from the trapdoors");
    sample_free(&s);
}

/* A cube root of 1: 7^((r-1)/3). */
static struct fr cube_root(void)
{
    uint64_t exponent[4], rest = 0;
    struct fr root = fr_one;
    fr_to_limbs(exponent, &fr_minus_one);
    for (int i = 4; i-- > 0;) {
        for (int bit = 64; bit-- > 0;) { /* long division by 3 */
            rest = rest << 1 | (exponent[i] >> bit & 1);
            fr_sqr(&root, &root);
            if (rest >= 3) {
                rest -= 3;
                fr_mul(&root, &root, &fr_generator);
            }
        }
    }
    assert_int_equal(rest, 0);
    return root;
}

/* Values of τ that are good for the parameters, but not for their form. */
static void forms_that_cannot_be_are_refused(void **state)
{
    const struct chain chain = {.first = 4, .n_inputs = 2};
    struct sample s = {.shape = chain_shape(&chain)};
    setup_dev_trapdoor(&s.trapdoor);
    fr_omega(&s.trapdoor.tau, 2);
    fr_mul(&s.trapdoor.tau, &s.trapdoor.tau, &fr_generator);
    sample_write(&s, *state);
    assert_not_made(&s, CUZK_INVALID_ARGUMENT, "key.lagrange: tau is in the coset");
    params_close(s.params);

    /* h'_0 is a multiple of 1 + τ/7 + (τ/7)^2. */
    s.trapdoor.tau = cube_root();
    fr_mul(&s.trapdoor.tau, &s.trapdoor.tau, &fr_generator);
    sample_write(&s, *state);
    assert_not_made(&s, CUZK_INVALID_ARGUMENT, "h of the Lagrange form, point 0: infinity");
    sample_free(&s);
}

static void every_allocation_may_fail(void **state)
{
    struct sample s;
    struct cuzk_error err;
    sample_init(&s, &(struct chain){.first = 5, .rounds = 2, .n_inputs = 3}, *state);
    size_t used = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    long after = 0;
    for (; status != CUZK_OK; after++) {
        mem_fail_after(after);
        status = setup_write_lagrange(s.params, s.shape, &s.trapdoor, NULL, NULL, NULL, &err);
        mem_fail_after(-1);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        assert_int_equal(exists(s.form), status == CUZK_OK);
        assert_int_equal(mem_used_bytes(), used);
    }
    assert_true(after > 8);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_equal_the_derived_ones),
        cmocka_unit_test(infinity_among_the_inputs_is_marked),
        cmocka_unit_test(a_larger_form_passes_the_check),
        cmocka_unit_test(progress_reaches_the_whole),
        cmocka_unit_test(parameters_from_other_trapdoors_are_refused),
        cmocka_unit_test(forms_that_cannot_be_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
