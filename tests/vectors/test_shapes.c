/* All circuits in compiled form against the reference: counts, densities, digests, and every
   value of the partitions that there are known answers for. With CUZK_TEST_LONG=1 also those that
   take minutes. */
#include "shapes_known.h"

#include "support/support.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/pool.h"
#include "circuits/porep.h"
#include "circuits/post.h"
#include "circuits/update.h"
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
    struct blank blank = { .kind = known->kind };
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
    struct cuzk_error err = { 0 };
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
    struct cuzk_error err = { 0 };
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

static void assert_digest_known(struct shape *shape, const struct known_shape *known)
{
    struct cuzk_error err = { 0 };
    if (known->digest[0]) {
        assert_ok(shape_digest(shape, &err), err);
        assert_hex_equal(shape->digest, sizeof shape->digest, known->digest);
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

static void test_budget(void **state)
{
    (void)state;
    struct cuzk_error err = { 0 };
    struct porep_partition *blank = porep_blank(porep_config(32 * GIB), 0);
    struct circuit_program program = { porep_synthesize, blank };
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
    { "reference/porep-2k/c1.json", 0, "reference/porep-2k/witness.sha256", false },
    { "sparse/c1-2KiB.json.xz", 0, "sparse/witness-2KiB-p0.txt", false },
    { "sparse/c1-2KiB-seed03.json.xz", 0, "sparse/witness-2KiB-seed03-p0.txt", false },
    { "sparse/c1-2KiB-seed13.json.xz", 0, "sparse/witness-2KiB-seed13-p0.txt", false },
    { "sparse/c1-2KiB-seed1c.json.xz", 0, "sparse/witness-2KiB-seed1c-p0.txt", false },
    { "sparse/c1-2KiB-seed2b.json.xz", 0, "sparse/witness-2KiB-seed2b-p0.txt", false },
    { "sparse/c1-2KiB-seed62.json.xz", 0, "sparse/witness-2KiB-seed62-p0.txt", false },
    { "sparse/c1-8MiB.json.xz", 0, "sparse/witness-8MiB-p0.txt", true },
    { "reference/porep-8m/c1.json.xz", 0, "reference/porep-8m/witness.sha256", true },
    { "sparse/c1-512MiB.json.xz", 0, "sparse/witness-512MiB-p0.txt", true },
    { "sparse/c1-32GiB.json.xz", 0, "sparse/witness-32GiB-p0.txt", true },
    { "sparse/c1-32GiB.json.xz", 9, "sparse/witness-32GiB-p9.txt", true },
    { "sparse/c1-64GiB.json.xz", 0, "sparse/witness-64GiB-p0.txt", true },
};

/* Compares with the value of the line "<name>-sha256 …" or "<name>_sha256 …". */
static void assert_digest(const uint8_t digest[32], const char *text, const char *name)
{
    char key[32], hex[65];
    const char *at = NULL;
    for (const char *separator = "-_"; !at && *separator; separator++) {
        snprintf(key, sizeof key, "\n%s%csha256 ", name, *separator);
        at = strstr(text, key);
    }
    assert_non_null(at);
    snprintf(hex, sizeof hex, "%s", at + strlen(key));
    assert_hex_equal(digest, 32, hex);
}

static void assert_values(const struct porep_partition *partition, struct pool *pool,
                          const char *text)
{
    struct cuzk_error err = { 0 };
    struct circuit_program program = { porep_synthesize, partition };
    struct shape *shape;
    struct witness witness;
    struct row_evaluator *evaluator;
    struct value_digests digests;
    struct row_check check;
    assert_ok(shape_record(&program, &shape, &err), err);
    assert_ok(witness_synthesize(&program, shape, &witness, &err), err);
    assert_ok(row_evaluator_new(shape, &evaluator, &err), err);
    assert_ok(value_digests_make(evaluator, &witness, pool, &digests, &err), err);
    assert_digest(digests.inputs, text, "inputs");
    assert_digest(digests.aux, text, "aux");
    assert_digest(digests.rows[MATRIX_A], text, "a");
    assert_digest(digests.rows[MATRIX_B], text, "b");
    assert_digest(digests.rows[MATRIX_C], text, "c");
    assert_ok(row_evaluator_check(evaluator, &witness, pool, &check, &err), err);
    assert_int_equal(check.unsatisfied, 0);
    row_evaluator_free(evaluator);
    witness_free(&witness);
    shape_free(shape);
}

static void assert_witness(const struct known_witness *known, struct pool *pool)
{
    struct cuzk_error err = { 0 };
    struct c1 *c1;
    size_t len, text_len;
    uint8_t *json = vector_read_or_skip(known->c1, &len);
    uint8_t *text = vector_read_or_skip(known->digests, &text_len);
    assert_ok(c1_parse(json, len, &c1, &err), err);
    mem_free(json);
    assert_ok(c1_check(c1, NULL, pool, &err), err);
    assert_values(c1_partition(c1, known->partition), pool, (const char *)text);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_short_digests),
        cmocka_unit_test(test_short_witnesses),
        cmocka_unit_test(test_long_digests),
        cmocka_unit_test(test_long_witnesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
