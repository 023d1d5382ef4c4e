/* Replays through the engine in simulated time: the performance hunts, rebuilt with the engine
   itself, are named rightly; a prediction from one run's log is what a second run measures. */
#include "whatif/whatif.h"

#include "whatif/replay.h"

#include "support/schedule.h"
#include "support/support.h"

#include "backend/sim/sim.h"
#include "base/check.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "fake_work/fake.h"
#include "waterfall/analyse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { JOBS_MAX = 64, PER_JOB_MAX = 10 };

/* --- Made-up plans ---------------------------------------------------------------------------- */

struct made {
    struct replay_plan plan;
    struct replay_job jobs[JOBS_MAX];
    struct replay_partition partitions[JOBS_MAX * PER_JOB_MAX];
};

/* A proof of 32 GiB as it was measured by hand: ten partitions, 33 s of synthesis and 2 s of the
   device each, ten workers, a client that keeps five in flight. Durations vary by ± 10 %. */
static void make_hunt(struct made *made, size_t n_jobs, uint64_t synth_us, uint64_t device_us)
{
    uint32_t seed = 1;
    assert_true(n_jobs <= JOBS_MAX);
    made->plan = (struct replay_plan){
        .limits = {.synthesis_concurrency = 10,
                   .lookahead = 8,
                   .n_devices = 1,
                   .workers_per_device = 2},
        .jobs = made->jobs,
        .n_jobs = n_jobs,
        .partitions = made->partitions,
        .n_partitions = n_jobs * PER_JOB_MAX,
        .in_flight = 5,
    };
    for (size_t j = 0; j < n_jobs; j++)
        made->jobs[j] = (struct replay_job){.receive_us = 200000,
                                            .parse_us = 900000,
                                            .verify_us = 5000,
                                            .first = j * PER_JOB_MAX,
                                            .n_partitions = PER_JOB_MAX};
    for (size_t i = 0; i < made->plan.n_partitions; i++) {
        seed = seed * 1664525 + 1013904223;
        double vary = 0.9 + 0.2 * (seed >> 8) / 16777216.0;
        made->partitions[i] =
            (struct replay_partition){.synth_us = (uint64_t)((double)synth_us * vary),
                                      .device_us = (uint64_t)((double)device_us * vary),
                                      .finish_us = 100000,
                                      .verify_us = 4000,
                                      .synth_level = 1};
    }
}

struct explained {
    struct waterfall_log log;
    struct waterfall_report report;
};

static void replay_hunt(const struct made *made, struct explained *e)
{
    struct cuzk_error err;
    assert_ok(replay_run(&made->plan, "hunt", &e->log, &err), err);
}

static void explain(struct explained *e)
{
    struct cuzk_error err;
    assert_ok(waterfall_analyse(&e->log, NULL, &e->report, &err), err);
    assert_int_equal(e->report.unpaired_count, 0);
    assert_int_equal(e->log.lines_skipped, 0);
    for (size_t r = 0; r < e->report.run_count; r++)
        assert_true(e->report.runs[r].whole);
}

static void release(struct explained *e)
{
    waterfall_report_free(&e->report);
    waterfall_log_free(&e->log);
}

static double seconds(const struct waterfall_run *run)
{
    return (double)(run->end_us - run->start_us) / 1e6;
}

/* --- The hunts -------------------------------------------------------------------------------- */

static void test_the_device_waits_for_synthesis(void **state)
{
    (void)state;
    struct made made;
    struct explained e = {0};
    make_hunt(&made, 20, 33000000, 2000000);
    replay_hunt(&made, &e);
    explain(&e);
    const struct waterfall_run *run = &e.report.runs[0];
    double idle = (double)run->devices[0].idle_by_cause_us[WATERFALL_CAUSE_SYNTH] / 1e6 /
                  (double)run->complete;
    assert_int_equal(run->complete, 20);
    assert_true(idle > 12 && idle < 15); /* a proof */
    assert_int_equal(run->verdict.bottleneck, WATERFALL_BOUND_SYNTHESIS);

    /* What the verdict advises, asked of the replay: the gain is there, the device is the wall. */
    unsigned workers = 0;
    const char *advice = strstr(run->verdict.text.data, ">= ");
    assert_non_null(advice);
    assert_int_equal(sscanf(advice, ">= %u synthesis workers", &workers), 1);
    char knobs[32];
    struct whatif_answer answer;
    struct cuzk_error err;
    snprintf(knobs, sizeof knobs, "synth=%u", workers);
    assert_ok(whatif_run(&e.report, 0, knobs, &answer, &err), err);
    assert_int_equal(answer.jobs, 20);
    assert_int_equal(answer.partitions, 200);
    assert_int_equal(answer.was.synthesis_workers, 10);
    assert_int_equal(answer.was.in_flight, 5);
    assert_int_equal(answer.then.synthesis_workers, workers);
    assert_string_equal(answer.replayed.bottleneck, "synthesis");
    assert_string_equal(answer.predicted.bottleneck, "device");
    double gain = answer.predicted.proofs_per_minute / answer.measured.proofs_per_minute;
    assert_true(fabs(gain / run->verdict.gain - 1) < 0.12);
    /* As it was, it comes out as it was. */
    assert_true(fabs(answer.replayed.wall_s / seconds(run) - 1) < 0.001);
    release(&e);
}

static void test_more_workers_only_slow_each_other(void **state)
{
    (void)state;
    static const unsigned workers[] = {6, 12, 18};
    static struct made made;
    struct explained e = {0};
    for (size_t i = 0; i < ARRAY_LEN(workers); i++) {
        make_hunt(&made, 12, 4500000, 2000000);
        made.plan.limits.synthesis_concurrency = workers[i];
        made.plan.growth = 0.9;
        replay_hunt(&made, &e);
    }
    explain(&e);
    assert_int_equal(e.report.run_count, ARRAY_LEN(workers));
    for (size_t i = 0; i < ARRAY_LEN(workers); i++) {
        const struct waterfall_run *run = &e.report.runs[i];
        assert_int_equal(run->verdict.bottleneck, WATERFALL_BOUND_CONTENTION);
        assert_non_null(strstr(run->verdict.text.data, "CPU contention"));
    }
    assert_true(e.report.runs[2].synth.mean > 2 * e.report.runs[0].synth.mean);

    /* The replay knows it too: twice the workers bring next to nothing, and about what the run
       with twice the workers measured. */
    struct whatif_answer answer;
    struct cuzk_error err;
    assert_ok(whatif_run(&e.report, 0, "synth=12", &answer, &err), err);
    assert_true(answer.predicted.proofs_per_minute < 1.2 * answer.measured.proofs_per_minute);
    assert_true(fabs(answer.predicted.wall_s / seconds(&e.report.runs[1]) - 1) < 0.1);
    release(&e);
}

/* Syntheses that begin at the same moment of simulated time, on threads that the machine runs in
   any order, are as long in each replay. */
static void test_a_replay_repeats(void **state)
{
    (void)state;
    static struct made made;
    struct explained first = {0};
    make_hunt(&made, 6, 4500000, 2000000);
    made.plan.growth = 0.9;
    replay_hunt(&made, &first);
    explain(&first);
    for (unsigned n = 0; n < 5; n++) {
        struct explained again = {0};
        replay_hunt(&made, &again);
        explain(&again);
        assert_int_equal(again.report.partition_count, first.report.partition_count);
        for (size_t i = 0; i < first.report.partition_count; i++)
            assert_memory_equal(again.report.partitions[i].stage_us,
                                first.report.partitions[i].stage_us,
                                sizeof first.report.partitions[i].stage_us);
        release(&again);
    }
    release(&first);
}

static void test_the_device_is_the_wall(void **state)
{
    (void)state;
    static struct made made;
    struct explained e = {0};
    make_hunt(&made, 20, 33000000, 4500000);
    made.plan.limits.synthesis_concurrency = 14;
    replay_hunt(&made, &e);
    explain(&e);
    const struct waterfall_run *run = &e.report.runs[0];
    assert_int_equal(run->verdict.bottleneck, WATERFALL_BOUND_DEVICE);
    assert_true(run->verdict.confidence >= 0.7);

    struct whatif_answer answer;
    struct cuzk_error err;
    assert_ok(whatif_run(&e.report, 0, "synth=20", &answer, &err), err);
    assert_true(fabs(answer.predicted.wall_s / answer.measured.wall_s - 1) < 0.06);
    assert_ok(whatif_run(&e.report, 0, "faster=device:2,synth=30", &answer, &err), err);
    assert_true(answer.predicted.wall_s < 0.6 * answer.measured.wall_s);
    assert_ok(whatif_run(&e.report, 0, "devices=2,synth=30,lookahead=9", &answer, &err), err);
    assert_true(answer.predicted.wall_s < 0.6 * answer.measured.wall_s);
    assert_int_equal(answer.then.devices, 2);
    assert_int_equal(answer.then.lookahead, 9);
    assert_int_equal(answer.then.workers_per_device, 2);
    release(&e);
}

/* --- Predicted against measured --------------------------------------------------------------- */

/* Work that takes real time: synthesis sleeps, and the sim backend occupies the device. */
enum { SLEEP_JOBS = 12, SLEEP_PARTITIONS = 4, SLEEP_SYNTH_MS = 90, SLEEP_DEVICE_MS = 50 };

struct sleeper {
    struct backend_device *devices[2];
    struct backend_circuit *circuits[2];
};

static void sleep_ms(unsigned ms)
{
    struct timespec time = {.tv_nsec = (long)ms * 1000000};
    nanosleep(&time, NULL);
}

static enum cuzk_status sleeper_admit(void *context, const struct request *request,
                                      char circuit_id[WORK_CIRCUIT_ID_BYTES],
                                      struct cuzk_error *err)
{
    (void)context;
    (void)request;
    (void)err;
    snprintf(circuit_id, WORK_CIRCUIT_ID_BYTES, "sleep");
    return CUZK_OK;
}

struct sleeper_work {
    struct work base;
    struct sleeper *sleeper;
};

static enum cuzk_status sleeper_parse(void *context, const struct request *request,
                                      struct work **out, struct cuzk_error *err)
{
    (void)request;
    (void)err;
    struct sleeper_work *work = mem_zalloc(1, sizeof *work);
    work->sleeper = context;
    work->base.n_partitions = SLEEP_PARTITIONS;
    snprintf(work->base.circuit_id, sizeof work->base.circuit_id, "sleep");
    sleep_ms(5);
    *out = &work->base;
    return CUZK_OK;
}

static enum cuzk_status sleeper_synthesize(struct work *work, struct loaded *loaded,
                                           const struct work_span *span, void **witness,
                                           struct cuzk_error *err)
{
    (void)loaded;
    (void)err;
    sleep_ms(SLEEP_SYNTH_MS + 10 * span->partition);
    *witness = work;
    return CUZK_OK;
}

static void sleeper_witness_free(void *witness)
{
    (void)witness;
}

static enum cuzk_status sleeper_prove(struct work *work, struct loaded *loaded, void *witness,
                                      const struct work_span *span, uint8_t proof[CUZK_PROOF_BYTES],
                                      uint64_t *device_ns, struct cuzk_error *err)
{
    (void)loaded;
    *device_ns = 0;
    (void)witness;
    struct sleeper *sleeper = ((struct sleeper_work *)(void *)work)->sleeper;
    struct backend_sums sums;
    memset(proof, 0, CUZK_PROOF_BYTES);
    const struct backend_partition partition = {NULL, span->job, span->scope};
    return backend_sim.prove(sleeper->circuits[span->device], &partition, &sums, err);
}

static enum cuzk_status sleeper_verify(struct work *work, struct loaded *loaded, unsigned partition,
                                       const uint8_t proof[CUZK_PROOF_BYTES],
                                       struct cuzk_error *err)
{
    (void)work;
    (void)loaded;
    (void)partition;
    (void)proof;
    (void)err;
    return CUZK_OK;
}

static enum cuzk_status sleeper_verify_all(struct work *work, struct loaded *loaded,
                                           const uint8_t *proofs, struct cuzk_error *err)
{
    return sleeper_verify(work, loaded, 0, proofs, err);
}

static void sleeper_work_free(struct work *work)
{
    mem_free(work);
}

static enum cuzk_status sleeper_load(void *context, const char *circuit_id, struct loaded **out,
                                     struct cuzk_error *err)
{
    (void)context;
    (void)err;
    struct loaded *loaded = mem_zalloc(1, sizeof *loaded);
    snprintf(loaded->circuit_id, sizeof loaded->circuit_id, "%s", circuit_id);
    loaded->devices = 3;
    *out = loaded;
    return CUZK_OK;
}

static enum cuzk_status sleeper_check(const struct loaded *loaded, struct cuzk_error *err)
{
    (void)loaded;
    (void)err;
    return CUZK_OK;
}

static void sleeper_unload(struct loaded *loaded)
{
    mem_free(loaded);
}

static const struct work_ops sleeper_ops = {
    .admit = sleeper_admit,
    .parse = sleeper_parse,
    .synthesize = sleeper_synthesize,
    .witness_free = sleeper_witness_free,
    .prove = sleeper_prove,
    .verify = sleeper_verify,
    .verify_all = sleeper_verify_all,
    .work_free = sleeper_work_free,
    .load = sleeper_load,
    .check = sleeper_check,
    .unload = sleeper_unload,
};

static void open_sleeper(struct sleeper *sleeper, unsigned n_devices)
{
    char timing[64];
    struct cuzk_error err;
    snprintf(timing, sizeof timing, "devices=%u,prove_ms=%d,jitter=20", n_devices, SLEEP_DEVICE_MS);
    const struct backend_options options = {.sim_timing = timing};
    for (unsigned d = 0; d < n_devices; d++) {
        assert_ok(backend_sim.open(&options, d, &sleeper->devices[d], &err), err);
        assert_ok(backend_sim.load(sleeper->devices[d], NULL, NULL, &sleeper->circuits[d], &err),
                  err);
    }
}

static void close_sleeper(struct sleeper *sleeper, unsigned n_devices)
{
    for (unsigned d = 0; d < n_devices; d++) {
        backend_sim.unload(sleeper->circuits[d]);
        backend_sim.close(sleeper->devices[d]);
    }
}

/* Sends all jobs at once and waits for the last one. */
static void measure(const struct pipeline_limits *limits, struct explained *e)
{
    struct sleeper sleeper;
    struct trace *trace;
    struct cuzk_engine *engine;
    struct cuzk_error err;
    static struct fake_result results[SLEEP_JOBS];
    const struct trace_options recording = {.fd = -1, .history_events = 8192};
    assert_ok(trace_create(&recording, &trace, &err), err);
    open_sleeper(&sleeper, limits->n_devices);
    const struct work_device devices[2] = {{"sim 0", "sim"}, {"sim 1", "sim"}};
    const struct work_setup setup = {.ops = &sleeper_ops,
                                     .context = &sleeper,
                                     .devices = devices,
                                     .n_devices = limits->n_devices};
    const struct cuzk_engine_options options = {
        .synthesis_concurrency = limits->synthesis_concurrency,
        .synthesis_lookahead = limits->lookahead,
        .workers_per_device = limits->workers_per_device,
        .memory_budget_bytes = UINT64_C(1) << 30,
        .trace = trace,
    };
    assert_ok(engine_open(&options, &setup, &engine, &err), err);
    for (size_t i = 0; i < SLEEP_JOBS; i++) {
        char job_id[CUZK_JOB_ID_BYTES], request_id[16];
        snprintf(request_id, sizeof request_id, "job-%zu", i);
        fake_result_init(&results[i]);
        assert_ok(fake_submit(engine, request_id, 'a', SLEEP_PARTITIONS, CUZK_PRIORITY_NORMAL,
                              job_id, NULL, &err),
                  err);
        assert_ok(cuzk_engine_watch(engine, job_id, 0, fake_result_fn, &results[i], NULL, &err),
                  err);
    }
    for (size_t i = 0; i < SLEEP_JOBS; i++) {
        sem_wait(&results[i].arrived);
        assert_int_equal(results[i].outcome, CUZK_JOB_COMPLETED);
    }
    struct trace_record *records;
    size_t n;
    cuzk_engine_close(engine);
    assert_ok(trace_history(trace, &records, &n, &err), err);
    *e = (struct explained){0};
    assert_ok(waterfall_log_add_records(&e->log, records, n, &err), err);
    mem_free(records);
    trace_destroy(trace);
    close_sleeper(&sleeper, limits->n_devices);
    explain(e);
}

static double off_by(double predicted, double measured)
{
    return fabs(predicted / measured - 1);
}

/* Settings A are run, B is predicted from A's log, B is run. A machine that is busy with other
   things can only slow the measured runs, so further tries are fair. */
static void test_the_prediction_is_what_is_measured(void **state)
{
    (void)state;
    static const struct pipeline_limits a = {
        .synthesis_concurrency = 2, .lookahead = 1, .n_devices = 1, .workers_per_device = 1};
    static const struct pipeline_limits b = {
        .synthesis_concurrency = 4, .lookahead = 3, .n_devices = 2, .workers_per_device = 2};
    double off = 1, as_it_was = 1;
    for (unsigned tries = 0; tries < 5 && (off > 0.05 || as_it_was > 0.05); tries++) {
        struct explained before, after;
        struct whatif_answer answer;
        struct cuzk_error err;
        measure(&a, &before);
        assert_ok(
            whatif_run(&before.report, 0, "synth=4,lookahead=3,devices=2,workers=2", &answer, &err),
            err);
        measure(&b, &after);
        double measured = SLEEP_JOBS * 60 / seconds(&after.report.runs[0]);
        off = off_by(answer.predicted.proofs_per_minute, measured);
        as_it_was = off_by(answer.replayed.proofs_per_minute, answer.measured.proofs_per_minute);
        print_message("A measured %.1f, replayed %.1f; B predicted %.1f, measured %.1f a minute: "
                      "%.1f %% off\n",
                      answer.measured.proofs_per_minute, answer.replayed.proofs_per_minute,
                      answer.predicted.proofs_per_minute, measured, 100 * off);
        assert_int_equal(answer.was.in_flight, 0); /* all came at once */
        assert_true(measured > 1.5 * answer.measured.proofs_per_minute);
        release(&before);
        release(&after);
    }
    assert_true(off <= 0.05);
    assert_true(as_it_was <= 0.05);
}

/* A log of the Rust cuzk, as the model of the timeline's tests writes it. */
static double model_run(unsigned synth_workers, unsigned devices, struct explained *e)
{
    struct schedule_options options = schedule_defaults(7);
    struct schedule_truth truth;
    struct text log = {0};
    struct cuzk_error err;
    options.classic = options.say_gpu_queue = true;
    options.jobs = 20;
    options.concurrency = 5;
    options.partitions = 10;
    options.synth_workers = synth_workers;
    options.lookahead = 8;
    options.devices = devices;
    options.parse = 900;
    options.synth = 33000;
    options.device = 2000;
    options.verify = 5;
    options.jitter = 10;
    schedule_run(&options, &log, &truth);
    *e = (struct explained){0};
    assert_ok(waterfall_log_read_bytes(&e->log, log.data, log.len, &err), err);
    text_free(&log);
    explain(e);
    return 20 * 60 / seconds(&e->report.runs[0]);
}

static void test_a_log_without_labels_and_settings(void **state)
{
    (void)state;
    struct explained before, after;
    struct whatif_answer answer;
    struct cuzk_error err;
    model_run(10, 1, &before);
    assert_ok(whatif_run(&before.report, 0, "synth=17", &answer, &err), err);
    assert_int_equal(answer.was.synthesis_workers, 10); /* as many as were seen at once */
    assert_int_equal(answer.was.in_flight, 20);         /* all that are not at work wait */
    double measured = model_run(17, 1, &after);
    print_message("classic: measured %.3f, replayed %.3f; predicted %.3f, measured %.3f\n",
                  answer.measured.proofs_per_minute, answer.replayed.proofs_per_minute,
                  answer.predicted.proofs_per_minute, measured);
    assert_true(off_by(answer.replayed.wall_s, answer.measured.wall_s) < 0.05);
    assert_true(off_by(answer.predicted.proofs_per_minute, measured) < 0.05);
    release(&before);
    release(&after);
}

/* --- Knobs ------------------------------------------------------------------------------------ */

static void test_knobs_that_are_none(void **state)
{
    (void)state;
    static const char *const bad[] = {"synth",
                                      "synth=",
                                      "synth=0",
                                      "synth=x",
                                      "synth=2x",
                                      "synth=-1",
                                      "devices=65",
                                      "nothing=1",
                                      "faster=synth",
                                      "faster=synth:",
                                      "faster=synth:0",
                                      "faster=synth:nan",
                                      "faster=all:2",
                                      "faster=synth:2x",
                                      "jobs=often",
                                      "=1",
                                      "synth=99999999999999999999"};
    static struct made made;
    struct explained e = {0};
    make_hunt(&made, 1, 1000, 1000);
    replay_hunt(&made, &e);
    explain(&e);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct whatif_answer answer;
        struct cuzk_error err = {0};
        assert_int_equal(whatif_run(&e.report, 0, bad[i], &answer, &err), CUZK_INVALID_ARGUMENT);
        assert_non_null(strstr(err.text, "expected"));
    }
    release(&e);
}

static void test_a_run_without_a_whole_job_is_refused(void **state)
{
    (void)state;
    static const char text[] = "TIMELINE,5,SYNTH_START,a,partition=0\n"
                               "TIMELINE,9,SYNTH_END,a,partition=0,synth_ms=4\n";
    struct explained e = {0};
    struct whatif_answer answer;
    struct cuzk_error err = {0};
    assert_ok(waterfall_log_read_bytes(&e.log, text, sizeof text - 1, &err), err);
    assert_ok(waterfall_analyse(&e.log, NULL, &e.report, &err), err);
    assert_int_equal(whatif_run(&e.report, 0, "synth=2", &answer, &err), CUZK_FAILED_PRECONDITION);
    release(&e);
}

/* Times that no machine has, and partitions with odd numbers. */
static void test_a_log_of_nonsense(void **state)
{
    (void)state;
    struct explained e = {0};
    struct text text = {0};
    struct whatif_answer answer;
    struct cuzk_error err = {0};
    const unsigned long long synth_ms = 10000000000ULL;
    for (unsigned p = 0; p < 30; p++) {
        unsigned long long at = p * 30000000000ULL;
        unsigned odd = p * 33333;
        text_add(&text,
                 "TIMELINE,%llu,SYNTH_START,a,partition=%u\n"
                 "TIMELINE,%llu,SYNTH_END,a,partition=%u,synth_ms=4\n"
                 "TIMELINE,%llu,GPU_QUEUE,a,partition=%u\n"
                 "TIMELINE,%llu,GPU_PICKUP,a,worker=0,partition=%u\n"
                 "TIMELINE,%llu,GPU_START,a,worker=0,partition=%u\n"
                 "TIMELINE,%llu,GPU_END,a,worker=0,partition=%u,gpu_ms=2\n",
                 at, odd, at + synth_ms, odd, at + synth_ms, odd, at + synth_ms, odd, at + synth_ms,
                 odd, at + 2 * synth_ms, odd);
    }
    assert_ok(waterfall_log_read_bytes(&e.log, text.data, text.len, &err), err);
    assert_ok(waterfall_analyse(&e.log, NULL, &e.report, &err), err);
    assert_ok(
        whatif_run(&e.report, 0, "faster=synth:0.001,faster=device:0.001,synth=7", &answer, &err),
        err);
    assert_int_equal(answer.partitions, 30);
    assert_true(answer.predicted.wall_s > 30 * 86000.0); /* a day each on the device */
    text_free(&text);
    release(&e);
}

/* Wherever memory ends, the replay ends in an error and nothing stays behind. */
static void test_without_memory(void **state)
{
    (void)state;
    static struct made made;
    make_hunt(&made, 1, 1000, 1000);
    size_t before = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    for (long after = 0; status != CUZK_OK && after < 2000; after++) {
        struct waterfall_log log = {0};
        struct cuzk_error err;
        mem_fail_after(after);
        status = replay_run(&made.plan, "hunt", &log, &err);
        mem_fail_after(-1);
        waterfall_log_free(&log);
        assert_int_equal(mem_used_bytes(), before);
    }
    assert_int_equal(status, CUZK_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_device_waits_for_synthesis),
        cmocka_unit_test(test_more_workers_only_slow_each_other),
        cmocka_unit_test(test_a_replay_repeats),
        cmocka_unit_test(test_the_device_is_the_wall),
        cmocka_unit_test(test_the_prediction_is_what_is_measured),
        cmocka_unit_test(test_a_log_without_labels_and_settings),
        cmocka_unit_test(test_knobs_that_are_none),
        cmocka_unit_test(test_a_run_without_a_whole_job_is_refused),
        cmocka_unit_test(test_a_log_of_nonsense),
        cmocka_unit_test(test_without_memory),
    };
    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
