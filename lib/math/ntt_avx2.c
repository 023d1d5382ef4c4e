/* Transforms with AVX2 and FMA: the four lanes of a tile in one vector.

   Elements keep their form x·2^256 mod r in memory. Factors are in the form w·2^260, so that the
   product, which divides by 2^260, stays in the elements' form. In a tile an element is 5 limbs of
   52 bits and below 4r; 260 bits hold 35r, so sums of a butterfly need no reduction before a
   product. */
#include "math/fr_avx2.h"
#include "math/ntt_arith.h"

#if defined(MATH_HAVE_AVX2)

enum { NTT_LANES = 4 };

/* 4r and 8r with limbs 0 ... 3 large enough that up to two normal limbs can be taken away */
static const int64_t spread_4r[LIMBS] = {
    0x4ffffc00000004, 0x40bfff96ffbffb, 0x468760154ef68c, 0x4f520cce7601fe, 0x1cfb69d4ca671,
};
static const int64_t spread_8r[LIMBS] = {
    0x4ffff800000008, 0x417fff2dff7ffb, 0x4d0ec02a9ded1c, 0x4ea4199cec0400, 0x39f6d3a994ce7,
};
/* 2^255 mod r in halves of limbs: the lower 32 bits and the rest */
static const int64_t fold_low[LIMBS] = {
    0xffffffff, 0x1a401000, 0xfaac425b, 0xcc627f7f, 0x58acd662,
};
static const int64_t fold_high[LIMBS] = {
    0x00000, 0xfd000, 0x65e27, 0x82b7c, 0x00c12,
};

struct twiddle {
    struct single_factor factor;
};

/* -1/r modulo 2^260 */
static const struct factor minus_inverse = {{
    AVX2_LANES(0xffffeffffffff),
    AVX2_LANES(0xfffffe5bfdfff),
    AVX2_LANES(0x004ec0653ba5b),
    AVX2_LANES(0x2839181b2c170),
    AVX2_LANES(0x03d443ab0d7bf),
}};

static __attribute__((noinline)) void multiply_limbs(struct vec *out, const struct factor *a,
                                                     const struct factor *b)
{
    avx2_montgomery(out->limb, a->limb, b->limb, modulus.limb, minus_inverse.limb, LIMBS);
}

static void vec_mul(struct vec *out, const struct vec *a, const struct vec *factor)
{
    struct factor x;
    struct factor y;
    to_factor(&x, a);
    to_factor(&y, factor);
    multiply_limbs(out, &x, &y);
}

AVX2_INLINE void multiply_twiddle(struct vec *out, const struct vec *a, const struct twiddle *w)
{
    struct factor x;
    struct factor y;
    to_factor(&x, a);
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        y.limb[i] = _mm256_broadcast_sd(&w->factor.limb[i]);
    multiply_limbs(out, &x, &y);
}

/* --- Words and limbs -------------------------------------------------------------------------- */

static void vec_load(struct vec *out, const struct fr *elements, size_t lane_stride)
{
    __m256i w[NTT_LANES];
    AVX2_UNROLL
    for (unsigned i = 0; i < NTT_LANES; i++)
        w[i] = _mm256_loadu_si256((const __m256i *)(const void *)&elements[i * lane_stride]);
    vec_from_rows(out, w);
}

static void vec_store(struct fr *elements, size_t lane_stride, const struct vec *a)
{
    struct vec canonical = *a;
    subtract_if(&canonical, minus_2r);
    subtract_if(&canonical, minus_r);
    __m256i w[NTT_LANES];
    vec_to_rows(w, &canonical);
    AVX2_UNROLL
    for (unsigned i = 0; i < NTT_LANES; i++)
        _mm256_storeu_si256((__m256i *)(void *)&elements[i * lane_stride], w[i]);
}

static void vec_set(struct vec *out, const struct fr elements[NTT_LANES])
{
    struct fr factors[NTT_LANES];
    for (unsigned i = 0; i < NTT_LANES; i++)
        to_factor_form(&factors[i], &elements[i]);
    vec_load(out, factors, 1);
}

static void set_twiddle(void *out, const struct fr *value)
{
    struct twiddle *twiddle = out;
    set_single_factor(&twiddle->factor, value);
}

/* --- Butterflies ------------------------------------------------------------------------------ */

/* Sums and differences leave limbs above 52 bits (not normal); the differences' bias, a spread
   multiple of r above b, keeps them positive. */
AVX2_INLINE struct vec add(const struct vec *a, const struct vec *b)
{
    struct vec sum;
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        sum.limb[i] = _mm256_add_epi64(a->limb[i], b->limb[i]);
    return sum;
}

AVX2_INLINE struct vec subtract(const struct vec *a, const struct vec *b, const int64_t bias[LIMBS])
{
    struct vec difference;
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        difference.limb[i] =
            _mm256_sub_epi64(_mm256_add_epi64(a->limb[i], avx2_set(bias[i])), b->limb[i]);
    return difference;
}

AVX2_INLINE void normalise(struct vec *a)
{
    avx2_carry(a->limb, LIMBS);
}

/* Normal and below 4r, from below 32r: bits 255 and above are folded in as multiples of
   2^255 mod r, which is 0.105r. */
AVX2_INLINE void reduce(struct vec *a)
{
    normalise(a);
    const __m256i above = _mm256_srli_epi64(a->limb[LIMBS - 1], 47);
    a->limb[LIMBS - 1] = _mm256_and_si256(a->limb[LIMBS - 1], avx2_set((INT64_C(1) << 47) - 1));
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        const __m256i low = _mm256_mul_epu32(above, avx2_set(fold_low[i]));
        const __m256i high = _mm256_mul_epu32(above, avx2_set(fold_high[i]));
        a->limb[i] =
            _mm256_add_epi64(a->limb[i], _mm256_add_epi64(low, _mm256_slli_epi64(high, 32)));
    }
    normalise(a);
}

static void dif2(struct vec *e)
{
    struct vec sum = add(&e[0], &e[1]);
    struct vec difference = subtract(&e[0], &e[1], spread_4r);
    reduce(&sum);
    reduce(&difference);
    e[0] = sum;
    e[1] = difference;
}

static void dit2(struct vec *e)
{
    dif2(e);
}

/* Formulas as in ntt_portable.c. Bounds in multiples of r, all inputs below 4: sums of two 8, of
   four 16, differences with their bias 8 and 16, products below 2. */
static void dif4(struct vec *e, size_t quarter, const struct twiddle *i, const struct twiddle *w)
{
    struct vec *e0 = &e[0];
    struct vec *e1 = &e[quarter];
    struct vec *e2 = &e[2 * quarter];
    struct vec *e3 = &e[3 * quarter];
    const struct vec sum02 = add(e0, e2);
    struct vec sum13 = add(e1, e3);
    struct vec difference02 = subtract(e0, e2, spread_4r);
    struct vec difference13 = subtract(e1, e3, spread_4r);
    struct vec turned;
    normalise(&difference13);
    multiply_twiddle(&turned, &difference13, i);
    struct vec out0 = add(&sum02, &sum13);
    /* The bias is made for two normal limbs, and sum13 is one such sum. */
    struct vec out1 = subtract(&sum02, &sum13, spread_8r);
    struct vec out2 = add(&difference02, &turned);
    struct vec out3 = subtract(&difference02, &turned, spread_4r);
    reduce(&out0);
    *e0 = out0;
    if (w) {
        normalise(&out1);
        normalise(&out2);
        normalise(&out3);
        multiply_twiddle(e1, &out1, &w[1]);
        multiply_twiddle(e2, &out2, &w[0]);
        multiply_twiddle(e3, &out3, &w[2]);
    } else {
        reduce(&out1);
        reduce(&out2);
        reduce(&out3);
        *e1 = out1;
        *e2 = out2;
        *e3 = out3;
    }
}

static void dit4(struct vec *e, size_t quarter, const struct twiddle *i, const struct twiddle *w)
{
    struct vec in1 = e[quarter];
    struct vec in2 = e[2 * quarter];
    struct vec in3 = e[3 * quarter];
    if (w) {
        multiply_twiddle(&in1, &in1, &w[1]);
        multiply_twiddle(&in2, &in2, &w[0]);
        multiply_twiddle(&in3, &in3, &w[2]);
    }
    const struct vec sum01 = add(&e[0], &in1);
    const struct vec sum23 = add(&in2, &in3);
    const struct vec difference01 = subtract(&e[0], &in1, spread_4r);
    struct vec difference23 = subtract(&in2, &in3, spread_4r);
    struct vec turned;
    normalise(&difference23);
    multiply_twiddle(&turned, &difference23, i);
    struct vec out0 = add(&sum01, &sum23);
    struct vec out1 = add(&difference01, &turned);
    struct vec out2 = subtract(&sum01, &sum23, spread_8r);
    struct vec out3 = subtract(&difference01, &turned, spread_4r);
    reduce(&out0);
    reduce(&out1);
    reduce(&out2);
    reduce(&out3);
    e[0] = out0;
    e[quarter] = out1;
    e[2 * quarter] = out2;
    e[3 * quarter] = out3;
}

#include "math/ntt_impl.h"

static __attribute__((noinline)) void multiply_vectors(struct fr *a, const struct fr *b, size_t n)
{
    for (size_t i = 0; i < n; i += NTT_LANES) {
        struct vec x;
        struct vec y;
        vec_load(&x, &a[i], 1);
        vec_load(&y, &b[i], 1);
        vec_mul(&x, &x, &y);
        vec_store(&a[i], 1, &x);
    }
}

static __attribute__((noinline)) void run_tile(const struct ntt_transform *transform,
                                               unsigned level, size_t number, const void *stages,
                                               void *tile)
{
    transform_tile(transform, level, number, stages, tile);
}

static void multiply(struct fr *a, const struct fr *b, size_t n)
{
    const unsigned before = avx2_rounding_to_zero();
    multiply_vectors(a, b, n);
    avx2_rounding_restore(before);
}

static void tile_with_rounding(const struct ntt_transform *transform, unsigned level, size_t number,
                               const void *stages, void *tile)
{
    const unsigned before = avx2_rounding_to_zero();
    run_tile(transform, level, number, stages, tile);
    avx2_rounding_restore(before);
}

const struct ntt_arith ntt_arith_avx2 = {
    .name = "avx2",
    .lanes = NTT_LANES,
    .vector_bytes = sizeof(struct vec),
    .twiddle_bytes = sizeof(struct twiddle),
    .twiddle = set_twiddle,
    .tile = tile_with_rounding,
    .multiply = multiply,
    .log2_fix = 4,
    .log2_rows_max = 11,
};

#endif
