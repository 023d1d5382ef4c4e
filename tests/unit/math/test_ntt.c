/* Transforms and the quotient against their definitions. */
#include "support/support.h"

#include "base/check.h"
#include "base/mem.h"
#include "base/pool.h"
#include "math/ntt.h"
#include "math/ntt_arith.h"

#include "pseudo_random.h"

/* All implementations, and all cut into small tiles so that three levels come in small sizes. */
enum { ARITHS_MAX = 8 };
static struct ntt_arith ariths[ARITHS_MAX];
static size_t n_ariths;

static int setup(void **state)
{
    (void)state;
    for (const struct ntt_arith *const *arith = ntt_ariths(); *arith; arith++) {
        CHECK(n_ariths + 2 <= ARITHS_MAX);
        ariths[n_ariths++] = **arith;
        ariths[n_ariths] = **arith;
        ariths[n_ariths++].log2_rows_max = 4;
    }
    return 0;
}

static struct fr *random_elements(size_t n)
{
    struct fr *elements = mem_alloc(n, sizeof *elements);
    for (size_t i = 0; i < n; i++)
        pseudo_random_fr(&elements[i]);
    return elements;
}

/* Σ coefficients[i]·x^i */
static void evaluate(struct fr *out, const struct fr *coefficients, size_t n, const struct fr *x)
{
    *out = fr_zero;
    for (size_t i = n; i-- > 0;) {
        fr_mul(out, out, x);
        fr_add(out, out, &coefficients[i]);
    }
}

static void check_transform(const struct ntt_arith *arith, unsigned log2_n, unsigned threads,
                            const struct fr *coefficients)
{
    const size_t n = (size_t)1 << log2_n;
    struct fr *values = mem_memdup(coefficients, n * sizeof *coefficients);
    struct pool *pool = threads ? pool_new(threads) : NULL;
    struct cuzk_error err;
    assert_ok(ntt_forward(values, log2_n, arith, pool, &err), err);
    struct fr omega;
    struct fr x = fr_one;
    fr_omega(&omega, log2_n);
    for (size_t j = 0; j < n; j++) {
        /* All values of small transforms, some of larger ones. */
        if (n <= 1024 || j % (n / 16) == 1) {
            struct fr expected;
            evaluate(&expected, coefficients, n, &x);
            if (!fr_equal(&values[j], &expected))
                fail_msg("%s, 2^%u, value %zu is wrong", arith->name, log2_n, j);
        }
        fr_mul(&x, &x, &omega);
    }
    assert_ok(ntt_inverse(values, log2_n, arith, pool, &err), err);
    assert_memory_equal(values, coefficients, n * sizeof *values);
    pool_free(pool);
    mem_free(values);
}

static void test_transform(void **state)
{
    (void)state;
    for (unsigned log2_n = 0; log2_n <= 16; log2_n++) {
        struct fr *coefficients = random_elements((size_t)1 << log2_n);
        for (size_t i = 0; i < n_ariths; i++) {
            if (log2_n <= 12 || ariths[i].log2_rows_max > 4)
                check_transform(&ariths[i], log2_n, (unsigned)i % 3, coefficients);
        }
        mem_free(coefficients);
    }
}

/* Values whose limbs and sums are extreme. */
static void test_extreme_values(void **state)
{
    (void)state;
    enum { LOG2_N = 10, N = 1 << LOG2_N };
    struct fr *coefficients = random_elements(N);
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < N; i++)
            coefficients[i] = k == 0 || (k == 2 && i % 2) || (k == 3 && i % 3 == 0) ? fr_minus_one
                              : k == 1                                              ? fr_zero
                                                                                    : fr_one;
        for (size_t i = 0; i < n_ariths; i++)
            check_transform(&ariths[i], LOG2_N, 0, coefficients);
    }
    mem_free(coefficients);
}

/* h·(X^n - 1) = A·B - C at a random point, where A, B, C interpolate the row values. */
static void check_quotient(const struct ntt_arith *arith, unsigned log2_n, struct pool *pool)
{
    const size_t n = (size_t)1 << log2_n;
    struct fr *a = random_elements(n);
    struct fr *b = random_elements(n);
    struct fr *c = mem_alloc(n, sizeof *c);
    struct fr *a_coefficients = mem_memdup(a, n * sizeof *a);
    struct fr *b_coefficients = mem_memdup(b, n * sizeof *b);
    for (size_t i = 0; i < n; i++)
        fr_mul(&c[i], &a[i], &b[i]);
    struct cuzk_error err;
    assert_ok(ntt_inverse(a_coefficients, log2_n, &ntt_arith_portable, NULL, &err), err);
    assert_ok(ntt_inverse(b_coefficients, log2_n, &ntt_arith_portable, NULL, &err), err);
    assert_ok(ntt_inverse(c, log2_n, &ntt_arith_portable, NULL, &err), err);
    assert_ok(ntt_quotient(a, b, log2_n, arith, pool, &err), err);
    assert_true(fr_is_zero(&a[n - 1]));

    struct fr x;
    struct fr left;
    struct fr right;
    struct fr other;
    pseudo_random_fr(&x);
    fr_pow(&other, &x, n);
    fr_sub(&other, &other, &fr_one);
    evaluate(&left, a, n, &x);
    fr_mul(&left, &left, &other);
    evaluate(&right, a_coefficients, n, &x);
    evaluate(&other, b_coefficients, n, &x);
    fr_mul(&right, &right, &other);
    evaluate(&other, c, n, &x);
    fr_sub(&right, &right, &other);
    if (!fr_equal(&left, &right))
        fail_msg("%s, 2^%u: wrong quotient", arith->name, log2_n);
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(a_coefficients);
    mem_free(b_coefficients);
}

static void test_quotient(void **state)
{
    (void)state;
    struct pool *pool = pool_new(2);
    for (unsigned log2_n = 0; log2_n <= 14; log2_n++) {
        for (size_t i = 0; i < n_ariths; i++) {
            if (log2_n <= 12 || ariths[i].log2_rows_max > 4)
                check_quotient(&ariths[i], log2_n, i % 2 ? pool : NULL);
        }
    }
    pool_free(pool);
}

static void test_no_memory(void **state)
{
    (void)state;
    enum { LOG2_N = 6, N = 1 << LOG2_N };
    struct fr *a = random_elements(N);
    struct fr *b = random_elements(N);
    struct fr *kept = mem_memdup(a, N * sizeof *a);
    enum cuzk_status status = CUZK_NO_MEMORY;
    long after = 0;
    for (; status == CUZK_NO_MEMORY; after++) {
        const size_t before = mem_used_bytes();
        assert_memory_equal(a, kept, N * sizeof *a);
        mem_fail_after(after);
        status = ntt_quotient(a, b, LOG2_N, NULL, NULL, NULL);
        mem_fail_after(-1);
        assert_int_equal(mem_used_bytes(), before);
    }
    assert_int_equal(status, CUZK_OK);
    assert_true(after > 3);
    mem_free(a);
    mem_free(b);
    mem_free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transform),
        cmocka_unit_test(test_extreme_values),
        cmocka_unit_test(test_quotient),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
