/* Products of a fixed point against the general multiplication, for all table sizes and the scalars
   where the digits and the affine additions have their special cases. */
#include "support/support.h"

#include "base/check.h"
#include "base/mem.h"
#include "base/pool.h"
#include "math/fixed_base.h"

enum { N_RANDOM = 40 };

/* Small numbers, their negatives, (r ± 1) / 2, powers of two and their neighbours, random ones. */
static size_t make_scalars(struct fr *out)
{
    struct cuzk_error err;
    size_t n = 0;
    for (uint64_t i = 0; i < 20; i++) {
        fr_from_u64(&out[n], i);
        fr_neg(&out[n + 1], &out[n]);
        n += 2;
    }
    struct fr two;
    fr_from_u64(&two, 2);
    fr_inv(&out[n], &two); /* (r + 1) / 2 */
    fr_sub(&out[n + 1], &out[n], &fr_one);
    n += 2;
    for (unsigned i = 1; i < FR_BITS; i += 7) {
        fr_pow2(&out[n], i);
        fr_sub(&out[n + 1], &out[n], &fr_one);
        fr_neg(&out[n + 2], &out[n]);
        n += 3;
    }
    for (size_t i = 0; i < N_RANDOM; i++)
        assert_ok(fr_random(&out[n++], &err), err);
    return n;
}

enum { N_MAX = 256 };

static void check_g1(size_t uses, struct pool *pool)
{
    struct fr scalars[N_MAX];
    struct g1_affine found[N_MAX], base;
    struct g1 point, wanted, sum;
    struct fixed_base_g1 *table;
    struct cuzk_error err;
    size_t n = make_scalars(scalars);
    assert_true(n <= N_MAX);
    g1_from_affine(&point, g1_generator());
    g1_mul(&point, &point, &scalars[n - 1]);
    g1_to_affine(&base, &point);
    assert_ok(fixed_base_g1_new(&base, uses, pool, &table, &err), err);
    assert_ok(fixed_base_g1_mul(table, scalars, n, found, &err), err);
    for (size_t i = 0; i < n; i++) {
        g1_mul(&wanted, &point, &scalars[i]);
        g1_from_affine(&sum, &found[i]);
        if (!g1_equal(&wanted, &sum))
            fail_msg("scalar %zu with a table for %zu uses", i, uses);
    }
    fixed_base_g1_free(table);
}

static void check_g2(size_t uses, struct pool *pool)
{
    struct fr scalars[N_MAX];
    struct g2_affine found[N_MAX], base;
    struct g2 point, wanted, sum;
    struct fixed_base_g2 *table;
    struct cuzk_error err;
    size_t n = make_scalars(scalars);
    g2_from_affine(&point, g2_generator());
    g2_mul(&point, &point, &scalars[n - 1]);
    g2_to_affine(&base, &point);
    assert_ok(fixed_base_g2_new(&base, uses, pool, &table, &err), err);
    assert_ok(fixed_base_g2_mul(table, scalars, n, found, &err), err);
    for (size_t i = 0; i < n; i++) {
        g2_mul(&wanted, &point, &scalars[i]);
        g2_from_affine(&sum, &found[i]);
        if (!g2_equal(&wanted, &sum))
            fail_msg("scalar %zu with a table for %zu uses", i, uses);
    }
    fixed_base_g2_free(table);
}

/* From tables of two bits to nearly the widest; powers of 4 meet every width. */
static void products_are_right_at_every_width(void **state)
{
    (void)state;
    struct pool *pool = pool_new(2);
    for (size_t uses = 1; uses <= (size_t)1 << 20; uses *= 4) {
        check_g1(uses, uses % 16 ? pool : NULL);
        check_g2(uses, uses % 16 ? pool : NULL);
    }
    pool_free(pool);
}

/* More scalars than share an inversion, or a pass through the table. */
static void blocks_join(void **state)
{
    (void)state;
    enum { N = 17000 };
    struct fr *scalars = mem_alloc(N, sizeof *scalars);
    struct g1_affine *found = mem_alloc(N, sizeof *found);
    struct fixed_base_g1 *table;
    struct cuzk_error err;
    assert_non_null(scalars);
    assert_non_null(found);
    for (size_t i = 0; i < N; i++)
        fr_from_u64(&scalars[i], i);
    assert_ok(fixed_base_g1_new(g1_generator(), N, NULL, &table, &err), err);
    assert_ok(fixed_base_g1_mul(table, scalars, N, found, &err), err);
    assert_true(g1_affine_is_infinity(&found[0]));
    struct g1 sum, wanted;
    g1_set_infinity(&wanted);
    for (size_t i = 0; i < N; i++) {
        g1_from_affine(&sum, &found[i]);
        if (!g1_equal(&sum, &wanted))
            fail_msg("product %zu", i);
        g1_add_affine(&wanted, &wanted, g1_generator());
    }
    fixed_base_g1_free(table);
    mem_free(found);
    mem_free(scalars);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    size_t used = mem_used_bytes();
    long after = 0;
    for (enum cuzk_status status = CUZK_NO_MEMORY; status != CUZK_OK; after++) {
        struct fixed_base_g2 *table = NULL;
        struct g2_affine found;
        struct cuzk_error err;
        mem_fail_after(after);
        status = fixed_base_g2_new(g2_generator(), 10, NULL, &table, &err);
        if (status == CUZK_OK)
            status = fixed_base_g2_mul(table, &fr_one, 1, &found, &err);
        mem_fail_after(-1);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        fixed_base_g2_free(table);
        assert_int_equal(mem_used_bytes(), used);
    }
    assert_int_equal(after, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right_at_every_width),
        cmocka_unit_test(blocks_join),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
