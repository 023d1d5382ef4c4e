/* Mirrors gadgets/sha256.c operation by operation; the rules in gadgets/boolean.c decide which bits
   get a variable. Words of 32 variables, which nearly all words are, take the plain steps, whose
   numbers of bits are constants. The other words carry planes that describe each bit. */
#include "gadgets/sha256_witness.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "gadgets/sha256_lanes.h"
#include "gadgets/sha256_tables.h"
#include "gadgets/uint32.h"
#include "r1cs/witness.h"

typedef struct word_planes word;

static inline word planes_of(const struct boolean bits[32], unsigned flip)
{
    word out = {0};
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
    return (word){.value = value, .constant = UINT32_MAX, .negated = value};
}

static uint32_t rotr(uint32_t a, unsigned by)
{
    return a >> by | a << (32 - by);
}

static word word_rotr(word a, unsigned by)
{
    return (word){rotr(a.value, by), rotr(a.constant, by), rotr(a.negated, by)};
}

static word word_shr(word a, unsigned by)
{
    return (word){a.value >> by, a.constant >> by | ~(UINT32_MAX >> by), a.negated >> by};
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
    append_masked(witness, a.value ^ a.negated ^ b.value ^ b.negated, ~(a.constant | b.constant));
    return (word){a.value ^ b.value, a.constant & b.constant, a.negated ^ b.negated};
}

/* The three properties of one bit, each 0 or 1. */
static word bit_at(word a, unsigned i)
{
    return (word){a.value >> i & 1, a.constant >> i & 1, a.negated >> i & 1};
}

static void set_bit(word *a, unsigned i, word bit)
{
    a->value |= bit.value << i;
    a->constant |= bit.constant << i;
    a->negated |= bit.negated << i;
}

static word bit_constant(uint32_t value)
{
    return (word){value, 1, value};
}

static word bit_not(word a)
{
    return (word){a.value ^ 1, a.constant, a.negated ^ 1};
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
    return (word){.value = a.value & b.value};
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
    return (word){.value = value};
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
    return (word){.value = value};
}

static word word_ch(struct witness *witness, word a, word b, word c)
{
    word out = {.value = (a.value & b.value) ^ (~a.value & c.value)};
    if ((a.constant | b.constant | c.constant) == 0) {
        witness_append_bits(witness, out.value, 32);
        return out;
    }
    out = (word){0};
    for (unsigned i = 0; i < 32; i++)
        set_bit(&out, i, bit_ch(witness, bit_at(a, i), bit_at(b, i), bit_at(c, i)));
    return out;
}

/* Moves bit i to bit 2i. */
static uint64_t spread_bits(uint32_t bits)
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
    word out = {.value = both | (a.value & (b.value | c.value))};
    if ((a.constant | b.constant | c.constant) == 0) {
        witness_append_bits(witness, spread_bits(out.value) | spread_bits(both) << 1, 64);
        return out;
    }
    out = (word){0};
    for (unsigned i = 0; i < 32; i++)
        set_bit(&out, i, bit_maj(witness, bit_at(a, i), bit_at(b, i), bit_at(c, i)));
    return out;
}

/* Words that are summed up only when their sum is needed. */
struct sum {
    uint64_t value;
    uint32_t constant;
};

static inline struct sum sum_of(word a)
{
    return (struct sum){a.value, a.constant};
}

static inline struct sum sum_and(struct sum sum, word a)
{
    return (struct sum){sum.value + a.value, sum.constant & a.constant};
}

/* The sum of n words. */
static word sum_word(struct witness *witness, struct sum sum, size_t n)
{
    if (sum.constant == UINT32_MAX)
        return word_constant((uint32_t)sum.value);
    witness_append_bits(witness, sum.value, uint32_sum_bits(n));
    return (word){.value = (uint32_t)sum.value};
}

static inline bool is_plain(word a)
{
    return (a.constant | a.negated) == 0;
}

/* --- The message's words ---------------------------------------------------------------------- */

static void extend_step(struct witness *witness, word *w)
{
    word a = w[-15], b = w[-2];
    word s0 = word_xor(witness, word_rotr(a, 7), word_rotr(a, 18));
    s0 = word_xor(witness, s0, word_shr(a, 3));
    word s1 = word_xor(witness, word_rotr(b, 17), word_rotr(b, 19));
    s1 = word_xor(witness, s1, word_shr(b, 10));
    struct sum sum = sum_and(sum_and(sum_and(sum_of(w[-16]), s0), w[-7]), s1);
    w[0] = sum_word(witness, sum, 4);
}

/* n steps whose words −15 and −2 are plain. The zeros that are shifted in get no variables. */
static void extend_plain(struct witness *witness, word *w, size_t n)
{
    enum { STEP_BITS = 32 + 29 + 32 + 22 + 34 };
    struct witness_run run;
    if (!witness_run_start(&run, witness, (uint32_t)n * STEP_BITS))
        return;
    for (; n > 0; n--, w++) {
        uint32_t a = w[-15].value, b = w[-2].value;
        uint32_t x0 = rotr(a, 7) ^ rotr(a, 18), x1 = rotr(b, 17) ^ rotr(b, 19);
        uint32_t s0 = x0 ^ a >> 3, s1 = x1 ^ b >> 10;
        uint64_t sum = (uint64_t)w[-16].value + s0 + w[-7].value + s1;
        witness_run_put(&run, x0 | (uint64_t)(s0 & UINT32_MAX >> 3) << 32, 32 + 29);
        witness_run_put(&run, x1 | (uint64_t)(s1 & UINT32_MAX >> 10) << 32, 32 + 22);
        witness_run_put(&run, sum, 34);
        w[0] = (word){.value = (uint32_t)sum};
    }
    witness_run_finish(&run);
}

static void extend_message(struct witness *witness, word w[64])
{
    for (size_t t = 16; t < 64;) {
        /* Words from 16 on are plain or constant; 17 … come with their steps. */
        size_t n = 0;
        while (t + n < 64 && is_plain(w[t + n - 15]) && (n >= 2 || is_plain(w[t + n - 2])) &&
               n < 15)
            n++;
        if (n > 0) {
            extend_plain(witness, &w[t], n);
            t += n;
        } else {
            extend_step(witness, &w[t++]);
        }
    }
}

/* --- The rounds ------------------------------------------------------------------------------- */

/* s = a … h. The sums that make the next a and e wait for the round that needs them. */
struct rounds {
    word s[8];
    struct sum for_a, for_e;
};

enum { ADDENDS_A = 7, ADDENDS_E = 6, SUM_BITS = 35 };

static word word_sigma(struct witness *witness, word a, const unsigned by[3])
{
    word x = word_xor(witness, word_rotr(a, by[0]), word_rotr(a, by[1]));
    return word_xor(witness, x, word_rotr(a, by[2]));
}

static void round_step(struct witness *witness, struct rounds *r, size_t i, word w)
{
    word *s = r->s;
    if (i > 0)
        s[4] = sum_word(witness, r->for_e, ADDENDS_E);
    word s1 = word_sigma(witness, s[4], (const unsigned[]){6, 11, 25});
    word ch = word_ch(witness, s[4], s[5], s[6]);
    if (i > 0)
        s[0] = sum_word(witness, r->for_a, ADDENDS_A);
    word s0 = word_sigma(witness, s[0], (const unsigned[]){2, 13, 22});
    word maj = word_maj(witness, s[0], s[1], s[2]);
    struct sum t1 = sum_and(sum_and(sum_and(sum_of(s[7]), s1), ch), w);
    t1 = sum_and(t1, word_constant(sha256_round_constants[i]));
    r->for_e = sum_and(t1, s[3]);
    r->for_a = sum_and(sum_and(t1, s0), maj);
    memmove(&s[1], &s[0], 7 * sizeof *s);
}

static inline void put_sigma(struct witness_run *run, uint32_t first, uint32_t both)
{
    witness_run_put(run, first | (uint64_t)both << 32, 64);
}

/* Rounds first … 63 on a state that is plain. */
static void rounds_plain(struct witness *witness, struct rounds *r, size_t first, const word w[64])
{
    enum { ROUND_BITS = 2 * SUM_BITS + 64 + 32 + 64 + 64 };
    struct witness_run run;
    size_t n_bits = (64 - first) * ROUND_BITS - (first == 0 ? 2 * SUM_BITS : 0);
    if (!witness_run_start(&run, witness, (uint32_t)n_bits))
        return;
    uint32_t a = r->s[0].value, b = r->s[1].value, c = r->s[2].value, d = r->s[3].value;
    uint32_t e = r->s[4].value, f = r->s[5].value, g = r->s[6].value, h = r->s[7].value;
    uint64_t for_a = r->for_a.value, for_e = r->for_e.value;
    for (size_t i = first; i < 64; i++) {
        if (i > 0) {
            e = (uint32_t)for_e;
            witness_run_put(&run, for_e, SUM_BITS);
        }
        uint32_t x1 = rotr(e, 6) ^ rotr(e, 11), s1 = x1 ^ rotr(e, 25);
        uint32_t ch = (e & f) ^ (~e & g);
        put_sigma(&run, x1, s1);
        witness_run_put(&run, ch, 32);
        if (i > 0) {
            a = (uint32_t)for_a;
            witness_run_put(&run, for_a, SUM_BITS);
        }
        uint32_t x0 = rotr(a, 2) ^ rotr(a, 13), s0 = x0 ^ rotr(a, 22);
        uint32_t both = b & c, maj = both | (a & (b | c));
        put_sigma(&run, x0, s0);
        witness_run_put(&run, spread_bits(maj) | spread_bits(both) << 1, 64);
        uint64_t t1 = (uint64_t)h + s1 + ch + sha256_round_constants[i] + w[i].value;
        for_e = t1 + d;
        for_a = t1 + s0 + maj;
        h = g, g = f, f = e;
        d = c, c = b, b = a;
    }
    witness_run_finish(&run);
    /* The last a and e are not made: s is as round_step leaves it. */
    const uint32_t s[8] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; i++)
        r->s[i] = (word){.value = s[i]};
    r->for_a = (struct sum){.value = for_a};
    r->for_e = (struct sum){.value = for_e};
}

/* Whether everything that round i uses is plain. Except in the first round, the round makes a and e
   from sums, and these are not constant because the sigma of a plain word is among their
   addends. */
static bool state_is_plain(const struct rounds *r, size_t i)
{
    for (size_t k = 0; k < 8; k++) {
        if ((i == 0 || k % 4 != 0) && !is_plain(r->s[k]))
            return false;
    }
    return true;
}

static void add_to_state(struct witness *witness, const struct rounds *r,
                         struct sha256_words *state)
{
    for (size_t i = 0; i < 8; i++) {
        struct sum sum = i == 0 ? r->for_a : i == 4 ? r->for_e : sum_of(r->s[i]);
        sum = sum_and(sum, state->word[i]);
        state->first[i] = witness->n_aux;
        state->word[i] = sum_word(witness, sum,
                                  i == 0   ? ADDENDS_A + 1
                                  : i == 4 ? ADDENDS_E + 1
                                           : 2);
    }
}

void sha256_compress_witness(struct witness *witness, const struct word_planes message[16],
                             struct sha256_words *state)
{
    word w[64];
    struct rounds r;
    memcpy(w, message, 16 * sizeof *w);
    extend_message(witness, w);
    memcpy(r.s, state->word, sizeof r.s);
    size_t i = 0;
    while (i < 64 && !state_is_plain(&r, i)) {
        round_step(witness, &r, i, w[i]);
        i++;
    }
    if (i < 64)
        rounds_plain(witness, &r, i, w);
    add_to_state(witness, &r, state);
}

/* --- Messages --------------------------------------------------------------------------------- */

void word_planes_of_limbs(struct word_planes words[8], const uint64_t limbs[4])
{
    for (size_t i = 0; i < 8; i++)
        words[i] = (word){.value = __builtin_bswap32((uint32_t)(limbs[i / 2] >> 32 * (i % 2)))};
    words[7].constant = 0x80; /* the bit after the number */
}

/* Block i of the padded message of n words. */
static void fill_block(word block[16], const word *message, size_t n, size_t i)
{
    size_t at = 16 * i;
    for (size_t k = 0; k < 16; k++) {
        block[k] =
            at + k < n ? message[at + k] : word_constant(at + k == n ? UINT32_C(1) << 31 : 0);
    }
    if (at + 16 >= n + 3)
        block[15] = word_constant((uint32_t)(32 * n));
}

static size_t count_blocks(size_t n)
{
    return (n + 3 + 15) / 16;
}

static void start_state(struct sha256_words *state)
{
    for (size_t i = 0; i < 8; i++)
        state->word[i] = word_constant(sha256_iv[i]);
}

static struct num pack_digest(struct witness *witness, const struct sha256_words *state)
{
    uint8_t bytes[SHA256_BYTES];
    for (size_t i = 0; i < 8; i++)
        store_u32_be(bytes + 4 * i, state->word[i].value);
    struct num packed;
    bytes[FR_BYTES - 1] &= 0x3f;
    CHECK(fr_from_bytes(&packed.value, bytes));
    packed.var = var_aux(witness->n_aux);
    witness_append_full(witness, &packed.value);
    return packed;
}

struct num sha256_hash_witness(struct witness *witness, const struct word_planes *message, size_t n)
{
    struct sha256_words state;
    word block[16];
    start_state(&state);
    for (size_t i = 0; i < count_blocks(n); i++) {
        fill_block(block, message, n, i);
        sha256_compress_witness(witness, block, &state);
    }
    return pack_digest(witness, &state);
}

static void hash_side_by_side(size_t count, struct witness *const witness[],
                              const struct word_planes *const message[], size_t n,
                              struct num digest[])
{
    struct sha256_words state[SHA256_LANES];
    word block[SHA256_LANES][16];
    for (size_t k = 0; k < count; k++)
        start_state(&state[k]);
    for (size_t i = 0; i < count_blocks(n); i++) {
        for (size_t k = 0; k < count; k++)
            fill_block(block[k], message[k], n, i);
        sha256_compress_avx2(count, witness, block, state);
    }
    for (size_t k = 0; k < count; k++)
        digest[k] = pack_digest(witness[k], &state[k]);
}

void sha256_hashes_witness(size_t lanes, size_t count, struct witness *const witness[],
                           const struct word_planes *const message[], size_t n, struct num digest[])
{
    for (size_t at = 0; at < count; at += lanes) {
        size_t together = count - at < lanes ? count - at : lanes;
        if (together == 1)
            digest[at] = sha256_hash_witness(witness[at], message[at], n);
        else
            hash_side_by_side(together, witness + at, message + at, n, digest + at);
    }
}
