/* The permutation follows part C.4: round constants folded into `compressed`, the partial rounds'
   matrices factored into sparse ones. Sums of products are accumulated at full width and reduced
   once, which halves the work of the mixes. */
#include "math/poseidon.h"

#include "base/check.h"
#include "math/cpu.h"
#include "math/poseidon_arith.h"
#include "math/poseidon_constants.h"

#include <pthread.h>

__extension__ typedef unsigned __int128 uint128;

enum { ARITIES = 4 };
static struct poseidon_constants constants[ARITIES];
static pthread_once_t constants_once = PTHREAD_ONCE_INIT;

static void compute_all_constants(void)
{
    static const unsigned arity[ARITIES] = {2, 4, 8, 11};
    static const unsigned partial_rounds[ARITIES] = {55, 56, 57, 57};
    for (size_t i = 0; i < ARITIES; i++)
        poseidon_constants_compute(&constants[i], arity[i], partial_rounds[i]);
}

const struct poseidon_constants *poseidon_constants(unsigned arity)
{
    pthread_once(&constants_once, compute_all_constants);
    for (size_t i = 0; i < ARITIES; i++) {
        if (constants[i].arity == arity)
            return &constants[i];
    }
    CHECK(false && "an arity that no tree uses");
    return NULL;
}

void poseidon_tag(struct fr *tag, unsigned arity, enum poseidon_domain domain)
{
    uint64_t one = 1;
    fr_from_u64(tag, domain == POSEIDON_RANDOMNESS ? one << 40 : (one << arity) - 1);
}

/* A sum of products at full width, least significant limb first. */
struct wide {
    uint64_t limb[9];
};

/* r; its lowest limb is 2^64 − 2^32 + 1 and −1/r modulo 2^64 is −(2^32 + 1), which makes the first
   product of each reduction step a matter of shifts. */
static const uint64_t modulus[4] = {0xffffffff00000001u, 0x53bda402fffe5bfeu, 0x3339d80809a1d805u,
                                    0x73eda753299d7d48u};

/* k·r modulo 2^256 for k = 0 … 5. */
static const uint64_t multiples[6][4] = {
    {0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000},
    {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48},
    {0xfffffffe00000002, 0xa77b4805fffcb7fd, 0x6673b0101343b00a, 0xe7db4ea6533afa90},
    {0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8},
    {0xfffffffc00000004, 0x4ef6900bfff96ffb, 0xcce7602026876015, 0xcfb69d4ca675f520},
    {0xfffffffb00000005, 0xa2b4340efff7cbfa, 0x002138283029381a, 0x43a4449fd0137269},
};

/* Makes the limb t a multiple of 2^64 by adding m · r: returns m, and in *carry what goes to the
   next limb from m times r's lowest one. */
static inline uint64_t reduction_factor(uint64_t t, uint64_t *carry)
{
    uint64_t m = -(t + (t << 32));
    *carry = m - (m >> 32) - (m < m << 32) + (t != 0);
    return m;
}

/* v − m, and whether that is negative. */
static inline bool subtract(uint64_t out[4], const uint64_t v[4], const uint64_t m[4])
{
#if defined(__x86_64__)
    uint64_t a = v[0], b = v[1], c = v[2], d = v[3], borrow;
    __asm__("subq %5, %0\n\tsbbq %6, %1\n\tsbbq %7, %2\n\tsbbq %8, %3\n\tsbbq %4, %4"
            : "+&r"(a), "+&r"(b), "+&r"(c), "+&r"(d), "=&r"(borrow)
            : "m"(m[0]), "m"(m[1]), "m"(m[2]), "m"(m[3])
            : "cc");
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
    return borrow != 0;
#else
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        uint128 difference = (uint128)v[i] - m[i] - borrow;
        out[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
    return borrow != 0;
#endif
}

/* t + m · p + *carry: the low limb; the high one is the new *carry. */
static inline uint64_t multiply_add(uint64_t t, uint64_t m, uint64_t p, uint64_t *carry)
{
    uint128 sum = (uint128)m * p + t + *carry;
    *carry = (uint64_t)(sum >> 64);
    return (uint64_t)sum;
}

/* Montgomery reduction of a sum of up to POSEIDON_WIDTH_MAX products of field elements. */
static inline void reduce(struct fr *out, const struct wide *sum)
{
    uint64_t t[9], v[4], w[4];
    memcpy(t, sum->limb, sizeof t);
    uint64_t above = 0; /* carry into limb i + 4 from the step before */
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        uint64_t carry;
        uint64_t m = reduction_factor(t[i], &carry);
        t[i + 1] = multiply_add(t[i + 1], m, modulus[1], &carry);
        t[i + 2] = multiply_add(t[i + 2], m, modulus[2], &carry);
        t[i + 3] = multiply_add(t[i + 3], m, modulus[3], &carry);
        uint128 top = (uint128)t[i + 4] + carry + above;
        t[i + 4] = (uint64_t)top;
        above = (uint64_t)(top >> 64);
    }
    t[8] += above;
    /* The value v = t[4…8] is below 12·r²/2^256 + r < 6.5·r. With k = ⌊v / 2^255⌋ ≤ 5, v − k·r is
       not negative and below 2^255 + 5·(2^255 − r) < 2·r. */
    subtract(v, t + 4, multiples[t[8] << 1 | t[7] >> 63]);
    bool small = subtract(w, v, multiples[1]);
    for (int i = 0; i < 4; i++)
        out->v.l[i] = small ? v[i] : w[i];
}

/* column = column + x · y, in three limbs. */
struct column {
    uint64_t low, middle, high;
};

static inline void column_add(struct column *column, uint64_t x, uint64_t y)
{
    uint128 product = (uint128)x * y;
    uint64_t low = (uint64_t)product, middle = (uint64_t)(product >> 64);
#if defined(__x86_64__)
    /* Compilers do not find this chain of carries by themselves. */
    __asm__("addq %3, %0\n\tadcq %4, %1\n\tadcq $0, %2"
            : "+&r"(column->low), "+&r"(column->middle), "+&r"(column->high)
            : "r"(low), "r"(middle)
            : "cc");
#else
    uint128 sum = (uint128)column->low + low;
    column->low = (uint64_t)sum;
    sum = (sum >> 64) + column->middle + middle;
    column->middle = (uint64_t)sum;
    column->high += (uint64_t)(sum >> 64);
#endif
}

static inline uint64_t column_shift(struct column *column)
{
    uint64_t limb = column->low;
    *column = (struct column){column->middle, column->high, 0};
    return limb;
}

/* out = Σ a[i] · b[i · stride], n ≤ POSEIDON_WIDTH_MAX. out is not among the operands. */
static void dot(struct fr *out, size_t n, const struct fr *a, const struct fr *b, size_t stride)
{
    struct wide sum;
    struct column column = {0};
    /* Product scanning: limb k of the sum collects all a_i · b_j with i + j = k. */
#pragma GCC unroll 7
    for (int k = 0; k < 7; k++) {
        for (size_t m = 0; m < n; m++) {
            const limb_t *x = a[m].v.l;
            const limb_t *y = b[m * stride].v.l;
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++) {
                if (k - i >= 0 && k - i < 4)
                    column_add(&column, x[i], y[k - i]);
            }
        }
        sum.limb[k] = column_shift(&column);
    }
    sum.limb[7] = column.low;
    sum.limb[8] = column.middle;
    reduce(out, &sum);
}

/* state = state · matrix */
static void mix(unsigned width, struct fr *state,
                const struct fr matrix[POSEIDON_WIDTH_MAX][POSEIDON_WIDTH_MAX])
{
    struct fr next[POSEIDON_WIDTH_MAX];
    for (unsigned j = 0; j < width; j++)
        dot(&next[j], width, state, &matrix[0][j], POSEIDON_WIDTH_MAX);
    memcpy(state, next, width * sizeof *state);
}

static void mix_sparse(unsigned width, struct fr *state, const struct fr *w, const struct fr *v)
{
    struct fr first, product;
    dot(&first, width, state, w, 1);
    for (unsigned j = 1; j < width; j++) {
        fr_mul(&product, &v[j - 1], &state[0]);
        fr_add(&state[j], &state[j], &product);
    }
    state[0] = first;
}

/* One S-box; squares[0…2] = x², x⁴, x⁵ + constant (the last also in *x). */
static void sbox(struct fr *x, const struct fr *constant, struct fr squares[3])
{
    fr_sqr(&squares[0], x);
    fr_sqr(&squares[1], &squares[0]);
    fr_mul(x, x, &squares[1]);
    if (constant)
        fr_add(x, x, constant);
    squares[2] = *x;
}

/* Where a permutation's intermediate values go: the next place of a trace, or a place that is
   overwritten when there is no trace. */
struct tracer {
    struct fr *next;
    struct fr unused[4];
};

static struct fr *trace_take(struct tracer *tracer, size_t count)
{
    if (!tracer->next)
        return tracer->unused;
    struct fr *place = tracer->next;
    tracer->next += count;
    return place;
}

static void sbox_traced(struct fr *x, const struct fr *constant, struct tracer *tracer)
{
    struct fr *place = trace_take(tracer, 4);
    place[0] = *x;
    sbox(x, constant, place + 1);
}

static void permute(struct fr *state, unsigned arity, enum poseidon_domain domain,
                    const struct fr *inputs, struct fr *trace)
{
    const struct poseidon_constants *c = poseidon_constants(arity);
    const struct fr *constant = c->compressed;
    struct tracer tracer = {.next = trace};
    unsigned width = c->width;
    struct fr unused[3];
    poseidon_tag(&state[0], arity, domain);
    for (unsigned i = 0; i < width; i++) {
        if (i > 0)
            state[i] = inputs[i - 1];
        fr_add(&state[i], &state[i], &constant[i]);
        sbox(&state[i], &constant[width + i], i > 0 ? trace_take(&tracer, 3) : unused);
    }
    constant += 2 * width;
    mix(width, state, c->mds);
    for (unsigned round = 1; round < POSEIDON_FULL_ROUNDS / 2; round++, constant += width) {
        for (unsigned i = 0; i < width; i++)
            sbox_traced(&state[i], &constant[i], &tracer);
        mix(width, state, round == POSEIDON_FULL_ROUNDS / 2 - 1 ? c->pre_sparse : c->mds);
    }
    for (unsigned round = 0; round < c->partial_rounds; round++) {
        sbox_traced(&state[0], constant++, &tracer);
        mix_sparse(width, state, c->sparse_w[round], c->sparse_v[round]);
    }
    for (unsigned round = 1; round <= POSEIDON_FULL_ROUNDS / 2; round++, constant += width) {
        bool last = round == POSEIDON_FULL_ROUNDS / 2;
        for (unsigned i = 0; i < width; i++)
            sbox_traced(&state[i], last ? NULL : &constant[i], &tracer);
        if (last) {
            /* Only element 1 leaves the permutation. */
            struct fr digest;
            dot(&digest, width, state, &c->mds[0][1], POSEIDON_WIDTH_MAX);
            state[1] = digest;
            *trace_take(&tracer, 1) = digest;
        } else {
            mix(width, state, c->mds);
        }
    }
}

void poseidon_hash(struct fr *out, unsigned arity, const struct fr *inputs)
{
    struct fr state[POSEIDON_WIDTH_MAX];
    permute(state, arity, POSEIDON_TREE, inputs, NULL);
    *out = state[1];
}

void poseidon_hash_randomness(struct fr *out, const struct fr inputs[2])
{
    struct fr state[POSEIDON_WIDTH_MAX];
    permute(state, 2, POSEIDON_RANDOMNESS, inputs, NULL);
    *out = state[1];
}

size_t poseidon_trace_len(unsigned arity)
{
    const struct poseidon_constants *c = poseidon_constants(arity);
    return 31 * (size_t)c->width + 4 * (size_t)c->partial_rounds - 2;
}

void poseidon_trace(struct fr *trace, unsigned arity, enum poseidon_domain domain,
                    const struct fr *inputs)
{
    struct fr state[POSEIDON_WIDTH_MAX];
    permute(state, arity, domain, inputs, trace);
}

/* --- Several at once -------------------------------------------------------------------------- */

static void permute_one(unsigned arity, enum poseidon_domain domain, size_t n,
                        const struct fr *const inputs[], struct fr *const out[], bool trace)
{
    struct fr state[POSEIDON_WIDTH_MAX];
    CHECK(n == 1);
    permute(state, arity, domain, inputs[0], trace ? out[0] : NULL);
    if (!trace)
        *out[0] = state[1];
}

const struct poseidon_arith poseidon_arith_portable = {
    .name = "portable",
    .lanes = 1,
    .permute = permute_one,
};

const struct poseidon_arith *const *poseidon_ariths(void)
{
    static const struct poseidon_arith *const all[] = {
#if defined(__x86_64__)
        &poseidon_arith_ifma,
        &poseidon_arith_avx2,
#endif
        &poseidon_arith_portable,
        NULL
    };
    return cpu_has_ifma() ? &all[0] : cpu_has_avx2() ? &all[1] : &all[ARRAY_LEN(all) - 2];
}

const char *poseidon_arith_name(const struct poseidon_arith *arith)
{
    return arith->name;
}

static void permute_all(const struct poseidon_arith *arith, unsigned arity,
                        enum poseidon_domain domain, size_t n, const struct fr *const inputs[],
                        struct fr *const out[], bool trace)
{
    if (!arith)
        arith = poseidon_ariths()[0];
    for (size_t at = 0; at < n; at += arith->lanes) {
        size_t left = n - at;
        arith->permute(arity, domain, left < arith->lanes ? left : arith->lanes, inputs + at,
                       out + at, trace);
    }
}

void poseidon_traces(const struct poseidon_arith *arith, unsigned arity,
                     enum poseidon_domain domain, size_t n, const struct fr *const inputs[],
                     struct fr *const traces[])
{
    permute_all(arith, arity, domain, n, inputs, traces, true);
}

void poseidon_hashes(const struct poseidon_arith *arith, unsigned arity, size_t n,
                     const struct fr *const inputs[], struct fr *const out[])
{
    permute_all(arith, arity, POSEIDON_TREE, n, inputs, out, false);
}
