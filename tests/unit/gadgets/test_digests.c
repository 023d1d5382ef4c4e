/* Every gadget against the reference: counts, R1CS digest, values, and for some all rows as text
   (docs/spec/parameters.md, part I.2). */
#include "support/support.h"

#include "base/hash.h"
#include "base/mem.h"
#include "gadgets/insertion.h"
#include "gadgets/merkle.h"
#include "gadgets/poseidon_circuit.h"
#include "gadgets/sha256.h"
#include "oracle/check.h"
#include "oracle/digest.h"

#include <stdio.h>
#include <stdlib.h>

enum { NUMS_MAX = 16, BITS_MAX = 1024 };

/* Number i of a list is i + 1; bit i is 1 iff (7i + ⌊i/3⌋) mod 3 = 1. */
static void take_nums(struct cs *cs, struct num *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct fr value;
        fr_from_u64(&value, i + 1);
        out[i] = num_alloc(cs, &value);
    }
}

static void take_bits(struct cs *cs, struct boolean *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = boolean_bit(cs, (7 * i + i / 3) % 3 == 1);
}

static size_t size_of(const void *input)
{
    return *(const unsigned *)input;
}

static void build_to_bits(struct cs *cs, const void *input)
{
    struct boolean bits[FR_BITS];
    struct num x;
    (void)input;
    take_nums(cs, &x, 1);
    num_to_bits(cs, x, bits);
}

static void build_inputize(struct cs *cs, const void *input)
{
    struct num x;
    (void)input;
    take_nums(cs, &x, 1);
    num_inputize(cs, x);
}

static void build_insert(struct cs *cs, const void *input)
{
    struct num nums[8], out[8];
    struct boolean bits[3];
    unsigned arity = (unsigned)size_of(input);
    take_nums(cs, nums, 1);
    take_nums(cs, nums + 1, arity - 1);
    take_bits(cs, bits, merkle_level_bits(arity));
    num_insert(cs, arity, nums[0], bits, nums + 1, out);
}

static void build_select8(struct cs *cs, const void *input)
{
    struct num nums[8];
    struct boolean bits[3];
    (void)input;
    take_nums(cs, nums, 8);
    take_bits(cs, bits, 3);
    num_select(cs, nums, bits, 3);
}

static void build_poseidon(struct cs *cs, const void *input)
{
    struct num nums[POSEIDON_ARITY_MAX];
    unsigned arity = (unsigned)size_of(input);
    take_nums(cs, nums, arity);
    poseidon_circuit(cs, POSEIDON_TREE, arity, nums);
}

static void build_poseidon_randomness(struct cs *cs, const void *input)
{
    struct num nums[2];
    (void)input;
    take_nums(cs, nums, 2);
    poseidon_circuit(cs, POSEIDON_RANDOMNESS, 2, nums);
}

static void build_sha256(struct cs *cs, const void *input)
{
    struct boolean bits[BITS_MAX], digest[SHA256_BITS];
    take_bits(cs, bits, size_of(input));
    sha256_circuit(cs, bits, size_of(input), digest);
}

static void build_hash_nodes(struct cs *cs, const void *input)
{
    struct num nums[2];
    (void)input;
    take_nums(cs, nums, 2);
    sha256_hash_nodes(cs, nums[0], nums[1]);
}

static void build_pack_into_inputs(struct cs *cs, const void *input)
{
    struct boolean bits[BITS_MAX];
    take_bits(cs, bits, size_of(input));
    num_pack_into_inputs(cs, bits, size_of(input));
}

/* Arities of the levels, ended by 0; negative for SHA-256. */
static void build_path(struct cs *cs, const void *input)
{
    const int8_t *levels = input;
    struct fr siblings[MERKLE_LEVELS_MAX * 7] = {{.v = {{0}}}};
    uint8_t arity[MERKLE_LEVELS_MAX];
    struct merkle_path path = {
        .hash = levels[0] < 0 ? MERKLE_SHA256 : MERKLE_POSEIDON,
        .arity = arity,
        .siblings = siblings,
    };
    for (; levels[path.levels] != 0; path.levels++)
        arity[path.levels] = (uint8_t)abs(levels[path.levels]);
    struct num root = num_alloc(cs, &fr_zero);
    struct num leaf = num_alloc(cs, &fr_zero);
    merkle_prove(cs, &path, leaf, root);
}

#define SIZE(n)                                                                                    \
    (const unsigned[])                                                                             \
    {                                                                                              \
        n                                                                                          \
    }
#define LEVELS(...)                                                                                \
    (const int8_t[])                                                                               \
    {                                                                                              \
        __VA_ARGS__, 0                                                                             \
    }

struct known {
    const char *name;
    void (*build)(struct cs *cs, const void *input);
    const void *input;
    uint32_t n_rows, n_inputs, n_aux, a_dense, b_dense;
    const char *digest;
    const char *rows;                /* file of the rows as text */
    const char *values, *last_value; /* SHA-256 of all aux values, and the last of them */
};

#include "digests_known.h"

static void gadgets_have_the_digests_of_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_known; i++) {
        const struct known *k = &known[i];
        struct circuit_program program = {k->build, k->input};
        struct cs_digest digest;
        struct cuzk_error err = {0};
        assert_ok(cs_digest(&program, &digest, NULL, NULL, &err), err);
        print_message("%s\n", k->name);
        assert_int_equal(digest.n_rows, k->n_rows);
        assert_int_equal(digest.n_inputs, k->n_inputs);
        assert_int_equal(digest.n_aux, k->n_aux);
        assert_int_equal(digest.a_dense_aux, k->a_dense);
        assert_int_equal(digest.b_dense_aux, k->b_dense);
        assert_hex_equal(digest.sha256, sizeof digest.sha256, k->digest);
    }
}

static void gadgets_give_the_values_of_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_known; i++) {
        const struct known *k = &known[i];
        if (!k->values)
            continue;
        struct circuit_program program = {k->build, k->input};
        struct check_result result;
        struct cuzk_error err = {0};
        struct fr *aux;
        assert_ok(cs_check(&program, &result, NULL, NULL, NULL, &aux, &err), err);
        print_message("%s\n", k->name);
        assert_int_equal(result.unsatisfied, 0);
        struct hasher *hasher = sha256_new();
        uint8_t bytes[FR_BYTES] = {0};
        for (uint32_t v = 0; v < result.n_aux; v++) {
            fr_to_bytes(bytes, &aux[v]);
            hasher_update(hasher, bytes, sizeof bytes);
        }
        assert_hex_equal(bytes, sizeof bytes, k->last_value);
        hasher_final(hasher, bytes);
        assert_hex_equal(bytes, sizeof bytes, k->values);
        mem_free(aux);
    }
}

/* A coefficient in text: decimal, a power of two as 2^n, hexadecimal, or minus a decimal. */
static struct fr parse_coefficient(const char **at)
{
    struct fr value;
    bool minus = **at == '-';
    *at += minus;
    char *end;
    if (strncmp(*at, "0x", 2) == 0) {
        uint8_t bytes[FR_BYTES];
        for (size_t i = 0; i < FR_BYTES; i++) {
            char pair[3] = {(*at)[2 + 2 * i], (*at)[3 + 2 * i], 0};
            bytes[FR_BYTES - 1 - i] = (uint8_t)strtoul(pair, NULL, 16);
        }
        assert_true(fr_from_bytes(&value, bytes));
        *at += 2 + 2 * FR_BYTES;
    } else if (strncmp(*at, "2^", 2) == 0) {
        fr_pow2(&value, (unsigned)strtoul(*at + 2, &end, 10));
        *at = end;
    } else {
        fr_from_u64(&value, strtoull(*at, &end, 10));
        *at = end;
    }
    if (minus)
        fr_neg(&value, &value);
    return value;
}

/* One line "<row> <side>: <coefficient>*<variable> …", which `at` is moved behind. */
static void compare_line(const char **at, uint64_t row, char side, const struct lc *lc)
{
    char *end;
    uint64_t row_in_text = strtoull(*at, &end, 10);
    assert_int_equal(row_in_text, row);
    assert_int_equal(end[1], side);
    assert_int_equal(end[2], ':');
    *at = end + 3;
    for (size_t i = 0; **at != '\n'; i++) {
        *at += **at == ' ';
        if (**at == '\n')
            break;
        struct fr coeff = parse_coefficient(at);
        assert_int_equal(**at, '*');
        uint32_t id = (*at)[1] == 'a' ? VAR_AUX : 0;
        id += (uint32_t)strtoul(*at + 2, &end, 10);
        *at = end;
        if (i >= lc->len || lc->terms[i].var.id != id || !fr_equal(&lc->terms[i].coeff, &coeff))
            fail_msg("row %llu side %c term %zu differs", (unsigned long long)row, side, i);
        if (**at == '\n')
            assert_int_equal(lc->len, i + 1);
    }
    (*at)++;
}

static void compare_row(void *context, uint64_t row, const struct lc *a, const struct lc *b,
                        const struct lc *c)
{
    compare_line(context, row, 'A', a);
    compare_line(context, row, 'B', b);
    compare_line(context, row, 'C', c);
}

static void gadgets_have_the_rows_of_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_known; i++) {
        const struct known *k = &known[i];
        if (!k->rows)
            continue;
        char path[128];
        snprintf(path, sizeof path, "gadget-rows/%s.txt.gz", k->rows);
        size_t len;
        uint8_t *text = vector_read_or_skip(path, &len);
        const char *at = (const char *)text;
        print_message("%s\n", k->name);
        struct circuit_program program = {k->build, k->input};
        struct cs_digest digest;
        struct cuzk_error err = {0};
        assert_ok(cs_digest(&program, &digest, compare_row, &at, &err), err);
        assert_int_equal(*at, 0);
        mem_free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gadgets_have_the_rows_of_the_reference),
        cmocka_unit_test(gadgets_have_the_digests_of_the_reference),
        cmocka_unit_test(gadgets_give_the_values_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
