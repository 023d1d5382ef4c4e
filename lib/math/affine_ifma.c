/* The kernel of math/affine.h for G1 and AVX-512 IFMA. */
#include "math/fp_ifma.h"

#include "math/affine.h"

#if defined(MATH_HAVE_IFMA)

#include <string.h>

#define G(name) g1_##name
#define FIELD blst_fp
#define FIELD_OP(name) blst_fp_##name
#define POINT_BYTES G1_BYTES

enum { DEGREE = 1 };

struct coordinate {
    struct fp8 c[DEGREE];
};

static __attribute__((noinline)) void multiply(struct coordinate *out, const struct coordinate *a,
                                               const struct coordinate *b)
{
    fp8_multiply(&out->c[0], &a->c[0], &b->c[0]);
}

static __attribute__((noinline)) void square(struct coordinate *out, const struct coordinate *a)
{
    fp8_square(&out->c[0], &a->c[0]);
}

#include "math/affine_ifma_impl.h"

const struct g1_kernel g1_kernel_ifma = {
    .name = "ifma",
    .decode = decode,
    .add_pairs = add_pairs,
    .to_standard = to_standard,
};

#endif
