/* One body of tests for all backends: the five sums of a partition against their definition.

   The circuits are made up, with bits, full-size variables, several inputs and variables that are
   missing from A or B. The key's points are known multiples of the generators, so that a sum is
   known from the values alone. Backends that this build or machine does not have are left out. */
#include "points.h"
#include "unit/r1cs/toy.h"

#include "backend/backend.h"
#include "base/pool.h"
#include "math/ntt.h"
#include "oracle/check.h"

static const char *const names[] = {"cpu", "cuda"};

struct setting {
    const char *name; /* for messages */
    const struct backend *backend;
    struct backend_device *device;
};

/* A circuit with values and a key, and the logarithms of the expected sums. */
struct sample {
    struct shape *shape;
    struct witness witness;
    uint8_t *points[5]; /* h, l, a, b_g1, b_g2 */
    struct key_vectors key;
    struct fr h, l, a, b;
};

enum { LOG_H = 11, LOG_L = 1000003, LOG_A = 77, LOG_B = 5 };

/* As make_g1. */
static uint8_t *make_g2(uint64_t first, uint32_t n)
{
    uint8_t *bytes = mem_alloc(n, G2_BYTES);
    struct g2 point;
    struct fr log;
    fr_from_u64(&log, first);
    g2_from_affine(&point, g2_generator());
    g2_mul(&point, &point, &log);
    for (uint32_t i = 0; i < n; i++) {
        struct g2_affine affine;
        g2_to_affine(&affine, &point);
        g2_encode(bytes + (size_t)i * G2_BYTES, &affine);
        g2_add_affine(&point, &point, g2_generator());
    }
    return bytes;
}

/* *sum += value·(first + *rank); then the next rank. */
static void add_term(struct fr *sum, const struct fr *value, uint64_t first, uint32_t *rank)
{
    struct fr term;
    fr_from_u64(&term, first + (*rank)++);
    fr_mul(&term, &term, value);
    fr_add(sum, sum, &term);
}

static bool bit_at(const uint64_t *bitmap, uint32_t i)
{
    return bitmap[i / 64] >> (i % 64) & 1;
}

/* Expected l, a, b from all values; fills in the sections' counts. */
static void expect_witness_sums(struct sample *s, const struct fr *inputs, const struct fr *aux)
{
    struct cuzk_error err;
    struct density density;
    assert_ok(shape_density(s->shape, &density, &err), err);
    s->l = s->a = s->b = fr_zero;
    for (uint32_t i = 0; i < s->shape->n_inputs; i++) {
        add_term(&s->a, &inputs[i], LOG_A, &s->key.v[KEY_A].n);
        if (bit_at(density.b_input, i))
            add_term(&s->b, &inputs[i], LOG_B, &s->key.v[KEY_B_G1].n);
    }
    for (uint32_t i = 0; i < s->shape->n_aux; i++) {
        add_term(&s->l, &aux[i], LOG_L, &s->key.v[KEY_L].n);
        if (bit_at(density.a_aux, i))
            add_term(&s->a, &aux[i], LOG_A, &s->key.v[KEY_A].n);
        if (bit_at(density.b_aux, i))
            add_term(&s->b, &aux[i], LOG_B, &s->key.v[KEY_B_G1].n);
    }
    s->key.v[KEY_B_G2].n = s->key.v[KEY_B_G1].n;
    density_free(&density);
}

struct row_values {
    struct fr *a, *b;
    size_t n;
};

static void take_row(void *context, const struct fr *a, const struct fr *b, const struct fr *c)
{
    (void)c;
    struct row_values *rows = context;
    rows->a[rows->n] = *a;
    rows->b[rows->n++] = *b;
}

/* Expected h from the row values of the check driver. */
static void expect_h(struct sample *s, struct row_values *rows, const struct fr *inputs)
{
    const size_t domain = (size_t)1 << s->shape->log2_domain;
    struct cuzk_error err;
    for (uint32_t i = 0; i < s->shape->n_inputs; i++)
        rows->a[rows->n++] = inputs[i];
    assert_true(rows->n <= domain && 2 * rows->n > domain);
    assert_ok(
        ntt_quotient(rows->a, rows->b, s->shape->log2_domain, &ntt_arith_portable, NULL, &err),
        err);
    s->h = fr_zero;
    while (s->key.v[KEY_H].n < domain - 1)
        add_term(&s->h, &rows->a[s->key.v[KEY_H].n], LOG_H, &s->key.v[KEY_H].n);
}

static void sample_init(struct sample *s, const struct toy *toy)
{
    memset(s, 0, sizeof *s);
    struct circuit_program program = toy_program(toy);
    struct cuzk_error err;
    assert_ok(shape_record(&program, &s->shape, &err), err);
    assert_ok(witness_synthesize(&program, s->shape, &s->witness, &err), err);
    const size_t domain = (size_t)1 << s->shape->log2_domain;
    struct row_values rows = {mem_zalloc(domain, sizeof(struct fr)),
                              mem_zalloc(domain, sizeof(struct fr)), 0};
    struct check_result result;
    struct fr *inputs;
    struct fr *aux;
    assert_ok(cs_check(&program, &result, take_row, &rows, &inputs, &aux, &err), err);
    expect_witness_sums(s, inputs, aux);
    expect_h(s, &rows, inputs);
    mem_free(rows.a);
    mem_free(rows.b);
    mem_free(inputs);
    mem_free(aux);
    s->key.v[KEY_H].at = s->points[0] = make_g1(LOG_H, s->key.v[KEY_H].n);
    s->key.v[KEY_L].at = s->points[1] = make_g1(LOG_L, s->key.v[KEY_L].n);
    s->key.v[KEY_A].at = s->points[2] = make_g1(LOG_A, s->key.v[KEY_A].n);
    s->key.v[KEY_B_G1].at = s->points[3] = make_g1(LOG_B, s->key.v[KEY_B_G1].n);
    s->key.v[KEY_B_G2].at = s->points[4] = make_g2(LOG_B, s->key.v[KEY_B_G2].n);
}

static void sample_free(struct sample *s)
{
    for (size_t i = 0; i < ARRAY_LEN(s->points); i++)
        mem_free(s->points[i]);
    witness_free(&s->witness);
    shape_free(s->shape);
}

static void assert_sums(const char *backend, const struct sample *s,
                        const struct backend_sums *sums)
{
    assert_g1(backend, "h", &sums->h, &s->h);
    assert_g1(backend, "l", &sums->l, &s->l);
    assert_g1(backend, "a", &sums->a, &s->a);
    assert_g1(backend, "b_g1", &sums->b_g1, &s->b);
    struct g2 expected;
    g2_from_affine(&expected, g2_generator());
    g2_mul(&expected, &expected, &s->b);
    if (!g2_equal(&sums->b_g2, &expected))
        fail_msg("%s: sum b_g2 is wrong", backend);
}

/* Opens device 0; false if this build or machine has no such backend. */
static bool setting_open(struct setting *setting, const char *name, unsigned threads)
{
    const struct backend_options options = {.threads = threads};
    struct cuzk_error err;
    unsigned n;
    *setting = (struct setting){.name = name, .backend = backend_find(name)};
    if (!setting->backend || setting->backend->count(&options, &n, &err) == CUZK_NO_DEVICE)
        return false;
    assert_ok(setting->backend->open(&options, 0, &setting->device, &err), err);
    assert_non_null(setting->backend->describe(setting->device));
    assert_true(setting->backend->makes_proofs);
    return true;
}

static void check_sample(const struct setting *setting, const struct sample *s)
{
    struct backend_circuit *circuit;
    struct backend_sums sums;
    struct cuzk_error err;
    assert_ok(setting->backend->load(setting->device, s->shape, &s->key, &circuit, &err), err);
    assert_true(setting->backend->bytes(circuit) > 0);
    for (unsigned i = 0; i < 2; i++) { /* a loaded circuit serves again */
        assert_ok(setting->backend->prove(
                      circuit, &(struct backend_partition){.witness = &s->witness}, &sums, &err),
                  err);
        assert_sums(setting->name, s, &sums);
    }
    setting->backend->unload(circuit);
}

static void test_sums(void **state)
{
    (void)state;
    const struct toy toys[] = {
        {.values = 1, .rounds = 1},
        {.values = 2, .rounds = 7},
        {.values = 3, .rounds = 7, .bits_only = true},
        {.values = 4, .rounds = 20, .one_more_bit = true},
    };
    for (size_t t = 0; t < ARRAY_LEN(toys); t++) {
        struct sample sample;
        sample_init(&sample, &toys[t]);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            for (unsigned threads = 1; threads <= 3; threads++) {
                struct setting setting;
                if (!setting_open(&setting, names[i], threads))
                    continue;
                check_sample(&setting, &sample);
                setting.backend->close(setting.device);
            }
        }
        sample_free(&sample);
    }
}

static void test_key_must_fit(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, &(struct toy){.values = 1, .rounds = 2});
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct setting setting;
        if (!setting_open(&setting, names[i], 1))
            continue;
        uint32_t *counts[] = {&sample.key.v[KEY_H].n, &sample.key.v[KEY_L].n,
                              &sample.key.v[KEY_A].n, &sample.key.v[KEY_B_G1].n,
                              &sample.key.v[KEY_B_G2].n};
        static const char *const sections[] = {"section h ", "section l ", "section a ",
                                               "section b_g1 ", "section b_g2 "};
        for (size_t k = 0; k < ARRAY_LEN(counts); k++) {
            struct backend_circuit *circuit;
            struct cuzk_error err;
            --*counts[k];
            assert_int_equal(
                setting.backend->load(setting.device, sample.shape, &sample.key, &circuit, &err),
                CUZK_BAD_PARAMS);
            assert_non_null(strstr(err.text, sections[k]));
            ++*counts[k];
        }
        setting.backend->close(setting.device);
    }
    sample_free(&sample);
}

static void test_malformed_point(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, &(struct toy){.values = 1, .rounds = 2});
    struct setting setting;
    assert_true(setting_open(&setting, "cpu", 2));
    sample.points[0][5 * G1_BYTES] |= 0x40;
    struct backend_circuit *circuit;
    struct backend_sums sums;
    struct cuzk_error err;
    assert_ok(setting.backend->load(setting.device, sample.shape, &sample.key, &circuit, &err),
              err);
    assert_int_equal(setting.backend->prove(circuit,
                                            &(struct backend_partition){.witness = &sample.witness},
                                            &sums, &err),
                     CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, "section h, point 5"));
    setting.backend->unload(circuit);
    setting.backend->close(setting.device);
    sample_free(&sample);
}

/* Another circuit's witness is refused, not read past its end. */
static void test_witness_must_fit(void **state)
{
    (void)state;
    struct sample sample;
    struct sample other;
    sample_init(&sample, &(struct toy){.values = 1, .rounds = 2});
    sample_init(&other, &(struct toy){.values = 1, .rounds = 1});
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct setting setting;
        struct backend_circuit *circuit;
        struct backend_sums sums;
        struct cuzk_error err;
        if (!setting_open(&setting, names[i], 1))
            continue;
        assert_ok(setting.backend->load(setting.device, sample.shape, &sample.key, &circuit, &err),
                  err);
        assert_int_equal(
            setting.backend->prove(circuit, &(struct backend_partition){.witness = &other.witness},
                                   &sums, &err),
            CUZK_INVALID_ARGUMENT);
        setting.backend->unload(circuit);
        setting.backend->close(setting.device);
    }
    sample_free(&other);
    sample_free(&sample);
}

/* --- Sums of given points --------------------------------------------------------------------- */

struct terms {
    uint8_t *points;
    struct fr *scalars;
    uint32_t n;
    struct fr expected; /* logarithm of the sum */
};

static void terms_add(struct terms *terms, const struct fr *log, const struct fr *scalar)
{
    struct fr product;
    encode_multiple(terms->points + (size_t)terms->n * G1_BYTES, log);
    terms->scalars[terms->n++] = *scalar;
    fr_mul(&product, log, scalar);
    fr_add(&terms->expected, &terms->expected, &product);
}

/* Every pair of logarithm and scalar out of the edge values: infinity is there, and equal and
   opposite points with equal and opposite scalars. Then others up to n. */
static void terms_init(struct terms *terms, uint32_t n)
{
    struct fr edges[8] = {fr_zero, fr_one, fr_minus_one, fr_generator};
    fr_neg(&edges[4], &fr_generator);
    fr_pow2(&edges[5], 254);
    fr_pow2(&edges[6], 128);
    fr_sub(&edges[7], &edges[6], &fr_one);
    uint64_t random = 1;
    *terms = (struct terms){.points = mem_alloc(n, G1_BYTES),
                            .scalars = mem_alloc(n, sizeof *terms->scalars),
                            .expected = fr_zero};
    while (terms->n < n) {
        const uint32_t i = terms->n;
        struct fr log = edges[i % 8];
        struct fr scalar = edges[(i + i / 8) % 8];
        if (i >= 64) {
            log = toy_element(&random);
            scalar = toy_element(&random);
        }
        terms_add(terms, &log, &scalar);
    }
}

static void terms_free(struct terms *terms)
{
    mem_free(terms->points);
    mem_free(terms->scalars);
}

static void test_sum(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 10, 300};
    for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
        struct terms terms;
        terms_init(&terms, counts[c]);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            for (unsigned threads = 1; threads <= 3; threads++) {
                struct setting setting;
                struct cuzk_error err;
                struct g1 sum;
                if (!setting_open(&setting, names[i], threads))
                    continue;
                if (setting.backend->sum) {
                    assert_ok(setting.backend->sum(setting.device, terms.points, terms.n,
                                                   terms.scalars, &sum, &err),
                              err);
                    assert_g1(names[i], "of given points", &sum, &terms.expected);
                }
                setting.backend->close(setting.device);
            }
        }
        terms_free(&terms);
    }
}

/* Bytes that are no point, and infinity with something behind it. */
static void test_sum_of_malformed_points(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct setting setting;
        if (!setting_open(&setting, names[i], 2))
            continue;
        for (int first = 0x40; setting.backend->sum && first <= 0xff; first += 0xbf) {
            struct terms terms;
            struct cuzk_error err;
            struct g1 sum;
            terms_init(&terms, 20);
            memset(terms.points + 5 * G1_BYTES, 0, G1_BYTES);
            terms.points[5 * G1_BYTES] = (uint8_t)first;
            terms.points[6 * G1_BYTES - 1] = 1;
            assert_int_equal(setting.backend->sum(setting.device, terms.points, terms.n,
                                                  terms.scalars, &sum, &err),
                             CUZK_BAD_PARAMS);
            assert_non_null(strstr(err.text, "point"));
            terms_free(&terms);
        }
        setting.backend->close(setting.device);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, &(struct toy){.values = 2, .rounds = 2});
    const struct backend_options options = {.threads = 1};
    const struct backend *cpu = backend_find("cpu");
    struct terms terms;
    terms_init(&terms, 70);
    enum cuzk_status status = CUZK_NO_MEMORY;
    long after = 0;
    for (; status == CUZK_NO_MEMORY; after++) {
        const size_t before = mem_used_bytes();
        struct backend_device *device = NULL;
        struct backend_circuit *circuit = NULL;
        struct backend_sums sums;
        struct g1 sum;
        mem_fail_after(after);
        status = cpu->open(&options, 0, &device, NULL);
        if (status == CUZK_OK)
            status = cpu->load(device, sample.shape, &sample.key, &circuit, NULL);
        if (status == CUZK_OK)
            status = cpu->prove(circuit, &(struct backend_partition){.witness = &sample.witness},
                                &sums, NULL);
        if (status == CUZK_OK)
            status = cpu->sum(device, terms.points, terms.n, terms.scalars, &sum, NULL);
        mem_fail_after(-1);
        if (status == CUZK_OK) {
            assert_sums("cpu", &sample, &sums);
            assert_g1("cpu", "of given points", &sum, &terms.expected);
        }
        cpu->unload(circuit);
        cpu->close(device);
        assert_int_equal(mem_used_bytes(), before);
    }
    assert_int_equal(status, CUZK_OK);
    assert_true(after > 20);
    terms_free(&terms);
    sample_free(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_key_must_fit),
        cmocka_unit_test(test_malformed_point),
        cmocka_unit_test(test_witness_must_fit),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_sum_of_malformed_points),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
