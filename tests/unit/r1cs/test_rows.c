/* The packed witness and the row values made from it, against the check driver, which knows neither
   templates nor packing. */
#include "toy.h"

#include "base/hash.h"
#include "base/pool.h"
#include "oracle/check.h"
#include "oracle/digest.h"
#include "oracle/row_check.h"
#include "r1cs/value_digest.h"

/* All values of a circuit as the check driver sees them. */
struct expected {
    struct check_result result;
    struct fr *inputs;
    struct fr *aux;
    struct fr *rows[MATRIX_COUNT]; /* with the input rows, zeros up to the domain */
    size_t domain;
    uint64_t n_rows;
};

static void keep_row(void *context, const struct fr *a, const struct fr *b, const struct fr *c)
{
    struct expected *expected = context;
    assert_true(expected->n_rows < expected->domain);
    expected->rows[MATRIX_A][expected->n_rows] = *a;
    expected->rows[MATRIX_B][expected->n_rows] = *b;
    expected->rows[MATRIX_C][expected->n_rows] = *c;
    expected->n_rows++;
}

static struct expected expect(const struct circuit_program *program, const struct shape *shape)
{
    struct cuzk_error err = {0};
    struct expected expected = {.domain = (size_t)1 << shape->log2_domain};
    for (int m = 0; m < MATRIX_COUNT; m++) {
        expected.rows[m] = mem_zalloc(expected.domain, sizeof(struct fr));
        assert_non_null(expected.rows[m]);
    }
    assert_ok(cs_check(program, &expected.result, keep_row, &expected, &expected.inputs,
                       &expected.aux, &err),
              err);
    assert_int_equal(expected.n_rows, shape->n_rows);
    memcpy(expected.rows[MATRIX_A] + shape->n_rows, expected.inputs,
           shape->n_inputs * sizeof(struct fr));
    return expected;
}

static void expected_free(struct expected *expected)
{
    for (int m = 0; m < MATRIX_COUNT; m++)
        mem_free(expected->rows[m]);
    mem_free(expected->inputs);
    mem_free(expected->aux);
}

static void assert_witness(const struct witness *witness, const struct shape *shape,
                           const struct expected *expected)
{
    struct cuzk_error err = {0};
    uint64_t *map;
    assert_ok(shape_full_bitmap(shape, &map, &err), err);
    uint32_t full = 0;
    for (uint32_t i = 0; i < shape->n_aux; i++) {
        bool bit = witness->bits[i / 64] >> (i % 64) & 1;
        struct fr value = bit ? fr_one : fr_zero;
        if (map[i / 64] >> (i % 64) & 1) {
            assert_false(bit);
            value = witness->full[full++];
        }
        assert_memory_equal(&value, &expected->aux[i], sizeof value);
    }
    assert_int_equal(full, shape->n_full);
    assert_memory_equal(witness->inputs, expected->inputs, shape->n_inputs * sizeof(struct fr));
    for (size_t i = shape->n_aux; i < witness_plane_words(shape->n_aux) * 64; i++)
        assert_false(witness->bits[i / 64] >> (i % 64) & 1);
    mem_free(map);
}

static void assert_blocks(const struct row_evaluator *evaluator, const struct witness *witness,
                          struct pool *pool, const struct expected *expected, size_t block)
{
    struct cuzk_error err = {0};
    struct fr *values[MATRIX_COUNT];
    for (int m = 0; m < MATRIX_COUNT; m++) {
        values[m] = mem_alloc(block, sizeof *values[m]);
        assert_non_null(values[m]);
    }
    for (size_t first = 0; first < expected->domain; first += block) {
        size_t count = expected->domain - first < block ? expected->domain - first : block;
        for (int m = 0; m < MATRIX_COUNT; m++)
            memset(values[m], 0xee, block * sizeof *values[m]);
        assert_ok(row_evaluator_run(evaluator, witness, pool, first, count, values, &err), err);
        for (int m = 0; m < MATRIX_COUNT; m++)
            assert_memory_equal(values[m], expected->rows[m] + first, count * sizeof(struct fr));
    }
    for (int m = 0; m < MATRIX_COUNT; m++)
        mem_free(values[m]);
}

static void assert_check(const struct row_evaluator *evaluator, const struct witness *witness,
                         struct pool *pool, const struct expected *expected)
{
    struct cuzk_error err = {0};
    struct row_check check;
    assert_ok(row_check_run(evaluator, witness, pool, &check, &err), err);
    assert_int_equal(check.unsatisfied, expected->result.unsatisfied);
    if (check.unsatisfied > 0)
        assert_int_equal(check.first_unsatisfied, expected->result.first_unsatisfied);
}

/* What the chunks of one sequence were, and where the next one starts. */
struct chunk_check {
    const struct fr *values[VALUES_COUNT];
    size_t n[VALUES_COUNT];
    size_t at[VALUES_COUNT];
    uint32_t next[VALUES_COUNT];
};

enum { CHUNK = 100 };

static void assert_hash(const uint8_t digest[32], const struct fr *values, size_t n)
{
    struct hasher *hasher = sha256_new();
    uint8_t bytes[FR_BYTES], expected[SHA256_BYTES];
    for (size_t i = 0; i < n; i++) {
        fr_to_bytes(bytes, &values[i]);
        hasher_update(hasher, bytes, sizeof bytes);
    }
    hasher_final(hasher, expected);
    assert_memory_equal(digest, expected, sizeof expected);
}

static void check_chunk(void *context, enum value_sequence sequence, uint32_t chunk,
                        const uint8_t sha256[32])
{
    struct chunk_check *check = context;
    const size_t at = check->at[sequence], left = check->n[sequence] - at;
    const size_t n = left < CHUNK ? left : CHUNK;
    assert_true(n > 0);
    assert_int_equal(chunk, check->next[sequence]++);
    assert_hash(sha256, check->values[sequence] + at, n);
    check->at[sequence] += n;
}

static void assert_value_digests(const struct row_evaluator *evaluator,
                                 const struct witness *witness, struct pool *pool,
                                 const struct expected *expected)
{
    struct cuzk_error err = {0};
    struct value_digests digests;
    const size_t n_rows = expected->n_rows + witness->n_inputs;
    struct chunk_check check = {
        .values = {expected->rows[MATRIX_A], expected->rows[MATRIX_B], expected->rows[MATRIX_C],
                   expected->aux, expected->inputs},
        .n = {n_rows, n_rows, n_rows, witness->n_aux, witness->n_inputs},
    };
    const struct value_chunks chunks = {CHUNK, check_chunk, &check};
    assert_ok(value_digests_make(evaluator, witness, pool, &chunks, &digests, &err), err);
    assert_memory_equal(check.at, check.n, sizeof check.n);
    assert_hash(digests.inputs, expected->inputs, witness->n_inputs);
    assert_hash(digests.aux, expected->aux, witness->n_aux);
    for (int m = 0; m < MATRIX_COUNT; m++)
        assert_hash(digests.rows[m], expected->rows[m], n_rows);
}

/* Witness, row values in one piece and in blocks, check: all as the check driver has them. */
static void assert_all(const struct circuit_program *program, struct pool *pool)
{
    struct cuzk_error err = {0};
    struct shape *shape;
    struct witness witness;
    struct row_evaluator *evaluator;
    assert_ok(shape_record(program, &shape, &err), err);
    struct expected expected = expect(program, shape);
    assert_ok(witness_synthesize(program, shape, &witness, &err), err);
    assert_witness(&witness, shape, &expected);

    struct fr *a = mem_alloc(expected.domain, sizeof *a);
    struct fr *b = mem_alloc(expected.domain, sizeof *b);
    assert_ok(shape_eval_rows(shape, &witness, pool, a, b, expected.domain, &err), err);
    assert_memory_equal(a, expected.rows[MATRIX_A], expected.domain * sizeof *a);
    assert_memory_equal(b, expected.rows[MATRIX_B], expected.domain * sizeof *b);
    mem_free(a);
    mem_free(b);

    assert_ok(row_evaluator_new(shape, &evaluator, &err), err);
    assert_blocks(evaluator, &witness, pool, &expected, expected.domain);
    assert_blocks(evaluator, &witness, pool, &expected, 1000);
    if (expected.domain <= 4096)
        assert_blocks(evaluator, &witness, pool, &expected, 7);
    assert_check(evaluator, &witness, pool, &expected);
    assert_value_digests(evaluator, &witness, pool, &expected);
    row_evaluator_free(evaluator);
    witness_free(&witness);
    expected_free(&expected);
    shape_free(shape);
}

static void test_toy_circuits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct toy toy = {
            .values = seed, .rounds = (unsigned)(3 * seed), .bits_only = seed % 3 == 2};
        struct circuit_program program = toy_program(&toy);
        assert_all(&program, NULL);
    }
}

static void test_with_pool(void **state)
{
    (void)state;
    struct pool *pool = pool_new(4);
    struct toy toy = {.values = 77, .rounds = 900}; /* several pieces for the pool */
    struct circuit_program program = toy_program(&toy);
    assert_all(&program, pool);
    pool_free(pool);
}

static void test_known_rows(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint32_t n_inputs;
        uint32_t n_aux;
    } known[] = {
        {"gadget-rows/to_bits_le.txt.gz", 1, 256},
        {"gadget-rows/insert8.txt.gz", 1, 33},
        {"gadget-rows/select8.txt.gz", 1, 18},
        {"gadget-rows/poseidon2.txt.gz", 1, 313},
        {"gadget-rows/poseidon11.txt.gz", 1, 609},
        {"gadget-rows/pack_into_inputs_300_bits.txt.gz", 3, 300},
        {"gadget-rows/sha256_of_512_allocated_bits.txt.gz", 1, 45340},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        struct text_circuit circuit =
            text_circuit_load(known[i].file, 0, known[i].n_inputs, known[i].n_aux);
        struct circuit_program program = text_program(&circuit);
        assert_all(&program, NULL);
        text_circuit_free(&circuit);
    }
}

/* The lines "row N a b c" of a text. */
static void assert_row_values(const struct text_circuit *circuit, size_t total_rows)
{
    struct cuzk_error err = {0};
    struct circuit_program program = text_program(circuit);
    struct shape *shape;
    struct witness witness;
    struct row_evaluator *evaluator;
    struct row_check check;
    assert_ok(shape_record(&program, &shape, &err), err);
    assert_ok(witness_synthesize(&program, shape, &witness, &err), err);
    assert_ok(row_evaluator_new(shape, &evaluator, &err), err);
    assert_int_equal(shape->n_rows + shape->n_inputs, total_rows);
    struct fr values[MATRIX_COUNT][16];
    struct fr *const out[MATRIX_COUNT] = {values[0], values[1], values[2]};
    assert_ok(row_evaluator_run(evaluator, &witness, NULL, 0, total_rows, out, &err), err);
    const char *at = strstr(circuit->text, "\nrow 0 ");
    for (size_t row = 0; row < total_rows; row++) {
        at = strchr(at + 5, ' ');
        for (int m = 0; m < MATRIX_COUNT; m++) {
            uint8_t bytes[FR_BYTES];
            char hex[65];
            snprintf(hex, sizeof hex, "%s", at + 1);
            fr_to_bytes(bytes, &values[m][row]);
            assert_hex_equal(bytes, sizeof bytes, hex);
            at += 65;
        }
    }
    assert_ok(row_check_run(evaluator, &witness, NULL, &check, &err), err);
    assert_int_equal(check.unsatisfied, 0);
    row_evaluator_free(evaluator);
    witness_free(&witness);
    shape_free(shape);
}

static void test_reference_row_values(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        size_t n_rows;
        uint32_t n_inputs;
        uint32_t n_aux;
    } known[] = {
        {"reference/tiny/t1-mul.txt", 1, 2, 2},
        {"reference/tiny/t2-density.txt", 4, 3, 7},
        {"reference/tiny/t3-pow2.txt", 6, 2, 6},
        {"reference/tiny/t4-pow2-plus1.txt", 7, 2, 7},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        struct text_circuit circuit =
            text_circuit_load(known[i].file, known[i].n_rows, known[i].n_inputs, known[i].n_aux);
        circuit.given_values = true;
        assert_row_values(&circuit, known[i].n_rows + known[i].n_inputs);
        text_circuit_free(&circuit);
    }
}

/* --- Sums of words at the edge of 256 bits ---------------------------------------------------- */

struct wide {
    unsigned top;    /* bits with the coefficients 2^0 … 2^(top-1) */
    unsigned copies; /* how many bits have each of them */
    bool minus_one;  /* the constant is r − 1 instead of 0 */
};

static void wide_synthesize(struct cs *cs, const void *input)
{
    const struct wide *wide = input;
    struct lc a = {0}, b = {0};
    for (unsigned copy = 0; copy < wide->copies; copy++) {
        for (unsigned i = 0; i < wide->top; i++) {
            struct fr power;
            fr_pow2(&power, i);
            struct var bit = toy_forced_bit(cs, true);
            lc_add(&a, bit, &power);
            lc_add(&b, bit, &power);
        }
    }
    if (wide->minus_one)
        lc_add(&a, VAR_ONE, &fr_minus_one);
    cs_enforce(cs, &a, &b, NULL);
    lc_free(&a);
    lc_free(&b);
}

static void test_wide_sums(void **state)
{
    (void)state;
    for (unsigned top = 1; top <= 255; top += 2) {
        for (unsigned copies = 1; copies <= 4; copies++) {
            struct wide wide = {top, copies, true};
            struct circuit_program program = {wide_synthesize, &wide};
            assert_all(&program, NULL);
            wide.minus_one = false;
            assert_all(&program, NULL);
        }
    }
}

/* --- Appending -------------------------------------------------------------------------------- */

static void appended_synthesize(struct cs *cs, const void *input)
{
    uint64_t values = 9;
    for (unsigned i = 0; i < 400; i++) {
        uint64_t word = toy_next(&values);
        unsigned count = 1 + (unsigned)toy_below(&values, 64);
        struct fr number = toy_element(&values);
        if (cs->witness && input) {
            witness_append_bits(cs->witness, word, count); /* bits above count are ignored */
            witness_append_full(cs->witness, &number);
            continue;
        }
        for (unsigned k = 0; k < count; k++)
            toy_forced_bit(cs, word >> k & 1);
        cs_num(cs, &number);
    }
    struct fr last = toy_element(&values);
    assert_true(cs->status != CUZK_OK || var_is_aux(cs_num(cs, &last)));
}

static void test_append(void **state)
{
    (void)state;
    struct circuit_program fast = {appended_synthesize, ""};
    struct circuit_program slow = {appended_synthesize, NULL};
    struct cuzk_error err = {0};
    struct shape *shape;
    struct witness x, y;
    assert_ok(shape_record(&slow, &shape, &err), err);
    assert_ok(witness_synthesize(&fast, shape, &x, &err), err);
    assert_ok(witness_synthesize(&slow, shape, &y, &err), err);
    assert_memory_equal(x.bits, y.bits, witness_plane_words(shape->n_aux) * sizeof *x.bits);
    assert_memory_equal(x.full, y.full, shape->n_full * sizeof *x.full);
    assert_true(witness_bytes(&x) < shape->n_aux / 8 + 32 * shape->n_full + 200);
    witness_free(&x);
    witness_free(&y);
    shape_free(shape);
}

/* --- Parts ------------------------------------------------------------------------------------ */

struct parts_toy {
    size_t count;
    unsigned bits;  /* of each part */
    size_t uneven;  /* this part has one bit more and the next one less; count: none */
    size_t failing; /* this part fails */
};

static void toy_part(struct cs *cs, void *context, size_t index)
{
    const struct parts_toy *parts = context;
    uint64_t values = index;
    unsigned bits = parts->bits + (index == parts->uneven) - (index == parts->uneven + 1);
    for (unsigned i = 0; i < bits; i++)
        toy_forced_bit(cs, toy_next(&values) & 1);
    for (unsigned i = 0; i < 3; i++) {
        struct fr value = toy_element(&values);
        cs_num(cs, &value);
        cs_input(cs, &value);
    }
    if (index == parts->failing)
        cs_fail(cs, CUZK_INVALID_ARGUMENT);
}

static void parts_synthesize(struct cs *cs, const void *input)
{
    struct parts_toy parts = *(const struct parts_toy *)input;
    cs_num(cs, &fr_one);
    toy_forced_bit(cs, true);
    cs_parts(cs, parts.count, toy_part, &parts);
}

static void test_parts(void **state)
{
    (void)state;
    struct pool *pool = pool_new(4);
    struct cuzk_error err = {0};
    for (size_t count = 0; count < 12; count++) {
        for (unsigned bits = 1; bits < 500; bits += 61) { /* short parts run in order */
            struct parts_toy parts = {count, bits, SIZE_MAX - 1, SIZE_MAX};
            struct circuit_program program = {parts_synthesize, &parts};
            struct shape *shape;
            struct witness one, all;
            assert_ok(shape_record(&program, &shape, &err), err);
            assert_ok(witness_synthesize(&program, shape, &one, &err), err);
            assert_ok(witness_synthesize_parallel(&program, shape, pool, &all, &err), err);
            assert_memory_equal(one.bits, all.bits, witness_plane_words(shape->n_aux) * 8);
            assert_memory_equal(one.full, all.full, shape->n_full * sizeof *one.full);
            assert_memory_equal(one.inputs, all.inputs, shape->n_inputs * sizeof *one.inputs);
            witness_free(&one);
            witness_free(&all);
            shape_free(shape);
        }
    }
    pool_free(pool);
}

static void test_parts_that_fail(void **state)
{
    (void)state;
    struct pool *pool = pool_new(4);
    struct cuzk_error err = {0};
    struct parts_toy even = {8, 300, SIZE_MAX - 1, SIZE_MAX};
    struct parts_toy uneven = {8, 300, 3, SIZE_MAX}, failing = {8, 300, SIZE_MAX - 1, 5};
    struct circuit_program program = {parts_synthesize, &even};
    struct shape *shape;
    struct witness witness;
    assert_ok(shape_record(&program, &shape, &err), err);
    program.input = &uneven;
    assert_int_equal(witness_synthesize_parallel(&program, shape, pool, &witness, &err),
                     CUZK_INTERNAL);
    program.input = &failing;
    assert_int_equal(witness_synthesize_parallel(&program, shape, pool, &witness, &err),
                     CUZK_INVALID_ARGUMENT);
    shape_free(shape);
    pool_free(pool);
}

static void test_other_circuit(void **state)
{
    (void)state;
    struct toy toy = {.values = 1, .rounds = 2}, other = {.values = 1, .rounds = 3};
    struct circuit_program program = toy_program(&toy), larger = toy_program(&other);
    struct cuzk_error err = {0};
    struct shape *shape, *larger_shape;
    struct witness witness;
    assert_ok(shape_record(&program, &shape, &err), err);
    assert_ok(shape_record(&larger, &larger_shape, &err), err);
    assert_int_equal(witness_synthesize(&larger, shape, &witness, &err), CUZK_INTERNAL);
    assert_non_null(strstr(err.text, "and more where the circuit has"));
    assert_int_equal(witness_synthesize(&program, larger_shape, &witness, &err), CUZK_INTERNAL);
    shape_free(shape);
    shape_free(larger_shape);
}

/* --- Check ------------------------------------------------------------------------------------ */

static void chain_synthesize(struct cs *cs, const void *input)
{
    (void)input;
    struct fr value;
    fr_from_u64(&value, 3);
    struct var last = cs_num(cs, &value);
    for (unsigned i = 0; i < 5000; i++) {
        struct cs_template use = {"square", 0, &last, 1};
        struct var out = last;
        if (!cs_template_begin(cs, &use, &out, 1)) {
            last = out;
            continue;
        }
        struct lc a = {0}, b = {0}, c = {0};
        fr_sqr(&value, &value);
        out = cs_num(cs, &value);
        lc_add_var(&a, last);
        lc_add_var(&b, last);
        lc_add_var(&c, out);
        cs_enforce(cs, &a, &b, &c);
        lc_free(&a);
        lc_free(&b);
        lc_free(&c);
        cs_template_end(cs, &out, 1);
        last = out;
    }
}

static void test_check_names_the_row(void **state)
{
    (void)state;
    struct circuit_program program = {chain_synthesize, NULL};
    struct pool *pool = pool_new(3);
    struct cuzk_error err = {0};
    struct shape *shape;
    struct witness witness;
    struct row_evaluator *evaluator;
    struct row_check check;
    assert_ok(shape_record(&program, &shape, &err), err);
    assert_ok(witness_synthesize(&program, shape, &witness, &err), err);
    assert_ok(row_evaluator_new(shape, &evaluator, &err), err);
    assert_ok(row_check_run(evaluator, &witness, pool, &check, &err), err);
    assert_int_equal(check.unsatisfied, 0);
    fr_add(&witness.full[4001], &witness.full[4001], &fr_one); /* out of row 4000, in of 4001 */
    assert_ok(row_check_run(evaluator, &witness, pool, &check, &err), err);
    assert_int_equal(check.unsatisfied, 2);
    assert_int_equal(check.first_unsatisfied, 4000);
    assert_string_equal(check.template_name, "square");
    assert_int_equal(check.template_row, 0);
    row_evaluator_free(evaluator);
    witness_free(&witness);
    shape_free(shape);
    pool_free(pool);
}

static void ignore_chunk(void *context, enum value_sequence sequence, uint32_t chunk,
                         const uint8_t sha256[32])
{
    (void)context;
    (void)sequence;
    (void)chunk;
    (void)sha256;
}

static void test_no_memory(void **state)
{
    (void)state;
    struct toy toy = {.values = 1, .rounds = 2};
    struct circuit_program program = toy_program(&toy);
    struct cuzk_error err = {0};
    struct shape *shape;
    assert_ok(shape_record(&program, &shape, &err), err);
    size_t domain = (size_t)1 << shape->log2_domain;
    struct fr *values = mem_alloc(2 * domain, sizeof *values);
    size_t used = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    for (long after = 0; status != CUZK_OK; after++) {
        struct witness witness = {0};
        struct row_evaluator *evaluator = NULL;
        struct row_check check;
        mem_fail_after(after);
        status = witness_synthesize(&program, shape, &witness, &err);
        if (status == CUZK_OK)
            status = shape_eval_rows(shape, &witness, NULL, values, values + domain, domain, &err);
        if (status == CUZK_OK)
            status = row_evaluator_new(shape, &evaluator, &err);
        if (status == CUZK_OK)
            status = row_check_run(evaluator, &witness, NULL, &check, &err);
        if (status == CUZK_OK) {
            struct value_digests digests;
            const struct value_chunks chunks = {CHUNK, ignore_chunk, NULL};
            status = value_digests_make(evaluator, &witness, NULL, &chunks, &digests, &err);
        }
        if (status == CUZK_OK) {
            struct check_result result;
            struct fr *inputs = NULL, *aux = NULL;
            status = cs_check(&program, &result, NULL, NULL, &inputs, &aux, &err);
            mem_free(inputs);
            mem_free(aux);
        }
        if (status == CUZK_OK) {
            struct cs_digest digest;
            status = cs_digest(&program, &digest, NULL, NULL, &err);
        }
        mem_fail_after(-1);
        row_evaluator_free(evaluator);
        witness_free(&witness);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        assert_int_equal(mem_used_bytes(), used);
    }
    mem_free(values);
    shape_free(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toy_circuits),  cmocka_unit_test(test_with_pool),
        cmocka_unit_test(test_known_rows),    cmocka_unit_test(test_reference_row_values),
        cmocka_unit_test(test_wide_sums),     cmocka_unit_test(test_append),
        cmocka_unit_test(test_parts),         cmocka_unit_test(test_parts_that_fail),
        cmocka_unit_test(test_other_circuit), cmocka_unit_test(test_check_names_the_row),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
