#include "math/poseidon_constants.h"

#include "base/check.h"

enum { WIDTH_MAX = POSEIDON_WIDTH_MAX };

/* The Grain LFSR: bit i of the 80-bit state is bit i of low, continued in high. */
struct grain {
    uint64_t low;
    uint64_t high;
};

static unsigned grain_step(struct grain *g)
{
    uint64_t s = g->low;
    uint64_t bit = (s >> 62 ^ s >> 51 ^ s >> 38 ^ s >> 23 ^ s >> 13 ^ s) & 1;
    g->low = g->low >> 1 | g->high << 63;
    g->high = g->high >> 1 | bit << 15;
    return (unsigned)bit;
}

/* Appends a field of the initial state, most significant bit first. */
static unsigned grain_put(struct grain *g, unsigned at, unsigned bits, uint64_t value)
{
    for (unsigned i = 0; i < bits; i++, at++) {
        uint64_t bit = value >> (bits - 1 - i) & 1;
        if (at < 64)
            g->low |= bit << at;
        else
            g->high |= bit << (at - 64);
    }
    return at;
}

static void grain_init(struct grain *g, unsigned width, unsigned partial_rounds)
{
    *g = (struct grain){0};
    unsigned at = grain_put(g, 0, 2, 1); /* a prime field */
    at = grain_put(g, at, 4, 1);         /* S-box x^5 */
    at = grain_put(g, at, 12, FR_BITS);
    at = grain_put(g, at, 12, width);
    at = grain_put(g, at, 10, POSEIDON_FULL_ROUNDS);
    at = grain_put(g, at, 10, partial_rounds);
    at = grain_put(g, at, 30, 0x3fffffff);
    CHECK(at == 80);
    for (unsigned i = 0; i < 160; i++)
        grain_step(g);
}

/* The next field element: 255 bits, most significant first, drawn again while they are not below r.
   Of each pair of bits the second counts, if the first is 1. */
static void grain_element(struct grain *g, struct fr *out)
{
    uint8_t bytes[FR_BYTES];
    do {
        memset(bytes, 0, sizeof bytes);
        for (unsigned i = FR_BITS; i-- > 0;) {
            while (!grain_step(g))
                grain_step(g);
            bytes[i / 8] |= (uint8_t)(grain_step(g) << i % 8);
        }
    } while (!fr_from_bytes(out, bytes));
}

/* inverse = m⁻¹ for the n × n corner of m, by Gauss and Jordan. m is destroyed. */
static void matrix_invert(unsigned n, struct fr m[WIDTH_MAX][WIDTH_MAX],
                          struct fr inverse[WIDTH_MAX][WIDTH_MAX])
{
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++)
            inverse[i][j] = i == j ? fr_one : fr_zero;
    }
    for (unsigned column = 0; column < n; column++) {
        /* All corners of these matrices are invertible, so that no pivot search is needed. */
        CHECK(!fr_is_zero(&m[column][column]));
        struct fr scale, product;
        fr_inv(&scale, &m[column][column]);
        for (unsigned j = 0; j < n; j++) {
            fr_mul(&m[column][j], &m[column][j], &scale);
            fr_mul(&inverse[column][j], &inverse[column][j], &scale);
        }
        for (unsigned i = 0; i < n; i++) {
            if (i == column)
                continue;
            struct fr factor = m[i][column];
            for (unsigned j = 0; j < n; j++) {
                fr_mul(&product, &factor, &m[column][j]);
                fr_sub(&m[i][j], &m[i][j], &product);
                fr_mul(&product, &factor, &inverse[column][j]);
                fr_sub(&inverse[i][j], &inverse[i][j], &product);
            }
        }
    }
}

/* out = v · m for n elements; out is not v. */
static void vector_times(unsigned n, struct fr *out, const struct fr *v,
                         struct fr m[WIDTH_MAX][WIDTH_MAX])
{
    for (unsigned j = 0; j < n; j++) {
        struct fr product;
        out[j] = fr_zero;
        for (unsigned i = 0; i < n; i++) {
            fr_mul(&product, &v[i], &m[i][j]);
            fr_add(&out[j], &out[j], &product);
        }
    }
}

/* The round constants, moved through the linear layers as far as they go (part C.3). */
static void compress_constants(struct poseidon_constants *c, const struct fr *round,
                               struct fr inverse[WIDTH_MAX][WIDTH_MAX])
{
    unsigned t = c->width, half = POSEIDON_FULL_ROUNDS / 2, partial = c->partial_rounds;
    struct fr *out = c->compressed;
    memcpy(out, round, t * sizeof *out);
    out += t;
    for (unsigned i = 1; i < half; i++, out += t)
        vector_times(t, out, round + (size_t)i * t, inverse);
    struct fr sum[WIDTH_MAX], moved[WIDTH_MAX];
    struct fr *scalars = out + t;
    memcpy(sum, round + (size_t)(half + partial) * t, sizeof sum[0] * t);
    for (unsigned i = 0; i < partial; i++) {
        vector_times(t, moved, sum, inverse);
        scalars[partial - 1 - i] = moved[0];
        moved[0] = fr_zero;
        const struct fr *before = round + (size_t)(half + partial - 1 - i) * t;
        for (unsigned j = 0; j < t; j++)
            fr_add(&sum[j], &before[j], &moved[j]);
    }
    vector_times(t, out, sum, inverse);
    out = scalars + partial;
    for (unsigned i = 1; i < half; i++, out += t)
        vector_times(t, out, round + (size_t)(half + partial + i) * t, inverse);
    CHECK(out == c->compressed + c->n_compressed);
}

/* Splits the matrices of the partial rounds into sparse ones and pre_sparse, from the last round to
   the first (part C.3). */
static void factor_matrices(struct poseidon_constants *c)
{
    unsigned t = c->width;
    struct fr current[WIDTH_MAX][WIDTH_MAX], minor[WIDTH_MAX][WIDTH_MAX];
    struct fr inverse[WIDTH_MAX][WIDTH_MAX], column[WIDTH_MAX];
    memcpy(current, c->mds, sizeof current);
    for (unsigned round = c->partial_rounds; round-- > 0;) {
        for (unsigned i = 1; i < t; i++) {
            column[i - 1] = current[i][0];
            memcpy(minor[i - 1], &current[i][1], (t - 1) * sizeof minor[0][0]);
        }
        matrix_invert(t - 1, minor, inverse);
        c->sparse_w[round][0] = current[0][0];
        vector_times(t - 1, &c->sparse_w[round][1], column, inverse);
        memcpy(c->sparse_v[round], &current[0][1], (t - 1) * sizeof column[0]);
        /* current = mds × diag(1, minor): column 0 of mds stays. */
        struct fr factor[WIDTH_MAX][WIDTH_MAX] = {{fr_one}};
        for (unsigned i = 1; i < t; i++)
            memcpy(&factor[i][1], &current[i][1], (t - 1) * sizeof minor[0][0]);
        for (unsigned i = 0; i < t; i++)
            vector_times(t, current[i], c->mds[i], factor);
    }
    memcpy(c->pre_sparse, current, sizeof current);
}

void poseidon_constants_compute(struct poseidon_constants *out, unsigned arity,
                                unsigned partial_rounds)
{
    unsigned t = arity + 1;
    *out = (struct poseidon_constants){
        .arity = arity,
        .width = t,
        .partial_rounds = partial_rounds,
        .n_compressed = POSEIDON_FULL_ROUNDS * t + partial_rounds,
    };
    struct fr round[(POSEIDON_FULL_ROUNDS + POSEIDON_PARTIAL_ROUNDS_MAX) * WIDTH_MAX];
    struct grain grain;
    grain_init(&grain, t, partial_rounds);
    for (unsigned i = 0; i < (POSEIDON_FULL_ROUNDS + partial_rounds) * t; i++)
        grain_element(&grain, &round[i]);
    for (unsigned i = 0; i < t; i++) {
        for (unsigned j = 0; j < t; j++) {
            fr_from_u64(&out->mds[i][j], i + t + j);
            fr_inv(&out->mds[i][j], &out->mds[i][j]);
        }
    }
    struct fr mds[WIDTH_MAX][WIDTH_MAX], inverse[WIDTH_MAX][WIDTH_MAX];
    memcpy(mds, out->mds, sizeof mds);
    matrix_invert(t, mds, inverse);
    compress_constants(out, round, inverse);
    factor_matrices(out);
}
