/* Remembered hashes are the hashes, in any order of questions, from one thread or several. */
#include "support/support.h"

#include "base/mem.h"
#include "base/pool.h"
#include "math/poseidon.h"
#include "vanilla/poseidon_memo.h"

/* Inputs number n. Every third one was used before, so that calls find some hashes among new
   ones. */
static void make_inputs(struct fr inputs[8], size_t n)
{
    size_t which = n % 3 == 0 ? n / 7 : n;
    for (unsigned i = 0; i < 8; i++)
        fr_from_u64(&inputs[i], (which * 7 + i) % 5 + which * 100);
}

enum { ARITIES = 3, OF_AN_ARITY = 128 };
static const unsigned arities[ARITIES] = {2, 4, 8};

struct asking {
    struct poseidon_memo *memo;
    size_t together; /* hashes of one call */
    struct fr got[ARITIES][OF_AN_ARITY];
};

/* One call: some are known, some new, some asked for twice. */
static void ask(void *context, size_t call)
{
    struct asking *asking = context;
    struct fr inputs[POSEIDON_MEMO_TOGETHER][8];
    const struct fr *in[POSEIDON_MEMO_TOGETHER];
    struct fr *out[POSEIDON_MEMO_TOGETHER];
    for (size_t i = 0; i < asking->together; i++) {
        size_t n = call / ARITIES * asking->together + i;
        make_inputs(inputs[i], n);
        in[i] = inputs[i];
        out[i] = &asking->got[call % ARITIES][n];
    }
    poseidon_memo_hashes(asking->memo, arities[call % ARITIES], asking->together, in, out);
}

static void ask_for_all(struct asking *asking, struct pool *pool, size_t together)
{
    memset(asking->got, 0, sizeof asking->got);
    asking->together = together;
    pool_run(pool, ARITIES * OF_AN_ARITY / together, ask, asking);
    for (size_t a = 0; a < ARITIES; a++) {
        for (size_t n = 0; n < OF_AN_ARITY; n++) {
            struct fr inputs[8];
            struct fr expected;
            make_inputs(inputs, n);
            poseidon_hash(&expected, arities[a], inputs);
            assert_true(fr_equal(&asking->got[a][n], &expected));
        }
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
        ask_for_all(&asking, pool, 4);
        ask_for_all(&asking, pool, POSEIDON_MEMO_TOGETHER);
        ask_for_all(&asking, pool, 1);
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
        const struct fr *in = values;
        struct fr *out = values;
        make_inputs(values, 3);
        poseidon_hash(&expected, 8, values);
        poseidon_memo_hashes(memo, 8, 1, &in, &out);
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
