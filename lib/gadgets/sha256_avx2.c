/* Eight blocks at a time. Each step makes the 64-bit words of all lanes as if every block began at
   a whole word of its bit plane. At the end the words are shifted to where the block of each lane
   really begins, four words of four lanes at a time.

   A vector holds one 32-bit word of each lane, lane after lane. 64-bit words are in two vectors, in
   the order in which unpacklo and unpackhi leave them: lanes 0, 1, 4, 5 and 2, 3, 6, 7. */
#include "gadgets/sha256_lanes.h"

#include "base/check.h"
#include "gadgets/sha256_tables.h"
#include "gadgets/uint32.h"
#include "math/avx2.h"
#include "math/cpu.h"
#include "r1cs/witness.h"

#if defined(MATH_HAVE_AVX2)

enum { HALF = SHA256_LANES / 2, BLOCK_WORDS_MAX = 448 };

/* The lane of a message: the first four are in one half of the words of 64 bits. */
static const unsigned lane_of[SHA256_LANES] = {0, 1, 4, 5, 2, 3, 6, 7};

typedef __m256i v32;

struct v64 {
    __m256i half[2];
};

/* --- Words ------------------------------------------------------------------------------------ */

static inline v32 xor32(v32 a, v32 b)
{
    return _mm256_xor_si256(a, b);
}

static inline v32 and32(v32 a, v32 b)
{
    return _mm256_and_si256(a, b);
}

static inline v32 or32(v32 a, v32 b)
{
    return _mm256_or_si256(a, b);
}

static inline v32 set32(uint32_t value)
{
    return _mm256_set1_epi32((int)value);
}

#define ROTR(a, by) or32(_mm256_srli_epi32(a, by), _mm256_slli_epi32(a, 32 - (by)))

/* low + 2^32 · high in each lane. */
static inline struct v64 join_words(v32 low, v32 high)
{
    return (struct v64){{_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high)}};
}

static inline struct v64 widen(v32 a)
{
    return join_words(a, _mm256_setzero_si256());
}

static inline struct v64 add(struct v64 a, struct v64 b)
{
    return (struct v64){
        {_mm256_add_epi64(a.half[0], b.half[0]), _mm256_add_epi64(a.half[1], b.half[1])}};
}

static inline struct v64 shr64(struct v64 a, int by)
{
    return (struct v64){{_mm256_srli_epi64(a.half[0], by), _mm256_srli_epi64(a.half[1], by)}};
}

/* The lower 32 bits of each lane. */
static inline v32 narrow(struct v64 a)
{
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a.half[0]), _mm256_castsi256_ps(a.half[1]), 0x88));
}

/* Bit i of `even` to bit 2i, bit i of `odd` to bit 2i + 1: by tables of nibbles. */
static inline struct v64 interleave(v32 even, v32 odd)
{
    const __m256i table = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 4, 5, 16, 17, 20, 21, 64, 65, 68, 69, 80, 81, 84, 85));
    const __m256i twice = _mm256_add_epi8(table, table), nibble = _mm256_set1_epi8(15);
    __m256i low = or32(_mm256_shuffle_epi8(table, and32(even, nibble)),
                       _mm256_shuffle_epi8(twice, and32(odd, nibble)));
    __m256i high = or32(_mm256_shuffle_epi8(table, and32(_mm256_srli_epi32(even, 4), nibble)),
                        _mm256_shuffle_epi8(twice, and32(_mm256_srli_epi32(odd, 4), nibble)));
    return (struct v64){{_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)}};
}

/* --- The block's bits ------------------------------------------------------------------------- */

struct bits {
    struct v64 word; /* the incomplete word, its lowest `used` bits */
    unsigned used;   /* < 64 */
    size_t n;        /* complete words */
    struct v64 words[BLOCK_WORDS_MAX];
};

/* Puts the next `count` bits of each lane; the other bits of `a` are zero. */
static inline void put(struct bits *bits, struct v64 a, unsigned count)
{
    const __m128i left = _mm_cvtsi32_si128((int)bits->used);
    const __m128i right = _mm_cvtsi32_si128(64 - (int)bits->used);
    bits->word.half[0] = or32(bits->word.half[0], _mm256_sll_epi64(a.half[0], left));
    bits->word.half[1] = or32(bits->word.half[1], _mm256_sll_epi64(a.half[1], left));
    bits->used += count;
    if (bits->used < 64)
        return;
    bits->used -= 64;
    bits->words[bits->n].half[0] = bits->word.half[0];
    bits->words[bits->n++].half[1] = bits->word.half[1];
    bits->word.half[0] = _mm256_srl_epi64(a.half[0], right);
    bits->word.half[1] = _mm256_srl_epi64(a.half[1], right);
}

/* The bits that the mask selects. */
static void put_masked(struct bits *bits, v32 a, uint32_t mask)
{
    for (unsigned at = 0; at < 32 && mask >> at != 0;) {
        at += (unsigned)__builtin_ctz(mask >> at);
        unsigned run = (unsigned)__builtin_ctzll(~((uint64_t)mask >> at));
        v32 part =
            and32(_mm256_srl_epi32(a, _mm_cvtsi32_si128((int)at)), set32(UINT32_MAX >> (32 - run)));
        put(bits, widen(part), run);
        at += run;
    }
}

/* Writes the words of one half to the places of its n lanes. Bits before and after a block stay as
   they are. */
static void write_half(const struct bits *bits, unsigned half, size_t n,
                       struct witness *const witness[])
{
    uint64_t nowhere[BLOCK_WORDS_MAX], *place[HALF], before[HALF], shift[HALF];
    for (size_t i = 0; i < HALF; i++) {
        place[i] = i < n ? &witness[i]->bits[witness[i]->n_aux / 64] : nowhere;
        shift[i] = i < n ? witness[i]->n_aux % 64 : 0;
        before[i] = i < n ? place[i][0] : 0;
    }
    const __m256i left = _mm256_loadu_si256((const __m256i *)shift);
    const __m256i right = _mm256_sub_epi64(_mm256_set1_epi64x(64), left);
    __m256i last = _mm256_setzero_si256();
    size_t k = 0;
    for (; k + 4 <= bits->n; k += 4) {
        __m256i w[4];
        AVX2_UNROLL for (size_t i = 0; i < 4; i++)
        {
            __m256i word = bits->words[k + i].half[half];
            w[i] = or32(_mm256_sllv_epi64(word, left), _mm256_srlv_epi64(last, right));
            last = word;
        }
        avx2_transpose(w);
        AVX2_UNROLL for (size_t i = 0; i < 4; i++)
            _mm256_storeu_si256((__m256i *)(place[i] + k), w[i]);
    }
    for (size_t i = 0; i < n; i++)
        place[i][0] |= before[i];
    for (; k <= bits->n + 1; k++) {
        uint64_t w[HALF];
        __m256i word = k < bits->n    ? bits->words[k].half[half]
                       : k == bits->n ? bits->word.half[half]
                                      : _mm256_setzero_si256();
        _mm256_storeu_si256((__m256i *)w,
                            or32(_mm256_sllv_epi64(word, left), _mm256_srlv_epi64(last, right)));
        last = word;
        for (size_t i = 0; i < n; i++) {
            if (w[i] != 0)
                place[i][k] |= w[i];
        }
    }
}

/* Writes all lanes, or none if one of them has no room. */
static void write_all(const struct bits *bits, size_t n, struct witness *const witness[])
{
    uint32_t count = (uint32_t)(64 * bits->n + bits->used);
    bool fits = true;
    for (size_t i = 0; i < n; i++)
        fits = fits && witness[i]->aux_capacity - witness[i]->n_aux >= count;
    for (size_t i = 0; i < n && !fits; i++)
        witness[i]->overflow = true;
    if (!fits)
        return;
    write_half(bits, 0, n < HALF ? n : HALF, witness);
    if (n > HALF)
        write_half(bits, 1, n - HALF, witness + HALF);
    for (size_t i = 0; i < n; i++)
        witness[i]->n_aux += count;
}

/* --- The message's words ---------------------------------------------------------------------- */

struct schedule {
    v32 w[64];
    uint32_t constant[64];
};

static uint32_t rotr(uint32_t a, unsigned by)
{
    return a >> by | a << (32 - by);
}

/* The variables of x = a ^ b and x ^ c. Returns which bits of the latter are constant. */
static uint32_t put_xors(struct bits *bits, v32 ab, v32 abc, const uint32_t constant[3])
{
    put_masked(bits, ab, ~(constant[0] | constant[1]));
    uint32_t both = constant[0] & constant[1];
    put_masked(bits, abc, ~(both | constant[2]));
    return both & constant[2];
}

static void extend_step(struct bits *bits, struct schedule *s, size_t t)
{
    const uint32_t c = s->constant[t - 15], d = s->constant[t - 2];
    v32 a = s->w[t - 15], b = s->w[t - 2];
    v32 x0 = xor32(ROTR(a, 7), ROTR(a, 18)), s0 = xor32(x0, _mm256_srli_epi32(a, 3));
    v32 x1 = xor32(ROTR(b, 17), ROTR(b, 19)), s1 = xor32(x1, _mm256_srli_epi32(b, 10));
    uint32_t constant = s->constant[t - 16] & s->constant[t - 7];
    if ((c | d) == 0) {
        put(bits, join_words(x0, and32(s0, set32(UINT32_MAX >> 3))), 32 + 29);
        put(bits, join_words(x1, and32(s1, set32(UINT32_MAX >> 10))), 32 + 22);
        constant = 0;
    } else {
        /* A constant bit counts as 0 in the variables of the sums that it is in. */
        v32 p = _mm256_andnot_si256(set32(c), a), q = _mm256_andnot_si256(set32(d), b);
        v32 px = xor32(ROTR(p, 7), ROTR(p, 18)), qx = xor32(ROTR(q, 17), ROTR(q, 19));
        const uint32_t pc[3] = {rotr(c, 7), rotr(c, 18), c >> 3 | ~(UINT32_MAX >> 3)};
        const uint32_t qc[3] = {rotr(d, 17), rotr(d, 19), d >> 10 | ~(UINT32_MAX >> 10)};
        constant &= put_xors(bits, px, xor32(px, _mm256_srli_epi32(p, 3)), pc);
        constant &= put_xors(bits, qx, xor32(qx, _mm256_srli_epi32(q, 10)), qc);
    }
    struct v64 sum = add(add(widen(s->w[t - 16]), widen(s0)), add(widen(s->w[t - 7]), widen(s1)));
    s->w[t] = narrow(sum);
    s->constant[t] = constant == UINT32_MAX ? constant : 0;
    if (constant != UINT32_MAX)
        put(bits, sum, uint32_sum_bits(4));
}

/* --- The rounds ------------------------------------------------------------------------------- */

enum { SUM_BITS = 35 };

/* As struct rounds of sha256_witness.c. */
struct lanes {
    v32 s[8]; /* a … h */
    struct v64 for_a, for_e;
};

static inline void sum_up(struct lanes *r, const v32 s[8], size_t i, v32 w, const v32 terms[4])
{
    struct v64 t1 = add(add(widen(s[7]), widen(terms[0])), add(widen(terms[1]), widen(w)));
    t1 = add(t1, widen(set32(sha256_round_constants[i])));
    r->for_e = add(t1, widen(s[3]));
    r->for_a = add(t1, add(widen(terms[2]), widen(terms[3])));
}

/* The rounds whose ch and maj have constant words in them, when the state is constant at first. In
   round 0 everything is constant; in round 1 ch and maj are a variable, its negation or constant
   in each bit; in round 2 they are one AND of two bits, each negated or not. */
enum { INITIAL_ROUNDS = 3 };

static void run_initial_rounds(struct bits *bits, const v32 w[64], struct lanes *r)
{
    v32 *s = r->s;
    for (size_t i = 0; i < INITIAL_ROUNDS; i++) {
        if (i > 0) {
            s[4] = narrow(r->for_e);
            put(bits, r->for_e, SUM_BITS);
        }
        v32 x1 = xor32(ROTR(s[4], 6), ROTR(s[4], 11)), s1 = xor32(x1, ROTR(s[4], 25));
        v32 ch = xor32(and32(s[4], s[5]), _mm256_andnot_si256(s[4], s[6]));
        if (i > 0)
            put(bits, join_words(x1, s1), 64);
        if (i == 2)
            put(bits, widen(and32(s[4], xor32(s[5], s[6]))), 32);
        if (i > 0) {
            s[0] = narrow(r->for_a);
            put(bits, r->for_a, SUM_BITS);
        }
        v32 x0 = xor32(ROTR(s[0], 2), ROTR(s[0], 13)), s0 = xor32(x0, ROTR(s[0], 22));
        v32 maj = or32(and32(s[1], s[2]), and32(s[0], or32(s[1], s[2])));
        if (i > 0)
            put(bits, join_words(x0, s0), 64);
        if (i == 2)
            put(bits, widen(and32(xor32(s[0], s[2]), xor32(s[1], s[2]))), 32);
        sum_up(r, s, i, w[i], (const v32[]){s1, ch, s0, maj});
        memmove(&s[1], &s[0], 7 * sizeof *s);
    }
}

/* Rounds first … 63. Afterwards s[0] and s[4] are still to be made from the sums. */
static void run_rounds(struct bits *bits, const v32 w[64], struct lanes *r, size_t first)
{
    v32 *s = r->s;
    v32 a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    for (size_t i = first; i < 64; i++) {
        if (i > 0) {
            e = narrow(r->for_e);
            put(bits, r->for_e, SUM_BITS);
        }
        v32 x1 = xor32(ROTR(e, 6), ROTR(e, 11)), s1 = xor32(x1, ROTR(e, 25));
        v32 ch = xor32(and32(e, f), _mm256_andnot_si256(e, g));
        put(bits, join_words(x1, s1), 64);
        if (i > 0) {
            a = narrow(r->for_a);
            put(bits, join_words(ch, a), 64);
            put(bits, shr64(r->for_a, 32), SUM_BITS - 32);
        } else {
            put(bits, widen(ch), 32);
        }
        v32 x0 = xor32(ROTR(a, 2), ROTR(a, 13)), s0 = xor32(x0, ROTR(a, 22));
        v32 both = and32(b, c), maj = or32(both, and32(a, or32(b, c)));
        put(bits, join_words(x0, s0), 64);
        put(bits, interleave(maj, both), 64);
        sum_up(r, (const v32[]){a, b, c, d, e, f, g, h}, i, w[i], (const v32[]){s1, ch, s0, maj});
        h = g, g = f, f = e;
        d = c, c = b, b = a;
    }
    const v32 out[8] = {a, b, c, d, e, f, g, h};
    memcpy(s, out, sizeof out);
}

static void add_to_state(struct bits *bits, const v32 before[8], struct lanes *r)
{
    for (size_t i = 0; i < 8; i++) {
        struct v64 sum = i == 0 ? r->for_a : i == 4 ? r->for_e : widen(r->s[i]);
        sum = add(sum, widen(before[i]));
        put(bits, sum, i % 4 == 0 ? SUM_BITS : uint32_sum_bits(2));
        r->s[i] = narrow(sum);
    }
}

/* --- Blocks ----------------------------------------------------------------------------------- */

static bool is_usable(size_t n, struct word_planes message[][16], const struct sha256_words state[],
                      bool initial)
{
    const struct word_planes *first = message[0];
    uint32_t wrong = initial ? first[0].constant == UINT32_MAX : 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t t = 0; t < 16; t++) {
            wrong |= message[i][t].constant ^ first[t].constant;
            wrong |= message[i][t].negated & ~message[i][t].constant;
        }
        for (size_t t = 0; t < 8; t++) {
            const struct word_planes *word = &state[i].word[t];
            wrong |= initial ? ~word->constant | (word->value ^ state[0].word[t].value)
                             : word->constant | word->negated;
        }
    }
    return wrong == 0;
}

void sha256_compress_avx2(size_t n, struct witness *const witness[],
                          struct word_planes message[][16], struct sha256_words state[])
{
    struct schedule schedule;
    struct bits bits;
    struct lanes r;
    v32 before[8];
    bool initial = state[0].word[0].constant != 0;
    CHECK(n >= 1 && n <= SHA256_LANES && is_usable(n, message, state, initial));
    bits.n = bits.used = 0;
    bits.word = widen(set32(0));
    for (size_t t = 0; t < 24; t++) {
        uint32_t lanes[SHA256_LANES] = {0};
        for (size_t i = 0; i < n; i++)
            lanes[lane_of[i]] = t < 16 ? message[i][t].value : state[i].word[t - 16].value;
        *(t < 16 ? &schedule.w[t] : &before[t - 16]) = _mm256_loadu_si256((__m256i *)lanes);
    }
    for (size_t t = 0; t < 16; t++)
        schedule.constant[t] = message[0][t].constant;
    for (size_t t = 16; t < 64; t++)
        extend_step(&bits, &schedule, t);
    memcpy(r.s, before, sizeof r.s);
    if (initial)
        run_initial_rounds(&bits, schedule.w, &r);
    run_rounds(&bits, schedule.w, &r, initial ? INITIAL_ROUNDS : 0);
    add_to_state(&bits, before, &r);
    write_all(&bits, n, witness);
    for (size_t t = 0; t < 8; t++) {
        uint32_t lanes[SHA256_LANES];
        _mm256_storeu_si256((__m256i *)lanes, r.s[t]);
        for (size_t i = 0; i < n; i++)
            state[i].word[t] = (struct word_planes){.value = lanes[lane_of[i]]};
    }
}

size_t sha256_lanes(void)
{
    return cpu_has_avx2() ? SHA256_LANES : 1;
}

#else

size_t sha256_lanes(void)
{
    return 1;
}

void sha256_compress_avx2(size_t n, struct witness *const witness[],
                          struct word_planes message[][16], struct sha256_words state[])
{
    (void)n;
    (void)witness;
    (void)message;
    (void)state;
    CHECK(false);
}

#endif
