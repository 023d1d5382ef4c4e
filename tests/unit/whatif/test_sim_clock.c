/* Simulated time: threads are released in the order in which their work ends, whatever the machine
   does. */
#include "whatif/sim_clock.h"

#include "support/support.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WORKERS = 4 };

struct worker {
    struct sim_clock *clock;
    struct sim_lock *lock; /* NULL: only time passes */
    unsigned index;
    uint64_t us;
    atomic_uint *finished;
    unsigned *order; /* index of the n-th that finished */
    uint64_t end_us;
    pthread_t thread;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    if (worker->lock)
        sim_clock_lock(worker->clock, worker->lock, worker->index);
    sim_clock_pass(worker->clock, worker->us, worker->index);
    worker->end_us = sim_clock_now(worker->clock);
    worker->order[atomic_fetch_add(worker->finished, 1)] = worker->index;
    if (worker->lock)
        sim_clock_unlock(worker->clock, worker->lock);
    return NULL;
}

static void wait_for(struct sim_clock *clock, unsigned inside)
{
    while (!sim_clock_is_calm(clock, inside, sim_clock_changes(clock)))
        ;
}

/* Starts the workers one after the other and moves time on until all have finished. */
static void run_workers(struct worker workers[WORKERS], struct sim_clock *clock,
                        struct sim_lock *lock, const uint64_t us[WORKERS], unsigned order[WORKERS])
{
    static atomic_uint finished;
    atomic_store(&finished, 0);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.clock = clock,
                                     .lock = lock,
                                     .index = i,
                                     .us = us[i],
                                     .finished = &finished,
                                     .order = order};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        wait_for(clock, i + 1);
    }
    for (unsigned done = 1; done <= WORKERS; done++) {
        sim_clock_advance(clock, sim_clock_next(clock));
        while (atomic_load(&finished) < done ||
               (done < WORKERS && sim_clock_next(clock) == UINT64_MAX))
            wait_for(clock, WORKERS - done);
    }
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    assert_true(sim_clock_next(clock) == UINT64_MAX);
}

static void test_time_passes_in_order(void **state)
{
    (void)state;
    static const uint64_t us[WORKERS] = {3000000, 1000, 3000000, 2000};
    struct worker workers[WORKERS];
    unsigned order[WORKERS];
    struct sim_clock *clock = sim_clock_new();
    assert_non_null(clock);
    run_workers(workers, clock, NULL, us, order);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 3);
    assert_int_equal(order[2], 0); /* of two at the same time the lower number */
    assert_int_equal(order[3], 2);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(workers[i].end_us, us[i]);
    sim_clock_free(clock);
}

static void test_a_device_serves_one_at_a_time(void **state)
{
    (void)state;
    static const uint64_t us[WORKERS] = {500, 400, 300, 200};
    struct worker workers[WORKERS];
    unsigned order[WORKERS];
    struct sim_lock lock = {0};
    struct sim_clock *clock = sim_clock_new();
    assert_non_null(clock);
    run_workers(workers, clock, &lock, us, order);
    uint64_t end_us = 0;
    for (unsigned i = 0; i < WORKERS; i++) {
        end_us += us[i];
        assert_int_equal(order[i], i);
        assert_int_equal(workers[i].end_us, end_us);
    }
    assert_false(lock.held);
    sim_clock_free(clock);
}

static void test_the_end_releases_all(void **state)
{
    (void)state;
    struct worker worker;
    atomic_uint finished = 0;
    unsigned order[1];
    struct sim_clock *clock = sim_clock_new();
    assert_non_null(clock);
    worker = (struct worker){.clock = clock, .us = 1000, .finished = &finished, .order = order};
    assert_int_equal(pthread_create(&worker.thread, NULL, work, &worker), 0);
    wait_for(clock, 1);
    sim_clock_end(clock);
    pthread_join(worker.thread, NULL);
    sim_clock_pass(clock, 1000, 0); /* takes no time any more */
    assert_int_equal(sim_clock_now(clock), 0);
    sim_clock_free(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_passes_in_order),
        cmocka_unit_test(test_a_device_serves_one_at_a_time),
        cmocka_unit_test(test_the_end_releases_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
