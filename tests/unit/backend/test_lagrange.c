/* The Lagrange form that backends make of a key, point by point. The key's points are known
   multiples of the generator, so that the sums of the form's definition are sums of numbers. */
#include "chain.h"
#include "points.h"
#include "support/progress.h"

#include "backend/backend.h"
#include "r1cs/transpose.h"

static const char *const names[] = {"cpu", "cuda"};

/* A circuit, the sections h and l of a key for it, room for the form. */
struct sample {
    struct shape *shape;
    size_t n;
    struct fr *h, *l; /* logarithms */
    uint8_t *points;  /* all points: h, l, then the form's */
    struct key_vectors key;
    struct lagrange_points form;
};

static void encode_all(uint8_t *points, const struct fr *logs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        encode_multiple(points + i * G1_BYTES, &logs[i]);
}

static struct fr *random_logs(uint64_t seed, size_t n)
{
    struct fr *logs = mem_alloc(n, sizeof *logs);
    for (size_t i = 0; i < n; i++) {
        do {
            logs[i] = toy_element(&seed); /* the key's points are finite */
        } while (fr_is_zero(&logs[i]));
    }
    return logs;
}

static void sample_init(struct sample *s, const struct chain *chain)
{
    memset(s, 0, sizeof *s);
    s->shape = chain_shape(chain);
    s->n = (size_t)1 << s->shape->log2_domain;
    const uint32_t n_l = s->shape->n_aux;
    s->h = random_logs(1, s->n - 1);
    s->l = random_logs(2, n_l);
    s->points = mem_zalloc(2 * s->n + 2 * n_l + s->shape->n_inputs, G1_BYTES);
    uint8_t *l = s->points + s->n * G1_BYTES;
    encode_all(s->points, s->h, s->n - 1);
    encode_all(l, s->l, n_l);
    s->form.h = l + n_l * G1_BYTES;
    s->form.l = s->form.h + s->n * G1_BYTES;
    s->form.inputs = s->form.l + n_l * G1_BYTES;
    s->key =
        (struct key_vectors){.v = {[KEY_H] = {s->points, (uint32_t)s->n - 1}, [KEY_L] = {l, n_l}}};
}

static void sample_free(struct sample *s)
{
    mem_free(s->h);
    mem_free(s->l);
    mem_free(s->points);
    shape_free(s->shape);
}

/* 1/(n·d) · Σ_k ratio^k·w^-jk·h_k */
static struct fr transformed(const struct sample *s, const struct fr *ratio, size_t j)
{
    struct fr power, factor, sum = fr_zero, divisor;
    fr_omega(&power, s->shape->log2_domain);
    fr_inv(&power, &power);
    fr_pow(&power, &power, j);
    fr_mul(&power, &power, ratio);
    factor = fr_one;
    for (size_t k = 0; k < s->n - 1; k++) {
        struct fr term;
        fr_mul(&term, &factor, &s->h[k]);
        fr_add(&sum, &sum, &term);
        fr_mul(&factor, &factor, &power);
    }
    fr_pow(&divisor, &fr_generator, s->n);
    fr_sub(&divisor, &divisor, &fr_one);
    fr_from_u64(&factor, s->n);
    fr_mul(&divisor, &divisor, &factor);
    fr_inv(&divisor, &divisor);
    fr_mul(&sum, &sum, &divisor);
    return sum;
}

static void assert_point(const char *backend, const char *part, size_t i, const uint8_t *found,
                         const struct fr *log)
{
    uint8_t expected[G1_BYTES];
    encode_multiple(expected, log);
    if (memcmp(found + i * G1_BYTES, expected, G1_BYTES) != 0)
        fail_msg("%s: point %zu of %s is wrong", backend, i, part);
}

static void assert_form(const char *backend, const struct sample *s)
{
    const uint32_t n_inputs = s->shape->n_inputs;
    struct shape_columns columns;
    struct cuzk_error err;
    struct fr *f = mem_alloc(s->n, sizeof *f);
    struct fr ratio;
    fr_inv(&ratio, &fr_generator);
    for (size_t j = 0; j < s->n; j++) {
        const struct fr log = transformed(s, &ratio, j);
        assert_point(backend, "h", j, s->form.h, &log);
        f[j] = transformed(s, &fr_one, j);
    }
    assert_ok(shape_columns_make(s->shape, MATRIX_C, &columns, &err), err);
    for (size_t v = 0; v < columns.n; v++) {
        struct fr log = v < n_inputs ? fr_zero : s->l[v - n_inputs];
        for (uint32_t e = columns.start[v]; e < columns.start[v + 1]; e++) {
            struct fr term;
            fr_mul(&term, &s->shape->coeffs[columns.coeff[e]], &f[columns.row[e]]);
            fr_sub(&log, &log, &term);
        }
        if (v < n_inputs)
            assert_point(backend, "the inputs", v, s->form.inputs, &log);
        else
            assert_point(backend, "l", v - n_inputs, s->form.l, &log);
    }
    shape_columns_free(&columns);
    mem_free(f);
}

/* A backend that makes forms, with its device 0; false if this build or machine has none of that
   name. */
static bool device_open(const char *name, unsigned threads, const struct backend **backend,
                        struct backend_device **device)
{
    const struct backend_options options = {.threads = threads};
    struct cuzk_error err;
    unsigned n;
    *backend = backend_find(name);
    if (!*backend || !(*backend)->derive || (*backend)->count(&options, &n, &err) == CUZK_NO_DEVICE)
        return false;
    assert_ok((*backend)->open(&options, 0, device, &err), err);
    return true;
}

static void check_sample(struct sample *s, const char *name, unsigned threads)
{
    const struct backend *backend;
    struct backend_device *device;
    struct cuzk_error err;
    struct progress_log log = {0};
    if (!device_open(name, threads, &backend, &device))
        return;
    assert_ok(backend->derive(device, s->shape, &s->key, &s->form, log_progress, &log, &err), err);
    assert_form(name, s);
    assert_true(log.calls > 1 && log.last > 0.999 && log.last <= 1);
    memset(s->form.h, 0, s->n * G1_BYTES);
    assert_ok(backend->derive(device, s->shape, &s->key, &s->form, NULL, NULL, &err), err);
    assert_form(name, s);
    backend->close(device);
}

static void test_points(void **state)
{
    (void)state;
    static const struct {
        struct chain chain;
        unsigned log2_domain;
    } cases[] = {
        {{.first = 3, .n_inputs = 1}, 1},
        {{.first = 4, .n_inputs = 2}, 2},
        {{.first = 5, .rounds = 2, .n_inputs = 3}, 4},
        {{.first = 6, .rounds = 29, .n_inputs = 5}, 7},
    };
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        struct sample sample;
        sample_init(&sample, &cases[c].chain);
        assert_int_equal(sample.shape->log2_domain, cases[c].log2_domain);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            for (unsigned threads = 1; threads <= 3; threads += 2)
                check_sample(&sample, names[i], threads);
        }
        sample_free(&sample);
    }
}

/* Every second input is in no row of C. */
static void test_infinity_among_the_inputs(void **state)
{
    (void)state;
    static const uint8_t infinity[G1_BYTES] = {0x40};
    struct sample s;
    sample_init(&s, &(struct chain){.first = 5, .rounds = 2, .n_inputs = 5});
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct backend *backend;
        struct backend_device *device;
        struct cuzk_error err;
        if (!device_open(names[i], 2, &backend, &device))
            continue;
        assert_ok(backend->derive(device, s.shape, &s.key, &s.form, NULL, NULL, &err), err);
        for (size_t v = 0; v < 5; v++) {
            const bool is = memcmp(s.form.inputs + v * G1_BYTES, infinity, G1_BYTES) == 0;
            assert_int_equal(is, v % 2 == 1);
        }
        backend->close(device);
    }
    sample_free(&s);
}

static void assert_refused(struct sample *s, enum cuzk_status status, const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct backend *backend;
        struct backend_device *device;
        struct cuzk_error err;
        if (!device_open(names[i], 2, &backend, &device))
            continue;
        assert_int_equal(backend->derive(device, s->shape, &s->key, &s->form, NULL, NULL, &err),
                         status);
        if (!strstr(err.text, text))
            fail_msg("%s: \"%s\", not \"%s\"", names[i], err.text, text);
        backend->close(device);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    struct sample s;
    sample_init(&s, &(struct chain){.first = 5, .rounds = 7, .n_inputs = 2});
    s.key.v[KEY_H].n--;
    assert_refused(&s, CUZK_BAD_PARAMS, "section h has ");
    s.key.v[KEY_H].n++;
    s.key.v[KEY_L].n++;
    assert_refused(&s, CUZK_BAD_PARAMS, "section l has ");
    s.key.v[KEY_L].n--;
    s.points[5 * G1_BYTES] |= 0x40;
    assert_refused(&s, CUZK_BAD_PARAMS, "section h");
    s.points[5 * G1_BYTES] ^= 0x40;
    s.points[(s.n + 3) * G1_BYTES] |= 0x80;
    assert_refused(&s, CUZK_BAD_PARAMS, "section l");
    sample_free(&s);
}

/* Keys that no setup makes, whose form has infinity where there is no place for it. */
static void test_infinite_results(void **state)
{
    (void)state;
    struct sample s;
    sample_init(&s, &(struct chain){.first = 4, .n_inputs = 2});
    assert_int_equal(s.n, 4);
    /* h'_0 is H_0 + H_1/7 + H_2/49, up to a factor: 1 + 1 - 2. */
    struct fr square;
    fr_sqr(&square, &fr_generator);
    fr_double(&square, &square);
    s.h[0] = fr_one;
    s.h[1] = fr_generator;
    fr_neg(&s.h[2], &square);
    encode_all(s.points, s.h, 3);
    assert_refused(&s, CUZK_INVALID_ARGUMENT, "h of the Lagrange form, point 0");
    sample_free(&s);

    /* C is all that variable 0 has: L_0 is what is taken from it. Rows 0 and 1 are 1·x and 2·x. */
    sample_init(&s, &(struct chain){.first = 4, .n_inputs = 2});
    const struct fr f[] = {transformed(&s, &fr_one, 0), transformed(&s, &fr_one, 1)};
    fr_double(&s.l[0], &f[1]);
    fr_add(&s.l[0], &s.l[0], &f[0]);
    encode_multiple(s.points + s.n * G1_BYTES, &s.l[0]);
    assert_refused(&s, CUZK_INVALID_ARGUMENT, "l of the Lagrange form, point 0");
    sample_free(&s);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct sample s;
    sample_init(&s, &(struct chain){.first = 5, .rounds = 2, .n_inputs = 3});
    const struct backend *cpu;
    struct backend_device *device;
    assert_true(device_open("cpu", 1, &cpu, &device));
    const size_t before = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    long after = 0;
    for (; status == CUZK_NO_MEMORY; after++) {
        mem_fail_after(after);
        status = cpu->derive(device, s.shape, &s.key, &s.form, NULL, NULL, NULL);
        mem_fail_after(-1);
        assert_int_equal(mem_used_bytes(), before);
    }
    assert_int_equal(status, CUZK_OK);
    assert_true(after > 4);
    assert_form("cpu", &s);
    cpu->close(device);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),    cmocka_unit_test(test_infinity_among_the_inputs),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_infinite_results),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
