/* The recorder: the compiled form must say the same as the gadgets, row by row. */
#include "toy.h"

#include "oracle/digest.h"
#include "r1cs/shape.h"

struct row_hash {
    uint64_t rows;
    uint64_t hash;
};

/* Independent of the order of terms, so that compiled rows can be compared with recorded ones. */
static void hash_row(void *context, uint64_t row, const struct lc *combos[3])
{
    struct row_hash *hash = context;
    assert_int_equal(row, hash->rows++);
    uint64_t sum = hash->hash * 31;
    for (uint64_t m = 0; m < 3; m++) {
        for (size_t i = 0; i < combos[m]->len; i++) {
            const struct term *term = &combos[m]->terms[i];
            uint64_t mix = (m + 1) << 32 ^ term->var.id;
            for (int limb = 0; limb < 4; limb++) {
                mix ^= term->coeff.v.l[limb];
                mix = toy_next(&mix);
            }
            sum += mix;
        }
    }
    hash->hash = sum;
}

static void on_digest_row(void *context, uint64_t row, const struct lc *a, const struct lc *b,
                          const struct lc *c)
{
    hash_row(context, row, (const struct lc *[]){a, b, c});
}

static void on_shape_row(void *context, uint64_t row, const struct lc combos[MATRIX_COUNT])
{
    hash_row(context, row, (const struct lc *[]){&combos[0], &combos[1], &combos[2]});
}

struct digest {
    uint8_t bytes[32];
};

static struct digest digest_of(const struct shape *shape)
{
    struct cuzk_error err = {0};
    struct digest digest;
    assert_ok(shape_digest(shape, digest.bytes, &err), err);
    return digest;
}

static struct shape *assert_same(const struct circuit_program *program)
{
    struct cuzk_error err = {0};
    struct cs_digest digest;
    struct row_hash direct = {0}, compiled = {0};
    struct shape *shape;
    assert_ok(cs_digest(program, &digest, on_digest_row, &direct, &err), err);
    assert_ok(shape_record(program, &shape, &err), err);
    assert_int_equal(shape->n_inputs, digest.n_inputs);
    assert_int_equal(shape->n_aux, digest.n_aux);
    assert_int_equal(shape->n_rows, digest.n_rows);
    assert_int_equal(shape->a_dense_aux, digest.a_dense_aux);
    assert_int_equal(shape->b_dense_aux, digest.b_dense_aux);
    assert_int_equal(shape->b_dense_inputs, digest.b_dense_inputs);
    assert_ok(shape_visit_rows(shape, on_shape_row, &compiled, &err), err);
    assert_int_equal(compiled.rows, shape->n_rows);
    assert_true(compiled.hash == direct.hash);
    assert_memory_equal(digest_of(shape).bytes, digest.sha256, sizeof digest.sha256);
    uint64_t total = shape->n_rows + shape->n_inputs;
    assert_true((uint64_t)1 << shape->log2_domain >= total);
    assert_true(shape->log2_domain == 0 || (uint64_t)1 << (shape->log2_domain - 1) < total);
    return shape;
}

static void test_templates_equal_rows(void **state)
{
    (void)state;
    for (unsigned rounds = 0; rounds < 12; rounds += 3) {
        struct toy toy = {.values = 5, .rounds = rounds};
        struct circuit_program program = toy_program(&toy);
        shape_free(assert_same(&program));
    }
}

static void test_values_do_not_matter(void **state)
{
    (void)state;
    struct toy one = {.values = 1, .rounds = 4}, two = {.values = 2, .rounds = 4};
    struct circuit_program program_one = toy_program(&one), program_two = toy_program(&two);
    struct shape *x = assert_same(&program_one), *y = assert_same(&program_two);
    assert_memory_equal(digest_of(x).bytes, digest_of(y).bytes, sizeof(struct digest));
    shape_free(x);
    shape_free(y);
}

static unsigned count_named(const struct shape *shape, const char *name)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < shape->n_templates; i++)
        count += strcmp(shape->templates[i].name, name) == 0;
    return count;
}

static void test_templates_are_shared(void **state)
{
    (void)state;
    struct toy toy = {.values = 1, .rounds = 30};
    struct circuit_program program = toy_program(&toy);
    struct shape *shape = assert_same(&program);
    assert_int_equal(count_named(shape, "toy mix"), 1); /* three variants: patches */
    assert_int_equal(shape->n_patches, 4);
    assert_int_equal(count_named(shape, "toy hash 3"), 1);
    assert_int_equal(count_named(shape, "toy pair"), 1);
    assert_int_equal(count_named(shape, "toy hash 2"), 0); /* only ever inside, or not distinct */
    assert_true(count_named(shape, "") <= 6);
    assert_true(shape->n_placements >= 30 * 5);
    size_t bytes = shape_bytes(shape);
    shape_free(shape);

    toy.rounds = 60; /* only placements are added */
    struct shape *larger = assert_same(&program);
    assert_true(shape_bytes(larger) < bytes + 30 * 6 * 200);
    shape_free(larger);
}

static void test_full_bitmap(void **state)
{
    (void)state;
    struct toy toy = {.values = 1, .rounds = 7};
    struct circuit_program program = toy_program(&toy);
    struct cuzk_error err = {0};
    struct shape *shape = assert_same(&program);
    uint64_t *map;
    assert_ok(shape_full_bitmap(shape, &map, &err), err);
    uint32_t count = 0;
    for (uint32_t i = 0; i < shape->n_aux; i++)
        count += (uint32_t)(map[i / 64] >> (i % 64) & 1);
    assert_int_equal(count, shape->n_full);
    assert_true((map[0] & 7) == 3); /* two numbers, then bits */
    mem_free(map);
    shape_free(shape);
}

struct known_rows {
    const char *file;
    size_t n_rows; /* 0: all in the file */
    uint32_t n_inputs;
    uint32_t n_aux;
    uint32_t a_dense;
    uint32_t b_dense;
    const char *digest;
};

/* Part I.2, and the heads of the files. */
static const struct known_rows known_rows[] = {
    {"reference/tiny/t1-mul.txt", 1, 2, 2, 1, 1,
     "5e412c4a2bea134de33e10d7c4cb14d4ac87e8d84bfff54c98b48e8f821c3669"},
    {"reference/tiny/t2-density.txt", 4, 3, 7, 3, 2,
     "701d2c8028b7f9220084c04bf44990e781dc049ba4de0625223f115cda2e0198"},
    {"reference/tiny/t3-pow2.txt", 6, 2, 6, 6, 5,
     "fda811c0fb68bf762cbe4feeedffb09e7dee25d03f8f1c664e7cfa1276baf43d"},
    {"reference/tiny/t4-pow2-plus1.txt", 7, 2, 7, 7, 6,
     "3bd0b2c2fb1890e1542c7c8da3f221eca1dfdf8ef17e30533888a66dda8ca94a"},
    {"gadget-rows/to_bits_le.txt.gz", 0, 1, 256, 255, 255,
     "5e0a85ae649ee0a518e2c434606b1d5805411ba5c3c684887a023ee1da8f002d"},
    {"gadget-rows/to_bits_le_strict.txt.gz", 0, 1, 388, 387, 298,
     "dea9006c3ce123730e80229945317e66dd4fc47f64fcc0a49f6c2b0c67989107"},
    {"gadget-rows/inputize.txt.gz", 0, 2, 1, 0, 0,
     "1619f9fb4df38ae5d5e6572f8fb70ad178d7e536c2aa0e1df7ba1741de041e8b"},
    {"gadget-rows/insert8.txt.gz", 0, 1, 33, 23, 5,
     "9e5e3555a7974668705165036b719b1d3ff9db025376ebb662127d0d0b9c0f44"},
    {"gadget-rows/select8.txt.gz", 0, 1, 18, 17, 3,
     "f5a6e44b67e41b19d16b2624213466a1659e4879a9c41b4c174942eabbb8e324"},
    {"gadget-rows/poseidon8.txt.gz", 0, 1, 513, 384, 384,
     "4430a9cd610b41182996e2ae73e99490d68bf3ce49dd4defe5fa7e1520e935cb"},
    {"gadget-rows/pack_into_inputs_300_bits.txt.gz", 0, 3, 300, 300, 300,
     "b7229c9f2a1656de251983a3764c7dc7fa09fa1bfeb6a3b479fc42152ab503c3"},
    {"gadget-rows/sha256_hash2.txt.gz", 0, 1, 45333, 45330, 11498,
     "e771b56028f22b3451fcaab5ef6498fa9b8e427cb77395cdfab5ba082fe0b7fd"},
};

static void test_known_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(known_rows); i++) {
        const struct known_rows *known = &known_rows[i];
        struct text_circuit circuit =
            text_circuit_load(known->file, known->n_rows, known->n_inputs, known->n_aux);
        struct circuit_program program = text_program(&circuit);
        struct shape *shape = assert_same(&program);
        assert_hex_equal(digest_of(shape).bytes, sizeof(struct digest), known->digest);
        assert_int_equal(shape->a_dense_aux, known->a_dense);
        assert_int_equal(shape->b_dense_aux, known->b_dense);
        shape_free(shape);
        text_circuit_free(&circuit);
    }
}

static void test_density_bitmaps(void **state)
{
    (void)state;
    struct text_circuit circuit = text_circuit_load("reference/tiny/t2-density.txt", 4, 3, 7);
    struct circuit_program program = text_program(&circuit);
    struct cuzk_error err = {0};
    struct shape *shape = assert_same(&program);
    struct density density;
    assert_ok(shape_density(shape, &density, &err), err);
    assert_int_equal(density.a_aux[0], 0x25);  /* 1010010, aux 0 first */
    assert_int_equal(density.b_aux[0], 0x22);  /* 0100010 */
    assert_int_equal(density.b_input[0], 0x2); /* 010 */
    density_free(&density);
    shape_free(shape);
    text_circuit_free(&circuit);
}

/* --- Gadgets with mistakes -------------------------------------------------------------------- */

static void uses_a_stranger(struct cs *cs, const void *input)
{
    bool hands_out = input != NULL;
    struct var known = cs_num(cs, &fr_one), stranger = cs_num(cs, &fr_one), out = known;
    struct cs_template use = {"mistaken", 0, &known, 1};
    if (!cs_template_begin(cs, &use, &out, 1))
        return;
    struct lc a = {0};
    lc_add_var(&a, hands_out ? known : stranger);
    cs_enforce(cs, &a, NULL, NULL);
    lc_free(&a);
    out = hands_out ? stranger : known;
    cs_template_end(cs, &out, 1);
}

static void test_mistaken_template(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct shape *shape;
    struct circuit_program program = {uses_a_stranger, NULL};
    assert_int_equal(shape_record(&program, &shape, &err), CUZK_INTERNAL);
    assert_non_null(strstr(err.text, "template mistaken uses variable 0x80000001"));
    program.input = "";
    assert_int_equal(shape_record(&program, &shape, &err), CUZK_INTERNAL);
    assert_non_null(strstr(err.text, "template mistaken hands out variable 0x80000001"));
}

static void too_many_coefficients(struct cs *cs, const void *input)
{
    (void)input;
    struct var var = cs_num(cs, &fr_one);
    struct lc a = {0};
    for (uint64_t i = 0; i < 65537; i++) {
        struct fr coeff;
        fr_from_u64(&coeff, i + 5);
        lc_clear(&a);
        lc_add(&a, var, &coeff);
        cs_enforce(cs, &a, NULL, NULL);
    }
    lc_free(&a);
}

static void test_too_many_coefficients(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct shape *shape;
    struct circuit_program program = {too_many_coefficients, NULL};
    assert_int_equal(shape_record(&program, &shape, &err), CUZK_RESOURCE_EXHAUSTED);
    assert_string_equal(err.text, "recording: more than 65,536 different coefficients");
}

static void test_no_memory(void **state)
{
    (void)state;
    struct toy toy = {.values = 1, .rounds = 3};
    struct circuit_program program = toy_program(&toy);
    size_t used = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    long after = 0;
    for (; status != CUZK_OK; after++) {
        struct cuzk_error err = {0};
        struct shape *shape = NULL;
        struct density density;
        uint64_t *map = NULL;
        mem_fail_after(after);
        status = shape_record(&program, &shape, &err);
        uint8_t digest[32];
        if (status == CUZK_OK)
            status = shape_digest(shape, digest, &err);
        if (status == CUZK_OK) {
            struct row_hash hash = {0};
            status = shape_visit_rows(shape, on_shape_row, &hash, &err);
        }
        if (status == CUZK_OK && (status = shape_density(shape, &density, &err)) == CUZK_OK)
            density_free(&density);
        if (status == CUZK_OK && (status = shape_full_bitmap(shape, &map, &err)) == CUZK_OK)
            mem_free(map);
        mem_fail_after(-1);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        assert_true(status == CUZK_OK || err.text[0]);
        shape_free(status == CUZK_OK || shape ? shape : NULL);
        assert_int_equal(mem_used_bytes(), used);
    }
    assert_true(after > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_templates_equal_rows),
        cmocka_unit_test(test_values_do_not_matter),
        cmocka_unit_test(test_templates_are_shared),
        cmocka_unit_test(test_full_bitmap),
        cmocka_unit_test(test_known_rows),
        cmocka_unit_test(test_density_bitmaps),
        cmocka_unit_test(test_mistaken_template),
        cmocka_unit_test(test_too_many_coefficients),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
