/* How an engine reports its state: JSON, Prometheus text, timeline. */
#include "support/support.h"
#include "fake_work/fake.h"

#include "base/mem.h"

#include <cuzk/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

/* A name that needs escaping in both formats. */
static const char nasty[] = "wdpost-1000-[1 2 3],\"\\{}é";

static yajl_val parse_json(const char *text)
{
    char error[200];
    yajl_val tree = yajl_tree_parse(text, error, sizeof error);
    if (!tree)
        fail_msg("not JSON: %s in %s", error, text);
    return tree;
}

static yajl_val get(yajl_val tree, const char *a, const char *b)
{
    const char *path[] = {a, b, NULL};
    yajl_val value = yajl_tree_get(tree, path, yajl_t_any);
    if (!value)
        fail_msg("no field %s %s", a, b ? b : "");
    return value;
}

static bool is_text(yajl_val value, const char *expected)
{
    const char *text = YAJL_GET_STRING(value);
    return text && strcmp(text, expected) == 0;
}

static void status_is_json_and_says_what_happens(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 2);
    struct cuzk_engine_options options = {.workers_per_device = 1};
    struct cuzk_engine *engine = fake_engine(&fake, &options);
    struct cuzk_error err;
    char id[CUZK_JOB_ID_BYTES];
    bool attached;
    struct fake_result result;
    fake_hold(&fake, FAKE_PROVE);
    assert_ok(fake_submit(engine, nasty, 'a', 3, CUZK_PRIORITY_NORMAL, id, &attached, &err), err);
    fake_wait_inside(&fake, FAKE_PROVE, 2);
    char *text = cuzk_engine_status_json(engine);
    yajl_val tree = parse_json(text);
    yajl_val jobs = get(tree, "pipelines", NULL);
    assert_int_equal(jobs->u.array.len, 1);
    assert_true(is_text(get(jobs->u.array.values[0], "job_id", NULL), id));
    assert_true(is_text(get(jobs->u.array.values[0], "proof_kind", NULL), "porep_c2"));
    yajl_val parts = get(jobs->u.array.values[0], "partitions", NULL);
    assert_int_equal(parts->u.array.len, 3);
    unsigned on_device = 0;
    for (unsigned p = 0; p < 3; p++)
        on_device += is_text(get(parts->u.array.values[p], "state", NULL), "gpu");
    assert_int_equal(on_device, 2);
    yajl_val workers = get(tree, "gpu_workers", NULL);
    assert_int_equal(workers->u.array.len, 2);
    for (unsigned d = 0; d < 2; d++) {
        yajl_val worker = workers->u.array.values[d];
        assert_true(is_text(get(worker, "state", NULL), "proving"));
        assert_true(is_text(get(worker, "current_job", NULL), id));
        assert_true(is_text(get(worker, "name", NULL), d ? "fake \"1\"" : "fake \"0\""));
    }
    get(tree, "uptime_secs", NULL);
    get(tree, "memory", "available_bytes");
    get(tree, "synthesis", "max_concurrent");
    get(tree, "allocations", "srs");
    get(tree, "counters", "completed_by_kind");
    get(tree, "counters", "queue_depth");
    yajl_tree_free(tree);
    cuzk_text_free(text);
    fake_open(&fake, FAKE_PROVE);
    fake_await(engine, id, 0, &result);
    assert_true(cuzk_engine_wait_idle(engine, 60000));
    /* Nothing is left of a job that is over. */
    text = cuzk_engine_status_json(engine);
    tree = parse_json(text);
    assert_int_equal(get(tree, "pipelines", NULL)->u.array.len, 0);
    assert_int_equal(YAJL_GET_INTEGER(get(tree, "synthesis", "active")), 0);
    assert_int_equal(YAJL_GET_INTEGER(get(tree, "counters", "total_completed")), 1);
    assert_true(
        is_text(get(get(tree, "gpu_workers", NULL)->u.array.values[0], "state", NULL), "idle"));
    yajl_tree_free(tree);
    cuzk_text_free(text);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

/* --- Prometheus ------------------------------------------------------------------------------- */

static bool is_name(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz_0123456789", text[i]))
            return false;
    return len > 5 && memcmp(text, "cuzk_", 5) == 0;
}

/* The metric that a series belongs to: histograms have three series each. */
static void base_name(const char *series, char *out, size_t out_bytes)
{
    static const char *const endings[] = {"_bucket", "_sum", "_count"};
    snprintf(out, out_bytes, "%.*s", (int)strcspn(series, "{ "), series);
    for (unsigned i = 0; i < 3; i++) {
        size_t len = strlen(out);
        size_t ending = strlen(endings[i]);
        if (len > ending && strncmp(out, "cuzk_proof_duration_seconds", 27) == 0 &&
            strcmp(out + len - ending, endings[i]) == 0)
            out[len - ending] = '\0';
    }
}

static void check_line(const char *line, char *current, size_t current_bytes)
{
    char name[200];
    if (strncmp(line, "# HELP ", 7) == 0) {
        snprintf(current, current_bytes, "%.*s", (int)strcspn(line + 7, " "), line + 7);
        assert_true(strlen(line + 7) > strlen(current) + 5);
        return;
    }
    if (strncmp(line, "# TYPE ", 7) == 0) {
        assert_memory_equal(line + 7, current, strlen(current));
        const char *type = line + 8 + strlen(current);
        assert_true(strcmp(type, "counter") == 0 || strcmp(type, "gauge") == 0 ||
                    strcmp(type, "histogram") == 0);
        return;
    }
    base_name(line, name, sizeof name);
    assert_true(is_name(name, strlen(name)));
    assert_string_equal(name, current); /* HELP and TYPE came right before */
    const char *value = strrchr(line, ' ');
    char *end;
    assert_non_null(value);
    strtod(value + 1, &end);
    assert_true(*end == '\0' && end != value + 1);
}

static void check_metrics(const char *text)
{
    char current[200] = "";
    char line[1000];
    size_t len = strlen(text);
    assert_int_equal(text[len - 1], '\n');
    for (const char *at = text; *at;) {
        size_t line_len = strcspn(at, "\n");
        assert_true(line_len < sizeof line);
        memcpy(line, at, line_len);
        line[line_len] = '\0';
        check_line(line, current, sizeof current);
        /* A series occurs once. */
        char series[1000];
        snprintf(series, sizeof series, "\n%.*s ", (int)(strrchr(line, ' ') - line), line);
        const char *first = line[0] == '#' ? NULL : strstr(text, series);
        assert_true(!first || !strstr(first + 1, series));
        at += line_len + 1;
    }
}

static void metrics_are_prometheus_text(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 2);
    struct cuzk_engine *engine = fake_engine(&fake, &(struct cuzk_engine_options){0});
    struct cuzk_error err;
    char id[CUZK_JOB_ID_BYTES];
    bool attached;
    struct fake_result result;
    char *text = cuzk_engine_metrics_text(engine);
    check_metrics(text);
    cuzk_text_free(text);
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(fake_submit(engine, nasty, (char)('a' + i), 3, 0, id, &attached, &err), err);
        fake_await(engine, id, 0, &result);
    }
    fake.parse_status = CUZK_INVALID_ARGUMENT;
    assert_ok(fake_submit(engine, nasty, 'x', 3, 0, id, &attached, &err), err);
    fake_await(engine, id, 0, &result);
    text = cuzk_engine_metrics_text(engine);
    check_metrics(text);
    static const char *const lines[] = {
        "\ncuzk_proofs_completed_total 3\n",
        "\ncuzk_proofs_failed_total 1\n",
        "\ncuzk_proofs_completed{proof_kind=\"porep_c2\"} 3\n",
        "\ncuzk_proof_duration_seconds_count{proof_kind=\"porep_c2\"} 3\n",
        "\ncuzk_proof_duration_seconds_bucket{proof_kind=\"porep_c2\",le=\"+Inf\"} 3\n",
        "\ncuzk_queue_depth 0\n",
        "\ncuzk_running_jobs 0\n",
        "\ncuzk_gpu_workers 2\n",
        "\ncuzk_uptime_seconds ",
        "\ncuzk_partitions_proved_total 9\n",
        "\ncuzk_srs_loaded_bytes{circuit=\"fake-0\"} 1000\n",
        "device=\"1\",name=\"fake \\\"1\\\"\"",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(text, lines[i]))
            fail_msg("no line %s in %s", lines[i], text);
    cuzk_text_free(text);
    cuzk_engine_close(engine);
    fake_destroy(&fake);
}

/* --- Timeline --------------------------------------------------------------------------------- */

static unsigned count_events(const struct trace_record *records, size_t n, enum trace_kind kind,
                             int partition)
{
    unsigned count = 0;
    for (size_t i = 0; i < n; i++)
        count += records[i].kind == kind && records[i].partition == partition;
    return count;
}

/* One partition on the device, one in the channel, one that finds it full. */
static void wait_until_blocked(struct cuzk_engine *engine)
{
    for (unsigned waiting = 0; waiting < 2;) {
        struct cuzk_snapshot snapshot;
        struct cuzk_error err;
        assert_ok(cuzk_engine_snapshot(engine, &snapshot, &err), err);
        waiting = 0;
        for (unsigned p = 0; p < snapshot.jobs[0].n_partitions; p++)
            waiting += strcmp(snapshot.jobs[0].partitions[p].state, "synth_done") == 0;
        cuzk_snapshot_free(&snapshot);
    }
}

static void every_step_is_in_the_timeline(void **state)
{
    (void)state;
    struct fake fake;
    fake_init(&fake, 1);
    struct trace *trace;
    struct cuzk_error err;
    struct trace_options recording = {.fd = -1, .history_events = 4096};
    assert_ok(trace_create(&recording, &trace, &err), err);
    struct cuzk_engine_options options = {.trace = trace};
    struct cuzk_engine *engine = fake_engine(&fake, &options);
    char id[CUZK_JOB_ID_BYTES];
    bool attached;
    struct fake_result result;
    fake_hold(&fake, FAKE_PROVE);
    assert_ok(fake_submit(engine, "x", 'a', 4, 0, id, &attached, &err), err);
    fake_wait_inside(&fake, FAKE_PROVE, 1);
    wait_until_blocked(engine);
    fake_open(&fake, FAKE_PROVE);
    fake_await(engine, id, 0, &result);
    assert_true(cuzk_engine_wait_idle(engine, 60000));
    cuzk_engine_close(engine);
    trace_flush(trace);
    struct trace_record *records;
    size_t n;
    assert_ok(trace_history(trace, &records, &n, &err), err);
    static const enum trace_kind of_job[] = {
        TRACE_JOB_ACCEPTED, TRACE_QUEUE_START,    TRACE_QUEUE_END,    TRACE_PARSE_START,
        TRACE_PARSE_END,    TRACE_VERIFY_START,   TRACE_VERIFY_END,   TRACE_JOB_DONE,
        TRACE_ENGINE_START, TRACE_SRS_LOAD_START, TRACE_SRS_LOAD_END,
    };
    for (size_t i = 0; i < sizeof of_job / sizeof *of_job; i++)
        assert_int_equal(count_events(records, n, of_job[i], -1), 1);
    static const enum trace_kind of_partition[] = {
        TRACE_SYNTH_START, TRACE_SYNTH_END,    TRACE_CHAN_SEND,
        TRACE_GPU_PICKUP,  TRACE_VERIFY_START, TRACE_VERIFY_END,
    };
    for (int p = 0; p < 4; p++)
        for (size_t i = 0; i < sizeof of_partition / sizeof *of_partition; i++)
            assert_int_equal(count_events(records, n, of_partition[i], p), 1);
    unsigned blocked = 0;
    for (int p = 0; p < 4; p++) {
        blocked += count_events(records, n, TRACE_LOOKAHEAD_WAIT_START, p);
        assert_int_equal(count_events(records, n, TRACE_LOOKAHEAD_WAIT_START, p),
                         count_events(records, n, TRACE_LOOKAHEAD_WAIT_END, p));
    }
    assert_true(blocked >= 1);
    mem_free(records);
    trace_destroy(trace);
    fake_destroy(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_is_json_and_says_what_happens),
        cmocka_unit_test(metrics_are_prometheus_text),
        cmocka_unit_test(every_step_is_in_the_timeline),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
