/* All circuits in compiled form against the reference: counts, densities, digests, and every
   value of the partitions that there are known answers for. With CUZK_TEST_LONG=1 also those that
   take minutes. */
#include "shapes_known.h"

#include "support/support.h"
#include "unit/r1cs/columns.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/pool.h"
#include "circuits/porep.h"
#include "circuits/post.h"
#include "circuits/update.h"
#include "oracle/digest.h"
#include "oracle/row_check.h"
#include "r1cs/query.h"
#include "r1cs/value_digest.h"
#include "vanilla/c1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are hashed in about a second and a half. */
enum { SHORT_ROWS_MAX = 8000000 };

static bool long_tier(void)
{
    return getenv("CUZK_TEST_LONG") != NULL;
}

/* --- Shapes ----------------------------------------------------------------------------------- */

/* A program on zeros, and what frees its input. */
struct blank {
    struct circuit_program program;
    void *input;
    enum known_kind kind;
};

static struct blank make_blank(const struct known_shape *known)
{
    struct blank blank = {.kind = known->kind};
    uint64_t bytes = known->sector_bytes;
    switch (known->kind) {
    case POREP:
        blank.input = porep_blank(porep_config(bytes), known->repeats);
        blank.program.synthesize = porep_synthesize;
        break;
    case WINNING:
        blank.input = post_blank(post_winning_config(bytes), known->repeats);
        blank.program.synthesize = post_synthesize;
        break;
    case WINDOW:
        blank.input = post_blank(post_window_config(bytes), known->repeats);
        blank.program.synthesize = post_synthesize;
        break;
    case UPDATE:
    case UPDATE_POSEIDON:
        blank.input = update_blank(update_config(bytes, known->kind == UPDATE_POSEIDON));
        blank.program.synthesize = update_synthesize;
        break;
    }
    assert_non_null(blank.input);
    blank.program.input = blank.input;
    return blank;
}

static void free_blank(struct blank *blank)
{
    if (blank->kind == POREP)
        porep_partition_free(blank->input);
    else if (blank->kind == WINNING || blank->kind == WINDOW)
        post_partition_free(blank->input);
    else
        update_partition_free(blank->input);
}

/* Every query's points are those of the key (part I.2). */
static void assert_points(const struct shape *shape, const struct known_shape *known)
{
    struct cuzk_error err = {0};
    struct queries queries;
    assert_ok(queries_init(&queries, shape, &err), err);
    assert_int_equal(queries.l.n_points, known->n_aux);
    assert_int_equal(queries.l.n_inputs, 0);
    assert_int_equal(queries.l.n_scalars, shape->n_full);
    assert_int_equal(queries.a.n_points, known->a_points);
    assert_int_equal(queries.a.n_inputs, known->n_inputs);
    assert_int_equal(queries.b.n_points, known->b_points);
    assert_int_equal(queries.b.n_inputs, shape->b_dense_inputs);
    queries_free(&queries);
}

static struct shape *record_known(const struct known_shape *known)
{
    struct cuzk_error err = {0};
    struct blank blank = make_blank(known);
    struct shape *shape;
    assert_ok(shape_record(&blank.program, &shape, &err), err);
    free_blank(&blank);
    return shape;
}

static void assert_counts(const struct shape *shape, const struct known_shape *known)
{
    assert_int_equal(shape->n_rows, known->n_rows);
    assert_int_equal(shape->n_inputs, known->n_inputs);
    assert_int_equal(shape->n_aux, known->n_aux);
    assert_int_equal(shape->n_inputs + shape->a_dense_aux, known->a_points);
    assert_int_equal(shape->b_dense_inputs + shape->b_dense_aux, known->b_points);
    assert_points(shape, known);
}

static void assert_digest_known(const struct shape *shape, const struct known_shape *known)
{
    struct cuzk_error err = {0};
    if (known->digest[0]) {
        uint8_t digest[32];
        assert_ok(shape_digest(shape, digest, &err), err);
        assert_hex_equal(digest, sizeof digest, known->digest);
    }
}

/* All circuits, the full ones too: recording them takes less than a second. */
static void test_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(known_shapes); i++) {
        struct shape *shape = record_known(&known_shapes[i]);
        assert_counts(shape, &known_shapes[i]);
        shape_free(shape);
    }
}

static void assert_digests(bool slow)
{
    for (size_t i = 0; i < ARRAY_LEN(known_shapes); i++) {
        if ((known_shapes[i].n_rows > SHORT_ROWS_MAX) != slow)
            continue;
        struct shape *shape = record_known(&known_shapes[i]);
        assert_digest_known(shape, &known_shapes[i]);
        shape_free(shape);
    }
}

static void test_short_digests(void **state)
{
    (void)state;
    assert_digests(false);
}

static void test_long_digests(void **state)
{
    (void)state;
    if (!long_tier()) {
        print_message("SKIP: digests of large circuits take minutes (CUZK_TEST_LONG=1)\n");
        skip();
    }
    assert_digests(true);
}

/* A real circuit's templates, of the 2 KiB PoRep. */
static void test_columns(void **state)
{
    (void)state;
    struct shape *shape = record_known(&known_shapes[0]);
    assert_true(assert_columns(shape, MATRIX_C) > 2 * shape->n_aux);
    shape_free(shape);
}

static void test_budget(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct porep_partition *blank = porep_blank(porep_config(32 * GIB), 0);
    struct circuit_program program = {porep_synthesize, blank};
    struct shape *shape;
    struct witness witness;
    assert_ok(shape_record(&program, &shape, &err), err);
    assert_true(shape_bytes(shape) <= 8 * MIB);
    assert_ok(witness_synthesize(&program, shape, &witness, &err), err);
    assert_true(witness_bytes(&witness) <= 100 * 1000 * 1000);
    witness_free(&witness);
    shape_free(shape);
    porep_partition_free(blank);
}

/* --- Witnesses and row values ----------------------------------------------------------------- */

struct known_witness {
    const char *c1;
    unsigned partition;
    const char *digests;
    bool slow;
};

static const struct known_witness known_witnesses[] = {
    {"reference/porep-2k/c1.json", 0, "reference/porep-2k/witness.sha256", false},
    {"sparse/c1-2KiB.json.xz", 0, "sparse/witness-2KiB-p0.txt", false},
    {"sparse/c1-2KiB-seed03.json.xz", 0, "sparse/witness-2KiB-seed03-p0.txt", false},
    {"sparse/c1-2KiB-seed13.json.xz", 0, "sparse/witness-2KiB-seed13-p0.txt", false},
    {"sparse/c1-2KiB-seed1c.json.xz", 0, "sparse/witness-2KiB-seed1c-p0.txt", false},
    {"sparse/c1-2KiB-seed2b.json.xz", 0, "sparse/witness-2KiB-seed2b-p0.txt", false},
    {"sparse/c1-2KiB-seed62.json.xz", 0, "sparse/witness-2KiB-seed62-p0.txt", false},
    {"sparse/c1-8MiB.json.xz", 0, "sparse/witness-8MiB-p0.txt", true},
    {"reference/porep-8m/c1.json.xz", 0, "reference/porep-8m/witness.sha256", true},
    {"sparse/c1-512MiB.json.xz", 0, "sparse/witness-512MiB-p0.txt", true},
    {"sparse/c1-32GiB.json.xz", 0, "sparse/witness-32GiB-p0.txt", true},
    {"sparse/c1-32GiB.json.xz", 9, "sparse/witness-32GiB-p9.txt", true},
    {"sparse/c1-64GiB.json.xz", 0, "sparse/witness-64GiB-p0.txt", true},
};

/* A file of digests, and what was found when comparing with it. */
struct comparison {
    const char *name;
    const char *text;
    uint32_t chunk_size; /* 0: the file has no chunks */
    struct chunk_result {
        uint32_t compared;
        bool differs;
        uint32_t first; /* differing chunk */
    } chunks[VALUES_COUNT];
};

static const char *const sequence_names[VALUES_COUNT] = {"a", "b", "c", "aux", "inputs"};

/* The word after "key " at the start of a line; false if there is none. */
static bool find_word(const char *text, const char *key, char word[65])
{
    char start[48];
    snprintf(start, sizeof start, "\n%s ", key);
    const char *at = strstr(text, start);
    if (at)
        sscanf(at + strlen(start), "%64s", word);
    return at != NULL;
}

static void compare_chunk(void *context, enum value_sequence sequence, uint32_t chunk,
                          const uint8_t sha256[32])
{
    struct comparison *comparison = context;
    struct chunk_result *result = &comparison->chunks[sequence];
    char key[40], expected[65] = "", found[65];
    if (sequence == VALUES_INPUTS)
        return; /* few, and in one piece */
    snprintf(key, sizeof key, "%s-chunk %u", sequence_names[sequence], chunk);
    hex_encode(sha256, 32, found);
    result->compared++;
    if ((!find_word(comparison->text, key, expected) || strcmp(expected, found) != 0) &&
        !result->differs) {
        result->differs = true;
        result->first = chunk;
    }
}

/* Names the first differing chunk of the sequence in `difference`; false if there is none. */
static bool find_difference(const struct comparison *comparison, enum value_sequence sequence,
                            char difference[160])
{
    const struct chunk_result *result = &comparison->chunks[sequence];
    const uint64_t first = (uint64_t)result->first * comparison->chunk_size;
    if (result->differs)
        snprintf(difference, 160,
                 "%s: %s-chunk %u (values from %llu on) is the first of %u that differs",
                 comparison->name, sequence_names[sequence], result->first,
                 (unsigned long long)first, result->compared);
    return result->differs;
}

static void assert_sequence(const struct comparison *comparison, enum value_sequence sequence,
                            const uint8_t digest[32])
{
    char key[32], hex[65], difference[160];
    if (find_difference(comparison, sequence, difference))
        fail_msg("%s", difference);
    snprintf(key, sizeof key, "%s-sha256", sequence_names[sequence]);
    if (!find_word(comparison->text, key, hex)) {
        snprintf(key, sizeof key, "%s_sha256", sequence_names[sequence]);
        assert_true(find_word(comparison->text, key, hex));
    }
    assert_hex_equal(digest, 32, hex);
}

/* A partition's circuit and values. */
struct values {
    struct shape *shape;
    struct witness witness;
    struct row_evaluator *evaluator;
};

static struct values values_make(const struct porep_partition *partition)
{
    struct cuzk_error err = {0};
    struct circuit_program program = {porep_synthesize, partition};
    struct values values;
    assert_ok(shape_record(&program, &values.shape, &err), err);
    assert_ok(witness_synthesize(&program, values.shape, &values.witness, &err), err);
    assert_ok(row_evaluator_new(values.shape, &values.evaluator, &err), err);
    return values;
}

static void values_free(struct values *values)
{
    row_evaluator_free(values->evaluator);
    witness_free(&values->witness);
    shape_free(values->shape);
}

static struct value_digests compare(const struct values *values, struct pool *pool,
                                    struct comparison *comparison)
{
    struct cuzk_error err = {0};
    struct value_digests digests;
    char size[65] = "0";
    find_word(comparison->text, "chunk", size);
    comparison->chunk_size = (uint32_t)strtoul(size, NULL, 10);
    const struct value_chunks chunks = {comparison->chunk_size, compare_chunk, comparison};
    assert_ok(value_digests_make(values->evaluator, &values->witness, pool,
                                 comparison->chunk_size > 0 ? &chunks : NULL, &digests, &err),
              err);
    return digests;
}

static void assert_values(const struct values *values, struct pool *pool,
                          struct comparison *comparison)
{
    struct cuzk_error err = {0};
    struct row_check check;
    const struct value_digests digests = compare(values, pool, comparison);
    assert_sequence(comparison, VALUES_INPUTS, digests.inputs);
    assert_sequence(comparison, VALUES_AUX, digests.aux);
    assert_sequence(comparison, VALUES_A, digests.rows[MATRIX_A]);
    assert_sequence(comparison, VALUES_B, digests.rows[MATRIX_B]);
    assert_sequence(comparison, VALUES_C, digests.rows[MATRIX_C]);
    assert_ok(row_check_run(values->evaluator, &values->witness, pool, &check, &err), err);
    assert_int_equal(check.unsatisfied, 0);
}

static struct c1 *load_c1(const char *name, struct pool *pool)
{
    struct cuzk_error err = {0};
    struct c1 *c1;
    size_t len;
    uint8_t *json = vector_read_or_skip(name, &len);
    assert_ok(c1_parse(json, len, &c1, &err), err);
    mem_free(json);
    assert_ok(c1_check(c1, NULL, pool, &err), err);
    return c1;
}

static void assert_witness(const struct known_witness *known, struct pool *pool)
{
    size_t len;
    uint8_t *text = vector_read_or_skip(known->digests, &len);
    struct comparison comparison = {.name = known->digests, .text = (const char *)text};
    struct c1 *c1 = load_c1(known->c1, pool);
    struct values values = values_make(c1_partition(c1, known->partition));
    assert_values(&values, pool, &comparison);
    if (comparison.chunk_size > 0)
        print_message("%s: %u + 3 x %u chunks agree\n", known->digests,
                      comparison.chunks[VALUES_AUX].compared, comparison.chunks[VALUES_A].compared);
    values_free(&values);
    mem_free(text);
    c1_free(c1);
}

static void assert_witnesses(bool slow)
{
    struct pool *pool = pool_new(0);
    assert_non_null(pool);
    for (size_t i = 0; i < ARRAY_LEN(known_witnesses); i++) {
        if (known_witnesses[i].slow == slow)
            assert_witness(&known_witnesses[i], pool);
    }
    pool_free(pool);
}

static void test_short_witnesses(void **state)
{
    (void)state;
    assert_witnesses(false);
}

static void test_long_witnesses(void **state)
{
    (void)state;
    if (!long_tier()) {
        print_message("SKIP: values of large partitions take minutes (CUZK_TEST_LONG=1)\n");
        skip();
    }
    assert_witnesses(true);
}

/* The 1-challenge form of a partition is the full one's beginning: all whole chunks of it agree,
   and the last one, which it cuts short, does not. */
static void assert_first_challenge(const struct porep_partition *partition, const char *name,
                                   struct pool *pool)
{
    enum { WHOLE_CHUNKS = 6 };
    size_t len;
    uint8_t *text = vector_read_or_skip(name, &len);
    struct comparison comparison = {.name = name, .text = (const char *)text};
    struct porep_config config = *partition->config;
    struct porep_partition one = *partition;
    config.challenges = 1;
    one.config = &config;
    struct values values = values_make(&one);
    compare(&values, pool, &comparison);
    for (enum value_sequence i = VALUES_A; i <= VALUES_AUX; i++) {
        const struct chunk_result *result = &comparison.chunks[i];
        assert_int_equal(result->compared, WHOLE_CHUNKS + 1);
        if (!result->differs || result->first != WHOLE_CHUNKS)
            fail_msg("%s: %s-chunk %u differs", name, sequence_names[i], result->first);
    }
    values_free(&values);
    mem_free(text);
}

static void test_first_challenges(void **state)
{
    (void)state;
    struct pool *pool = pool_new(0);
    assert_non_null(pool);
    struct c1 *c1 = load_c1("sparse/c1-32GiB.json.xz", pool);
    assert_first_challenge(c1_partition(c1, 0), "sparse/witness-32GiB-p0.txt", pool);
    assert_first_challenge(c1_partition(c1, 9), "sparse/witness-32GiB-p9.txt", pool);
    c1_free(c1);
    c1 = load_c1("sparse/c1-64GiB.json.xz", pool);
    assert_first_challenge(c1_partition(c1, 0), "sparse/witness-64GiB-p0.txt", pool);
    c1_free(c1);
    pool_free(pool);
}

/* One wrong bit of the witness: the chunk that it is in is named, and rows that use it differ. */
static void test_difference_is_named(void **state)
{
    (void)state;
    enum { CHUNK = 4096, WRONG = 123 * CHUNK + 45 };
    size_t len;
    uint8_t *text = vector_read_or_skip("sparse/witness-2KiB-p0-fine.txt.xz", &len);
    struct comparison right = {.name = "fine", .text = (const char *)text}, wrong = right;
    char difference[160];
    struct c1 *c1 = load_c1("sparse/c1-2KiB.json.xz", NULL);
    struct values values = values_make(c1_partition(c1, 0));
    assert_values(&values, NULL, &right);
    assert_int_equal(right.chunk_size, CHUNK);
    assert_int_equal(right.chunks[VALUES_AUX].compared, 656);
    assert_int_equal(right.chunks[VALUES_C].compared, 657);

    values.witness.bits[WRONG / 64] ^= (uint64_t)1 << (WRONG % 64);
    compare(&values, NULL, &wrong);
    assert_true(find_difference(&wrong, VALUES_AUX, difference));
    assert_string_equal(difference, "fine: aux-chunk 123 (values from 503808 on) is the first of "
                                    "656 that differs");
    assert_true(wrong.chunks[VALUES_A].differs);
    values_free(&values);
    mem_free(text);
    c1_free(c1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_short_digests),
        cmocka_unit_test(test_short_witnesses),
        cmocka_unit_test(test_first_challenges),
        cmocka_unit_test(test_difference_is_named),
        cmocka_unit_test(test_long_digests),
        cmocka_unit_test(test_long_witnesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
