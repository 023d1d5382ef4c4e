/* Montgomery products of eight numbers side by side with AVX-512 IFMA, which multiplies integers of
   52 bits and adds the lower or the upper 52 bits of the product to 64-bit lanes. The files that
   include it are compiled for these instructions (CMakeLists.txt); what they contain must only run
   where cpu_has_ifma (math/cpu.h) says so. */
#ifndef MATH_IFMA_H
#define MATH_IFMA_H

#include <stdint.h>

#if defined(__AVX512IFMA__) && defined(__AVX512F__) && defined(__AVX512VL__)
#define MATH_HAVE_IFMA 1

#include <immintrin.h>

#define IFMA_INLINE static inline __attribute__((always_inline))
#define IFMA_UNROLL _Pragma("GCC unroll 20")
#define IFMA_LIMB_MASK ((INT64_C(1) << 52) - 1)

enum { IFMA_LANES = 8, IFMA_LIMBS_MAX = 8 };

IFMA_INLINE __m512i ifma_set(int64_t value)
{
    return _mm512_set1_epi64(value);
}

/* Carries limb by limb, with signs, so that all but the last limb are in 0 … 2^52 - 1. */
IFMA_INLINE void ifma_carry(__m512i *limbs, const unsigned n)
{
    const __m512i mask = ifma_set(IFMA_LIMB_MASK);
    IFMA_UNROLL
    for (unsigned i = 0; i + 1 < n; i++) {
        limbs[i + 1] = _mm512_add_epi64(limbs[i + 1], _mm512_srai_epi64(limbs[i], 52));
        limbs[i] = _mm512_and_si512(limbs[i], mask);
    }
}

/* Takes a multiple m of the modulus away from n normal limbs unless that leaves a negative
   number. */
IFMA_INLINE void ifma_subtract_if(__m512i *limbs, const int64_t *m, const unsigned n)
{
    __m512i t[IFMA_LIMBS_MAX];
    IFMA_UNROLL
    for (unsigned i = 0; i < n; i++)
        t[i] = _mm512_sub_epi64(limbs[i], ifma_set(m[i]));
    ifma_carry(t, n);
    const __mmask8 enough = _mm512_cmpge_epi64_mask(t[n - 1], _mm512_setzero_si512());
    IFMA_UNROLL
    for (unsigned i = 0; i < n; i++)
        limbs[i] = _mm512_mask_mov_epi64(limbs[i], enough, t[i]);
}

/* Divides the number in 2n columns, which may have signs, by R = 2^52n modulo the modulus: the
   quotient is in the last n of them, without carries. minus_inverse is -1/modulus mod 2^52. n is a
   constant wherever this is inlined. */
IFMA_INLINE void ifma_divide(__m512i *column, const int64_t *modulus, int64_t minus_inverse,
                             const unsigned n)
{
    const __m512i zero = _mm512_setzero_si512();
    IFMA_UNROLL
    for (unsigned i = 0; i < n; i++) {
        const __m512i q = _mm512_madd52lo_epu64(zero, column[i], ifma_set(minus_inverse));
        IFMA_UNROLL
        for (unsigned j = 0; j < n; j++) {
            const __m512i m = ifma_set(modulus[j]);
            column[i + j] = _mm512_madd52lo_epu64(column[i + j], q, m);
            column[i + j + 1] = _mm512_madd52hi_epu64(column[i + j + 1], q, m);
        }
        column[i + 1] = _mm512_add_epi64(column[i + 1], _mm512_srai_epi64(column[i], 52));
    }
}

/* As ifma_divide; the quotient goes to out, with carries done. */
IFMA_INLINE void ifma_reduce(__m512i *out, __m512i *column, const int64_t *modulus,
                             int64_t minus_inverse, const unsigned n)
{
    ifma_divide(column, modulus, minus_inverse, n);
    IFMA_UNROLL
    for (unsigned i = 0; i < n; i++)
        out[i] = column[n + i];
    ifma_carry(out, n);
}

IFMA_INLINE void ifma_clear(__m512i *column, const unsigned n)
{
    IFMA_UNROLL
    for (unsigned k = 0; k < 2 * n; k++)
        column[k] = _mm512_setzero_si512();
}

/* Adds a·b to 2n columns; operands of n limbs, all of them below 2^52. */
IFMA_INLINE void ifma_multiply_add(__m512i *column, const __m512i *a, const __m512i *b,
                                   const unsigned n)
{
    IFMA_UNROLL
    for (unsigned i = 0; i < n; i++) {
        IFMA_UNROLL
        for (unsigned j = 0; j < n; j++) {
            column[i + j] = _mm512_madd52lo_epu64(column[i + j], a[i], b[j]);
            column[i + j + 1] = _mm512_madd52hi_epu64(column[i + j + 1], a[i], b[j]);
        }
    }
}

/* out = a·b/R mod p, R = 2^52n, below p + a·b/R; operands as for ifma_multiply_add. */
IFMA_INLINE void ifma_montgomery(__m512i *out, const __m512i *a, const __m512i *b,
                                 const int64_t *modulus, int64_t minus_inverse, const unsigned n)
{
    __m512i column[2 * IFMA_LIMBS_MAX];
    ifma_clear(column, n);
    ifma_multiply_add(column, a, b, n);
    ifma_reduce(out, column, modulus, minus_inverse, n);
}

/* out = a²/R mod p, as ifma_montgomery(out, a, a, …). */
IFMA_INLINE void ifma_square(__m512i *out, const __m512i *a, const int64_t *modulus,
                             int64_t minus_inverse, const unsigned n)
{
    __m512i column[2 * IFMA_LIMBS_MAX];
    ifma_clear(column, n);
    IFMA_UNROLL
    for (unsigned i = 0; i < n; i++) {
        IFMA_UNROLL
        for (unsigned j = i + 1; j < n; j++) {
            column[i + j] = _mm512_madd52lo_epu64(column[i + j], a[i], a[j]);
            column[i + j + 1] = _mm512_madd52hi_epu64(column[i + j + 1], a[i], a[j]);
        }
    }
    IFMA_UNROLL
    for (unsigned k = 1; k < 2 * n; k++)
        column[k] = _mm512_add_epi64(column[k], column[k]);
    IFMA_UNROLL
    for (unsigned i = 0; i < n; i++) {
        column[2 * i] = _mm512_madd52lo_epu64(column[2 * i], a[i], a[i]);
        column[2 * i + 1] = _mm512_madd52hi_epu64(column[2 * i + 1], a[i], a[i]);
    }
    ifma_reduce(out, column, modulus, minus_inverse, n);
}

/* Rows of eight words to columns. */
IFMA_INLINE void ifma_transpose(__m512i row[8])
{
    __m512i t[8];
    IFMA_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        t[2 * i] = _mm512_unpacklo_epi64(row[2 * i], row[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi64(row[2 * i], row[2 * i + 1]);
    }
    IFMA_UNROLL
    for (unsigned odd = 0; odd < 2; odd++) {
        const __m512i low_a = _mm512_shuffle_i64x2(t[odd], t[2 + odd], 0x88);
        const __m512i low_b = _mm512_shuffle_i64x2(t[4 + odd], t[6 + odd], 0x88);
        const __m512i high_a = _mm512_shuffle_i64x2(t[odd], t[2 + odd], 0xdd);
        const __m512i high_b = _mm512_shuffle_i64x2(t[4 + odd], t[6 + odd], 0xdd);
        row[odd] = _mm512_shuffle_i64x2(low_a, low_b, 0x88);
        row[2 + odd] = _mm512_shuffle_i64x2(high_a, high_b, 0x88);
        row[4 + odd] = _mm512_shuffle_i64x2(low_a, low_b, 0xdd);
        row[6 + odd] = _mm512_shuffle_i64x2(high_a, high_b, 0xdd);
    }
}

#endif

#endif
