/* Exact products of 52-bit integers with floating-point instructions (AVX2 and FMA), four at a
   time. The files that include it are compiled for these instructions (CMakeLists.txt); what they
   contain must only run where cpu_has_avx2 (math/cpu.h) says so.

   A product a·b of integers below 2^52 has 104 bits. Rounding towards zero, fma(a, b, 2^104) keeps
   its upper 52 bits in the last places of the result, and a second fma yields the lower 52 bits
   exactly (N. Emmart, "Faster modular exponentiation using double precision floating point
   arithmetic on the GPU", ARITH 2018). The upper part's bit pattern is that of 2^104 plus the
   integer, the lower part's that of 2^52 plus the integer, so patterns are added as integers and
   the known number of the two constants is taken away at the start (avx2_bias). */
#ifndef MATH_AVX2_H
#define MATH_AVX2_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__AVX2__) && defined(__FMA__)
#define MATH_HAVE_AVX2 1

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
    struct avx2_constants c = {_mm256_set1_pd(0x1p104), _mm256_set1_pd(0x1p104 + 0x1p52)};
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

/* Only the upper half. */
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

/* A floating-point constant in all lanes, for static tables. */
#define AVX2_LANES(value)                                                                          \
    {                                                                                              \
        (double)(value), (double)(value), (double)(value), (double)(value)                         \
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

/* --- Montgomery products ---------------------------------------------------------------------- */

enum { AVX2_LIMBS_MAX = 8 };

/* Takes a multiple m of the modulus away from n limbs if that leaves a positive number; minus_m =
   2^(52·n) - m. */
AVX2_INLINE void avx2_subtract_if(__m256i *limbs, const int64_t *minus_m, unsigned n)
{
    __m256i t[AVX2_LIMBS_MAX];
    AVX2_UNROLL
    for (unsigned i = 0; i < n; i++)
        t[i] = _mm256_add_epi64(limbs[i], avx2_set(minus_m[i]));
    avx2_carry(t, n);
    const __m256i enough = _mm256_cmpgt_epi64(t[n - 1], avx2_set(AVX2_LIMB_MASK));
    t[n - 1] = _mm256_and_si256(t[n - 1], avx2_set(AVX2_LIMB_MASK));
    AVX2_UNROLL
    for (unsigned i = 0; i < n; i++)
        limbs[i] = _mm256_blendv_epi8(limbs[i], t[i], enough);
}

/* Column k of a product of n by n limbs: its lower halves, and the upper halves of column k - 1. */
AVX2_INLINE unsigned avx2_column_products(unsigned k, unsigned n)
{
    return k < n ? k + 1 : 2 * n - 1 - k;
}

AVX2_INLINE __m256i avx2_column_bias(unsigned k, unsigned n)
{
    return avx2_bias(avx2_column_products(k, n), k == 0 ? 0 : avx2_column_products(k - 1, n));
}

/* Adds column k of a·b to *sum and its upper halves to *next. */
AVX2_INLINE void avx2_add_column(__m256i *sum, __m256i *next, const __m256d *a, const __m256d *b,
                                 unsigned k, unsigned n, const struct avx2_constants *c)
{
    AVX2_UNROLL
    for (unsigned i = 0; i < n; i++) {
        if (i <= k && k - i < n)
            avx2_multiply_add(sum, next, a[i], &b[k - i], c);
    }
}

/* The limb of a column whose products are summed up, with the carry from the column before; what is
   above 52 bits goes on in *carry. (The carry comes last, so that columns wait for each other only
   here.) */
AVX2_INLINE __m256i avx2_finish_column(__m256i sum, __m256i *carry)
{
    sum = _mm256_add_epi64(sum, *carry);
    *carry = _mm256_srli_epi64(sum, 52);
    return _mm256_and_si256(sum, avx2_set(AVX2_LIMB_MASK));
}

/* The carry out of the lower n columns of q·p, for avx2_montgomery; *next gets what column n - 1
   adds to column n. */
AVX2_INLINE __m256i avx2_lower_carry(__m256i *next, const __m256d *q, const __m256d *modulus,
                                     __m256d low_top, __m256i vanishes, const unsigned n,
                                     const struct avx2_constants *c)
{
    __m256i sum = avx2_column_bias(n - 1, n);
    AVX2_UNROLL
    for (unsigned i = 0; i < n - 1; i++)
        avx2_multiply_add_high(&sum, q[i], &modulus[n - 2 - i], c);
    *next = avx2_column_bias(n, n);
    avx2_add_column(&sum, next, q, modulus, n - 1, n, c);
    /* sum = carry·2^52 + t - (less than 2^4), t being the top limb of the lower half of q·p: it is
       2^52 - 1 or 2^52 minus T's, or 0 like all of q if T's lower half is 0. Rounded: */
    const __m256i pattern = _mm256_castpd_si256(_mm256_add_pd(low_top, _mm256_set1_pd(0x1p52)));
    const __m256i limb = _mm256_and_si256(pattern, avx2_set(AVX2_LIMB_MASK));
    const __m256i t =
        _mm256_andnot_si256(vanishes, _mm256_sub_epi64(avx2_set(AVX2_LIMB_MASK), limb));
    sum = _mm256_add_epi64(_mm256_sub_epi64(sum, t), avx2_set(INT64_C(1) << 51));
    return _mm256_srli_epi64(sum, 52);
}

/* out = a·b/R mod p, R = 2^52n, below p + a·b/R; all operands of n ≤ 8 limbs below 2^52.
   minus_inverse is -1/p mod R. n is a constant wherever this is inlined.

   T = a·b; q = T·(-1/p) mod R; the result is (T + q·p)/R. All limbs of q are computed before q·p,
   which takes a few products more than the usual alternation but has no long chain of dependent
   instructions. T + q·p vanishes modulo R, so of the lower half of q·p only its carry is needed:
   columns n - 2 (upper halves) and n - 1 tell it, since the lower half's top limb is known. */
AVX2_INLINE void avx2_montgomery(__m256i *out, const __m256d *a, const __m256d *b,
                                 const __m256d *modulus, const __m256d *minus_inverse,
                                 const unsigned n)
{
    const struct avx2_constants c = avx2_constants();
    const __m256i zero = _mm256_setzero_si256();
    __m256d x[AVX2_LIMBS_MAX];
    __m256d low[AVX2_LIMBS_MAX];
    __m256i high[AVX2_LIMBS_MAX];
    __m256i next = avx2_column_bias(0, n);
    __m256i carry = zero;
    __m256i any = zero;
    AVX2_UNROLL
    for (unsigned i = 0; i < n; i++)
        x[i] = a[i];
    AVX2_UNROLL
    for (unsigned k = 0; k < n; k++) {
        __m256i sum = next;
        next = avx2_column_bias(k + 1, n);
        avx2_add_column(&sum, &next, x, b, k, n, &c);
        sum = avx2_finish_column(sum, &carry);
        any = _mm256_or_si256(any, sum);
        low[k] = avx2_to_double(sum);
    }
    /* The lower half of T + q·p is 0 or, if T's is not 0, carries 1. */
    const __m256i vanishes = _mm256_cmpeq_epi64(any, zero);
    carry = _mm256_add_epi64(carry, _mm256_add_epi64(avx2_set(1), vanishes));
    AVX2_UNROLL
    for (unsigned k = n; k < 2 * n; k++) {
        __m256i sum = next;
        next = k + 1 < 2 * n ? avx2_column_bias(k + 1, n) : zero;
        avx2_add_column(&sum, &next, x, b, k, n, &c);
        high[k - n] = sum;
    }
    high[0] = _mm256_add_epi64(high[0], carry);

    next = avx2_column_bias(0, n);
    carry = zero;
    AVX2_UNROLL
    for (unsigned i = 0; i < n; i++)
        x[i] = low[i];
    __m256d q[AVX2_LIMBS_MAX];
    AVX2_UNROLL
    for (unsigned k = 0; k < n; k++) {
        __m256i sum = next;
        next = avx2_column_bias(k + 1, n);
        avx2_add_column(&sum, &next, x, minus_inverse, k, n, &c);
        q[k] = avx2_to_double(avx2_finish_column(sum, &carry));
    }

    AVX2_UNROLL
    for (unsigned i = 0; i < n; i++)
        x[i] = q[i];
    carry = avx2_lower_carry(&next, x, modulus, low[n - 1], vanishes, n, &c);
    AVX2_UNROLL
    for (unsigned k = n; k < 2 * n; k++) {
        __m256i sum = _mm256_add_epi64(next, high[k - n]);
        next = k + 1 < 2 * n ? avx2_column_bias(k + 1, n) : zero;
        avx2_add_column(&sum, &next, x, modulus, k, n, &c);
        out[k - n] = k + 1 < 2 * n ? avx2_finish_column(sum, &carry) : _mm256_add_epi64(sum, carry);
    }
}

/* --- Rounding --------------------------------------------------------------------------------- */

/* Sets rounding towards zero and returns what avx2_rounding_restore wants. Code in between must not
   be inlined into the function that calls these, or it might be moved out. */
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

#endif
