/* The kernel of math/affine.h for G2 and AVX-512 IFMA. A coordinate is c0 + c1·u with u² = -1. */
#include "math/fp_ifma.h"

#include "math/affine.h"

#if defined(MATH_HAVE_IFMA)

#include <string.h>

#define G(name) g2_##name
#define FIELD blst_fp2
#define FIELD_OP(name) blst_fp2_##name
#define POINT_BYTES G2_BYTES

enum { DEGREE = 2, COLUMNS = 2 * LIMBS };

struct coordinate {
    struct fp8 c[DEGREE];
};

/* a + b, normal. */
IFMA_INLINE void add(struct fp8 *out, const struct fp8 *a, const struct fp8 *b)
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] = _mm512_add_epi64(a->limb[i], b->limb[i]);
    ifma_carry(out->limb, LIMBS);
}

/* c0 = a0·b0 - a1·b1 and c1 = (a0 + a1)(b0 + b1) - a0·b0 - a1·b1, each reduced once; as c0 may be
   negative, p is added to it after that. */
static __attribute__((noinline)) void multiply(struct coordinate *out, const struct coordinate *a,
                                               const struct coordinate *b)
{
    __m512i product_0[COLUMNS];
    __m512i product_1[COLUMNS];
    __m512i column[COLUMNS];
    struct fp8 sum_a;
    struct fp8 sum_b;
    add(&sum_a, &a->c[0], &a->c[1]);
    add(&sum_b, &b->c[0], &b->c[1]);
    ifma_clear(product_0, LIMBS);
    ifma_multiply_add(product_0, a->c[0].limb, b->c[0].limb, LIMBS);
    ifma_clear(product_1, LIMBS);
    ifma_multiply_add(product_1, a->c[1].limb, b->c[1].limb, LIMBS);
    IFMA_UNROLL
    for (unsigned k = 0; k < COLUMNS; k++) {
        column[k] = _mm512_sub_epi64(product_0[k], product_1[k]);
        product_1[k] =
            _mm512_sub_epi64(_mm512_sub_epi64(_mm512_setzero_si512(), product_0[k]), product_1[k]);
    }
    ifma_divide(column, modulus, minus_inverse, LIMBS);
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->c[0].limb[i] = _mm512_add_epi64(column[LIMBS + i], ifma_set(modulus[i]));
    ifma_carry(out->c[0].limb, LIMBS);
    ifma_multiply_add(product_1, sum_a.limb, sum_b.limb, LIMBS);
    ifma_reduce(out->c[1].limb, product_1, modulus, minus_inverse, LIMBS);
}

/* c0 = (a0 + a1)(a0 - a1) and c1 = 2·a0·a1, of components below 2p. */
static __attribute__((noinline)) void square(struct coordinate *out, const struct coordinate *a)
{
    struct fp8 sum;
    struct fp8 difference;
    struct fp8 twice;
    add(&sum, &a->c[0], &a->c[1]);
    add(&twice, &a->c[0], &a->c[0]);
    fp8_subtract(&difference, &a->c[0], &a->c[1], modulus_2);
    fp8_multiply(&out->c[1], &twice, &a->c[1]);
    fp8_multiply(&out->c[0], &sum, &difference);
}

#include "math/affine_ifma_impl.h"

const struct g2_kernel g2_kernel_ifma = {
    .name = "ifma",
    .decode = decode,
    .add_pairs = add_pairs,
    .to_standard = to_standard,
};

#endif
