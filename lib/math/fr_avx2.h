/* Four elements of Fr side by side, for the arithmetics on avx2.h.

   In memory elements are x·2^256 mod r. A vec holds four of them as 5 limbs of 52 bits, which has
   room for 35r: bounds are said where they matter. Factors are floating-point limbs; one in the
   form w·2^260 leaves a product, which is divided by 2^260, in the form of the other operand. */
#ifndef MATH_FR_AVX2_H
#define MATH_FR_AVX2_H

#include "math/avx2.h"

#if defined(MATH_HAVE_AVX2)

#include "math/fr_limbs.h"

struct vec {
    __m256i limb[LIMBS];
};

/* The same in floating point. */
struct factor {
    __m256d limb[LIMBS];
};

/* One factor for all four lanes. */
struct single_factor {
    double limb[LIMBS];
};

/* 2^260 - r, 2^260 - 2r: adding one of them carries out of the top unless a value is smaller */
static const int64_t minus_r[LIMBS] = {
    0x00000ffffffff, 0xfd0001a401000, 0x65e27faac425b, 0x82b7ccc627f7f, 0xf8c1258acd662,
};
static const int64_t minus_2r[LIMBS] = {
    0x00001fffffffe, 0xfa00034802000, 0xcbc4ff55884b7, 0x056f998c4fefe, 0xf1824b159acc5,
};
/* r */
static const struct factor modulus = {{
    AVX2_LANES(0xfffff00000001),
    AVX2_LANES(0x02fffe5bfefff),
    AVX2_LANES(0x9a1d80553bda4),
    AVX2_LANES(0x7d483339d8080),
    AVX2_LANES(0x073eda753299d),
}};

AVX2_INLINE void to_factor(struct factor *out, const struct vec *a)
{
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] = avx2_to_double(a->limb[i]);
}

/* --- Words and limbs -------------------------------------------------------------------------- */

/* From four elements' words. */
AVX2_INLINE void vec_from_rows(struct vec *out, __m256i w[4])
{
    const __m256i mask = avx2_set(AVX2_LIMB_MASK);
    avx2_transpose(w);
    __m256i *l = out->limb;
    l[0] = w[0];
    l[1] = _mm256_or_si256(_mm256_srli_epi64(w[0], 52), _mm256_slli_epi64(w[1], 12));
    l[2] = _mm256_or_si256(_mm256_srli_epi64(w[1], 40), _mm256_slli_epi64(w[2], 24));
    l[3] = _mm256_or_si256(_mm256_srli_epi64(w[2], 28), _mm256_slli_epi64(w[3], 36));
    l[4] = _mm256_srli_epi64(w[3], 16);
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS - 1; i++)
        l[i] = _mm256_and_si256(l[i], mask);
}

/* To four elements' words, from canonical ones. */
AVX2_INLINE void vec_to_rows(__m256i w[4], const struct vec *a)
{
    const __m256i *l = a->limb;
    w[0] = _mm256_or_si256(l[0], _mm256_slli_epi64(l[1], 52));
    w[1] = _mm256_or_si256(_mm256_srli_epi64(l[1], 12), _mm256_slli_epi64(l[2], 40));
    w[2] = _mm256_or_si256(_mm256_srli_epi64(l[2], 24), _mm256_slli_epi64(l[3], 28));
    w[3] = _mm256_or_si256(_mm256_srli_epi64(l[3], 36), _mm256_slli_epi64(l[4], 16));
    avx2_transpose(w);
}

/* Takes k·r away if that leaves a positive number; minus_kr = 2^260 - k·r. */
AVX2_INLINE void subtract_if(struct vec *a, const int64_t minus_kr[LIMBS])
{
    avx2_subtract_if(a->limb, minus_kr, LIMBS);
}

/* The factor that multiplies by value. */
static inline void set_single_factor(struct single_factor *out, const struct fr *value)
{
    struct fr factor;
    int64_t limbs[LIMBS];
    to_factor_form(&factor, value);
    set_limbs(limbs, &factor);
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] = (double)limbs[i];
}

#endif

#endif
