/* The Lagrange form of a key that a setup made: it gives the sums that the key gives, and only it
   passes the check. */
#include "files.h"
#include "unit/backend/chain.h"
#include "unit/backend/points.h"

#include "backend/cpu/cpu.h"
#include "base/pool.h"
#include "groth16/lagrange_check.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "math/ntt.h"
#include "oracle/check.h"
#include "r1cs/transpose.h"

/* A circuit, a key for it and the key's form. */
struct sample {
    struct chain chain;
    struct shape *shape;
    size_t n;
    struct params *params;
    struct key_vectors key;
    struct backend_device *device;
    uint8_t *form; /* all points of it */
    size_t form_bytes;
};

static void sample_init(struct sample *s, void *folder, const struct chain *chain,
                        const struct setup_trapdoor *trapdoor)
{
    struct cuzk_error err;
    *s = (struct sample){.chain = *chain, .shape = chain_shape(chain)};
    const char *path = folder_path(folder, "chain.params");
    assert_ok(setup_write(s->shape, trapdoor, path, NULL, NULL, NULL, &err), err);
    assert_ok(params_open(path, &s->params, &err), err);
    s->key = s->params->key;
    s->n = (size_t)1 << s->shape->log2_domain;
    s->form_bytes = (s->n + s->shape->n_aux + s->shape->n_inputs) * G1_BYTES;
    s->form = mem_alloc(s->form_bytes, 1);
    s->key.lagrange.h = s->form;
    s->key.lagrange.l = s->form + s->n * G1_BYTES;
    s->key.lagrange.inputs = s->key.lagrange.l + s->key.v[KEY_L].n * G1_BYTES;
    const struct backend_options options = {.threads = 2};
    assert_ok(backend_cpu.open(&options, 0, &s->device, &err), err);
    assert_ok(backend_cpu.derive(s->device, s->shape, &s->key, &s->key.lagrange, NULL, NULL, &err),
              err);
}

static void sample_free(struct sample *s)
{
    backend_cpu.close(s->device);
    mem_free(s->form);
    params_close(s->params);
    shape_free(s->shape);
}

static void dev_sample(struct sample *s, void *folder, const struct chain *chain)
{
    struct setup_trapdoor trapdoor;
    setup_dev_trapdoor(&trapdoor);
    sample_init(s, folder, chain, &trapdoor);
}

/* --- The sums of a proof ---------------------------------------------------------------------- */

/* Values at w^j to values at 7·w^j. */
static void to_coset(struct fr *values, unsigned log2_n)
{
    struct cuzk_error err;
    struct fr power = fr_one;
    assert_ok(ntt_inverse(values, log2_n, NULL, NULL, &err), err);
    for (size_t k = 0; k < (size_t)1 << log2_n; k++) {
        fr_mul(&values[k], &values[k], &power);
        fr_mul(&power, &power, &fr_generator);
    }
    assert_ok(ntt_forward(values, log2_n, NULL, NULL, &err), err);
}

static void add_sum(const struct sample *s, const uint8_t *points, uint32_t n,
                    const struct fr *scalars, struct g1 *to)
{
    struct cuzk_error err;
    struct g1 sum;
    assert_ok(backend_cpu.sum(s->device, points, n, scalars, &sum, &err), err);
    g1_add(to, to, &sum);
}

/* Σ (A·B)(7·w^j)·h'_j + Σ aux_v·l'_v + Σ input_v·x_v */
static void sum_with_form(const struct sample *s, const struct circuit_program *program,
                          const struct witness *witness, struct g1 *out)
{
    struct fr *a = mem_alloc(s->n, sizeof *a);
    struct fr *b = mem_alloc(s->n, sizeof *b);
    struct fr *inputs, *aux;
    struct check_result result;
    struct cuzk_error err;
    assert_ok(cs_check(program, &result, NULL, NULL, &inputs, &aux, &err), err);
    assert_int_equal(result.unsatisfied, 0);
    assert_ok(shape_eval_rows(s->shape, witness, NULL, a, b, s->n, &err), err);
    to_coset(a, s->shape->log2_domain);
    to_coset(b, s->shape->log2_domain);
    for (size_t j = 0; j < s->n; j++)
        fr_mul(&a[j], &a[j], &b[j]);
    g1_set_infinity(out);
    add_sum(s, s->key.lagrange.h, (uint32_t)s->n, a, out);
    add_sum(s, s->key.lagrange.l, s->shape->n_aux, aux, out);
    add_sum(s, s->key.lagrange.inputs, s->shape->n_inputs, inputs, out);
    mem_free(a);
    mem_free(b);
    mem_free(inputs);
    mem_free(aux);
}

static const struct chain chains[] = {
    {.first = 3, .n_inputs = 1},
    {.first = 4, .n_inputs = 2},
    {.first = 5, .rounds = 12, .n_inputs = 3},
    {.first = 6, .rounds = 60, .n_inputs = 9},
};

static void the_form_gives_the_sums_of_the_key(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(chains); i++) {
        struct sample s;
        struct cuzk_error err;
        struct witness witness;
        struct backend_circuit *circuit;
        struct backend_sums sums;
        struct g1 found;
        dev_sample(&s, *state, &chains[i]);
        const struct circuit_program program = {chain_synthesize, &chains[i]};
        assert_ok(witness_synthesize(&program, s.shape, &witness, &err), err);
        assert_ok(backend_cpu.load(s.device, s.shape, &s.key, &circuit, &err), err);
        assert_ok(backend_cpu.prove(circuit, &(struct backend_partition){.witness = &witness},
                                    &sums, &err),
                  err);
        sum_with_form(&s, &program, &witness, &found);
        g1_add(&sums.h, &sums.h, &sums.l);
        assert_true(g1_equal(&found, &sums.h));
        backend_cpu.unload(circuit);
        witness_free(&witness);
        sample_free(&s);
    }
}

/* --- The check -------------------------------------------------------------------------------- */

static void right_forms_pass(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(chains); i++) {
        struct sample s;
        dev_sample(&s, *state, &chains[i]);
        for (unsigned threads = 0; threads <= 3; threads += 3) {
            struct cuzk_error err;
            struct pool *pool = threads ? pool_new(threads) : NULL;
            assert_ok(lagrange_check(&backend_cpu, s.device, s.shape, &s.key, pool, &err), err);
            pool_free(pool);
        }
        sample_free(&s);
    }
}

static void assert_wrong(const struct sample *s, const char *part)
{
    struct cuzk_error err;
    assert_int_equal(lagrange_check(&backend_cpu, s->device, s->shape, &s->key, NULL, &err),
                     CUZK_BAD_PARAMS);
    if (!strstr(err.text, part))
        fail_msg("\"%s\", not \"%s\"", err.text, part);
}

static const char part_h[] = "h of the Lagrange form";
static const char part_l[] = "l of the Lagrange form";

static void one_other_point_fails(void **state)
{
    struct sample s;
    dev_sample(&s, *state, &chains[2]);
    const size_t n_l = s.key.v[KEY_L].n;
    const struct {
        const char *part;
        size_t point; /* of the whole form */
    } cases[] = {
        {part_h, 0},
        {part_h, 1},
        {part_h, s.n / 2},
        {part_h, s.n - 1},
        {part_l, s.n},
        {part_l, s.n + 1},
        {part_l, s.n + n_l / 2},
        {part_l, s.n + n_l - 1},
        {part_l, s.n + n_l}, /* the constant 1 */
        {part_l, s.n + n_l + 1},
        {part_l, s.n + n_l + 2}, /* inputs without and with a part in C */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint8_t *point = s.form + cases[i].point * G1_BYTES;
        uint8_t right[G1_BYTES];
        memcpy(right, point, G1_BYTES);
        encode_multiple(point, &fr_generator);
        assert_wrong(&s, cases[i].part);
        memcpy(point, right, G1_BYTES);
    }
    struct cuzk_error err;
    assert_ok(lagrange_check(&backend_cpu, s.device, s.shape, &s.key, NULL, &err), err);
    sample_free(&s);
}

static void swap_points(uint8_t *x, uint8_t *y)
{
    uint8_t kept[G1_BYTES];
    memcpy(kept, x, G1_BYTES);
    memcpy(x, y, G1_BYTES);
    memcpy(y, kept, G1_BYTES);
}

static void swapped_points_fail(void **state)
{
    struct sample s;
    dev_sample(&s, *state, &chains[2]);
    swap_points(s.key.lagrange.h + 3 * G1_BYTES, s.key.lagrange.h + 4 * G1_BYTES);
    assert_wrong(&s, part_h);
    swap_points(s.key.lagrange.h + 3 * G1_BYTES, s.key.lagrange.h + 4 * G1_BYTES);
    swap_points(s.key.lagrange.l, s.key.lagrange.l + 5 * G1_BYTES);
    assert_wrong(&s, part_l);
    swap_points(s.key.lagrange.l, s.key.lagrange.l + 5 * G1_BYTES);
    swap_points(s.key.lagrange.inputs, s.key.lagrange.l);
    assert_wrong(&s, part_l);
    sample_free(&s);
}

static void the_form_of_another_key_fails(void **state)
{
    struct sample s, other;
    struct setup_trapdoor trapdoor;
    dev_sample(&s, *state, &chains[2]);
    setup_dev_trapdoor(&trapdoor);
    trapdoor.alpha = fr_generator; /* which is in l alone */
    sample_init(&other, *state, &chains[2], &trapdoor);
    assert_int_equal(s.form_bytes, other.form_bytes);
    memcpy(other.form, s.form, s.form_bytes);
    assert_wrong(&other, part_l);
    sample_free(&other);
    trapdoor.tau = fr_generator;
    sample_init(&other, *state, &chains[2], &trapdoor);
    memcpy(other.form, s.form, s.form_bytes);
    assert_wrong(&other, part_h);
    sample_free(&other);
    sample_free(&s);
}

static void what_cannot_be_checked_is_refused(void **state)
{
    struct sample s;
    struct cuzk_error err;
    dev_sample(&s, *state, &chains[1]);
    const struct backend *sim = backend_find("sim");
    assert_int_equal(lagrange_check(sim, s.device, s.shape, &s.key, NULL, &err),
                     CUZK_INVALID_ARGUMENT);
    s.form[2 * G1_BYTES] |= 0x80;
    assert_wrong(&s, "h of the Lagrange form, points from 2 on: ");
    s.key.v[KEY_H].n--;
    assert_wrong(&s, "section h has 2 points");
    s.key.v[KEY_H].n++;
    s.key.v[KEY_L].n++;
    assert_wrong(&s, "section l has ");
    s.key.v[KEY_L].n--;
    sample_free(&s);
}

/* --- Large forms ------------------------------------------------------------------------------ */

/* A backend for points whose bytes are their logarithms. */
static enum cuzk_status log_sum(struct backend_device *device, const uint8_t *points, uint32_t n,
                                const struct fr *scalars, struct g1 *out, struct cuzk_error *err)
{
    (void)device;
    (void)err;
    struct fr sum = fr_zero;
    for (uint32_t i = 0; i < n; i++) {
        struct fr term;
        memcpy(&term, points + (size_t)i * G1_BYTES, sizeof term);
        fr_mul(&term, &term, &scalars[i]);
        fr_add(&sum, &sum, &term);
    }
    g1_multiple(out, &sum);
    return CUZK_OK;
}

static const struct backend log_backend = {.name = "logarithms", .sum = log_sum};

static void put_log(uint8_t *points, size_t i, const struct fr *log)
{
    memcpy(points + i * G1_BYTES, log, sizeof *log);
}

/* f, or h' if ratio is 1/7, of the key's H. */
static void log_transform(const struct shape *shape, const struct fr *h, const struct fr *ratio,
                          struct fr *out)
{
    const size_t n = (size_t)1 << shape->log2_domain;
    struct cuzk_error err;
    struct fr factor;
    fr_pow(&factor, &fr_generator, n);
    fr_sub(&factor, &factor, &fr_one);
    fr_inv(&factor, &factor);
    for (size_t k = 0; k < n; k++) {
        fr_mul(&out[k], k < n - 1 ? &h[k] : &fr_zero, &factor);
        fr_mul(&factor, &factor, ratio);
    }
    assert_ok(ntt_inverse(out, shape->log2_domain, NULL, NULL, &err), err);
}

struct log_sample {
    struct shape *shape;
    size_t n;
    uint8_t *points; /* h, l, then the form */
    struct key_vectors key;
};

/* l' and the inputs' points; those of l are in the key. */
static void log_columns(struct log_sample *s, const struct fr *f)
{
    const struct shape *shape = s->shape;
    struct shape_columns columns;
    struct cuzk_error err;
    assert_ok(shape_columns_make(shape, MATRIX_C, &columns, &err), err);
    for (size_t v = 0; v < columns.n; v++) {
        struct fr log = fr_zero;
        const size_t aux = v - shape->n_inputs;
        if (v >= shape->n_inputs)
            memcpy(&log, s->key.v[KEY_L].at + aux * G1_BYTES, sizeof log);
        for (uint32_t e = columns.start[v]; e < columns.start[v + 1]; e++) {
            struct fr term;
            fr_mul(&term, &shape->coeffs[columns.coeff[e]], &f[columns.row[e]]);
            fr_sub(&log, &log, &term);
        }
        if (v < shape->n_inputs)
            put_log(s->key.lagrange.inputs, v, &log);
        else
            put_log(s->key.lagrange.l, aux, &log);
    }
    shape_columns_free(&columns);
}

static void log_sample_init(struct log_sample *s, const struct chain *chain)
{
    *s = (struct log_sample){.shape = chain_shape(chain)};
    s->n = (size_t)1 << s->shape->log2_domain;
    const size_t n_l = s->shape->n_aux;
    s->points = mem_zalloc(2 * s->n + 2 * n_l + s->shape->n_inputs, G1_BYTES);
    s->key = (struct key_vectors){
        .v = {[KEY_H] = {s->points, (uint32_t)s->n - 1},
              [KEY_L] = {s->points + s->n * G1_BYTES, (uint32_t)n_l}},
    };
    s->key.lagrange.h = s->points + (s->n + n_l) * G1_BYTES;
    s->key.lagrange.l = s->key.lagrange.h + s->n * G1_BYTES;
    s->key.lagrange.inputs = s->key.lagrange.l + n_l * G1_BYTES;
    struct fr *h = mem_alloc(s->n, sizeof *h);
    struct fr *to = mem_alloc(s->n, sizeof *to);
    struct fr ratio;
    uint64_t random = 1;
    for (size_t i = 0; i < s->n + n_l; i++) {
        const struct fr log = toy_element(&random);
        put_log(s->points, i, &log);
        if (i < s->n)
            h[i] = log;
    }
    fr_inv(&ratio, &fr_generator);
    log_transform(s->shape, h, &ratio, to);
    for (size_t j = 0; j < s->n; j++)
        put_log(s->key.lagrange.h, j, &to[j]);
    log_transform(s->shape, h, &fr_one, to);
    log_columns(s, to);
    mem_free(h);
    mem_free(to);
}

/* So many points that they are added up in several pieces, whose scalars are made in several. */
static void large_forms_are_checked_whole(void **state)
{
    (void)state;
    struct log_sample s;
    struct cuzk_error err;
    struct pool *pool = pool_new(3);
    log_sample_init(&s, &(struct chain){.first = 3, .rounds = 9000, .n_inputs = 5});
    assert_int_equal(s.n, 1 << 16);
    assert_ok(lagrange_check(&log_backend, NULL, s.shape, &s.key, NULL, &err), err);
    assert_ok(lagrange_check(&log_backend, NULL, s.shape, &s.key, pool, &err), err);
    static const size_t wrong[] = {1023, 1024, 2048, 2049, 30000, 35000};
    for (size_t i = 0; i < 2 * ARRAY_LEN(wrong); i++) {
        const bool in_h = i < ARRAY_LEN(wrong);
        uint8_t *point =
            (in_h ? s.key.lagrange.h : s.key.lagrange.l) + wrong[i % ARRAY_LEN(wrong)] * G1_BYTES;
        *point ^= 1;
        assert_int_equal(lagrange_check(&log_backend, NULL, s.shape, &s.key, pool, &err),
                         CUZK_BAD_PARAMS);
        assert_non_null(strstr(err.text, in_h ? part_h : part_l));
        *point ^= 1;
    }
    pool_free(pool);
    mem_free(s.points);
    shape_free(s.shape);
}

/* The device's part is tested with its sums. */
static void memory_may_fail(void **state)
{
    (void)state;
    struct log_sample s;
    log_sample_init(&s, &(struct chain){.first = 3, .rounds = 9, .n_inputs = 2});
    const size_t before = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    long after = 0;
    for (; status == CUZK_NO_MEMORY; after++) {
        mem_fail_after(after);
        status = lagrange_check(&log_backend, NULL, s.shape, &s.key, NULL, NULL);
        mem_fail_after(-1);
        assert_int_equal(mem_used_bytes(), before);
    }
    assert_int_equal(status, CUZK_OK);
    assert_true(after > 4);
    mem_free(s.points);
    shape_free(s.shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_form_gives_the_sums_of_the_key),
        cmocka_unit_test(right_forms_pass),
        cmocka_unit_test(one_other_point_fails),
        cmocka_unit_test(swapped_points_fail),
        cmocka_unit_test(the_form_of_another_key_fails),
        cmocka_unit_test(what_cannot_be_checked_is_refused),
        cmocka_unit_test(memory_may_fail),
        cmocka_unit_test(large_forms_are_checked_whole),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
