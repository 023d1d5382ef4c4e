/* What goes wrong: bad proofs, failing devices, files that change, memory that is not there. */
#include "support/support.h"
#include "fake_work/fake.h"

#include "base/mem.h"

#include <cuzk/engine.h>
#include <stdio.h>
#include <string.h>

static const struct cuzk_engine_options plain = {0};

static void run_job(struct cuzk_engine *engine, char tag, unsigned n, struct fake_result *result)
{
    char id[CUZK_JOB_ID_BYTES];
    struct cuzk_error err;
    bool attached;
    assert_ok(fake_submit(engine, "", tag, n, CUZK_PRIORITY_NORMAL, id, &attached, &err), err);
    fake_await(engine, id, 0, result);
}

static enum cuzk_status bad_once(const struct fake_taken *take, unsigned attempt)
{
    return take->partition == 3 && attempt == 0 ? CUZK_VERIFY_FAILED : CUZK_OK;
}

static enum cuzk_status bad_twice(const struct fake_taken *take, unsigned attempt)
{
    (void)attempt;
    return take->tag == 'b' && take->partition == 1 ? CUZK_VERIFY_FAILED : CUZK_OK;
}

static enum cuzk_status device_0_makes_bad_proofs(const struct fake_taken *take, unsigned attempt)
{
    (void)attempt;
    return take->device == 0 ? CUZK_VERIFY_FAILED : CUZK_OK;
}

static enum cuzk_status device_0_faults(const struct fake_taken *take, unsigned attempt)
{
    (void)attempt;
    return take->device == 0 ? CUZK_DEVICE_FAULT : CUZK_OK;
}

static enum cuzk_status fault_once(const struct fake_taken *take, unsigned attempt)
{
    (void)take;
    return attempt == 0 ? CUZK_DEVICE_FAULT : CUZK_OK;
}

static enum cuzk_status device_0_is_lost(const struct fake_taken *take, unsigned attempt)
{
    (void)attempt;
    return take->device == 0 ? CUZK_DEVICE_LOST : CUZK_OK;
}

static void count_loss(void *context, const char *why)
{
    assert_non_null(strstr(why, "the device says no"));
    ++*(unsigned *)context;
}

/* Runs a job of n_partitions where device 0 is lost. Gives the number of tries on that device, and
   the number of calls of devices_lost. */
static enum cuzk_job_outcome lose_device_0(unsigned n_devices, unsigned n_partitions,
                                           unsigned *n_tries, unsigned *n_losses)
{
    struct fake fake;
    struct fake_result result;
    struct cuzk_engine_options options = plain;
    options.devices_lost = count_loss;
    options.devices_lost_context = n_losses;
    *n_tries = *n_losses = 0;
    fake_init(&fake, n_devices);
    fake.prove_status = device_0_is_lost;
    struct cuzk_engine *engine = fake_engine(&fake, &options);
    run_job(engine, 'a', n_partitions, &result);
    for (unsigned i = 0; i < fake.n_taken; i++)
        *n_tries += fake.taken[i].device == 0;
    cuzk_engine_close(engine);
    fake_destroy(&fake);
    return result.outcome;
}

/* The other devices take over at once: there is no second try on a device that is lost. */
static void a_lost_device_gets_no_more_work(void **state)
{
    (void)state;
    unsigned n_tries, n_losses;
    assert_int_equal(lose_device_0(2, 10, &n_tries, &n_losses), CUZK_JOB_COMPLETED);
    assert_in_range(n_tries, 1, 2); /* as many as its workers had taken by then */
    assert_int_equal(n_losses, 0);
}

/* The program that opened the engine hears of it before the job has failed. */
static void the_last_device_is_not_lost_in_silence(void **state)
{
    (void)state;
    unsigned n_tries, n_losses;
    assert_int_equal(lose_device_0(1, 1, &n_tries, &n_losses), CUZK_JOB_FAILED);
    assert_true(n_losses >= 1);
}

static void a_bad_proof_is_made_again(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 2);
    fake.prove_status = bad_once;
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    struct cuzk_snapshot snapshot;
    struct cuzk_error err;
    struct fake_result result;
    run_job(engine, 'a', 10, &result);
    assert_int_equal(result.outcome, CUZK_JOB_COMPLETED);
    assert_true(fake_proof_is_of(&result, 'a', 10));
    unsigned first = 99;
    for (unsigned i = 0; i < fake.n_taken; i++)
        if (fake.taken[i].partition == 3) {
            assert_int_not_equal(fake.taken[i].device, first); /* the other device */
            first = fake.taken[i].device;
        }
    assert_int_equal(fake.n_taken, 11);
    assert_ok(cuzk_engine_snapshot(engine, &snapshot, &err), err);
    assert_int_equal(snapshot.invalid_proofs, 1);
    cuzk_snapshot_free(&snapshot);
    char *metrics = cuzk_engine_metrics_text(engine);
    assert_non_null(strstr(metrics, "\ncuzk_invalid_proofs_total 1\n"));
    assert_non_null(strstr(metrics, "\ncuzk_partitions_redone_total 1\n"));
    cuzk_text_free(metrics);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

/* With one device only, the same one is asked again. */
static void a_partition_that_is_bad_twice_fails_its_job_only(void **state)
{
    (void)state;
    for (unsigned n_devices = 1; n_devices <= 2; n_devices++) {
        struct fake fake;
        fake_init(&fake, n_devices);
        fake.prove_status = bad_twice;
        struct cuzk_engine *engine = fake_engine(&fake, &plain);
        struct cuzk_snapshot snapshot;
        struct cuzk_error err;
        struct fake_result result;
        run_job(engine, 'b', 4, &result);
        assert_int_equal(result.outcome, CUZK_JOB_FAILED);
        assert_int_equal(result.proof_len, 0);
        assert_int_equal(result.error.status, CUZK_VERIFY_FAILED);
        assert_non_null(strstr(result.error.text, "partition 1"));
        assert_non_null(strstr(result.error.text, "after one on device"));
        assert_true(cuzk_engine_wait_idle(engine, 60000));
        assert_int_equal(fake.works, 0);
        run_job(engine, 'c', 4, &result);
        assert_true(fake_proof_is_of(&result, 'c', 4));
        /* A proof that is bad on every device is not a device's fault. */
        for (unsigned i = 0; i < 3; i++)
            run_job(engine, 'b', 4, &result);
        assert_ok(cuzk_engine_snapshot(engine, &snapshot, &err), err);
        for (size_t d = 0; d < snapshot.n_devices; d++)
            assert_false(snapshot.devices[d].quarantined);
        cuzk_snapshot_free(&snapshot);
        cuzk_engine_close(engine);
        fake_destroy(&fake);
    }
}

static void a_device_that_fails_twice_is_quarantined(void **state)
{
    (void)state;
    enum cuzk_status (*const ways[])(const struct fake_taken *,
                                     unsigned) = {device_0_makes_bad_proofs, device_0_faults};
    for (unsigned way = 0; way < 2; way++) {
        struct fake fake;
        fake_init(&fake, 2);
        fake.prove_status = ways[way];
        struct cuzk_engine *engine = fake_engine(&fake, &plain);
        struct cuzk_snapshot snapshot;
        struct cuzk_error err;
        struct fake_result result;
        bool quarantined = false;
        for (unsigned i = 0; i < 50 && !quarantined; i++) {
            run_job(engine, 'a', 4, &result);
            assert_int_equal(result.outcome, CUZK_JOB_COMPLETED);
            assert_ok(cuzk_engine_snapshot(engine, &snapshot, &err), err);
            quarantined = snapshot.devices[0].quarantined;
            assert_false(snapshot.devices[1].quarantined);
            cuzk_snapshot_free(&snapshot);
        }
        assert_true(quarantined);
        assert_true(cuzk_engine_wait_idle(engine, 60000));
        unsigned before = fake.n_taken;
        for (unsigned i = 0; i < 5; i++)
            run_job(engine, 'a', 4, &result);
        for (unsigned i = before; i < fake.n_taken; i++)
            assert_int_equal(fake.taken[i].device, 1);
        char *metrics = cuzk_engine_metrics_text(engine);
        assert_non_null(
            strstr(metrics, "cuzk_device_quarantined{device=\"0\",name=\"fake \\\"0\\\"\"} 1\n"));
        cuzk_text_free(metrics);
        cuzk_engine_close(engine);
        fake_destroy(&fake);
    }
}

static void the_last_device_is_never_quarantined(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    fake.prove_status = fault_once;
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    struct fake_result result;
    run_job(engine, 'a', 10, &result);
    assert_true(fake_proof_is_of(&result, 'a', 10));
    run_job(engine, 'b', 10, &result);
    assert_true(fake_proof_is_of(&result, 'b', 10));
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

/* A job fails at each stage, and the next one still runs. */
static void a_failure_at_any_stage_leaves_nothing_behind(void **state)
{
    (void)state;
    for (unsigned stage = 0; stage < 5; stage++) {
        struct fake fake;
        fake_init(&fake, 1);
        enum cuzk_status *const stages[] = {&fake.parse_status, &fake.synth_status,
                                            &fake.load_status, &fake.check_status,
                                            &fake.verify_all_status};
        struct cuzk_engine *engine = fake_engine(&fake, &plain);
        struct fake_result result;
        *stages[stage] = CUZK_BAD_PARAMS;
        run_job(engine, 'a', 5, &result);
        assert_int_equal(result.outcome, CUZK_JOB_FAILED);
        assert_int_equal(result.proof_len, 0);
        assert_true(result.error.text[0] != '\0');
        assert_true(cuzk_engine_wait_idle(engine, 60000));
        assert_int_equal(fake.witnesses, 0);
        assert_int_equal(fake.works, 0);
        pthread_mutex_lock(&fake.lock);
        *stages[stage] = CUZK_OK;
        pthread_mutex_unlock(&fake.lock);
        run_job(engine, 'a', 5, &result);
        assert_true(fake_proof_is_of(&result, 'a', 5));
        cuzk_engine_close(engine);
        fake_destroy(&fake);
    }
}

/* A fault of the input keeps the text of the check that found it, like a fault that parsing finds.
   Any other error gets the place where it happened. No failed synthesis is tried again. */
static void what_a_failed_synthesis_says(void **state)
{
    (void)state;
    static const struct {
        enum cuzk_status status;
        const char *text;
    } cases[] = {{CUZK_INVALID_ARGUMENT, "fake: cannot synthesize"},
                 {CUZK_NO_MEMORY, "partition 0, synthesis: fake: cannot synthesize"}};
    for (unsigned i = 0; i < 2; i++) {
        struct fake fake;
        struct fake_result result;
        fake_init(&fake, 1);
        fake.synth_status = cases[i].status;
        struct cuzk_engine *engine = fake_engine(&fake, &plain);
        run_job(engine, 'a', 5, &result);
        assert_int_equal(result.outcome, CUZK_JOB_FAILED);
        assert_int_equal(result.error.status, cases[i].status);
        assert_string_equal(result.error.text, cases[i].text);
        assert_int_equal(fake.entered[FAKE_SYNTH], 1);
        cuzk_engine_close(engine);
        fake_destroy(&fake);
    }
}

/* The job has failed, but its input is still being parsed: nobody needs the parameters any more. */
static void a_failed_load_is_not_repeated(void **state)
{
    (void)state;
    struct fake fake;
    char job_id[CUZK_JOB_ID_BYTES];
    struct cuzk_error err;
    struct fake_result result;
    fake_init(&fake, 1);
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    fake.load_status = CUZK_BAD_PARAMS;
    fake_hold(&fake, FAKE_PARSE);
    assert_ok(fake_submit(engine, "x", 'a', 1, CUZK_PRIORITY_NORMAL, job_id, NULL, &err), err);
    fake_await(engine, job_id, 0, &result);
    assert_int_equal(result.outcome, CUZK_JOB_FAILED);
    fake_wait_inside(&fake, FAKE_PARSE, 1);
    assert_false(cuzk_engine_wait_idle(engine, 20));
    pthread_mutex_lock(&fake.lock);
    assert_int_equal(fake.entered[FAKE_LOAD], 1);
    pthread_mutex_unlock(&fake.lock);
    fake_open(&fake, FAKE_PARSE);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

/* The file was replaced under the map: the job in flight fails and says so, the next one loads
   anew. */
static void changed_parameters_are_loaded_again(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    struct fake_result result;
    run_job(engine, 'a', 1, &result);
    assert_int_equal(fake.entered[FAKE_LOAD], 1);
    fake.check_status = CUZK_BAD_PARAMS;
    run_job(engine, 'b', 1, &result);
    assert_int_equal(result.error.status, CUZK_BAD_PARAMS);
    assert_non_null(strstr(result.error.text, "the file changed"));
    pthread_mutex_lock(&fake.lock);
    fake.check_status = CUZK_OK;
    pthread_mutex_unlock(&fake.lock);
    run_job(engine, 'c', 1, &result);
    assert_int_equal(result.outcome, CUZK_JOB_COMPLETED);
    assert_int_equal(fake.entered[FAKE_LOAD], 2);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

static void a_simulation_is_not_a_proof(void **state)
{
    (void)state;
    for (unsigned anyway = 0; anyway < 2; anyway++) {
        struct fake fake;
        fake_init(&fake, 1);
        fake.simulated = true;
        fake.results_anyway = anyway;
        struct cuzk_engine *engine = fake_engine(&fake, &plain);
        struct fake_result result;
        run_job(engine, 'a', 2, &result);
        assert_int_equal(result.outcome, anyway ? CUZK_JOB_COMPLETED : CUZK_JOB_FAILED);
        if (!anyway)
            assert_non_null(strstr(result.error.text, "simulation"));
        cuzk_engine_close(engine);
        fake_destroy(&fake);
    }
}

static void jobs_that_can_never_fit_fail_with_the_numbers(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    fake.host_bytes = UINT64_C(2) << 30;
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    struct cuzk_error err;
    struct fake_result result;
    bool loaded;
    uint64_t ms;
    run_job(engine, 'a', 1, &result);
    assert_int_equal(result.error.status, CUZK_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(result.error.text, "2049 MiB"));
    assert_int_equal(cuzk_engine_preload(engine, "fake-7", &loaded, &ms, &err),
                     CUZK_RESOURCE_EXHAUSTED);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

/* Two circuits that fit only one after the other: the idle one makes room. */
static void idle_circuits_make_room(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    fake.host_bytes = UINT64_C(400) << 20;
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    struct fake_result result;
    struct cuzk_error err;
    bool loaded;
    uint64_t ms;
    for (unsigned round = 0; round < 3; round++) {
        run_job(engine, 'a', 2, &result);
        assert_int_equal(result.outcome, CUZK_JOB_COMPLETED);
        assert_ok(cuzk_engine_preload(engine, "fake-1", &loaded, &ms, &err), err);
        assert_false(loaded);
        assert_int_equal(fake.loads, 1);
    }
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

/* There is memory for one partition at a time: all jobs are done, in turns. */
static void a_small_budget_only_makes_it_slower(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 2);
    fake.partition_bytes = UINT64_C(300) << 20;
    fake.host_bytes = UINT64_C(100) << 20;
    struct cuzk_engine_options options = {.synthesis_concurrency = 4, .synthesis_lookahead = 4};
    struct cuzk_engine *engine = fake_engine(&fake, &options);
    char ids[10][CUZK_JOB_ID_BYTES];
    struct fake_result result;
    struct cuzk_error err;
    bool attached;
    for (unsigned i = 0; i < 10; i++)
        assert_ok(fake_submit(engine, "", (char)('a' + i), 5, CUZK_PRIORITY_NORMAL, ids[i],
                              &attached, &err),
                  err);
    for (unsigned i = 0; i < 10; i++) {
        fake_await(engine, ids[i], 0, &result);
        assert_true(fake_proof_is_of(&result, (char)('a' + i), 5));
    }
    struct cuzk_snapshot snapshot;
    assert_true(cuzk_engine_wait_idle(engine, 60000));
    assert_ok(cuzk_engine_snapshot(engine, &snapshot, &err), err);
    assert_int_equal(snapshot.memory_used_bytes, fake.host_bytes);
    cuzk_snapshot_free(&snapshot);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

/* Every allocation of a job's life fails once: the job ends, as failed or as a proof, and the
   engine goes on. */
static void lack_of_memory_is_an_error_and_not_an_end(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct cuzk_engine *engine = fake_engine(&fake, &plain);
    struct fake_result result;
    for (long after = 0; after < 40; after++) {
        char id[CUZK_JOB_ID_BYTES];
        struct cuzk_error err;
        bool attached;
        mem_fail_after(after);
        enum cuzk_status status =
            fake_submit(engine, "", 'a', 3, CUZK_PRIORITY_NORMAL, id, &attached, &err);
        while (status == CUZK_OK && !cuzk_engine_wait_idle(engine, 1000))
            ;
        mem_fail_after(-1);
        if (status != CUZK_OK) {
            assert_int_equal(status, CUZK_NO_MEMORY);
            continue;
        }
        fake_await(engine, id, 0, &result);
        if (result.outcome == CUZK_JOB_FAILED)
            assert_int_equal(result.error.status, CUZK_NO_MEMORY);
        else
            assert_true(fake_proof_is_of(&result, 'a', 3));
    }
    run_job(engine, 'b', 3, &result);
    assert_true(fake_proof_is_of(&result, 'b', 3));
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

static void opening_fails_cleanly_without_memory(void **state)
{
    (void)state;
    size_t before = mem_used_bytes();
    for (long after = 0;; after++) {
        struct fake fake;
        fake_init(&fake, 1);
        const struct work_device device = {"fake", "fake"};
        static const struct work_ops no_ops;
        const struct work_setup setup = {.ops = &no_ops, .devices = &device, .n_devices = 1};
        struct cuzk_engine *engine;
        struct cuzk_error err;
        mem_fail_after(after);
        enum cuzk_status status = engine_open(&plain, &setup, &engine, &err);
        mem_fail_after(-1);
        fake_destroy(&fake);
        if (status == CUZK_OK) {
            cuzk_engine_close(engine);
            break;
        }
        assert_int_equal(status, CUZK_NO_MEMORY);
        assert_int_equal(mem_used_bytes(), before);
    }
    assert_int_equal(mem_used_bytes(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_proof_is_made_again),
        cmocka_unit_test(a_lost_device_gets_no_more_work),
        cmocka_unit_test(the_last_device_is_not_lost_in_silence),
        cmocka_unit_test(a_partition_that_is_bad_twice_fails_its_job_only),
        cmocka_unit_test(a_device_that_fails_twice_is_quarantined),
        cmocka_unit_test(the_last_device_is_never_quarantined),
        cmocka_unit_test(a_failure_at_any_stage_leaves_nothing_behind),
        cmocka_unit_test(what_a_failed_synthesis_says),
        cmocka_unit_test(a_failed_load_is_not_repeated),
        cmocka_unit_test(changed_parameters_are_loaded_again),
        cmocka_unit_test(a_simulation_is_not_a_proof),
        cmocka_unit_test(jobs_that_can_never_fit_fail_with_the_numbers),
        cmocka_unit_test(idle_circuits_make_room),
        cmocka_unit_test(a_small_budget_only_makes_it_slower),
        cmocka_unit_test(lack_of_memory_is_an_error_and_not_an_end),
        cmocka_unit_test(opening_fails_cleanly_without_memory),
    };
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
