/* From events to runs, jobs, splits, utilisation and the critical path, on logs small enough to be
   worked out by hand. */
#include "analyse.h"

#include "base/mem.h"

#include <stdio.h>

/* A whole partition's classic events: synthesis a…b, sent at b, picked at c, device d…e. */
static void add_partition(struct text *log, const char *job, int p, int a, int b, int c, int d,
                          int e, int worker)
{
    text_add(log, "TIMELINE,%d,SYNTH_START,%s,partition=%d\n", a, job, p);
    text_add(log, "TIMELINE,%d,SYNTH_END,%s,partition=%d,synth_ms=%d\n", b, job, p, b - a);
    text_add(log, "TIMELINE,%d,CHAN_SEND,%s,partition=%d\n", b, job, p);
    text_add(log, "TIMELINE,%d,GPU_PICKUP,%s,worker=%d,partition=%d\n", c, job, worker, p);
    text_add(log, "TIMELINE,%d,GPU_START,%s,worker=%d,partition=%d\n", d, job, worker, p);
    text_add(log, "TIMELINE,%d,GPU_END,%s,worker=%d,partition=%d,gpu_ms=%d\n", e, job, worker, p,
             e - d);
}

static void analyse(struct analysed *a, struct text *log)
{
    analyse_bytes(a, log->data, log->len);
    assert_report_adds_up(&a->report);
    text_free(log);
}

static int64_t part_ms(const struct waterfall_job *job, enum waterfall_part part)
{
    return job->split_us[part] / 1000;
}

/* A classic log as its users sort it, `sort -t, -k2 -n`: equal times by text. */
static void test_a_log_sorted_by_text(void **state)
{
    (void)state;
    struct analysed a;
    analyse_text(&a, "TIMELINE,0,SYNTH_START,j,partition=0\n"
                     "TIMELINE,900,GPU_PICKUP,j,worker=0,partition=0\n"
                     "TIMELINE,900,GPU_QUEUE,j,partition=0\n"
                     "TIMELINE,900,GPU_START,j,worker=0,partition=0\n"
                     "TIMELINE,900,SYNTH_END,j,partition=0,synth_ms=900\n"
                     "TIMELINE,1500,GPU_END,j,worker=0,partition=0,gpu_ms=600\n");
    assert_int_equal(a.report.run_count, 1);
    assert_int_equal(a.report.runs[0].complete, 1);
    assert_int_equal(a.report.runs[0].incomplete, 0);
    assert_int_equal(a.report.job_count, 1);
    assert_int_equal(part_ms(&a.report.jobs[0], WATERFALL_PART_SYNTH), 900);
    assert_int_equal(part_ms(&a.report.jobs[0], WATERFALL_PART_DEVICE), 600);
    assert_report_adds_up(&a.report);
    release_analysed(&a);
}

/* One job with everything that our daemon records, on one device. */
static void test_the_parts_of_a_job(void **state)
{
    (void)state;
    struct analysed a;
    analyse_text(&a, "TIMELINE,0,RPC_START,j,\n"
                     "TIMELINE,5,RPC_END,j,bytes=9\n"
                     "TIMELINE,5,JOURNAL_START,j,\n"
                     "TIMELINE,8,JOURNAL_END,j,\n"
                     "TIMELINE,8,JOB_ACCEPTED,j,kind=porep-c2,partitions=1\n"
                     "TIMELINE,8,QUEUE_START,j,\n"
                     "TIMELINE,10,QUEUE_END,j,ms=2\n"
                     "TIMELINE,10,PARSE_START,j,\n"
                     "TIMELINE,20,PARSE_END,j,ms=10\n"
                     "TIMELINE,24,BUDGET_WAIT_START,j,partition=0\n"
                     "TIMELINE,30,BUDGET_WAIT_END,j,partition=0\n"
                     "TIMELINE,30,SYNTH_START,j,partition=0\n"
                     "TIMELINE,60,SYNTH_END,j,partition=0,synth_ms=30\n"
                     "TIMELINE,60,LOOKAHEAD_WAIT_START,j,partition=0\n"
                     "TIMELINE,67,LOOKAHEAD_WAIT_END,j,partition=0\n"
                     "TIMELINE,67,CHAN_SEND,j,partition=0\n"
                     "TIMELINE,70,GPU_PICKUP,j,worker=0,partition=0\n"
                     "TIMELINE,70,SRS_WAIT_START,j,worker=0,partition=0\n"
                     "TIMELINE,74,SRS_WAIT_END,j,worker=0,partition=0\n"
                     "TIMELINE,80,GPU_START,j,worker=0,partition=0\n"
                     "TIMELINE,180,GPU_END,j,worker=0,partition=0,gpu_ms=100\n"
                     "TIMELINE,180,FINISH_START,j,partition=0\n"
                     "TIMELINE,183,FINISH_END,j,partition=0\n"
                     "TIMELINE,183,VERIFY_START,j,partition=0\n"
                     "TIMELINE,190,VERIFY_END,j,partition=0\n"
                     "TIMELINE,191,JOB_DONE,j,ms=183\n"
                     "TIMELINE,191,REPLY_START,j,\n"
                     "TIMELINE,193,REPLY_END,j,bytes=192\n");
    static const int64_t expected[WATERFALL_PART_COUNT] = {
        [WATERFALL_PART_RECEIVE] = 5, [WATERFALL_PART_JOURNAL] = 3,   [WATERFALL_PART_QUEUE] = 2,
        [WATERFALL_PART_PARSE] = 10,  [WATERFALL_PART_WORKER] = 4,    [WATERFALL_PART_BUDGET] = 6,
        [WATERFALL_PART_SYNTH] = 30,  [WATERFALL_PART_LOOKAHEAD] = 7, [WATERFALL_PART_CHANNEL] = 3,
        [WATERFALL_PART_SRS] = 4,     [WATERFALL_PART_LOCK] = 6,      [WATERFALL_PART_DEVICE] = 100,
        [WATERFALL_PART_FINISH] = 3,  [WATERFALL_PART_VERIFY] = 7,    [WATERFALL_PART_REPLY] = 2,
        [WATERFALL_PART_OTHER] = 1,
    };
    assert_int_equal(a.report.job_count, 1);
    const struct waterfall_job *job = &a.report.jobs[0];
    assert_report_adds_up(&a.report);
    assert_true(job->complete);
    assert_int_equal(job->outcome, WATERFALL_OUTCOME_DONE);
    for (unsigned p = 0; p < WATERFALL_PART_COUNT; p++)
        if (part_ms(job, (enum waterfall_part)p) != expected[p])
            fail_msg("%s: %lld ms", waterfall_part_name((enum waterfall_part)p),
                     (long long)part_ms(job, (enum waterfall_part)p));
    release_analysed(&a);
}

/* Two workers of a device whose spans overlap: utilisation is their union, not their sum. */
static void test_overlapping_spans_are_merged(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    add_partition(&log, "j", 0, 0, 100, 100, 100, 200, 0);
    add_partition(&log, "j", 1, 0, 100, 150, 150, 250, 1);
    add_partition(&log, "j", 2, 0, 300, 300, 300, 350, 0);
    analyse(&a, &log);
    const struct waterfall_run *run = &a.report.runs[0];
    assert_int_equal(run->device_count, 1);
    assert_int_equal(run->devices[0].busy_us, 200000);
    assert_int_equal(run->devices[0].idle_us, 150000);
    assert_int_equal(run->devices[0].spans_us, 250000);
    assert_int_equal(run->devices[0].phases_us, WATERFALL_NONE);
    assert_int_equal(run->devices[0].idle_by_cause_us[WATERFALL_CAUSE_SYNTH], 150000);
    release_analysed(&a);
}

static void test_phases_tell_the_true_occupancy(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    add_partition(&log, "j", 0, 0, 10, 10, 10, 110, 0);
    text_add(&log, "TIMELINE,20,NTT_START,j,worker=0,partition=0,device=0\n"
                   "TIMELINE,40,NTT_END,j,worker=0,partition=0,device=0,us=20000\n"
                   "TIMELINE,30,MSM_H_START,j,worker=0,partition=0,device=0\n"
                   "TIMELINE,80,MSM_H_END,j,worker=0,partition=0,device=0,us=50000\n");
    analyse(&a, &log);
    assert_int_equal(a.report.runs[0].devices[0].phases_us, 60000);
    release_analysed(&a);
}

static void test_runs_by_label(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    add_partition(&log, "before", 0, 0, 10, 10, 10, 20, 0);
    text_add(&log, "TIMELINE,30,RUN_START,c5j1,concurrency=1\n");
    add_partition(&log, "a", 0, 40, 50, 50, 50, 60, 0);
    text_add(&log, "TIMELINE,70,RUN_END,c5j1,\nTIMELINE,70,RUN_START,c5j2,concurrency=2\n");
    add_partition(&log, "b", 0, 80, 90, 90, 90, 100, 0);
    add_partition(&log, "c", 0, 80, 90, 100, 100, 110, 0);
    text_add(&log, "TIMELINE,120,RUN_END,c5j2,\n");
    analyse(&a, &log);
    assert_int_equal(a.report.run_count, 3);
    assert_string_equal(a.report.runs[0].label.data, "1");
    assert_string_equal(a.report.runs[1].label.data, "c5j1");
    assert_string_equal(a.report.runs[1].config.data, "concurrency=1");
    assert_int_equal(a.report.runs[1].start_us, 30000);
    assert_int_equal(a.report.runs[1].end_us, 70000);
    assert_int_equal(a.report.runs[1].job_count, 1);
    assert_int_equal(a.report.runs[2].job_count, 2);
    /* before the first job and after the last one nothing was submitted */
    const int64_t *idle = a.report.runs[2].devices[0].idle_by_cause_us;
    assert_int_equal(idle[WATERFALL_CAUSE_NOTHING], 20000);
    release_analysed(&a);
}

static void test_a_run_without_jobs_is_kept(void **state)
{
    (void)state;
    struct analysed a;
    analyse_text(&a, "TIMELINE,0,RUN_START,empty,\nTIMELINE,50,RUN_END,empty,\n");
    assert_int_equal(a.report.run_count, 1);
    assert_int_equal(a.report.runs[0].job_count, 0);
    assert_int_equal(a.report.runs[0].verdict.bottleneck, WATERFALL_BOUND_UNKNOWN);
    release_analysed(&a);
}

static void test_an_unfinished_run_says_so(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    text_add(&log, "TIMELINE,0,RUN_START,cut,\n");
    add_partition(&log, "a", 0, 10, 20, 20, 20, 30, 0);
    analyse(&a, &log);
    assert_true(a.report.runs[0].open);
    assert_false(a.report.runs[0].whole);
    assert_int_equal(a.report.runs[0].end_us, 30000);
    release_analysed(&a);
}

/* Without labels: a restart (offsets begin anew) and a long quiet time separate. */
static void test_runs_by_restart_and_by_quiet_time(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    add_partition(&log, "a", 0, 5000, 6000, 6000, 6000, 7000, 0);
    add_partition(&log, "a", 0, 100, 1100, 1100, 1100, 2100, 0);
    add_partition(&log, "b", 0, 3000, 3100, 3100, 3100, 3200, 0);
    add_partition(&log, "c", 0, 20000, 21000, 21000, 21000, 22000, 0);
    analyse(&a, &log);
    assert_int_equal(a.report.run_count, 3);
    assert_int_equal(a.report.runs[0].epoch, 0);
    assert_int_equal(a.report.runs[1].epoch, 1);
    assert_int_equal(a.report.runs[1].job_count, 2);
    assert_int_equal(a.report.runs[2].epoch, 1);
    assert_int_equal(a.report.jobs[1].instance, 0); /* another start, another job */
    assert_true(a.report.runs[0].whole);
    release_analysed(&a);
}

/* A restart that left a partition behind: it is not continued by the new daemon's. */
static void test_a_restart_cuts_what_was_in_flight(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    text_add(&log, "TIMELINE,0,ENGINE_START,-,synth_workers=3\n"
                   "TIMELINE,5000,SYNTH_START,a,partition=0\n"
                   "TIMELINE,0,ENGINE_START,-,synth_workers=2\n");
    add_partition(&log, "a", 0, 100, 1100, 1100, 1100, 2100, 0);
    analyse(&a, &log);
    assert_int_equal(a.report.job_count, 2);
    assert_false(a.report.jobs[0].complete);
    assert_true(a.report.jobs[1].complete);
    assert_int_equal(a.report.runs[0].synth_workers, 3);
    assert_int_equal(a.report.runs[1].synth_workers, 2);
    release_analysed(&a);
}

static void test_one_line_out_of_place_is_no_restart(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    add_partition(&log, "a", 0, 100, 1100, 1100, 1100, 2100, 0);
    add_partition(&log, "b", 0, 3000, 3100, 3100, 3100, 3200, 0);
    text_add(&log, "TIMELINE,900,SYNTH_START,c,partition=0\n"); /* displaced */
    text_add(&log, "TIMELINE,3500,SYNTH_END,c,partition=0,synth_ms=2600\n");
    analyse(&a, &log);
    assert_int_equal(a.report.run_count, 1);
    assert_int_equal(a.report.job_count, 3);
    release_analysed(&a);
}

static void test_an_id_that_is_used_again(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    add_partition(&log, "a", 0, 0, 100, 100, 100, 200, 0);
    add_partition(&log, "a", 0, 300, 400, 400, 400, 500, 0);
    analyse(&a, &log);
    assert_int_equal(a.report.job_count, 2);
    assert_int_equal(a.report.jobs[1].instance, 1);
    assert_true(a.report.runs[0].whole);
    release_analysed(&a);
}

/* A partition that is done again belongs to the same job; the latest attempt counts. */
static void test_a_retried_partition(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    text_add(&log, "TIMELINE,0,JOB_ACCEPTED,a,partitions=1\n"
                   "TIMELINE,1,SYNTH_START,a,partition=0\n"
                   "TIMELINE,5,SYNTH_END,a,partition=0,synth_ms=4\n"
                   "TIMELINE,6,RETRY,a,partition=0,reason=device fault\n");
    add_partition(&log, "a", 0, 10, 20, 20, 20, 30, 0);
    text_add(&log, "TIMELINE,31,JOB_DONE,a,ms=31\n");
    analyse(&a, &log);
    assert_int_equal(a.report.job_count, 1);
    assert_int_equal(a.report.partition_count, 2);
    assert_int_equal(a.report.partitions[1].attempt, 1);
    assert_true(a.report.jobs[0].complete);
    release_analysed(&a);
}

static void test_a_missing_partition_makes_a_job_incomplete(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    add_partition(&log, "hole", 0, 0, 10, 10, 10, 20, 0);
    add_partition(&log, "hole", 2, 0, 10, 20, 20, 30, 0);
    text_add(&log, "TIMELINE,40,JOB_ACCEPTED,few,partitions=2\n");
    add_partition(&log, "few", 0, 40, 50, 50, 50, 60, 0);
    analyse(&a, &log);
    assert_int_equal(a.report.runs[0].complete, 0);
    assert_int_equal(a.report.runs[0].incomplete, 2);
    release_analysed(&a);
}

static void test_a_refused_request_is_no_job(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    text_add(&log, "TIMELINE,0,RPC_START,bad,\nTIMELINE,3,RPC_END,bad,bytes=1\n");
    add_partition(&log, "a", 0, 10, 20, 20, 20, 30, 0);
    analyse(&a, &log);
    assert_int_equal(a.report.job_count, 1);
    assert_int_equal(a.report.requests_without_job, 1);
    release_analysed(&a);
}

static void test_unpaired_events_are_listed_and_open(void **state)
{
    (void)state;
    struct analysed a;
    analyse_text(&a, "TIMELINE,0,SYNTH_START,a,partition=0\n"
                     "TIMELINE,9,GPU_END,b,worker=0,partition=1,gpu_ms=3\n"
                     "TIMELINE,9,VERIFY_END,b,\n");
    assert_int_equal(a.report.unpaired_count, 3);
    assert_int_equal(a.report.unpaired[0].kind, TRACE_SYNTH_START);
    assert_int_equal(a.report.unpaired[1].kind, TRACE_GPU_END);
    assert_int_equal(a.report.unpaired[2].kind, TRACE_VERIFY_END);
    assert_report_adds_up(&a.report);
    release_analysed(&a);
}

/* A log that does not say which devices its workers drive: two workers a device, with a warning. A
   log that says it is believed. */
static void test_devices_of_workers(void **state)
{
    (void)state;
    for (int said = 0; said < 2; said++) {
        struct text log = {0};
        struct analysed a;
        if (said)
            text_add(&log, "TIMELINE,0,ENGINE_START,-,workers_per_device=1\n");
        add_partition(&log, "j", 0, 0, 10, 10, 10, 20, 0);
        add_partition(&log, "j", 1, 0, 10, 10, 10, 20, 1);
        add_partition(&log, "j", 2, 0, 10, 10, 10, 20, 2);
        analyse(&a, &log);
        assert_int_equal(a.report.runs[0].device_count, said ? 3 : 2);
        assert_int_equal(a.report.warning_count, 1);
        assert_non_null(strstr(a.report.warnings[0].data, "workers-per-device"));
        release_analysed(&a);
    }
}

/* Something waits for memory; that is the cause only while a synthesis worker has nothing to do. */
static void test_memory_is_the_cause_only_when_workers_are_free(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 2; workers++) {
        struct text log = {0};
        struct analysed a;
        text_add(&log, "TIMELINE,0,ENGINE_START,-,synth_workers=%d\n", workers);
        add_partition(&log, "a", 0, 0, 100, 100, 100, 150, 0);
        text_add(&log, "TIMELINE,0,BUDGET_WAIT_START,b,\nTIMELINE,120,BUDGET_WAIT_END,b,\n");
        add_partition(&log, "b", 0, 120, 130, 150, 150, 160, 0);
        analyse(&a, &log);
        const int64_t *idle = a.report.runs[0].devices[0].idle_by_cause_us;
        assert_int_equal(idle[WATERFALL_CAUSE_SYNTH], workers == 1 ? 100000 : 0);
        assert_int_equal(idle[WATERFALL_CAUSE_BUDGET], workers == 1 ? 0 : 100000);
        release_analysed(&a);
    }
}

/* The run ends with p1 on the device, which waited for p0 there, which waited for its synthesis. */
static void test_the_critical_path(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    add_partition(&log, "j", 0, 0, 100, 100, 100, 200, 0);
    add_partition(&log, "j", 1, 0, 120, 130, 200, 320, 1);
    analyse(&a, &log);
    const struct waterfall_run *run = &a.report.runs[0];
    assert_int_equal(run->path_us[WATERFALL_PART_DEVICE], 220000);
    assert_int_equal(run->path_us[WATERFALL_PART_SYNTH], 100000);
    assert_int_equal(run->path_count, 3);
    assert_int_equal(run->path[0].partition, 1);
    assert_int_equal(run->path[1].partition, 0);
    assert_int_equal(run->path[2].part, WATERFALL_PART_SYNTH);
    release_analysed(&a);
}

/* b waited for the device, which a held: most of b's path is a's device time. */
static void test_the_critical_path_of_a_job(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    add_partition(&log, "a", 0, 0, 10, 10, 10, 40, 0);
    add_partition(&log, "b", 0, 5, 11, 11, 40, 45, 0);
    analyse(&a, &log);
    const struct waterfall_job *b = &a.report.jobs[1];
    assert_int_equal(b->split_us[WATERFALL_PART_LOCK], 29000);
    assert_int_equal(b->path_us[WATERFALL_PART_LOCK], 0);
    assert_int_equal(b->path_us[WATERFALL_PART_DEVICE], 35000);
    assert_int_equal(b->path_us[WATERFALL_PART_SYNTH], 5000);
    assert_int_equal(b->path_others_us, 35000);
    release_analysed(&a);
}

static void test_distributions_and_littles_law(void **state)
{
    (void)state;
    struct text log = {0};
    struct analysed a;
    for (int i = 0; i < 20; i++) {
        char job[8];
        snprintf(job, sizeof job, "j%d", i);
        add_partition(&log, job, 0, 100 * i, 100 * i + 10, 100 * i + 10, 100 * i + 10,
                      100 * i + 11 + i, 0);
    }
    analyse(&a, &log);
    const struct waterfall_run *run = &a.report.runs[0];
    assert_int_equal(run->device.count, 20);
    assert_int_equal(run->device.min, 1000);
    assert_int_equal(run->device.p50, 10000);
    assert_int_equal(run->device.p90, 18000);
    assert_int_equal(run->device.p95, 19000);
    assert_int_equal(run->device.max, 20000);
    assert_true(run->little_l > 0.9999 * run->little_lambda_w &&
                run->little_l < 1.0001 * run->little_lambda_w);
    assert_int_equal(run->jobs_level.max, 1);
    release_analysed(&a);
}

static void test_nothing_usable(void **state)
{
    (void)state;
    struct analysed a;
    analyse_text(&a, "no timeline here\n");
    assert_int_equal(a.report.run_count, 0);
    release_analysed(&a);
    analyse_text(&a, "");
    assert_int_equal(a.report.run_count, 0);
    release_analysed(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_log_sorted_by_text),
        cmocka_unit_test(test_the_parts_of_a_job),
        cmocka_unit_test(test_overlapping_spans_are_merged),
        cmocka_unit_test(test_phases_tell_the_true_occupancy),
        cmocka_unit_test(test_runs_by_label),
        cmocka_unit_test(test_a_run_without_jobs_is_kept),
        cmocka_unit_test(test_an_unfinished_run_says_so),
        cmocka_unit_test(test_runs_by_restart_and_by_quiet_time),
        cmocka_unit_test(test_a_restart_cuts_what_was_in_flight),
        cmocka_unit_test(test_one_line_out_of_place_is_no_restart),
        cmocka_unit_test(test_an_id_that_is_used_again),
        cmocka_unit_test(test_a_retried_partition),
        cmocka_unit_test(test_a_missing_partition_makes_a_job_incomplete),
        cmocka_unit_test(test_a_refused_request_is_no_job),
        cmocka_unit_test(test_unpaired_events_are_listed_and_open),
        cmocka_unit_test(test_devices_of_workers),
        cmocka_unit_test(test_memory_is_the_cause_only_when_workers_are_free),
        cmocka_unit_test(test_the_critical_path),
        cmocka_unit_test(test_the_critical_path_of_a_job),
        cmocka_unit_test(test_distributions_and_littles_law),
        cmocka_unit_test(test_nothing_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
