/* Eight elements of Fr side by side, for the arithmetics on ifma.h.

   In memory elements are x·2^256 mod r. A vec holds eight of them as 5 limbs of 52 bits, which has
   room for 35r: bounds are said where they matter. A factor in the form w·2^260 leaves a product,
   which is divided by 2^260, in the form of the other operand. */
#ifndef MATH_FR_IFMA_H
#define MATH_FR_IFMA_H

#include "math/ifma.h"

#if defined(MATH_HAVE_IFMA)

#include "math/fr_limbs.h"

enum { LANES = IFMA_LANES };

struct vec {
    __m512i limb[LIMBS];
};

/* One factor for all lanes. */
struct single_factor {
    int64_t limb[LIMBS];
};

/* r, 2r */
static const int64_t modulus[LIMBS] = {
    0xfffff00000001, 0x02fffe5bfefff, 0x9a1d80553bda4, 0x7d483339d8080, 0x073eda753299d,
};
static const int64_t modulus_2[LIMBS] = {
    0xffffe00000002, 0x05fffcb7fdfff, 0x343b00aa77b48, 0xfa906673b0101, 0x0e7db4ea6533a,
};
/* -1/r modulo 2^52 */
static const int64_t minus_inverse = 0xffffeffffffff;

/* --- Words and limbs -------------------------------------------------------------------------- */

/* From the words of eight elements, two in each row: elements 2i and 2i + 1 in row i. The order of
   elements over lanes is that of vec_to_rows, and no other matter. */
IFMA_INLINE void vec_from_rows(struct vec *out, const __m512i row[4])
{
    const __m512i mask = ifma_set(IFMA_LIMB_MASK);
    const __m512i low_a = _mm512_unpacklo_epi64(row[0], row[1]);
    const __m512i high_a = _mm512_unpackhi_epi64(row[0], row[1]);
    const __m512i low_b = _mm512_unpacklo_epi64(row[2], row[3]);
    const __m512i high_b = _mm512_unpackhi_epi64(row[2], row[3]);
    const __m512i w0 = _mm512_shuffle_i64x2(low_a, low_b, 0x88);
    const __m512i w1 = _mm512_shuffle_i64x2(high_a, high_b, 0x88);
    const __m512i w2 = _mm512_shuffle_i64x2(low_a, low_b, 0xdd);
    const __m512i w3 = _mm512_shuffle_i64x2(high_a, high_b, 0xdd);
    __m512i *l = out->limb;
    l[0] = w0;
    l[1] = _mm512_or_si512(_mm512_srli_epi64(w0, 52), _mm512_slli_epi64(w1, 12));
    l[2] = _mm512_or_si512(_mm512_srli_epi64(w1, 40), _mm512_slli_epi64(w2, 24));
    l[3] = _mm512_or_si512(_mm512_srli_epi64(w2, 28), _mm512_slli_epi64(w3, 36));
    l[4] = _mm512_srli_epi64(w3, 16);
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS - 1; i++)
        l[i] = _mm512_and_si512(l[i], mask);
}

/* To eight elements' words, from canonical ones. */
IFMA_INLINE void vec_to_rows(__m512i row[4], const struct vec *a)
{
    const __m512i first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    const __m512i second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    const __m512i *l = a->limb;
    const __m512i w0 = _mm512_or_si512(l[0], _mm512_slli_epi64(l[1], 52));
    const __m512i w1 = _mm512_or_si512(_mm512_srli_epi64(l[1], 12), _mm512_slli_epi64(l[2], 40));
    const __m512i w2 = _mm512_or_si512(_mm512_srli_epi64(l[2], 24), _mm512_slli_epi64(l[3], 28));
    const __m512i w3 = _mm512_or_si512(_mm512_srli_epi64(l[3], 36), _mm512_slli_epi64(l[4], 16));
    /* Words 0 and 1, then 2 and 3, of the elements of rows 0 and 2, and of 1 and 3. */
    const __m512i even_01 = _mm512_unpacklo_epi64(w0, w1);
    const __m512i even_23 = _mm512_unpacklo_epi64(w2, w3);
    const __m512i odd_01 = _mm512_unpackhi_epi64(w0, w1);
    const __m512i odd_23 = _mm512_unpackhi_epi64(w2, w3);
    row[0] = _mm512_permutex2var_epi64(even_01, first, even_23);
    row[1] = _mm512_permutex2var_epi64(odd_01, first, odd_23);
    row[2] = _mm512_permutex2var_epi64(even_01, second, even_23);
    row[3] = _mm512_permutex2var_epi64(odd_01, second, odd_23);
}

/* Takes k·r away if that leaves no negative number; m = k·r. */
IFMA_INLINE void subtract_if(struct vec *a, const int64_t m[LIMBS])
{
    ifma_subtract_if(a->limb, m, LIMBS);
}

/* The factor that multiplies by value. */
static inline void set_single_factor(struct single_factor *out, const struct fr *value)
{
    struct fr factor;
    to_factor_form(&factor, value);
    set_limbs(out->limb, &factor);
}

#endif

#endif
