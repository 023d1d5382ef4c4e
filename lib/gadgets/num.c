#include "gadgets/num.h"

#include "base/check.h"
#include "gadgets/row.h"
#include "r1cs/witness.h"

struct num num_alloc(struct cs *cs, const struct fr *value)
{
    return (struct num){.var = cs_num(cs, value), .value = *value};
}

/* a · 1 = b, or any other row whose second factor is 1. */
static void enforce_times_one(struct cs *cs, struct row *row)
{
    lc_add_var(&row->b, VAR_ONE);
    row_enforce(cs, row);
}

void num_inputize(struct cs *cs, struct num x)
{
    struct row row;
    row_start(&row);
    lc_add_var(&row.a, cs_input(cs, &x.value));
    lc_add_var(&row.c, x.var);
    enforce_times_one(cs, &row);
}

/* Σ 2^i · bits[i], from its limbs. */
static void limbs_of_bits(uint64_t limbs[4], const struct boolean *bits, size_t n)
{
    memset(limbs, 0, 4 * sizeof *limbs);
    for (size_t i = 0; i < n; i++)
        limbs[i / 64] |= (uint64_t)bits[i].value << i % 64;
}

static struct fr value_of_bits(const struct boolean *bits, size_t n)
{
    uint64_t limbs[4];
    uint8_t bytes[FR_BYTES];
    struct fr value;
    limbs_of_bits(limbs, bits, n);
    for (size_t i = 0; i < FR_BYTES; i++)
        bytes[i] = (uint8_t)(limbs[i / 8] >> 8 * (i % 8));
    CHECK(n <= FR_CAPACITY && fr_from_bytes(&value, bytes));
    return value;
}

/* 0 · 0 = Σ 2^i bits[i] − x: the sum is on the C side, A and B are empty. */
static void enforce_unpacking(struct cs *cs, struct num x, const struct boolean bits[FR_BITS])
{
    struct lc sum = {0};
    for (unsigned i = 0; i < FR_BITS; i++)
        boolean_add_to(&sum, row_pow2(i), bits[i]);
    lc_sub_var(&sum, x.var);
    cs_enforce(cs, NULL, NULL, &sum);
    lc_free(&sum);
}

void num_to_bits_witness(struct cs *cs, struct num x, uint64_t limbs[4])
{
    fr_to_limbs(limbs, &x.value);
    for (unsigned i = 0; i < 4; i++)
        witness_append_bits(cs->witness, limbs[i], i < 3 ? 64 : FR_BITS - 192);
}

/* For the witness driver: appends the bits of x, in order. */
static void append_bits(struct cs *cs, struct num x, struct boolean bits[FR_BITS])
{
    uint64_t limbs[4];
    uint32_t first = cs->witness->n_aux;
    num_to_bits_witness(cs, x, limbs);
    for (unsigned i = 0; i < FR_BITS; i++)
        bits[i] = boolean_plain(var_aux(first + i), limbs[i / 64] >> i % 64 & 1);
}

void num_to_bits(struct cs *cs, struct num x, struct boolean bits[FR_BITS])
{
    if (!row_wanted(cs)) {
        append_bits(cs, x, bits);
        return;
    }
    uint64_t limbs[4];
    fr_to_limbs(limbs, &x.value);
    struct var outs[FR_BITS];
    struct cs_template use = {.name = "to-bits", .externals = &x.var, .n_externals = 1};
    if (cs_template_begin(cs, &use, outs, FR_BITS)) {
        for (unsigned i = 0; i < FR_BITS; i++) {
            bits[i] = boolean_bit(cs, limbs[i / 64] >> i % 64 & 1);
            outs[i] = bits[i].var;
        }
        enforce_unpacking(cs, x, bits);
        cs_template_end(cs, outs, FR_BITS);
    } else {
        for (unsigned i = 0; i < FR_BITS; i++)
            bits[i] = boolean_plain(outs[i], false);
    }
}

/* Σ 2^i bits[i] · 1 = packed */
static void enforce_packing(struct cs *cs, const struct boolean *bits, size_t n, struct var packed)
{
    if (!row_wanted(cs))
        return;
    struct lc sum = {0};
    struct row row;
    row_start(&row);
    for (size_t i = 0; i < n; i++)
        boolean_add_to(&sum, row_pow2((unsigned)i), bits[i]);
    lc_add_var(&row.b, VAR_ONE);
    lc_add_var(&row.c, packed);
    cs_enforce(cs, &sum, &row.b, &row.c);
    lc_free(&sum);
}

static void decompose_rows(struct cs *cs, struct num x, const uint64_t limbs[4], size_t n,
                           struct boolean *bits)
{
    for (size_t i = 0; i < n; i++)
        bits[i] = boolean_bit(cs, limbs[i / 64] >> i % 64 & 1);
    enforce_packing(cs, bits, n, x.var);
}

void num_decompose(struct cs *cs, struct num x, size_t n, struct boolean *bits)
{
    uint64_t limbs[4];
    fr_to_limbs(limbs, &x.value);
    if (n < FR_BITS) {
        decompose_rows(cs, x, limbs, n, bits);
        return;
    }
    if (!row_wanted(cs)) {
        append_bits(cs, x, bits);
        return;
    }
    struct var outs[FR_BITS];
    struct cs_template use = {.name = "decompose", .externals = &x.var, .n_externals = 1};
    if (cs_template_begin(cs, &use, outs, FR_BITS)) {
        decompose_rows(cs, x, limbs, FR_BITS, bits);
        for (unsigned i = 0; i < FR_BITS; i++)
            outs[i] = bits[i].var;
        cs_template_end(cs, outs, FR_BITS);
    } else {
        for (unsigned i = 0; i < FR_BITS; i++)
            bits[i] = boolean_plain(outs[i], false);
    }
}

void num_enforce_equal(struct cs *cs, struct num a, struct num b)
{
    struct row row;
    row_start(&row);
    lc_add_var(&row.a, a.var);
    lc_add_var(&row.c, b.var);
    enforce_times_one(cs, &row);
}

struct num num_add(struct cs *cs, struct num a, struct num b)
{
    struct fr value;
    fr_add(&value, &a.value, &b.value);
    struct num sum = num_alloc(cs, &value);
    struct row row;
    row_start(&row);
    lc_add_var(&row.a, a.var);
    lc_add_var(&row.a, b.var);
    lc_add_var(&row.c, sum.var);
    enforce_times_one(cs, &row);
    return sum;
}

struct num num_mul(struct cs *cs, struct num a, struct num b)
{
    struct fr value;
    fr_mul(&value, &a.value, &b.value);
    struct num product = num_alloc(cs, &value);
    struct row row;
    row_start(&row);
    lc_add_var(&row.a, a.var);
    lc_add_var(&row.b, b.var);
    lc_add_var(&row.c, product.var);
    row_enforce(cs, &row);
    return product;
}

struct num num_square(struct cs *cs, struct num a)
{
    return num_mul(cs, a, a);
}

struct num num_pack_bits(struct cs *cs, const struct boolean *bits, size_t n)
{
    n = n < FR_CAPACITY ? n : FR_CAPACITY;
    struct num packed = {.value = value_of_bits(bits, n)};
    struct var externals[FR_CAPACITY];
    bool plain = true;
    for (size_t i = 0; i < n; i++) {
        externals[i] = bits[i].var;
        plain = plain && bits[i].kind == BOOLEAN_PLAIN;
    }
    /* Packed digests are all alike; shorter or mixed bits are packed once or twice in a circuit. */
    struct cs_template use = {.name = "pack", .externals = externals, .n_externals = n};
    bool templated = plain && n == FR_CAPACITY && row_wanted(cs);
    if (templated && !cs_template_begin(cs, &use, &packed.var, 1))
        return packed;
    packed.var = cs_num(cs, &packed.value);
    enforce_packing(cs, bits, n, packed.var);
    if (templated)
        cs_template_end(cs, &packed.var, 1);
    return packed;
}

void num_pack_into_inputs(struct cs *cs, const struct boolean *bits, size_t n)
{
    for (size_t at = 0; at < n; at += FR_CAPACITY) {
        size_t count = n - at < FR_CAPACITY ? n - at : FR_CAPACITY;
        struct fr value = value_of_bits(bits + at, count);
        enforce_packing(cs, bits + at, count, cs_input(cs, &value));
    }
}

void num_uint64_bits(struct cs *cs, uint64_t value, struct boolean bits[64])
{
    for (unsigned i = 0; i < 64; i++)
        bits[i] = boolean_bit(cs, value >> i & 1);
}

void num_reverse_bits_in_bytes(const struct boolean *bits, size_t n, struct boolean *out)
{
    for (size_t byte = 0; byte < n; byte += 8) {
        for (size_t i = 0; i < 8; i++)
            out[byte + i] = byte + 7 - i < n ? bits[byte + 7 - i] : boolean_constant(false);
    }
}
