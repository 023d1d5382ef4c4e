/* Remembered hashes are the hashes, whatever is asked in which order, from one thread or several.
 */
#include "support/support.h"

#include "base/mem.h"
#include "base/pool.h"
#include "math/poseidon.h"
#include "vanilla/poseidon_memo.h"

/* Inputs number n: few enough different ones that most are asked for several times. */
static void make_inputs(struct fr inputs[8], size_t n)
{
    for (unsigned i = 0; i < 8; i++)
        fr_from_u64(&inputs[i], (n * 7 + i) % 5 + (n % 40) * 100);
}

struct asking {
    struct poseidon_memo *memo;
    struct fr got[400];
};

static void ask(void *context, size_t n)
{
    static const unsigned arities[] = {2, 4, 8};
    struct asking *asking = context;
    struct fr inputs[8];
    make_inputs(inputs, n / 3);
    poseidon_memo_hash(asking->memo, &asking->got[n], arities[n % 3], inputs);
}

static void assert_hashes(const struct asking *asking)
{
    static const unsigned arities[] = {2, 4, 8};
    for (size_t n = 0; n < 400; n++) {
        struct fr inputs[8];
        struct fr expected;
        make_inputs(inputs, n / 3);
        poseidon_hash(&expected, arities[n % 3], inputs);
        assert_true(fr_equal(&asking->got[n], &expected));
    }
}

/* Room for all, for some (a bucket fills up), and no memo at all. */
static void hashes_are_right_with_any_room(void **state)
{
    (void)state;
    static struct asking asking;
    static const size_t rooms[] = {0, 1, 20, 10000};
    struct pool *pool = pool_new(4);
    for (unsigned i = 0; i < 5; i++) {
        asking.memo = i < 4 ? poseidon_memo_new(rooms[i]) : NULL;
        assert_true(i == 4 || asking.memo);
        pool_run(pool, 400, ask, &asking);
        assert_hashes(&asking);
        pool_run(pool, 400, ask, &asking);
        assert_hashes(&asking);
        poseidon_memo_free(asking.memo);
    }
    pool_free(pool);
}

static void the_result_may_be_an_input(void **state)
{
    (void)state;
    struct poseidon_memo *memo = poseidon_memo_new(10);
    for (int i = 0; i < 2; i++) {
        struct fr values[8];
        struct fr expected;
        make_inputs(values, 3);
        poseidon_hash(&expected, 8, values);
        poseidon_memo_hash(memo, &values[0], 8, values);
        assert_true(fr_equal(&values[0], &expected));
    }
    poseidon_memo_free(memo);
}

static void no_memory_leaves_nothing(void **state)
{
    (void)state;
    size_t before = mem_used_bytes();
    for (long after = 0; after < 3; after++) {
        mem_fail_after(after);
        assert_null(poseidon_memo_new(100));
        mem_fail_after(-1);
        assert_int_equal(mem_used_bytes(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_right_with_any_room),
        cmocka_unit_test(the_result_may_be_an_input),
        cmocka_unit_test(no_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
