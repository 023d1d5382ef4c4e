/* Recording: the lines that operators' scripts read, order, loss, and that it is cheap. */
#include "support/support.h"

#include "base/clock.h"
#include "base/mem.h"
#include "trace/event.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct trace *start(int fd, uint32_t ring_events, uint32_t history_events)
{
    struct cuzk_error err = {0};
    struct trace *trace;
    struct trace_options options = {
        .fd = fd, .ring_events = ring_events, .history_events = history_events};
    assert_ok(trace_create(&options, &trace, &err), err);
    return trace;
}

static void assert_line(struct trace_record record, bool say_gpu_queue, const char *expected)
{
    char line[TRACE_LINE_BYTES];
    assert_int_equal(trace_format_line(&record, say_gpu_queue, line), strlen(expected));
    assert_string_equal(line, expected);
}

static struct trace_record record_of(enum trace_kind kind, const char *label)
{
    struct trace_record record = {.time_ns = 182034999999,
                                  .value = 4262,
                                  .partition = 3,
                                  .worker = 1,
                                  .device = 0,
                                  .kind = (uint16_t)kind};
    snprintf(record.label, sizeof record.label, "%s", label);
    return record;
}

/* docs/spec/formats.md, section 4: exactly these, whatever else the event knows. */
static void test_classic_lines_are_as_they_were(void **state)
{
    (void)state;
    struct trace_record r = record_of(TRACE_SYNTH_START, "id");
    r.value = -1;
    assert_line(r, false, "TIMELINE,182034,SYNTH_START,id,partition=3\n");
    r.partition = -1;
    snprintf(r.text, sizeof r.text, "%s", "kind=winning-post");
    assert_line(r, false, "TIMELINE,182034,SYNTH_START,id,kind=winning-post\n");
    assert_line(record_of(TRACE_SYNTH_END, "id"), false,
                "TIMELINE,182034,SYNTH_END,id,partition=3,synth_ms=4262\n");
    r = record_of(TRACE_CHAN_SEND, "id");
    r.value = -1;
    assert_line(r, false, "TIMELINE,182034,CHAN_SEND,id,partition=3\n");
    assert_line(r, true, "TIMELINE,182034,GPU_QUEUE,id,partition=3\n");
    r.partition = -1;
    assert_line(r, true, "TIMELINE,182034,GPU_QUEUE,id,monolithic\n");
    r = record_of(TRACE_GPU_PICKUP, "id");
    r.value = -1;
    assert_line(r, false, "TIMELINE,182034,GPU_PICKUP,id,worker=1,partition=3\n");
    r.kind = TRACE_GPU_START;
    assert_line(r, false, "TIMELINE,182034,GPU_START,id,worker=1,partition=3\n");
    assert_line(record_of(TRACE_GPU_END, "id"), false,
                "TIMELINE,182034,GPU_END,id,worker=1,partition=3,gpu_ms=4262\n");
}

static void test_further_lines_name_the_device(void **state)
{
    (void)state;
    assert_line(record_of(TRACE_NTT_END, "id"), false,
                "TIMELINE,182034,NTT_END,id,worker=1,partition=3,device=0,us=4262\n");
    struct trace_record r = record_of(TRACE_RUN_START, "c5 j5");
    r.value = r.partition = r.worker = r.device = -1;
    snprintf(r.text, sizeof r.text, "%s", "concurrency=5\ncount=5");
    assert_line(r, false, "TIMELINE,182034,RUN_START,c5 j5,concurrency=5%0Acount=5\n");
}

/* A job id cannot break a line, nor write on the terminal of who reads the log. */
static void test_ids_are_escaped(void **state)
{
    (void)state;
    static const char *const ids[][2] = {
        {"wdpost [7] 3", "wdpost [7] 3"},
        {"a,b", "a%2Cb"},
        {"a%2Cb", "a%252Cb"},
        {"a\nTIMELINE,1", "a%0ATIMELINE%2C1"},
        {"\x1b[31m", "%1B[31m"},
        {"\xc3\xa9", "%C3%A9"},
        {"", "-"},
        {"-", "%2D"},
        {"\x7f", "%7F"},
    };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        char expected[128];
        struct trace_record r = record_of(TRACE_CHAN_SEND, ids[i][0]);
        r.value = -1;
        snprintf(expected, sizeof expected, "TIMELINE,182034,CHAN_SEND,%s,partition=3\n",
                 ids[i][1]);
        assert_line(r, false, expected);
    }
}

static void test_the_longest_line_fits(void **state)
{
    (void)state;
    struct trace_record r = record_of(TRACE_BUDGET_WAIT_END, "");
    memset(r.label, 0xff, sizeof r.label - 1);
    memset(r.text, '\n', sizeof r.text - 1);
    r.time_ns = r.value = INT64_MAX;
    r.partition = r.worker = r.device = INT32_MAX;
    char line[TRACE_LINE_BYTES];
    assert_true(trace_format_line(&r, false, line) < TRACE_LINE_BYTES);
}

static void test_names_are_read_back(void **state)
{
    (void)state;
    enum trace_kind kind;
    for (unsigned k = 0; k < TRACE_KIND_COUNT; k++) {
        const char *name = trace_kind_name((enum trace_kind)k);
        assert_true(trace_kind_parse(name, strlen(name), &kind));
        assert_int_equal(kind, k);
    }
    assert_true(trace_kind_parse("GPU_QUEUE", 9, &kind));
    assert_int_equal(kind, TRACE_CHAN_SEND);
    assert_false(trace_kind_parse("SYNTH", 5, &kind));
    assert_false(trace_kind_parse("", 0, &kind));
}

static void test_no_timeline_is_off(void **state)
{
    (void)state;
    struct trace_record *records;
    size_t count = 1;
    struct cuzk_error err = {0};
    struct trace_scope scope = TRACE_SCOPE(NULL, "job");
    trace_emit(&scope, TRACE_SYNTH_START, -1);
    trace_emit_text(&scope, TRACE_JOB_FAILED, -1, "reason=x");
    trace_emit_at(&scope, TRACE_NTT_START, -1, 1);
    trace_flush(NULL);
    assert_int_equal(trace_dropped(NULL), 0);
    assert_ok(trace_history(NULL, &records, &count, &err), err);
    assert_null(records);
    assert_int_equal(count, 0);
    trace_destroy(NULL);
}

static void test_history_has_what_was_emitted(void **state)
{
    (void)state;
    struct trace *trace = start(-1, 0, 4);
    struct trace_record *records;
    size_t count;
    struct cuzk_error err = {0};
    struct trace_scope scope = {trace, "job", 2, 1, 0};
    uint64_t before = clock_now_ns();
    for (int64_t i = 0; i < 6; i++)
        trace_emit_text(&scope, TRACE_RETRY, i, "reason=x");
    trace_emit_at(&scope, TRACE_MSM_H_START, 7, before);
    assert_ok(trace_history(trace, &records, &count, &err), err);
    assert_int_equal(count, 4); /* the latest; the mapped one is the earliest of those flushed */
    assert_int_equal(records[3].value, 5);
    assert_int_equal(records[3].kind, TRACE_RETRY);
    assert_int_equal(records[3].partition, 2);
    assert_string_equal(records[3].label, "job");
    assert_string_equal(records[3].text, "reason=x");
    for (size_t i = 1; i < count; i++)
        assert_true(records[i - 1].time_ns <= records[i].time_ns);
    mem_free(records);
    trace_destroy(trace);
}

static void test_long_labels_stay_distinct(void **state)
{
    (void)state;
    struct trace *trace = start(-1, 0, 8);
    struct trace_record *records;
    size_t count;
    struct cuzk_error err = {0};
    char label[400];
    memset(label, 'x', sizeof label);
    label[sizeof label - 1] = '\0';
    struct trace_scope scope = TRACE_SCOPE(trace, label);
    trace_emit(&scope, TRACE_JOB_DONE, -1);
    label[sizeof label - 2] = 'y';
    trace_emit(&scope, TRACE_JOB_DONE, -1);
    assert_ok(trace_history(trace, &records, &count, &err), err);
    assert_int_equal(count, 2);
    assert_int_equal(strlen(records[0].label), TRACE_LABEL_BYTES - 1);
    assert_memory_equal(records[0].label, records[1].label, 60);
    assert_string_not_equal(records[0].label, records[1].label);
    mem_free(records);
    trace_destroy(trace);
}

enum { THREADS = 4, EVENTS = 1500 };

struct emitter {
    struct trace *trace;
    int32_t number;
};

static void *emit_many(void *argument)
{
    const struct emitter *emitter = argument;
    struct trace_scope scope = {emitter->trace, "job", 0, emitter->number, 0};
    for (int64_t i = 0; i < EVENTS; i++)
        trace_emit(&scope, TRACE_RETRY, i);
    return NULL;
}

/* Several rounds of threads: rings of ended threads are used again; no event is lost or out of
   order. */
static void test_threads_write_whole_lines_in_order(void **state)
{
    (void)state;
    char path[] = "/tmp/cuzk-timeline-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct trace *trace = start(fd, 8192, 0); /* one ring may serve a whole round */
    for (int round = 0; round < 3; round++) {
        pthread_t threads[THREADS];
        struct emitter emitters[THREADS];
        for (int32_t i = 0; i < THREADS; i++) {
            emitters[i] = (struct emitter){trace, round * THREADS + i};
            assert_int_equal(pthread_create(&threads[i], NULL, emit_many, &emitters[i]), 0);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        trace_flush(trace);
    }
    assert_int_equal(trace_dropped(trace), 0);
    trace_destroy(trace);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    long long next[3 * THREADS] = {0}, lines = 0, offset, last = 0, value;
    int worker;
    char line[TRACE_LINE_BYTES];
    while (fgets(line, sizeof line, file)) {
        assert_int_equal(sscanf(line,
                                "TIMELINE,%lld,RETRY,job,worker=%d,partition=0,device=0,"
                                "value=%lld\n",
                                &offset, &worker, &value),
                         3);
        assert_true(offset >= last);
        assert_int_equal(value, next[worker]++);
        last = offset;
        lines++;
    }
    assert_int_equal(lines, 3 * THREADS * EVENTS);
    fclose(file);
    close(fd);
    unlink(path);
}

/* A small ring overflows while nobody drains it fast enough; the loss is exact and reported. */
static void test_losses_are_counted_and_reported(void **state)
{
    (void)state;
    struct trace *trace = start(-1, 2, 200000);
    struct trace_record *records;
    size_t count;
    struct cuzk_error err = {0};
    struct trace_scope scope = TRACE_SCOPE(trace, "job");
    enum { EMITTED = 50000 };
    for (int64_t i = 0; i < EMITTED; i++)
        trace_emit(&scope, TRACE_RETRY, i);
    assert_ok(trace_history(trace, &records, &count, &err), err);
    uint64_t kept = 0, reported = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].kind == TRACE_DROPPED)
            reported += (uint64_t)records[i].value;
        else
            kept++;
    }
    assert_true(trace_dropped(trace) > 0);
    assert_int_equal(reported, trace_dropped(trace));
    assert_int_equal(kept + reported, EMITTED);
    mem_free(records);
    trace_destroy(trace);
}

static void test_a_closed_reader_does_no_harm(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct trace *trace = start(ends[1], 0, 8);
    close(ends[0]);
    struct trace_scope scope = TRACE_SCOPE(trace, "job");
    trace_emit(&scope, TRACE_JOB_DONE, 1);
    trace_flush(trace);
    trace_destroy(trace);
    close(ends[1]);
}

static void test_creation_fails_cleanly(void **state)
{
    (void)state;
    struct trace *trace;
    struct cuzk_error err = {0};
    struct trace_options options = {.fd = -1, .ring_events = 3, .history_events = 10};
    assert_int_equal(trace_create(&options, &trace, &err), CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "power of two"));
    options.ring_events = 4;
    size_t used = mem_used_bytes();
    for (long after = 0; after < 3; after++) {
        mem_fail_after(after);
        enum cuzk_status status = trace_create(&options, &trace, &err);
        mem_fail_after(-1);
        assert_int_equal(status, CUZK_NO_MEMORY);
        assert_int_equal(mem_used_bytes(), used);
    }
}

/* Without memory for its ring a thread's events are lost, counted, and nothing else happens. */
static void test_no_memory_for_a_ring(void **state)
{
    (void)state;
    struct trace *trace = start(-1, 0, 8);
    struct trace_scope scope = TRACE_SCOPE(trace, "job");
    mem_fail_after(0);
    trace_emit(&scope, TRACE_JOB_DONE, 1);
    mem_fail_after(-1);
    assert_int_equal(trace_dropped(trace), 1);
    trace_destroy(trace);
}

/* A span is a start and an end that carries its length in the unit of its key. */
static void test_spans(void **state)
{
    (void)state;
    struct trace *trace = start(-1, 0, 16);
    struct trace_scope scope = TRACE_SCOPE(trace, "job");
    struct trace_record *records;
    struct cuzk_error err = {0};
    size_t count;
    const uint64_t begun_ns = trace_begin(&scope, TRACE_SPAN_SYNTH);
    trace_end(&scope, TRACE_SPAN_SYNTH, 7);
    const uint64_t took_ns = trace_end_timed(&scope, TRACE_SPAN_GPU, begun_ns - 5000000);
    trace_span_at(&scope, TRACE_SPAN_EVAL, begun_ns, begun_ns + 3999999);
    trace_flush(trace);
    assert_ok(trace_history(trace, &records, &count, &err), err);
    static const enum trace_kind kinds[] = {TRACE_SYNTH_START, TRACE_SYNTH_END, TRACE_GPU_END,
                                            TRACE_EVAL_START, TRACE_EVAL_END};
    assert_int_equal(count, sizeof kinds / sizeof *kinds);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct trace_record *found = NULL;
        for (size_t i = 0; i < count && !found; i++)
            found = records[i].kind == kinds[k] ? &records[i] : NULL;
        assert_non_null(found);
        const int64_t values[] = {-1, 7, (int64_t)(took_ns / 1000000), -1, 3999};
        assert_int_equal(found->value, values[k]);
    }
    assert_true(took_ns >= 5000000);
    mem_free(records);
    trace_destroy(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classic_lines_are_as_they_were),
        cmocka_unit_test(test_further_lines_name_the_device),
        cmocka_unit_test(test_ids_are_escaped),
        cmocka_unit_test(test_the_longest_line_fits),
        cmocka_unit_test(test_names_are_read_back),
        cmocka_unit_test(test_no_timeline_is_off),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_history_has_what_was_emitted),
        cmocka_unit_test(test_long_labels_stay_distinct),
        cmocka_unit_test(test_threads_write_whole_lines_in_order),
        cmocka_unit_test(test_losses_are_counted_and_reported),
        cmocka_unit_test(test_a_closed_reader_does_no_harm),
        cmocka_unit_test(test_creation_fails_cleanly),
        cmocka_unit_test(test_no_memory_for_a_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
