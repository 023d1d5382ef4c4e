/* Exact products of 52-bit integers with floating-point instructions (AVX2 and FMA), four at a time.
   Include it first: it switches the compiler to these instructions for the rest of the file, so callers
   must have asked avx2_supported().

   A product a·b of integers below 2^52 has 104 bits. Rounding towards zero, fma(a, b, 2^104) keeps
   its upper 52 bits in the last places of the result, and a second fma yields the lower 52 bits
   exactly (N. Emmart, "Faster modular exponentiation using double precision floating point
   arithmetic on the GPU", ARITH 2018). The upper part's bit pattern is that of 2^104 plus the
   integer, the lower part's that of 2^52 plus the integer, so patterns are added as integers and the
   known number of the two constants is taken away at the start (avx2_bias). */
#ifndef MATH_AVX2_H
#define MATH_AVX2_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define MATH_HAVE_AVX2 1

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#include <immintrin.h>

#define AVX2_INLINE static inline __attribute__((always_inline))
#define AVX2_UNROLL _Pragma("GCC unroll 16")
#define AVX2_LIMB_MASK ((INT64_C(1) << 52) - 1)

/* The patterns of 2^104 and 2^52. */
#define AVX2_PATTERN_HIGH UINT64_C(0x4670000000000000)
#define AVX2_PATTERN_LOW UINT64_C(0x4330000000000000)

/* The constants of avx2_multiply_add; kept in registers by the caller. */
struct avx2_constants {
    __m256d high; /* 2^104 */
    __m256d both; /* 2^104 + 2^52 */
};

AVX2_INLINE struct avx2_constants avx2_constants(void)
{
    struct avx2_constants c = { _mm256_set1_pd(0x1p104), _mm256_set1_pd(0x1p104 + 0x1p52) };
    /* Opaque to the compiler, which would rather load them again for every product. */
    __asm__("" : "+x"(c.high), "+x"(c.both));
    return c;
}

/* *low += lower half of a·b, *high += upper half, both with their pattern. */
AVX2_INLINE void avx2_multiply_add(__m256i *low, __m256i *high, __m256d a, const __m256d *b,
                                   const struct avx2_constants *c)
{
    __m256d upper;
    __m256d lower;
    __asm__("vmovapd %[c_high], %[upper]\n\t"
            "vfmadd231pd %[b], %[a], %[upper]\n\t"
            "vsubpd %[upper], %[c_both], %[lower]\n\t"
            "vpaddq %[upper], %[high], %[high]\n\t"
            "vfmadd231pd %[b], %[a], %[lower]\n\t"
            "vpaddq %[lower], %[low], %[low]"
            : [upper] "=&x"(upper), [lower] "=&x"(lower), [low] "+x"(*low), [high] "+x"(*high)
            : [a] "x"(a), [b] "m"(*b), [c_high] "x"(c->high), [c_both] "x"(c->both));
}

/* Only the lower half, and only the upper half. */
AVX2_INLINE void avx2_multiply_add_low(__m256i *low, __m256d a, const __m256d *b,
                                       const struct avx2_constants *c)
{
    __m256i unused = _mm256_setzero_si256();
    avx2_multiply_add(low, &unused, a, b, c);
}

AVX2_INLINE void avx2_multiply_add_high(__m256i *high, __m256d a, const __m256d *b,
                                        const struct avx2_constants *c)
{
    const __m256d upper = _mm256_fmadd_pd(a, *b, c->high);
    *high = _mm256_add_epi64(*high, _mm256_castpd_si256(upper));
}

/* Where a sum of n_low lower and n_high upper halves starts. */
AVX2_INLINE __m256i avx2_bias(unsigned n_low, unsigned n_high)
{
    const uint64_t patterns = n_low * AVX2_PATTERN_LOW + n_high * AVX2_PATTERN_HIGH;
    return _mm256_set1_epi64x((int64_t)(0 - patterns));
}

AVX2_INLINE __m256i avx2_set(int64_t value)
{
    return _mm256_set1_epi64x(value);
}

/* Integers below 2^52 to floating point. */
AVX2_INLINE __m256d avx2_to_double(__m256i a)
{
    const __m256i pattern = _mm256_or_si256(a, avx2_set((int64_t)AVX2_PATTERN_LOW));
    return _mm256_sub_pd(_mm256_castsi256_pd(pattern), _mm256_set1_pd(0x1p52));
}

/* Rows of four words to columns. */
AVX2_INLINE void avx2_transpose(__m256i row[4])
{
    const __m256i a = _mm256_unpacklo_epi64(row[0], row[1]);
    const __m256i b = _mm256_unpackhi_epi64(row[0], row[1]);
    const __m256i c = _mm256_unpacklo_epi64(row[2], row[3]);
    const __m256i d = _mm256_unpackhi_epi64(row[2], row[3]);
    row[0] = _mm256_permute2x128_si256(a, c, 0x20);
    row[1] = _mm256_permute2x128_si256(b, d, 0x20);
    row[2] = _mm256_permute2x128_si256(a, c, 0x31);
    row[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

/* Carries limb by limb, so that all but the last one are below 2^52. */
AVX2_INLINE void avx2_carry(__m256i *limbs, unsigned n)
{
    AVX2_UNROLL
    for (unsigned i = 0; i + 1 < n; i++) {
        limbs[i + 1] = _mm256_add_epi64(limbs[i + 1], _mm256_srli_epi64(limbs[i], 52));
        limbs[i] = _mm256_and_si256(limbs[i], avx2_set(AVX2_LIMB_MASK));
    }
}

/* Sets rounding towards zero and returns what avx2_rounding_restore wants. Code in between must not be
   inlined into the function that calls these, or it might be moved out. */
AVX2_INLINE unsigned avx2_rounding_to_zero(void)
{
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | _MM_ROUND_TOWARD_ZERO);
    return before;
}

AVX2_INLINE void avx2_rounding_restore(unsigned before)
{
    _mm_setcsr(before);
}
#endif

/* Does this machine have the instructions? */
static inline bool avx2_supported(void)
{
#if defined(MATH_HAVE_AVX2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

#endif
