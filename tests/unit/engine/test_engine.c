/* Jobs through the engine, with made-up work: order, identity, waiting, cancelling, draining. */
#include "support/support.h"
#include "fake_work/fake.h"

#include "base/mem.h"

#include <cuzk/engine.h>
#include <stdio.h>
#include <string.h>

static const struct cuzk_engine_options plain = {0};

static void submit(struct cuzk_engine *engine, const char *request_id, char tag, unsigned n,
                   enum cuzk_priority priority, char job_id[CUZK_JOB_ID_BYTES])
{
    struct cuzk_error err;
    bool attached;
    assert_ok(fake_submit(engine, request_id, tag, n, priority, job_id, &attached, &err), err);
    assert_false(attached);
}

static void a_job_becomes_a_proof_in_partition_order(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    char id[CUZK_JOB_ID_BYTES];
    struct fake_result result;
    submit(engine, "porep-1000-42", 'a', 10, CUZK_PRIORITY_NORMAL, id);
    assert_memory_equal(id, "porep-1000-42-", 14);
    fake_await(engine, id, 0, &result);
    assert_int_equal(result.outcome, CUZK_JOB_COMPLETED);
    assert_string_equal(result.job_id, id);
    assert_true(fake_proof_is_of(&result, 'a', 10));
    /* Served again, by job id and by request id. */
    fake_await(engine, id, 0, &result);
    assert_true(fake_proof_is_of(&result, 'a', 10));
    fake_await(engine, "porep-1000-42", 0, &result);
    assert_true(fake_proof_is_of(&result, 'a', 10));
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

static void many_jobs_on_many_devices(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 4);
    struct cuzk_engine_options options = {
        .synthesis_concurrency = 3, .synthesis_lookahead = 2, .workers_per_device = 2};
    struct cuzk_engine *engine = fake_engine(&fake, &options);
    char ids[26][CUZK_JOB_ID_BYTES];
    struct fake_result results[26];
    struct cuzk_error err;
    for (unsigned i = 0; i < 26; i++) {
        fake_result_init(&results[i]);
        submit(engine, "", (char)('a' + i), 1 + i % 10, CUZK_PRIORITY_NORMAL, ids[i]);
        assert_memory_equal(ids[i], "job-", 4);
        assert_ok(cuzk_engine_watch(engine, ids[i], 0, fake_result_fn, &results[i], NULL, &err),
                  err);
    }
    for (unsigned i = 0; i < 26; i++) {
        sem_wait(&results[i].arrived);
        assert_int_equal(results[i].outcome, CUZK_JOB_COMPLETED);
        assert_true(fake_proof_is_of(&results[i], (char)('a' + i), 1 + i % 10));
    }
    assert_true(cuzk_engine_wait_idle(engine, 10000));
    assert_true(fake.most_inside[FAKE_SYNTH] <= 3);
    cuzk_engine_close(engine);
    for (unsigned i = 0; i < 26; i++)
        assert_int_equal(results[i].calls, 1);
    fake_destroy(&fake);
}

static void same_request_attaches_and_another_payload_does_not(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 2);
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    struct cuzk_error err;
    char first[CUZK_JOB_ID_BYTES];
    char again[CUZK_JOB_ID_BYTES];
    char other[CUZK_JOB_ID_BYTES];
    bool attached;
    struct fake_result result;
    const char *request_id = "wdpost-1000-0-[1 2 3]";
    fake_hold(&fake, FAKE_PROVE);
    submit(engine, request_id, 'a', 2, CUZK_PRIORITY_NORMAL, first);
    assert_ok(fake_submit(engine, request_id, 'a', 2, CUZK_PRIORITY_HIGH, again, &attached, &err),
              err);
    assert_true(attached);
    assert_string_equal(first, again);
    submit(engine, request_id, 'b', 3, CUZK_PRIORITY_NORMAL, other);
    assert_string_not_equal(first, other);
    /* The bare request id no longer says which. */
    fake_result_init(&result);
    assert_int_equal(cuzk_engine_watch(engine, request_id, 0, fake_result_fn, &result, NULL, &err),
                     CUZK_NOT_FOUND);
    assert_non_null(strstr(err.text, "several"));
    fake_open(&fake, FAKE_PROVE);
    fake_await(engine, first, 0, &result);
    assert_true(fake_proof_is_of(&result, 'a', 2));
    fake_await(engine, other, 0, &result);
    assert_true(fake_proof_is_of(&result, 'b', 3));
    /* Finished: the kept result is served, no new work. */
    unsigned parsed = fake.entered[FAKE_PARSE];
    assert_ok(fake_submit(engine, request_id, 'a', 2, CUZK_PRIORITY_NORMAL, again, &attached, &err),
              err);
    assert_true(attached);
    assert_int_equal(fake.entered[FAKE_PARSE], parsed);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

static void bad_requests_are_refused_with_the_field(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    struct cuzk_error err;
    char id[CUZK_JOB_ID_BYTES];
    bool attached;
    char long_id[300];
    memset(long_id, 'x', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = '\0';
    static const char *const bad[] = {"a\nb", "\x1b[31m", "tab\t", "\xff\xfe", "cut\xe2\x82"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(fake_submit(engine, bad[i], 'a', 1, 0, id, &attached, &err),
                         CUZK_INVALID_ARGUMENT);
        assert_non_null(strstr(err.text, "request_id"));
    }
    assert_int_equal(fake_submit(engine, long_id, 'a', 1, 0, id, &attached, &err),
                     CUZK_INVALID_ARGUMENT);
    struct cuzk_request none = {.kind = CUZK_POREP};
    assert_int_equal(cuzk_engine_submit(engine, &none, id, NULL, NULL, &err),
                     CUZK_INVALID_ARGUMENT);
    const uint8_t *payloads[1] = {(const uint8_t *)"ab"};
    size_t lens[1] = {0};
    struct cuzk_request empty = {
        .kind = CUZK_POREP, .payloads = payloads, .payload_lens = lens, .n_payloads = 1};
    assert_int_equal(cuzk_engine_submit(engine, &empty, id, NULL, NULL, &err),
                     CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "empty"));
    lens[0] = 2;
    empty.kind = (enum cuzk_proof_kind)9;
    assert_int_equal(cuzk_engine_submit(engine, &empty, id, NULL, NULL, &err),
                     CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "proof_kind"));
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

/* Whether a synthesized partition of the job waits for a device. */
static bool has_ready_partition(const struct cuzk_snapshot *snapshot, const char *job_id)
{
    for (size_t i = 0; i < snapshot->n_jobs; i++) {
        const struct cuzk_job_status *job = &snapshot->jobs[i];
        if (strcmp(job->job_id, job_id) != 0)
            continue;
        for (uint32_t k = 0; k < job->n_partitions; k++) {
            if (strcmp(job->partitions[k].state, "synth_done") == 0)
                return true;
        }
    }
    return false;
}

/* The device is busy with a partition of a big job when a CRITICAL job comes. */
static void critical_waits_for_one_partition_only(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct cuzk_engine_options options = {.queue_max = 1};
    struct cuzk_engine *engine = fake_engine(&fake, &options);
    struct cuzk_error err;
    char big[CUZK_JOB_ID_BYTES];
    char waiting[CUZK_JOB_ID_BYTES];
    char refused[CUZK_JOB_ID_BYTES];
    char urgent[CUZK_JOB_ID_BYTES];
    bool attached;
    struct fake_result result;
    fake_hold(&fake, FAKE_PROVE);
    submit(engine, "big", 'p', 10, CUZK_PRIORITY_NORMAL, big);
    fake_wait_inside(&fake, FAKE_PROVE, 1);
    /* Synthesis worker blocked, channel full: the whole pipeline is stuffed with the big job. */
    submit(engine, "next", 'q', 10, CUZK_PRIORITY_NORMAL, waiting);
    enum cuzk_status status = CUZK_OK;
    for (char tag = 'A'; status == CUZK_OK && tag < 'G'; tag++)
        status = fake_submit(engine, "", tag, 1, CUZK_PRIORITY_NORMAL, refused, &attached, &err);
    assert_int_equal(status, CUZK_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(err.text, "limit is 1"));
    fake_hold(&fake, FAKE_VERIFY);
    submit(engine, "winpost", 'w', 1, CUZK_PRIORITY_CRITICAL, urgent);
    /* The CRITICAL job is synthesized although the only ordinary synthesis worker is blocked. It
       passes the big job, which has a partition ready as well. */
    struct cuzk_snapshot snapshot;
    bool ready = false;
    while (!ready) {
        assert_ok(cuzk_engine_snapshot(engine, &snapshot, &err), err);
        ready = strcmp(snapshot.jobs[0].job_id, urgent) == 0 &&
                has_ready_partition(&snapshot, urgent) && has_ready_partition(&snapshot, big);
        cuzk_snapshot_free(&snapshot);
    }
    fake_pass(&fake, FAKE_PROVE, 1);         /* the partition on the device ends */
    fake_wait_entered(&fake, FAKE_PROVE, 2); /* and the next one in is … */
    assert_int_equal(fake.taken[0].tag, 'p');
    pthread_mutex_lock(&fake.lock);
    assert_int_equal(fake.n_taken, 2);
    assert_int_equal(fake.taken[1].tag, 'w');
    pthread_mutex_unlock(&fake.lock);
    fake_open(&fake, FAKE_VERIFY);
    fake_open(&fake, FAKE_PROVE);
    fake_await(engine, urgent, 0, &result);
    assert_true(fake_proof_is_of(&result, 'w', 1));
    fake_await(engine, big, 0, &result);
    assert_true(fake_proof_is_of(&result, 'p', 10));
    fake_await(engine, waiting, 0, &result);
    assert_true(fake_proof_is_of(&result, 'q', 10));
    assert_ok(cuzk_engine_snapshot(engine, &snapshot, &err), err);
    assert_int_equal(snapshot.preemptions, 1);
    cuzk_snapshot_free(&snapshot);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

static void critical_is_parsed_and_loaded_past_others(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    char slow[4][CUZK_JOB_ID_BYTES];
    char urgent[CUZK_JOB_ID_BYTES];
    struct fake_result result;
    fake_hold(&fake, FAKE_PARSE);
    for (unsigned i = 0; i < 4; i++)
        submit(engine, "", (char)('a' + i), 1, CUZK_PRIORITY_HIGH, slow[i]);
    fake_wait_inside(&fake, FAKE_PARSE, 1);
    submit(engine, "", 'w', 1, CUZK_PRIORITY_CRITICAL, urgent);
    fake_wait_inside(&fake, FAKE_PARSE, 2); /* ordinary parsing is held; this one still begins */
    fake_open(&fake, FAKE_PARSE);
    fake_await(engine, urgent, 0, &result);
    assert_true(fake_proof_is_of(&result, 'w', 1));
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

/* A job that is parsed and waits does not keep a more important one from being parsed. */
static void lesser_jobs_do_not_keep_others_back(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    char ids[3][CUZK_JOB_ID_BYTES];
    struct fake_result result;
    fake_hold(&fake, FAKE_SYNTH);
    submit(engine, "", 'a', 2, CUZK_PRIORITY_NORMAL, ids[0]);
    fake_wait_inside(&fake, FAKE_SYNTH, 1);
    submit(engine, "", 'b', 2, CUZK_PRIORITY_NORMAL, ids[1]);
    fake_wait_entered(&fake, FAKE_PARSE, 2);
    submit(engine, "", 'c', 2, CUZK_PRIORITY_HIGH, ids[2]);
    fake_wait_entered(&fake, FAKE_PARSE, 3);
    fake_open(&fake, FAKE_SYNTH);
    for (unsigned i = 0; i < 3; i++) {
        fake_await(engine, ids[i], 0, &result);
        assert_true(fake_proof_is_of(&result, (char)('a' + i), 2));
    }
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

static void waiting_can_time_out_and_be_called_off(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    struct cuzk_error err;
    char id[CUZK_JOB_ID_BYTES];
    struct fake_result result;
    struct fake_result forgotten;
    uint64_t watch;
    fake_hold(&fake, FAKE_PROVE);
    submit(engine, "x", 'a', 1, CUZK_PRIORITY_NORMAL, id);
    fake_result_init(&forgotten);
    assert_ok(cuzk_engine_watch(engine, id, 0, fake_result_fn, &forgotten, &watch, &err), err);
    fake_await(engine, id, 1, &result);
    assert_int_equal(result.outcome, CUZK_JOB_TIMEOUT);
    assert_int_equal(result.proof_len, 0);
    assert_true(cuzk_engine_unwatch(engine, watch));
    assert_false(cuzk_engine_unwatch(engine, watch));
    fake_open(&fake, FAKE_PROVE);
    fake_await(engine, id, UINT64_MAX, &result);
    assert_int_equal(result.outcome, CUZK_JOB_COMPLETED);
    assert_int_equal(forgotten.calls, 0);
    assert_int_equal(cuzk_engine_watch(engine, "nobody", 0, fake_result_fn, &result, NULL, &err),
                     CUZK_NOT_FOUND);
    assert_non_null(strstr(err.text, "not found"));
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

static void cancel(struct cuzk_engine *engine, const char *id, bool expected)
{
    struct cuzk_error err;
    bool was_running = !expected;
    assert_ok(cuzk_engine_cancel(engine, id, &was_running, &err), err);
    assert_int_equal(was_running, expected);
}

/* A job is cancelled in each phase: its watchers are called, memory comes back, the next job
   runs. */
static void cancelling_works_in_every_phase(void **state)
{
    (void)state;
    static const enum fake_phase phases[] = {FAKE_LOAD, FAKE_PARSE, FAKE_SYNTH, FAKE_PROVE,
                                             FAKE_VERIFY};
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        struct fake fake;
        fake_init(&fake, 1);
        struct cuzk_engine *engine = fake_engine(&fake, &plain);
        struct cuzk_error err;
        char id[CUZK_JOB_ID_BYTES];
        char queued[CUZK_JOB_ID_BYTES];
        char next[CUZK_JOB_ID_BYTES];
        bool attached;
        struct fake_result result;
        fake_hold(&fake, phases[i]);
        fake_result_init(&result);
        submit(engine, "x", 'a', 5, CUZK_PRIORITY_NORMAL, id);
        submit(engine, "y", 'b', 5, CUZK_PRIORITY_LOW, queued);
        assert_ok(cuzk_engine_watch(engine, id, 0, fake_result_fn, &result, NULL, &err), err);
        fake_wait_inside(&fake, phases[i], 1);
        cancel(engine, queued, true);
        cancel(engine, id, true);
        sem_wait(&result.arrived);
        assert_int_equal(result.outcome, CUZK_JOB_CANCELLED);
        cancel(engine, id, false);
        fake_open(&fake, phases[i]);
        assert_true(cuzk_engine_wait_idle(engine, 60000));
        assert_int_equal(fake.witnesses, 0);
        assert_int_equal(fake.works, 0);
        struct cuzk_snapshot snapshot;
        assert_ok(cuzk_engine_snapshot(engine, &snapshot, &err), err);
        assert_true(snapshot.memory_used_bytes <= fake.host_bytes);
        assert_int_equal(snapshot.cancelled, 2);
        assert_int_equal(snapshot.n_jobs, 0);
        cuzk_snapshot_free(&snapshot);
        /* Again: the same request is new work. */
        assert_ok(fake_submit(engine, "x", 'a', 5, 0, next, &attached, &err), err);
        assert_false(attached);
        fake_await(engine, next, 0, &result);
        assert_true(fake_proof_is_of(&result, 'a', 5));
        cancel(engine, next, false);
        fake_await(engine, next, 0, &result);
        assert_int_equal(result.outcome, CUZK_JOB_COMPLETED);
        cuzk_engine_close(engine);
        fake_destroy(&fake);
    }
}

static void unknown_jobs_cannot_be_cancelled(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    struct cuzk_error err;
    bool was_running;
    assert_int_equal(cuzk_engine_cancel(engine, "x-0123456789abcdef", &was_running, &err),
                     CUZK_NOT_FOUND);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

static void results_expire(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct cuzk_engine_options options = {.keep_result_ms = 1};
    struct cuzk_engine *engine = fake_engine(&fake, &options);
    struct cuzk_error err;
    char id[CUZK_JOB_ID_BYTES];
    struct fake_result result;
    submit(engine, "x", 'a', 1, CUZK_PRIORITY_NORMAL, id);
    fake_result_init(&result);
    while (cuzk_engine_watch(engine, id, 0, fake_result_fn, &result, NULL, &err) == CUZK_OK)
        sem_wait(&result.arrived);
    assert_int_equal(err.status, CUZK_NOT_FOUND);
    assert_non_null(strstr(err.text, "expired"));
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

static void draining_finishes_what_was_asked(void **state)
{
    (void)state;
    for (unsigned finish_queued = 0; finish_queued < 2; finish_queued++) {
        struct fake fake;
        fake_init(&fake, 1);
        struct cuzk_engine *engine = fake_engine(&fake, &plain);
        struct cuzk_error err;
        char ids[4][CUZK_JOB_ID_BYTES];
        char late[CUZK_JOB_ID_BYTES];
        bool attached;
        struct fake_result results[4];
        fake_hold(&fake, FAKE_PARSE);
        for (unsigned i = 0; i < 4; i++) {
            submit(engine, "", (char)('a' + i), 2, CUZK_PRIORITY_NORMAL, ids[i]);
            fake_result_init(&results[i]);
            assert_ok(cuzk_engine_watch(engine, ids[i], 0, fake_result_fn, &results[i], NULL, &err),
                      err);
        }
        fake_wait_inside(&fake, FAKE_PARSE, 1);
        cuzk_engine_drain(engine, finish_queued);
        assert_int_equal(fake_submit(engine, "", 'z', 1, 0, late, &attached, &err),
                         CUZK_UNAVAILABLE);
        assert_non_null(strstr(err.text, "draining"));
        assert_false(cuzk_engine_wait_idle(engine, 1));
        fake_open(&fake, FAKE_PARSE);
        assert_true(cuzk_engine_wait_idle(engine, 60000));
        for (unsigned i = 0; i < 4; i++) {
            sem_wait(&results[i].arrived);
            assert_int_equal(results[i].outcome,
                             i == 0 || finish_queued ? CUZK_JOB_COMPLETED : CUZK_JOB_CANCELLED);
        }
        cuzk_engine_close(engine);
        fake_destroy(&fake);
    }
}

static void closing_answers_everybody(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 2);
    struct cuzk_engine_options options = {.workers_per_device = 2};
    struct cuzk_engine *engine = fake_engine(&fake, &options);
    struct cuzk_error err;
    char ids[8][CUZK_JOB_ID_BYTES];
    struct fake_result results[8];
    for (unsigned i = 0; i < 8; i++) {
        submit(engine, "", (char)('a' + i), 10, CUZK_PRIORITY_NORMAL, ids[i]);
        fake_result_init(&results[i]);
        assert_ok(cuzk_engine_watch(engine, ids[i], 0, fake_result_fn, &results[i], NULL, &err),
                  err);
    }
    cuzk_engine_close(engine);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(results[i].calls, 1);
        assert_true(results[i].outcome == CUZK_JOB_CANCELLED ||
                    results[i].outcome == CUZK_JOB_COMPLETED);
    }
    fake_destroy(&fake);
}

static void memory_is_flat_over_a_thousand_jobs(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 2);
    struct cuzk_engine_options options = {.keep_result_ms = 1};
    struct cuzk_engine *engine = fake_engine(&fake, &options);
    char id[CUZK_JOB_ID_BYTES];
    struct fake_result result;
    struct cuzk_error err;
    size_t after_first = 0;
    for (unsigned i = 0; i < 1000; i++) {
        submit(engine, "", (char)('a' + i % 26), 2, CUZK_PRIORITY_NORMAL, id);
        fake_result_init(&result);
        if (cuzk_engine_watch(engine, id, 0, fake_result_fn, &result, NULL, &err) == CUZK_OK)
            sem_wait(&result.arrived);
        if (i != 0 && i != 999)
            continue;
        /* Both samples are taken when no result is kept any more. */
        while (cuzk_engine_watch(engine, id, 0, fake_result_fn, &result, NULL, &err) == CUZK_OK)
            sem_wait(&result.arrived);
        assert_true(cuzk_engine_wait_idle(engine, 60000));
        if (i == 0)
            after_first = mem_used_bytes();
    }
    assert_true(mem_used_bytes() <= after_first + 64 * 1024);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

static void parameters_are_loaded_evicted_and_shared(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    struct cuzk_error err;
    char id[CUZK_JOB_ID_BYTES];
    struct fake_result result;
    bool flag;
    uint64_t number;
    assert_ok(cuzk_engine_preload(engine, "fake-0", &flag, &number, &err), err);
    assert_false(flag);
    assert_ok(cuzk_engine_preload(engine, "fake-0", &flag, &number, &err), err);
    assert_true(flag);
    fake_hold(&fake, FAKE_PROVE);
    submit(engine, "x", 'a', 1, CUZK_PRIORITY_NORMAL, id);
    fake_wait_inside(&fake, FAKE_PROVE, 1);
    assert_int_equal(cuzk_engine_evict(engine, "fake-0", &flag, &number, &err),
                     CUZK_FAILED_PRECONDITION);
    fake_open(&fake, FAKE_PROVE);
    fake_await(engine, id, 0, &result);
    assert_true(cuzk_engine_wait_idle(engine, 60000));
    assert_int_equal(fake.entered[FAKE_LOAD], 1);
    assert_ok(cuzk_engine_evict(engine, "fake-0", &flag, &number, &err), err);
    assert_true(flag);
    assert_int_equal(number, 1000 + fake.host_bytes);
    assert_int_equal(fake.loads, 0);
    assert_ok(cuzk_engine_evict(engine, "fake-0", &flag, &number, &err), err);
    assert_false(flag);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_becomes_a_proof_in_partition_order),
        cmocka_unit_test(many_jobs_on_many_devices),
        cmocka_unit_test(same_request_attaches_and_another_payload_does_not),
        cmocka_unit_test(bad_requests_are_refused_with_the_field),
        cmocka_unit_test(critical_waits_for_one_partition_only),
        cmocka_unit_test(critical_is_parsed_and_loaded_past_others),
        cmocka_unit_test(lesser_jobs_do_not_keep_others_back),
        cmocka_unit_test(waiting_can_time_out_and_be_called_off),
        cmocka_unit_test(cancelling_works_in_every_phase),
        cmocka_unit_test(unknown_jobs_cannot_be_cancelled),
        cmocka_unit_test(results_expire),
        cmocka_unit_test(draining_finishes_what_was_asked),
        cmocka_unit_test(closing_answers_everybody),
        cmocka_unit_test(memory_is_flat_over_a_thousand_jobs),
        cmocka_unit_test(parameters_are_loaded_evicted_and_shared),
    };
    return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
