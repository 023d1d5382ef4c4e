/* Reading logs: today's system's, ours, and what a log can contain besides. */
#include "analyse.h"

#include "base/mem.h"
#include "waterfall/strings.h"

#include <stdio.h>

static const char *label_of(const struct waterfall_log *log, size_t event)
{
    return strings_get(&log->strings, log->events[event].label);
}

static void read_text(struct waterfall_log *log, const char *text)
{
    struct cuzk_error err = {0};
    *log = (struct waterfall_log){0};
    assert_ok(waterfall_log_read_bytes(log, text, strlen(text), &err), err);
}

/* The healthy partition of docs/spec/formats.md, section 4. */
static void test_a_classic_partition(void **state)
{
    (void)state;
    struct analysed a;
    analyse_text(&a, "2026-08-20T10:00:00Z INFO something else\n"
                     "TIMELINE,182034,SYNTH_START,id,partition=0\n"
                     "TIMELINE,214771,SYNTH_END,id,partition=0,synth_ms=32411\n"
                     "CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms=12\n"
                     "TIMELINE,214771,GPU_QUEUE,id,partition=0\n"
                     "TIMELINE,214772,GPU_PICKUP,id,worker=1,partition=0\n"
                     "TIMELINE,214772,GPU_START,id,worker=1,partition=0\n"
                     "TIMELINE,219034,GPU_END,id,worker=1,partition=0,gpu_ms=4262\n");
    assert_int_equal(a.log.lines_total, 8);
    assert_int_equal(a.log.lines_timeline, 6);
    assert_int_equal(a.log.lines_skipped, 0);
    assert_int_equal(a.report.partition_count, 1);
    const struct waterfall_partition *p = &a.report.partitions[0];
    assert_true(p->complete);
    assert_int_equal(p->synth_start_us, 182034000);
    assert_int_equal(p->synth_end_us, 214771000);
    assert_int_equal(p->sent_us, 214771000);
    assert_int_equal(p->picked_us, 214772000);
    assert_int_equal(p->gpu_start_us, 214772000);
    assert_int_equal(p->gpu_end_us, 219034000);
    assert_int_equal(p->synth_ms, 32411);
    assert_int_equal(p->gpu_ms, 4262);
    assert_int_equal(p->worker, 1);
    assert_true(a.report.runs[0].whole);
    release_analysed(&a);
}

/* Monolithic jobs: no partition on most lines, but one on a WindowPoSt's GPU_END. */
static void test_a_classic_monolithic_job(void **state)
{
    (void)state;
    struct analysed a;
    analyse_text(&a, "TIMELINE,10,SYNTH_START,wdpost [0 1] x,kind=window-post\n"
                     "TIMELINE,20,SYNTH_END,wdpost [0 1] x,synth_ms=9\n"
                     "TIMELINE,20,CHAN_SEND,wdpost [0 1] x,monolithic\n"
                     "TIMELINE,21,GPU_PICKUP,wdpost [0 1] x,worker=0\n"
                     "TIMELINE,21,GPU_START,wdpost [0 1] x,worker=0\n"
                     "TIMELINE,30,GPU_END,wdpost [0 1] x,worker=0,partition=3,gpu_ms=9\n");
    assert_int_equal(a.report.job_count, 1);
    assert_int_equal(a.report.partition_count, 1);
    assert_true(a.report.jobs[0].complete);
    assert_string_equal(a.report.jobs[0].label, "wdpost [0 1] x");
    release_analysed(&a);
}

static void test_classic_ids_with_commas(void **state)
{
    (void)state;
    struct waterfall_log log;
    read_text(&log, "TIMELINE,10,SYNTH_START,a,b, c=d,partition=7\n"
                    "TIMELINE,20,GPU_END,[x, 1],worker=2,partition=7,gpu_ms=5\n"
                    "TIMELINE,20,CHAN_SEND,100%,partition=1\n"
                    "TIMELINE,20,CHAN_SEND,a%2Cb%0A,partition=1\n"
                    "TIMELINE,20,CHAN_SEND,%41,partition=1\n");
    assert_int_equal(log.count, 5);
    assert_string_equal(label_of(&log, 0), "a,b, c=d");
    assert_int_equal(log.events[0].partition, 7);
    assert_string_equal(label_of(&log, 1), "[x, 1]");
    assert_int_equal(log.events[1].worker, 2);
    assert_string_equal(label_of(&log, 2), "100%");
    assert_string_equal(label_of(&log, 3), "a,b\n"); /* our escaping is undone */
    assert_string_equal(label_of(&log, 4), "%41");   /* what we never escape stays */
    waterfall_log_free(&log);
}

static void test_prefixes_and_line_ends(void **state)
{
    (void)state;
    struct waterfall_log log;
    read_text(&log, "Nov 30 05:00:00 host cuzk[12]: TIMELINE,1,SYNTH_START,a,partition=0\r\n"
                    "\x1b[0mTIMELINE,2,SYNTH_START,a,partition=1\n"
                    "cuzk-1  | TIMELINE,3,SYNTH_START,a,partition=2\n"
                    "NOTIMELINE,4,SYNTH_START,a,partition=3\n"
                    "MY_TIMELINE,4,SYNTH_START,a,partition=3\n"
                    "\n");
    assert_int_equal(log.lines_total, 6);
    /* "\x1b[0m" ends in a letter: such a line is not taken for one of ours, but for another line */
    assert_int_equal(log.lines_timeline, 2);
    assert_int_equal(log.count, 2);
    waterfall_log_free(&log);
}

/* Nothing is silently dropped: each bad line is counted and listed with its cause. */
static void test_bad_lines_are_listed(void **state)
{
    (void)state;
    static const struct {
        const char *line, *why;
    } bad[] = {
        {"TIMELINE,", "fields are missing"},
        {"TIMELINE,1,SYNTH_START", "fields are missing"},
        {"TIMELINE,-1,SYNTH_START,a,partition=0", "the offset is no number"},
        {"TIMELINE,1e3,SYNTH_START,a,partition=0", "the offset is no number"},
        {"TIMELINE,99999999999999999999,SYNTH_START,a,partition=0", "the offset is no number"},
        {"TIMELINE,1,SYNTH_BEGIN,a,partition=0", "unknown event"},
        {"TIMELINE,1,SYNTH_START,a", "details are missing"},
        {"TIMELINE,1,SYNTH_START,,partition=0", "no job id"},
        {"TIMELINE,1,SYNTH_START,a,partition=x", "a partition, worker or device is no number"},
        {"TIMELINE,1,SYNTH_START,a,partition=99999999",
         "a partition, worker or device is no number"},
        {"TIMELINE,1,SYNTH_END,a,partition=0", "details are missing"},
        {"TIMELINE,1,SYNTH_END,a,partition=0,synth_ms=", "a value is no number"},
        {"TIMELINE,1,GPU_END,a,partition=0,gpu_ms=4", "details are missing"},
        {"TIMELINE,1,GPU_PICKUP,a,partition=0", "details are missing"},
        {"TIMELINE,1,JOB_DONE,a", "details are missing"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct waterfall_log log;
        char text[200];
        snprintf(text, sizeof text, "%s\nTIMELINE,2,SYNTH_START,ok,partition=0\n", bad[i].line);
        read_text(&log, text);
        assert_int_equal(log.lines_timeline, 2);
        assert_int_equal(log.lines_skipped, 1);
        assert_int_equal(log.count, 1);
        assert_int_equal(log.skipped[0].line, 1);
        assert_string_equal(log.skipped[0].why, bad[i].why);
        waterfall_log_free(&log);
    }
}

static void test_more_bad_lines_than_are_listed(void **state)
{
    (void)state;
    struct text text = {0};
    struct waterfall_log log;
    for (int i = 0; i < 3 * WATERFALL_SKIPPED_MAX; i++)
        text_add(&text, "TIMELINE,%d,WHAT,a,\n", i);
    read_text(&log, text.data);
    assert_int_equal(log.lines_skipped, 3 * WATERFALL_SKIPPED_MAX);
    assert_int_equal(log.skipped[WATERFALL_SKIPPED_MAX - 1].line, WATERFALL_SKIPPED_MAX);
    waterfall_log_free(&log);
    text_free(&text);
}

static void test_a_line_without_end_is_skipped(void **state)
{
    (void)state;
    struct waterfall_log log;
    read_text(&log, "TIMELINE,2,SYNTH_START,a,partition=0\nTIMELINE,3,SYNTH_START,a,partition=1");
    assert_int_equal(log.count, 1);
    assert_int_equal(log.lines_skipped, 1);
    assert_non_null(strstr(log.skipped[0].why, "cut"));
    waterfall_log_free(&log);
}

/* A stream is read in pieces; lines lie across them, and some are longer than any piece. */
static void test_streams_of_any_line_length(void **state)
{
    (void)state;
    struct text text = {0};
    struct cuzk_error err = {0};
    size_t lines = 0;
    for (size_t len = 1; len < 1200000; len = len * 3 + 7) {
        text_add(&text, "TIMELINE,%zu,SYNTH_START,", len);
        for (size_t i = 0; i < len; i++)
            text_add_bytes(&text, "x", 1);
        text_add(&text, ",partition=0\n");
        lines++;
    }
    FILE *stream = tmpfile();
    assert_non_null(stream);
    assert_int_equal(fwrite(text.data, 1, text.len, stream), text.len);
    rewind(stream);
    struct waterfall_log from_stream = {0}, from_bytes;
    assert_ok(waterfall_log_read(&from_stream, stream, &err), err);
    read_text(&from_bytes, text.data);
    assert_int_equal(from_stream.lines_total, lines);
    assert_int_equal(from_stream.count, from_bytes.count);
    assert_int_equal(from_stream.lines_skipped, from_bytes.lines_skipped);
    assert_true(from_stream.lines_skipped > 0);
    waterfall_log_free(&from_stream);
    waterfall_log_free(&from_bytes);
    fclose(stream);
    text_free(&text);
}

static void test_zero_bytes_and_binary(void **state)
{
    (void)state;
    static const char bytes[] = "TIMELINE,1,SYNTH_START,a\0b,partition=0\n\0\xff\xfe\n\n\0";
    struct waterfall_log log = {0};
    struct cuzk_error err = {0};
    assert_ok(waterfall_log_read_bytes(&log, bytes, sizeof bytes - 1, &err), err);
    assert_int_equal(log.count, 1);
    assert_string_equal(label_of(&log, 0), "a?b");
    waterfall_log_free(&log);
}

static void test_the_number_of_events_is_bounded(void **state)
{
    (void)state;
    struct waterfall_log log = {.events_max = 2};
    struct cuzk_error err = {0};
    static const char text[] = "TIMELINE,1,SYNTH_START,a,partition=0\n"
                               "TIMELINE,1,SYNTH_START,a,partition=1\n"
                               "TIMELINE,1,SYNTH_START,a,partition=2\n";
    assert_ok(waterfall_log_read_bytes(&log, text, sizeof text - 1, &err), err);
    assert_int_equal(log.count, 2);
    assert_int_equal(log.lines_skipped, 1);
    assert_non_null(strstr(log.skipped[0].why, "too many"));
    waterfall_log_free(&log);
}

/* What trace_format_line writes, the reader reads. */
static void test_our_lines_are_read_back(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TRACE_KIND_COUNT; kind++) {
        struct trace_record record = {.time_ns = 5000000,
                                      .value = 17,
                                      .partition = 3,
                                      .worker = 1,
                                      .device = 2,
                                      .kind = (uint16_t)kind,
                                      .label = "a, [b]%\n\xc3\xa9",
                                      .text = "kind=too bad"};
        char line[TRACE_LINE_BYTES];
        struct waterfall_log log;
        trace_format_line(&record, kind % 2, line);
        read_text(&log, line);
        if (log.count != 1)
            fail_msg("not read back: %s", line);
        assert_int_equal(log.events[0].kind, kind);
        assert_int_equal(log.events[0].time_us, 5000);
        assert_int_equal(log.events[0].partition, 3);
        assert_string_equal(label_of(&log, 0), record.label);
        if (kind > TRACE_GPU_END && kind != TRACE_CHAN_SEND &&
            kind != TRACE_GPU_PICKUP) { /* the classic ones say less */
            assert_int_equal(log.events[0].value, 17);
            assert_int_equal(log.events[0].device, 2);
            assert_string_equal(strings_get(&log.strings, log.events[0].text), record.text);
        }
        waterfall_log_free(&log);
    }
}

static void test_memory_may_run_out_anywhere(void **state)
{
    (void)state;
    static const char text[] = "TIMELINE,0,ENGINE_START,-,synth_workers=1\n"
                               "TIMELINE,0,RUN_START,r,x=1\n"
                               "TIMELINE,1,JOB_ACCEPTED,a,partitions=1\n"
                               "TIMELINE,1,PARSE_START,a,\n"
                               "TIMELINE,2,PARSE_END,a,\n"
                               "TIMELINE,3,SYNTH_START,a,partition=0\n"
                               "TIMELINE,9,SYNTH_END,a,partition=0,synth_ms=6\n"
                               "TIMELINE,9,CHAN_SEND,a,partition=0\n"
                               "TIMELINE,9,GPU_PICKUP,a,worker=0,partition=0\n"
                               "TIMELINE,9,GPU_START,a,worker=0,partition=0\n"
                               "TIMELINE,12,GPU_END,a,worker=0,partition=0,gpu_ms=3\n"
                               "TIMELINE,13,NTT_END,a,partition=0\nTIMELINE,13,BAD\n";
    size_t used = mem_used_bytes();
    bool done = false;
    for (long after = 0; !done && after < 1000; after++) {
        struct waterfall_log log = {0};
        struct waterfall_report report = {0};
        struct cuzk_error err = {0};
        mem_fail_after(after);
        enum cuzk_status status = waterfall_log_read_bytes(&log, text, sizeof text - 1, &err);
        if (status == CUZK_OK)
            status = waterfall_analyse(&log, NULL, &report, &err);
        mem_fail_after(-1);
        done = status == CUZK_OK;
        assert_true(done || status == CUZK_NO_MEMORY);
        waterfall_report_free(&report);
        waterfall_log_free(&log);
        assert_int_equal(mem_used_bytes(), used);
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_classic_partition),
        cmocka_unit_test(test_a_classic_monolithic_job),
        cmocka_unit_test(test_classic_ids_with_commas),
        cmocka_unit_test(test_prefixes_and_line_ends),
        cmocka_unit_test(test_bad_lines_are_listed),
        cmocka_unit_test(test_more_bad_lines_than_are_listed),
        cmocka_unit_test(test_a_line_without_end_is_skipped),
        cmocka_unit_test(test_streams_of_any_line_length),
        cmocka_unit_test(test_zero_bytes_and_binary),
        cmocka_unit_test(test_the_number_of_events_is_bounded),
        cmocka_unit_test(test_our_lines_are_read_back),
        cmocka_unit_test(test_memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
