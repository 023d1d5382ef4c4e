/* The processor's way to the products on the coset, for tests. */
#ifndef TESTS_CUDA_COSET_H
#define TESTS_CUDA_COSET_H

#include "math/ntt.h"
#include "support/support.h"

/* Values on the domain to values on the coset 7·w^j. */
static inline void to_coset(struct fr *values, unsigned log2_n, struct pool *pool)
{
    struct cuzk_error err;
    struct fr seven, power = fr_one;
    fr_from_u64(&seven, 7);
    assert_ok(ntt_inverse(values, log2_n, NULL, pool, &err), err);
    for (size_t i = 0; i < (size_t)1 << log2_n; i++) {
        fr_mul(&values[i], &values[i], &power);
        fr_mul(&power, &power, &seven);
    }
    assert_ok(ntt_forward(values, log2_n, NULL, pool, &err), err);
}

/* a and b on the domain to a·b on the coset, in a; b is used up. */
static inline void products_on_coset(struct fr *a, struct fr *b, unsigned log2_n, struct pool *pool)
{
    to_coset(a, log2_n, pool);
    to_coset(b, log2_n, pool);
    for (size_t i = 0; i < (size_t)1 << log2_n; i++)
        fr_mul(&a[i], &a[i], &b[i]);
}

#endif
