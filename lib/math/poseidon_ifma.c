/* Poseidon with AVX-512 IFMA: eight instances side by side. */
#include "math/fr_ifma.h"

#include "math/poseidon_arith.h"

#if defined(MATH_HAVE_IFMA)

#include <pthread.h>

enum {
    GROUPS_MAX = 2,
    BLOCK = 4,
    PRODUCTS_MAX = POSEIDON_WIDTH_MAX - 1 + BLOCK,
    COLUMNS = 2 * LIMBS,
};

/* --- Sums of products ------------------------------------------------------------------------- */

/* Normal limbs. */
struct factor {
    __m512i limb[LIMBS];
};

IFMA_INLINE void to_factor(struct factor *out, const struct vec *a)
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] = a->limb[i];
}

/* A number in columns of 52 bits that may be larger than that. */
struct sum {
    __m512i column[COLUMNS];
};

/* Lower and upper halves of products are added up apart: a column has twice as many additions, each
   waiting for the one before. */
struct halves {
    __m512i low[COLUMNS - 1], high[COLUMNS - 1];
};

IFMA_INLINE void halves_clear(struct halves *h)
{
    IFMA_UNROLL
    for (unsigned k = 0; k < COLUMNS - 1; k++) {
        h->low[k] = _mm512_setzero_si512();
        h->high[k] = _mm512_setzero_si512();
    }
}

IFMA_INLINE void multiply_add(struct halves *h, unsigned k, __m512i x, __m512i y)
{
    h->low[k] = _mm512_madd52lo_epu64(h->low[k], x, y);
    h->high[k] = _mm512_madd52hi_epu64(h->high[k], x, y);
}

IFMA_INLINE void join_halves(struct sum *sum, const struct halves *h)
{
    sum->column[0] = h->low[0];
    IFMA_UNROLL
    for (unsigned k = 1; k < COLUMNS - 1; k++)
        sum->column[k] = _mm512_add_epi64(h->low[k], h->high[k - 1]);
    sum->column[COLUMNS - 1] = h->high[COLUMNS - 2];
}

/* sum = Σ a[m]·b[m] */
static __attribute__((noinline)) void add_products(struct sum *sum, const struct factor *a,
                                                   const struct single_factor *b, size_t n)
{
    struct halves halves;
    halves_clear(&halves);
    for (size_t m = 0; m < n; m++) {
        IFMA_UNROLL
        for (unsigned j = 0; j < LIMBS; j++) {
            IFMA_UNROLL
            for (unsigned i = 0; i < LIMBS; i++)
                multiply_add(&halves, i + j, a[m].limb[i], ifma_set(b[m].limb[j]));
        }
    }
    join_halves(sum, &halves);
}

/* sum = 16·a·b */
IFMA_INLINE void multiply(struct sum *sum, const struct factor *a, const struct factor *b)
{
    struct halves halves;
    halves_clear(&halves);
    IFMA_UNROLL
    for (unsigned j = 0; j < LIMBS; j++) {
        IFMA_UNROLL
        for (unsigned i = 0; i < LIMBS; i++)
            multiply_add(&halves, i + j, a->limb[i], b->limb[j]);
    }
    join_halves(sum, &halves);
    IFMA_UNROLL
    for (unsigned k = 0; k < COLUMNS; k++)
        sum->column[k] = _mm512_slli_epi64(sum->column[k], 4);
}

/* sum = 16·a² */
IFMA_INLINE void square(struct sum *sum, const struct factor *a)
{
    struct halves halves;
    halves_clear(&halves);
    IFMA_UNROLL
    for (unsigned j = 0; j < LIMBS; j++) {
        IFMA_UNROLL
        for (unsigned i = j + 1; i < LIMBS; i++)
            multiply_add(&halves, i + j, a->limb[i], a->limb[j]);
    }
    join_halves(sum, &halves);
    IFMA_UNROLL
    for (unsigned k = 0; k < COLUMNS; k++)
        sum->column[k] = _mm512_add_epi64(sum->column[k], sum->column[k]);
    IFMA_UNROLL
    for (unsigned j = 0; j < LIMBS; j++) {
        const __m512i x = a->limb[j];
        sum->column[2 * j] = _mm512_madd52lo_epu64(sum->column[2 * j], x, x);
        sum->column[2 * j + 1] = _mm512_madd52hi_epu64(sum->column[2 * j + 1], x, x);
    }
    IFMA_UNROLL
    for (unsigned k = 0; k < COLUMNS; k++)
        sum->column[k] = _mm512_slli_epi64(sum->column[k], 4);
}

/* out[g] = sum[g] / 2^260 mod r, below T/2^260 + r, without carries. */
IFMA_INLINE void reduce(struct vec *out, struct sum *sum, const unsigned groups)
{
    IFMA_UNROLL
    for (unsigned g = 0; g < groups; g++) {
        ifma_divide(sum[g].column, modulus, minus_inverse, LIMBS);
        IFMA_UNROLL
        for (unsigned i = 0; i < LIMBS; i++)
            out[g].limb[i] = sum[g].column[LIMBS + i];
    }
}

/* --- Vectors ---------------------------------------------------------------------------------- */

IFMA_INLINE void load_lanes(struct vec *out, const struct fr *const elements[LANES])
{
    __m512i row[LANES / 2];
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES / 2; i++) {
        const __m256i *even = (const __m256i *)(const void *)elements[2 * i];
        const __m256i *odd = (const __m256i *)(const void *)elements[2 * i + 1];
        row[i] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(even)),
                                    _mm256_loadu_si256(odd), 1);
    }
    vec_from_rows(out, row);
}

IFMA_INLINE void store_lanes(struct fr *const out[LANES], const struct vec *canonical)
{
    __m512i row[LANES / 2];
    vec_to_rows(row, canonical);
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES / 2; i++) {
        _mm256_storeu_si256((__m256i *)(void *)out[2 * i], _mm512_castsi512_si256(row[i]));
        _mm256_storeu_si256((__m256i *)(void *)out[2 * i + 1],
                            _mm512_extracti64x4_epi64(row[i], 1));
    }
}

IFMA_INLINE void set_all(struct vec *out, const int64_t limbs[LIMBS])
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] = ifma_set(limbs[i]);
}

IFMA_INLINE void add_limbs(struct vec *a, const int64_t limbs[LIMBS])
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a->limb[i] = _mm512_add_epi64(a->limb[i], ifma_set(limbs[i]));
}

IFMA_INLINE void add(struct vec *a, const struct vec *b)
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a->limb[i] = _mm512_add_epi64(a->limb[i], b->limb[i]);
}

IFMA_INLINE void carry(struct vec *a)
{
    ifma_carry(a->limb, LIMBS);
}

IFMA_INLINE void subtract_r(struct vec *a)
{
    subtract_if(a, modulus);
}

IFMA_INLINE void subtract_2r(struct vec *a)
{
    subtract_if(a, modulus_2);
}

#include "math/poseidon_impl.h"

const struct poseidon_arith poseidon_arith_ifma = {
    .name = "ifma",
    .lanes = GROUPS_MAX * LANES,
    .permute = permute_lanes,
};

#endif
