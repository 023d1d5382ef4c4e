/* Transforms with AVX-512 IFMA: the eight lanes of a tile in one vector.

   Elements keep their form x·2^256 mod r in memory. Factors are in the form w·2^260, so that the
   product, which divides by 2^260, stays in the elements' form. In a tile an element is 5 limbs and
   below 4r, its limbs below 2^54 in size; 260 bits hold 35r, so sums of a butterfly need carries
   but no reduction before a product. */
#include "math/fr_ifma.h"
#include "math/ntt_arith.h"

#if defined(MATH_HAVE_IFMA)

enum { NTT_LANES = LANES };

/* 4r, 8r */
static const int64_t modulus_4[LIMBS] = {
    0xffffc00000004, 0x0bfff96ffbfff, 0x68760154ef690, 0xf520cce760202, 0x1cfb69d4ca675,
};
static const int64_t modulus_8[LIMBS] = {
    0xffff800000008, 0x17fff2dff7fff, 0xd0ec02a9ded20, 0xea4199cec0404, 0x39f6d3a994ceb,
};
/* 2^255 mod r, which is 0.105r */
static const int64_t fold[LIMBS] = {
    0x00000ffffffff, 0xfd0001a401000, 0x65e27faac425b, 0x82b7ccc627f7f, 0x00c1258acd662,
};

struct twiddle {
    struct single_factor factor;
};

/* Both operands normal. */
IFMA_INLINE void multiply_normal(struct vec *out, const struct vec *a, const struct vec *factor)
{
    ifma_montgomery(out->limb, a->limb, factor->limb, modulus, minus_inverse, LIMBS);
}

IFMA_INLINE void multiply_twiddle(struct vec *out, const struct vec *a, const struct twiddle *w)
{
    struct vec factor;
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        factor.limb[i] = ifma_set(w->factor.limb[i]);
    multiply_normal(out, a, &factor);
}

IFMA_INLINE void normalise(struct vec *a)
{
    ifma_carry(a->limb, LIMBS);
}

/* --- Words and limbs -------------------------------------------------------------------------- */

static void vec_load(struct vec *out, const struct fr *elements, size_t lane_stride)
{
    __m512i row[NTT_LANES / 2];
    IFMA_UNROLL
    for (unsigned i = 0; i < NTT_LANES / 2; i++) {
        const struct fr *pair = &elements[2 * i * lane_stride];
        row[i] = _mm512_inserti64x4(
            _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)pair)),
            _mm256_loadu_si256((const __m256i *)(const void *)(pair + lane_stride)), 1);
    }
    vec_from_rows(out, row);
}

static void vec_store(struct fr *elements, size_t lane_stride, const struct vec *a)
{
    struct vec canonical = *a;
    normalise(&canonical);
    subtract_if(&canonical, modulus_2);
    subtract_if(&canonical, modulus);
    __m512i row[NTT_LANES / 2];
    vec_to_rows(row, &canonical);
    IFMA_UNROLL
    for (unsigned i = 0; i < NTT_LANES / 2; i++) {
        struct fr *pair = &elements[2 * i * lane_stride];
        _mm256_storeu_si256((__m256i *)(void *)pair, _mm512_castsi512_si256(row[i]));
        _mm256_storeu_si256((__m256i *)(void *)(pair + lane_stride),
                            _mm512_extracti64x4_epi64(row[i], 1));
    }
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

IFMA_INLINE struct vec add(const struct vec *a, const struct vec *b)
{
    struct vec sum;
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        sum.limb[i] = _mm512_add_epi64(a->limb[i], b->limb[i]);
    return sum;
}

/* a - b + m, where the multiple m of r is above b. */
IFMA_INLINE struct vec subtract(const struct vec *a, const struct vec *b, const int64_t m[LIMBS])
{
    struct vec difference;
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        difference.limb[i] =
            _mm512_sub_epi64(_mm512_add_epi64(a->limb[i], ifma_set(m[i])), b->limb[i]);
    return difference;
}

/* Below 4r, limbs below 2^54, from below 32r: bits 255 and above are folded in as multiples of
   2^255 mod r. */
IFMA_INLINE void reduce(struct vec *a)
{
    normalise(a);
    __m512i *l = a->limb;
    const __m512i above = _mm512_srli_epi64(l[LIMBS - 1], 47);
    l[LIMBS - 1] = _mm512_and_si512(l[LIMBS - 1], ifma_set((INT64_C(1) << 47) - 1));
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        l[i] = _mm512_madd52lo_epu64(l[i], above, ifma_set(fold[i]));
    IFMA_UNROLL
    for (unsigned i = 0; i + 1 < LIMBS; i++)
        l[i + 1] = _mm512_madd52hi_epu64(l[i + 1], above, ifma_set(fold[i]));
}

static void dif2(struct vec *e)
{
    struct vec sum = add(&e[0], &e[1]);
    struct vec difference = subtract(&e[0], &e[1], modulus_4);
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
   four 16, differences with their multiple 8 and 16, products below 2. */
static void dif4(struct vec *e, size_t quarter, const struct twiddle *i, const struct twiddle *w)
{
    struct vec *e0 = &e[0];
    struct vec *e1 = &e[quarter];
    struct vec *e2 = &e[2 * quarter];
    struct vec *e3 = &e[3 * quarter];
    const struct vec sum02 = add(e0, e2);
    const struct vec sum13 = add(e1, e3);
    const struct vec difference02 = subtract(e0, e2, modulus_4);
    struct vec difference13 = subtract(e1, e3, modulus_4);
    struct vec turned;
    normalise(&difference13);
    multiply_twiddle(&turned, &difference13, i);
    struct vec out0 = add(&sum02, &sum13);
    struct vec out1 = subtract(&sum02, &sum13, modulus_8);
    struct vec out2 = add(&difference02, &turned);
    struct vec out3 = subtract(&difference02, &turned, modulus_4);
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
        normalise(&in1);
        normalise(&in2);
        normalise(&in3);
        multiply_twiddle(&in1, &in1, &w[1]);
        multiply_twiddle(&in2, &in2, &w[0]);
        multiply_twiddle(&in3, &in3, &w[2]);
    }
    const struct vec sum01 = add(&e[0], &in1);
    const struct vec sum23 = add(&in2, &in3);
    const struct vec difference01 = subtract(&e[0], &in1, modulus_4);
    struct vec difference23 = subtract(&in2, &in3, modulus_4);
    struct vec turned;
    normalise(&difference23);
    multiply_twiddle(&turned, &difference23, i);
    struct vec out0 = add(&sum01, &sum23);
    struct vec out1 = add(&difference01, &turned);
    struct vec out2 = subtract(&sum01, &sum23, modulus_8);
    struct vec out3 = subtract(&difference01, &turned, modulus_4);
    reduce(&out0);
    reduce(&out1);
    reduce(&out2);
    reduce(&out3);
    e[0] = out0;
    e[quarter] = out1;
    e[2 * quarter] = out2;
    e[3 * quarter] = out3;
}

/* An element of a tile times a factor, which is normal. */
static void vec_mul(struct vec *out, const struct vec *a, const struct vec *factor)
{
    struct vec normal = *a;
    normalise(&normal);
    multiply_normal(out, &normal, factor);
}

#include "math/ntt_impl.h"

static void multiply(struct fr *a, const struct fr *b, size_t n)
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

const struct ntt_arith ntt_arith_ifma = {
    .name = "ifma",
    .lanes = NTT_LANES,
    .vector_bytes = sizeof(struct vec),
    .twiddle_bytes = sizeof(struct twiddle),
    .twiddle = set_twiddle,
    .tile = transform_tile,
    .multiply = multiply,
    .log2_fix = 4,
    .log2_rows_max = 11,
};

#endif
