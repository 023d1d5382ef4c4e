/* Mirrors gadgets/sha256.c operation by operation; gadgets/boolean.c has the rules that decide
   which bits get a variable. Words without constants take a few instructions an operation; the few
   choices and majorities that meet constants (after a constant state) go bit by bit. */
#include "gadgets/sha256_witness.h"

#include "gadgets/sha256_tables.h"
#include "r1cs/witness.h"

typedef struct word_planes word;

static inline word planes_of(const struct boolean bits[32], unsigned flip)
{
    word out = { 0 };
    for (unsigned i = 0; i < 32; i++) {
        struct boolean bit = bits[i ^ flip];
        uint32_t constant = bit.kind == BOOLEAN_CONSTANT;
        uint32_t negated = bit.kind == BOOLEAN_NEGATED;
        out.value |= (uint32_t)bit.value << i;
        out.constant |= constant << i;
        out.negated |= (negated | (constant & bit.value)) << i;
    }
    return out;
}

struct word_planes word_planes_of_le_bits(const struct boolean bits[32])
{
    return planes_of(bits, 0);
}

struct word_planes word_planes_of_be_bits(const struct boolean bits[32])
{
    return planes_of(bits, 31);
}

static word word_constant(uint32_t value)
{
    return (word){ .value = value, .constant = UINT32_MAX, .negated = value };
}

static uint32_t rotr(uint32_t a, unsigned by)
{
    return a >> by | a << (32 - by);
}

static word word_rotr(word a, unsigned by)
{
    return (word){ rotr(a.value, by), rotr(a.constant, by), rotr(a.negated, by) };
}

static word word_shr(word a, unsigned by)
{
    return (word){ a.value >> by, a.constant >> by | ~(UINT32_MAX >> by), a.negated >> by };
}

/* Appends the bits that the mask selects. */
static void append_masked(struct witness *witness, uint32_t bits, uint32_t mask)
{
    while (mask != UINT32_MAX && mask != 0) {
        unsigned skip = (unsigned)__builtin_ctz(mask);
        mask >>= skip;
        bits >>= skip;
        unsigned run = (unsigned)__builtin_ctz(~mask);
        witness_append_bits(witness, bits, run);
        mask >>= run;
        bits >>= run;
    }
    if (mask != 0)
        witness_append_bits(witness, bits, 32);
}

static word word_xor(struct witness *witness, word a, word b)
{
    append_masked(witness, a.value ^ a.negated ^ b.value ^ b.negated,
                  ~(a.constant | b.constant));
    return (word){ a.value ^ b.value, a.constant & b.constant, a.negated ^ b.negated };
}

/* The three properties of one bit, each 0 or 1. */
static word bit_at(word a, unsigned i)
{
    return (word){ a.value >> i & 1, a.constant >> i & 1, a.negated >> i & 1 };
}

static void set_bit(word *a, unsigned i, word bit)
{
    a->value |= bit.value << i;
    a->constant |= bit.constant << i;
    a->negated |= bit.negated << i;
}

static word bit_constant(uint32_t value)
{
    return (word){ value, 1, value };
}

static word bit_not(word a)
{
    return (word){ a.value ^ 1, a.constant, a.negated ^ 1 };
}

static bool bit_is(word a, uint32_t value)
{
    return a.constant && a.value == value;
}

static word bit_and(struct witness *witness, word a, word b)
{
    if (bit_is(a, 0) || bit_is(b, 0))
        return bit_constant(0);
    if (a.constant)
        return b;
    if (b.constant)
        return a;
    witness_append_bits(witness, a.value & b.value, 1);
    return (word){ .value = a.value & b.value };
}

static word bit_ch(struct witness *witness, word a, word b, word c)
{
    uint32_t value = a.value ? b.value : c.value;
    if (a.constant && b.constant && c.constant)
        return bit_constant(value);
    if (bit_is(a, 0))
        return c;
    if (bit_is(b, 0))
        return bit_and(witness, bit_not(a), c);
    if (bit_is(c, 0))
        return bit_and(witness, a, b);
    if (bit_is(c, 1))
        return bit_not(bit_and(witness, a, bit_not(b)));
    if (bit_is(b, 1))
        return bit_not(bit_and(witness, bit_not(a), bit_not(c)));
    witness_append_bits(witness, value, 1);
    return (word){ .value = value };
}

static word bit_maj(struct witness *witness, word a, word b, word c)
{
    uint32_t value = a.value + b.value + c.value >= 2;
    if (a.constant && b.constant && c.constant)
        return bit_constant(value);
    if (bit_is(a, 0))
        return bit_and(witness, b, c);
    if (bit_is(b, 0))
        return bit_and(witness, a, c);
    if (bit_is(c, 0))
        return bit_and(witness, a, b);
    if (bit_is(c, 1))
        return bit_not(bit_and(witness, bit_not(a), bit_not(b)));
    if (bit_is(b, 1))
        return bit_not(bit_and(witness, bit_not(a), bit_not(c)));
    if (bit_is(a, 1))
        return bit_not(bit_and(witness, bit_not(b), bit_not(c)));
    witness_append_bits(witness, value | (b.value & c.value) << 1, 2);
    return (word){ .value = value };
}

static word word_ch(struct witness *witness, word a, word b, word c)
{
    word out = { .value = (a.value & b.value) ^ (~a.value & c.value) };
    if ((a.constant | b.constant | c.constant) == 0) {
        witness_append_bits(witness, out.value, 32);
        return out;
    }
    out = (word){ 0 };
    for (unsigned i = 0; i < 32; i++)
        set_bit(&out, i, bit_ch(witness, bit_at(a, i), bit_at(b, i), bit_at(c, i)));
    return out;
}

/* Moves bit i to bit 2i. */
static uint64_t spread(uint32_t bits)
{
    uint64_t x = bits;
    x = (x | x << 16) & 0x0000ffff0000ffffu;
    x = (x | x << 8) & 0x00ff00ff00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
    x = (x | x << 2) & 0x3333333333333333u;
    return (x | x << 1) & 0x5555555555555555u;
}

static word word_maj(struct witness *witness, word a, word b, word c)
{
    uint32_t both = b.value & c.value;
    word out = { .value = both | (a.value & (b.value | c.value)) };
    if ((a.constant | b.constant | c.constant) == 0) {
        witness_append_bits(witness, spread(out.value) | spread(both) << 1, 64);
        return out;
    }
    out = (word){ 0 };
    for (unsigned i = 0; i < 32; i++)
        set_bit(&out, i, bit_maj(witness, bit_at(a, i), bit_at(b, i), bit_at(c, i)));
    return out;
}

static word word_add(struct witness *witness, const word *addends, size_t n)
{
    uint64_t sum = 0;
    uint32_t constant = UINT32_MAX;
    for (size_t k = 0; k < n; k++) {
        sum += addends[k].value;
        constant &= addends[k].constant;
    }
    if (constant == UINT32_MAX)
        return word_constant((uint32_t)sum);
    witness_append_bits(witness, sum, uint32_sum_bits(n));
    return (word){ .value = (uint32_t)sum };
}

static void extend(struct witness *witness, word w[64])
{
    for (size_t t = 16; t < 64; t++) {
        word a = w[t - 15], b = w[t - 2];
        word s0 = word_xor(witness, word_rotr(a, 7), word_rotr(a, 18));
        s0 = word_xor(witness, s0, word_shr(a, 3));
        word s1 = word_xor(witness, word_rotr(b, 17), word_rotr(b, 19));
        s1 = word_xor(witness, s1, word_shr(b, 10));
        w[t] = word_add(witness, (word[]){ w[t - 16], s0, w[t - 7], s1 }, 4);
    }
}

static word word_sigma(struct witness *witness, word a, const unsigned by[3])
{
    word x = word_xor(witness, word_rotr(a, by[0]), word_rotr(a, by[1]));
    return word_xor(witness, x, word_rotr(a, by[2]));
}

/* A sum of the state at the end: its low 32 bits are the first 32 of its variables. */
static void output(struct witness *witness, struct uint32 *out, const word *addends, size_t n)
{
    uint32_t first = witness->n_aux;
    word sum = word_add(witness, addends, n);
    for (unsigned i = 0; i < 32; i++) {
        bool value = sum.value >> i & 1;
        out->bit[i] = sum.constant ? boolean_constant(value)
                                   : boolean_plain(var_aux(first + i), value);
    }
}

void sha256_compress_witness(struct cs *cs, const struct word_planes message[16],
                             struct uint32 state[8])
{
    struct witness *witness = cs->witness;
    word w[64], s[8], initial[8];
    memcpy(w, message, 16 * sizeof *w);
    extend(witness, w);
    for (size_t i = 0; i < 8; i++)
        s[i] = initial[i] = word_planes_of_le_bits(state[i].bit);

    /* s = a … h. The sums that make the next a and e wait for the round that needs them. */
    word for_a[8], for_e[7];
    for (size_t i = 0; i < 64; i++) {
        if (i > 0)
            s[4] = word_add(witness, for_e, 6);
        word s1 = word_sigma(witness, s[4], (const unsigned[]){ 6, 11, 25 });
        word ch = word_ch(witness, s[4], s[5], s[6]);
        word t1[5] = { s[7], s1, ch, word_constant(sha256_round_constants[i]), w[i] };
        if (i > 0)
            s[0] = word_add(witness, for_a, 7);
        word s0 = word_sigma(witness, s[0], (const unsigned[]){ 2, 13, 22 });
        word maj = word_maj(witness, s[0], s[1], s[2]);
        memcpy(for_e, t1, sizeof t1);
        memcpy(for_a, t1, sizeof t1);
        for_e[5] = s[3];
        for_a[5] = s0;
        for_a[6] = maj;
        memmove(&s[1], &s[0], 7 * sizeof *s);
    }
    for_a[7] = initial[0];
    for_e[6] = initial[4];
    output(witness, &state[0], for_a, 8);
    for (size_t i = 1; i < 8; i++) {
        if (i == 4)
            output(witness, &state[4], for_e, 7);
        else
            output(witness, &state[i], (word[]){ initial[i], s[i] }, 2);
    }
}
