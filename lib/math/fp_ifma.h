/* Eight numbers modulo p, the field of the curves, side by side: for kernels of math/affine.h on
   ifma.h. Private to lib/math.

   A number is x·2^416 mod p, worked on as 8 limbs of 52 bits and stored as 6 words. 416 bits leave
   35 to spare above p, so a product of anything below 2^15·p is below p + p/2^5 without a final
   subtraction, and sums need none before a product. Only what is stored is made canonical. The form
   in memory is that of affine_avx2.c. */
#ifndef MATH_FP_IFMA_H
#define MATH_FP_IFMA_H

#include "math/ifma.h"

#if defined(MATH_HAVE_IFMA)

#include <blst.h>

enum { LIMBS = 8, LANES = IFMA_LANES, WORDS = 6 };

/* p, 2p */
static const int64_t modulus[LIMBS] = {
    0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f,
    0x764774b84f385, 0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x000000001a011,
};
static const int64_t modulus_2[LIMBS] = {
    0xdffffffff5556, 0xfd62a7ffff73f, 0xd61ec483d57ff, 0x257ece61a541e,
    0xec8ee9709e70a, 0x374f6c869759a, 0x3d472ffcd3496, 0x0000000034022,
};
/* -1/p modulo 2^52 */
static const int64_t minus_inverse = 0x3fffcfffcfffd;
/* 2^416 mod p: the form of 1 */
static const int64_t one[LIMBS] = {
    0x6480ea8e9b9af, 0x65766c8fe444f, 0x8b540fea96f7d, 0x3b2ee82efd422,
    0xa6723e5f0ade5, 0xff6eb6fdd4230, 0xe06ef23c24a25, 0x0000000014c8e,
};
/* 2^832 mod p: a product with it brings an integer into the form */
static const int64_t to_form[LIMBS] = {
    0xa5bf4cb89af51, 0x3afbba7ca31a2, 0x2646160ec71f1, 0xa84d710465903,
    0x3480a4a188311, 0x98e5907ad91f5, 0x2075d74507266, 0x0000000008746,
};

/* Eight numbers; limbs below 2^52 where they are multiplied. */
struct fp8 {
    __m512i limb[LIMBS];
};

/* The same number in all lanes. */
static inline void fp8_set(struct fp8 *out, const int64_t limbs[LIMBS])
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] = ifma_set(limbs[i]);
}

/* out = a·b/2^416 mod p, below p + a·b/2^416. */
IFMA_INLINE void fp8_multiply(struct fp8 *out, const struct fp8 *a, const struct fp8 *b)
{
    ifma_montgomery(out->limb, a->limb, b->limb, modulus, minus_inverse, LIMBS);
}

IFMA_INLINE void fp8_square(struct fp8 *out, const struct fp8 *a)
{
    ifma_square(out->limb, a->limb, modulus, minus_inverse, LIMBS);
}

/* --- Words and limbs -------------------------------------------------------------------------- */

IFMA_INLINE void unpack(struct fp8 *out, const __m512i w[WORDS])
{
    const __m512i mask = ifma_set(IFMA_LIMB_MASK);
    __m512i *l = out->limb;
    l[0] = w[0];
    l[1] = _mm512_or_si512(_mm512_srli_epi64(w[0], 52), _mm512_slli_epi64(w[1], 12));
    l[2] = _mm512_or_si512(_mm512_srli_epi64(w[1], 40), _mm512_slli_epi64(w[2], 24));
    l[3] = _mm512_or_si512(_mm512_srli_epi64(w[2], 28), _mm512_slli_epi64(w[3], 36));
    l[4] = _mm512_or_si512(_mm512_srli_epi64(w[3], 16), _mm512_slli_epi64(w[4], 48));
    l[5] = _mm512_srli_epi64(w[4], 4);
    l[6] = _mm512_or_si512(_mm512_srli_epi64(w[4], 56), _mm512_slli_epi64(w[5], 8));
    l[7] = _mm512_srli_epi64(w[5], 44);
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS - 1; i++)
        l[i] = _mm512_and_si512(l[i], mask);
}

IFMA_INLINE void pack(__m512i w[WORDS], const struct fp8 *a)
{
    const __m512i *l = a->limb;
    w[0] = _mm512_or_si512(l[0], _mm512_slli_epi64(l[1], 52));
    w[1] = _mm512_or_si512(_mm512_srli_epi64(l[1], 12), _mm512_slli_epi64(l[2], 40));
    w[2] = _mm512_or_si512(_mm512_srli_epi64(l[2], 24), _mm512_slli_epi64(l[3], 28));
    w[3] = _mm512_or_si512(_mm512_srli_epi64(l[3], 36), _mm512_slli_epi64(l[4], 16));
    w[4] = _mm512_or_si512(_mm512_srli_epi64(l[4], 48), _mm512_slli_epi64(l[5], 4));
    w[4] = _mm512_or_si512(w[4], _mm512_slli_epi64(l[6], 56));
    w[5] = _mm512_or_si512(_mm512_srli_epi64(l[6], 8), _mm512_slli_epi64(l[7], 44));
}

enum { WORDS_MASK = (1 << WORDS) - 1 };

/* Eight numbers from eight places. */
static inline void fp8_load(struct fp8 *out, const blst_fp *const from[LANES])
{
    __m512i row[LANES];
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES; i++)
        row[i] = _mm512_maskz_loadu_epi64(WORDS_MASK, from[i]);
    ifma_transpose(row);
    unpack(out, row);
}

/* a is canonical. */
static inline void fp8_store(blst_fp *const to[LANES], const struct fp8 *a)
{
    __m512i row[LANES];
    pack(row, a);
    row[6] = _mm512_setzero_si512();
    row[7] = _mm512_setzero_si512();
    ifma_transpose(row);
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES; i++)
        _mm512_mask_storeu_epi64(to[i], WORDS_MASK, row[i]);
}

/* --- Sums ------------------------------------------------------------------------------------- */

/* a - b + m, normal, where the multiple m of p keeps it positive. */
static inline void fp8_subtract(struct fp8 *out, const struct fp8 *a, const struct fp8 *b,
                                const int64_t m[LIMBS])
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] = _mm512_add_epi64(_mm512_sub_epi64(a->limb[i], b->limb[i]), ifma_set(m[i]));
    ifma_carry(out->limb, LIMBS);
}

/* Canonical, from below 4p. */
static inline void fp8_reduce(struct fp8 *a)
{
    ifma_subtract_if(a->limb, modulus_2, LIMBS);
    ifma_subtract_if(a->limb, modulus, LIMBS);
}

static inline void fp8_blend(struct fp8 *a, const struct fp8 *b, __mmask8 lanes)
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a->limb[i] = _mm512_mask_mov_epi64(a->limb[i], lanes, b->limb[i]);
}

/* a ← a - b - c + 2p, normal. */
static inline void fp8_subtract_two(struct fp8 *a, const struct fp8 *b, const struct fp8 *c)
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a->limb[i] = _mm512_sub_epi64(a->limb[i], c->limb[i]);
    fp8_subtract(a, a, b, modulus_2);
}

/* -a in some lanes, with negative limbs. */
static inline void fp8_negate(struct fp8 *a, __mmask8 lanes)
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a->limb[i] = _mm512_mask_sub_epi64(a->limb[i], lanes, _mm512_setzero_si512(), a->limb[i]);
}

/* a times 2 or 3, normal. */
static inline void fp8_scale(struct fp8 *a, unsigned times)
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        const __m512i twice = _mm512_add_epi64(a->limb[i], a->limb[i]);
        a->limb[i] = times == 3 ? _mm512_add_epi64(twice, a->limb[i]) : twice;
    }
    ifma_carry(a->limb, LIMBS);
}

/* The lanes that are 0, or equal; canonical ones. */
static inline __mmask8 fp8_zero_lanes(const struct fp8 *a)
{
    __m512i any = a->limb[0];
    IFMA_UNROLL
    for (unsigned i = 1; i < LIMBS; i++)
        any = _mm512_or_si512(any, a->limb[i]);
    return _mm512_testn_epi64_mask(any, any);
}

static inline __mmask8 fp8_equal_lanes(const struct fp8 *a, const struct fp8 *b)
{
    __m512i any = _mm512_xor_si512(a->limb[0], b->limb[0]);
    IFMA_UNROLL
    for (unsigned i = 1; i < LIMBS; i++)
        any = _mm512_or_si512(any, _mm512_xor_si512(a->limb[i], b->limb[i]));
    return _mm512_testn_epi64_mask(any, any);
}

#endif

#endif
