/* The thread pool and the channel. */
#include "support/support.h"

#include "base/chan.h"
#include "base/mem.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ITEMS = 10000, SENDERS = 3 };

struct counts {
    struct pool *pool;
    atomic_uint seen[ITEMS];
};

static void count_one(void *context, size_t i)
{
    struct counts *counts = context;
    atomic_fetch_add(&counts->seen[i], 1);
}

static void count_nested(void *context, size_t i)
{
    struct counts *counts = context;
    if (i < 4)
        pool_run(counts->pool, ITEMS, count_one, counts);
}

static void pool_runs_each_index_once(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct counts *counts = mem_zalloc(1, sizeof *counts);
        counts->pool = pool_new(threads);
        assert_int_equal(pool_threads(counts->pool), threads);
        pool_run(counts->pool, 0, count_one, counts);
        pool_run(counts->pool, ITEMS, count_one, counts);
        for (size_t i = 0; i < ITEMS; i++)
            assert_int_equal(counts->seen[i], 1);
        /* A call from inside runs in its caller instead of waiting for itself. */
        pool_run(counts->pool, 16, count_nested, counts);
        for (size_t i = 0; i < ITEMS; i++)
            assert_int_equal(counts->seen[i], 5);
        pool_free(counts->pool);
        mem_free(counts);
    }
    assert_true(pool_cpus() >= 1);
    pool_free(NULL);
}

static void *run_batches(void *argument)
{
    struct counts *counts = argument;
    for (int i = 0; i < 20; i++)
        pool_run(counts->pool, ITEMS, count_one, counts);
    return NULL;
}

static void pool_serves_several_callers(void **state)
{
    (void)state;
    struct counts *counts = mem_zalloc(1, sizeof *counts);
    pthread_t callers[SENDERS];
    counts->pool = pool_new(3);
    for (int i = 0; i < SENDERS; i++)
        pthread_create(&callers[i], NULL, run_batches, counts);
    for (int i = 0; i < SENDERS; i++)
        pthread_join(callers[i], NULL);
    for (size_t i = 0; i < ITEMS; i++)
        assert_int_equal(counts->seen[i], 20 * SENDERS);
    pool_free(counts->pool);
    mem_free(counts);
}

static int items[ITEMS];
static atomic_int n_sent;

static void *send_all(void *argument)
{
    for (int i = 0; i < ITEMS; i++) {
        assert_true(chan_send(argument, &items[i]));
        n_sent++;
    }
    return NULL;
}

static void channel_keeps_order_and_bound(void **state)
{
    (void)state;
    struct chan *chan = chan_new(3);
    pthread_t sender;
    pthread_create(&sender, NULL, send_all, chan);
    for (int i = 0; i < ITEMS; i++) {
        assert_true(n_sent <= i + 3);
        assert_ptr_equal(chan_receive(chan), &items[i]);
    }
    pthread_join(sender, NULL);
    bool timed_out;
    assert_null(chan_receive_for(chan, 1, &timed_out));
    assert_true(timed_out);
    for (int i = 0; i < 3; i++)
        assert_true(chan_try_send(chan, &items[i]));
    assert_false(chan_try_send(chan, &items[3]));
    chan_close(chan);
    assert_false(chan_send(chan, &items[0]));
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(chan_receive_for(chan, 1000, &timed_out), &items[i]);
    assert_null(chan_receive(chan));
    assert_null(chan_receive_for(chan, 1000, &timed_out));
    assert_false(timed_out);
    chan_free(chan);
}

static void *receive_none(void *argument)
{
    return chan_receive(argument);
}

static void closing_wakes_receivers(void **state)
{
    (void)state;
    struct chan *chan = chan_new(1);
    pthread_t receiver;
    void *got = chan;
    pthread_create(&receiver, NULL, receive_none, chan);
    chan_close(chan);
    pthread_join(receiver, &got);
    assert_null(got);
    chan_free(chan);
}

enum { BLOCKS = 64 };
static void *blocks[BLOCKS];

static void allocate_one(void *context, size_t i)
{
    (void)context;
    blocks[i] = mem_alloc(1, 1);
}

/* Whatever the number of threads, exactly as many allocations succeed as were allowed. */
static void failing_allocations_are_counted_over_all_threads(void **state)
{
    (void)state;
    struct pool *pool = pool_new(4);
    assert_non_null(pool);
    for (unsigned run = 0; run < 2000; run++) {
        size_t succeeded = 0;
        mem_fail_after(run % 16);
        pool_run(pool, BLOCKS, allocate_one, NULL);
        mem_fail_after(-1);
        for (size_t i = 0; i < BLOCKS; i++) {
            succeeded += blocks[i] != NULL;
            mem_free(blocks[i]);
        }
        assert_int_equal(succeeded, run % 16);
    }
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_runs_each_index_once),
        cmocka_unit_test(pool_serves_several_callers),
        cmocka_unit_test(failing_allocations_are_counted_over_all_threads),
        cmocka_unit_test(channel_keeps_order_and_bound),
        cmocka_unit_test(closing_wakes_receivers),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
