/* Random schedules with known causes: whole logs give the truth to the millisecond; damaged ones
   still add up, lose nothing silently, and say that they are uncertain. */
#include "analyse.h"

#include "base/mem.h"
#include "waterfall/render.h"
#include "support/schedule.h"

#include <stdlib.h>

enum { ROUNDS = 40 };

static unsigned pick(uint64_t *state, unsigned low, unsigned high)
{
    return low + (unsigned)(schedule_random(state) % (high - low + 1));
}

static struct schedule_options random_options(uint64_t seed)
{
    uint64_t s = seed;
    struct schedule_options o = schedule_defaults(seed);
    o.label = pick(&s, 0, 1) ? "random" : NULL;
    o.jobs = pick(&s, 1, 9);
    o.concurrency = pick(&s, 1, 4);
    o.think = pick(&s, 0, 1) ? 0 : pick(&s, 1, 400);
    o.partitions = pick(&s, 1, 10);
    o.synth_workers = pick(&s, 1, 6);
    o.lookahead = pick(&s, 1, 4);
    o.budget = pick(&s, 0, 2) ? 0 : pick(&s, 1, 5);
    o.devices = pick(&s, 1, 3);
    o.workers_per_device = pick(&s, 1, 3);
    o.parse = pick(&s, 1, 200);
    o.synth = pick(&s, 20, 600);
    o.start = pick(&s, 0, 2) ? 0 : pick(&s, 1, 60);
    o.device = pick(&s, 10, 300);
    o.verify = pick(&s, 1, 50);
    o.jitter = pick(&s, 0, 60);
    o.growth = pick(&s, 0, 10) / 10.0;
    o.offset = pick(&s, 0, 100000);
    return o;
}

static const enum waterfall_cause cause_of[SCHEDULE_CAUSE_COUNT] = {
    [SCHEDULE_LOCK] = WATERFALL_CAUSE_LOCK,     [SCHEDULE_LOOKAHEAD] = WATERFALL_CAUSE_LOOKAHEAD,
    [SCHEDULE_BUDGET] = WATERFALL_CAUSE_BUDGET, [SCHEDULE_SYNTH] = WATERFALL_CAUSE_SYNTH,
    [SCHEDULE_PARSE] = WATERFALL_CAUSE_PARSE,   [SCHEDULE_ADMIT] = WATERFALL_CAUSE_ADMIT,
    [SCHEDULE_REPLY] = WATERFALL_CAUSE_REPLY,   [SCHEDULE_NOTHING] = WATERFALL_CAUSE_NOTHING,
};

static void assert_is_truth(const struct analysed *a, const struct schedule_options *o,
                            const struct schedule_truth *truth)
{
    assert_int_equal(a->log.lines_total, truth->lines);
    assert_int_equal(a->log.lines_skipped, 0);
    assert_int_equal(a->report.run_count, 1);
    const struct waterfall_run *run = &a->report.runs[0];
    assert_true(run->whole);
    assert_int_equal(run->complete, o->jobs);
    assert_int_equal(run->start_us, truth->start * 1000);
    assert_int_equal(run->end_us, truth->end * 1000);
    assert_int_equal(run->device_count, o->devices);
    for (unsigned d = 0; d < o->devices; d++) {
        const struct waterfall_device *device = &run->devices[d];
        assert_int_equal(device->busy_us, truth->busy[d] * 1000);
        for (unsigned c = 0; c < SCHEDULE_CAUSE_COUNT; c++)
            assert_int_equal(device->idle_by_cause_us[cause_of[c]], truth->idle[d][c] * 1000);
    }
    for (size_t j = 0; j < a->report.job_count; j++)
        assert_int_equal(a->report.jobs[j].split_us[WATERFALL_PART_OTHER], 0);
}

static void test_whole_logs_give_the_truth(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct schedule_options options = random_options(seed);
        struct schedule_truth truth;
        struct text log = {0};
        struct analysed a;
        schedule_run(&options, &log, &truth);
        analyse_bytes(&a, log.data, log.len);
        assert_report_adds_up(&a.report);
        assert_is_truth(&a, &options, &truth);
        release_analysed(&a);
        text_free(&log);
    }
}

/* The lines of a log, to damage. */
struct lines {
    const char **at;
    size_t count;
};

static struct lines split_lines(const struct text *log)
{
    struct lines lines = {.at = mem_alloc(log->len + 1, sizeof *lines.at)};
    assert_non_null(lines.at);
    for (const char *at = log->data; *at; at = strchr(at, '\n') + 1)
        lines.at[lines.count++] = at;
    return lines;
}

static void add_line(struct text *out, const char *line)
{
    text_add_bytes(out, line, (size_t)(strchr(line, '\n') - line) + 1);
}

static void test_shuffled_lines_give_the_same_truth(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct schedule_options options = random_options(seed);
        struct schedule_truth truth;
        struct text log = {0}, shuffled = {0};
        struct analysed a;
        uint64_t random = seed;
        options.partitions = 8; /* enough lines for the disorder to be beyond doubt */
        schedule_run(&options, &log, &truth);
        struct lines lines = split_lines(&log);
        for (size_t i = lines.count; i > 1; i--) {
            size_t j = schedule_random(&random) % i;
            const char *line = lines.at[i - 1];
            lines.at[i - 1] = lines.at[j];
            lines.at[j] = line;
        }
        for (size_t i = 0; i < lines.count; i++)
            add_line(&shuffled, lines.at[i]);
        analyse_bytes(&a, shuffled.data, shuffled.len);
        assert_report_adds_up(&a.report);
        assert_false(a.log.ordered);
        const struct waterfall_run *run = &a.report.runs[0];
        assert_int_equal(a.report.run_count, 1);
        assert_false(run->whole);
        assert_non_null(strstr(run->verdict.text.data, "Uncertain"));
        for (unsigned d = 0; d < options.devices; d++)
            assert_int_equal(run->devices[d].busy_us, truth.busy[d] * 1000);
        release_analysed(&a);
        mem_free(lines.at);
        text_free(&log);
        text_free(&shuffled);
    }
}

static void test_doubled_lines_are_counted_and_change_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct schedule_options options = random_options(seed);
        struct schedule_truth truth;
        struct text log = {0}, doubled = {0};
        struct analysed a;
        uint64_t random = seed;
        size_t twice = 0;
        schedule_run(&options, &log, &truth);
        struct lines lines = split_lines(&log);
        for (size_t i = 0; i < lines.count; i++) {
            add_line(&doubled, lines.at[i]);
            if (schedule_random(&random) % 5 == 0) {
                add_line(&doubled, lines.at[i]);
                twice++;
            }
        }
        analyse_bytes(&a, doubled.data, doubled.len);
        assert_report_adds_up(&a.report);
        assert_int_equal(a.log.lines_skipped, twice);
        assert_int_equal(a.report.unpaired_count, 0);
        for (unsigned d = 0; d < options.devices; d++)
            assert_int_equal(a.report.runs[0].devices[d].busy_us, truth.busy[d] * 1000);
        release_analysed(&a);
        mem_free(lines.at);
        text_free(&log);
        text_free(&doubled);
    }
}

/* Whether losing this line must show: ends, starts and hand-overs have partners. */
static bool has_partner(const char *line)
{
    static const char *const pairs[] = {"SYNTH_", "GPU_",         "CHAN_SEND",       "PARSE_",
                                        "QUEUE_", "BUDGET_WAIT_", "LOOKAHEAD_WAIT_", "VERIFY_"};
    const char *event = strchr(strchr(line, ',') + 1, ',') + 1;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strncmp(event, pairs[i], strlen(pairs[i])) == 0)
            return true;
    return false;
}

static void test_a_dropped_line_shows(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct schedule_options options = random_options(seed);
        struct schedule_truth truth;
        struct text log = {0};
        uint64_t random = seed;
        schedule_run(&options, &log, &truth);
        struct lines lines = split_lines(&log);
        for (unsigned n = 0; n < 12; n++) {
            struct text cut = {0};
            struct analysed a;
            size_t without = schedule_random(&random) % lines.count;
            for (size_t i = 0; i < lines.count; i++)
                if (i != without)
                    add_line(&cut, lines.at[i]);
            analyse_bytes(&a, cut.data, cut.len);
            assert_report_adds_up(&a.report);
            if (has_partner(lines.at[without])) {
                assert_true(a.report.unpaired_count > 0);
                assert_false(a.report.runs[0].whole);
                assert_non_null(strstr(a.report.runs[0].verdict.text.data, "Uncertain"));
            }
            release_analysed(&a);
            text_free(&cut);
        }
        mem_free(lines.at);
        text_free(&log);
    }
}

/* Cut anywhere, also in the middle of a line: what was in flight is open-ended and counted. */
static void test_a_cut_log_adds_up_and_says_so(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct schedule_options options = random_options(seed);
        struct schedule_truth truth;
        struct text log = {0};
        uint64_t random = seed;
        options.label = "cut";
        schedule_run(&options, &log, &truth);
        for (unsigned n = 0; n < 12; n++) {
            struct analysed a;
            size_t len = schedule_random(&random) % (log.len - 1); /* without the whole RUN_END */
            analyse_bytes(&a, log.data, len);
            assert_report_adds_up(&a.report);
            for (size_t i = 0; i < a.report.run_count; i++) {
                assert_false(a.report.runs[i].whole);
                assert_non_null(strstr(a.report.runs[i].verdict.text.data, "Uncertain"));
            }
            release_analysed(&a);
        }
        text_free(&log);
    }
}

/* Every kind of damage at once, and bytes that are no lines at all. */
static void test_any_damage_adds_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct schedule_options options = random_options(seed);
        struct schedule_truth truth;
        struct text log = {0}, damaged = {0};
        struct analysed a;
        uint64_t random = seed;
        options.classic = seed % 2;
        schedule_run(&options, &log, &truth);
        struct lines lines = split_lines(&log);
        for (size_t i = 0; i < 2 * lines.count; i++) {
            const char *line = lines.at[schedule_random(&random) % lines.count];
            size_t len = (size_t)(strchr(line, '\n') - line) + 1;
            if (schedule_random(&random) % 8 == 0)
                len = schedule_random(&random) % len;
            text_add_bytes(&damaged, line, len);
        }
        for (unsigned n = 0; n < 40; n++)
            damaged.data[schedule_random(&random) % damaged.len] = (char)schedule_random(&random);
        analyse_bytes(&a, damaged.data, damaged.len);
        assert_report_adds_up(&a.report);
        struct waterfall_style style = {0};
        struct text out = {0};
        waterfall_render_text(&a.report, &style, &out);
        waterfall_render_html(&a.report, &style, &out);
        waterfall_render_json(&a.report, &style, &out);
        waterfall_render_perfetto(&a.report, &style, &out);
        waterfall_render_csv(&a.report, &style, &out);
        assert_false(out.failed);
        text_free(&out);
        release_analysed(&a);
        mem_free(lines.at);
        text_free(&log);
        text_free(&damaged);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_logs_give_the_truth),
        cmocka_unit_test(test_shuffled_lines_give_the_same_truth),
        cmocka_unit_test(test_doubled_lines_are_counted_and_change_nothing),
        cmocka_unit_test(test_a_dropped_line_shows),
        cmocka_unit_test(test_a_cut_log_adds_up_and_says_so),
        cmocka_unit_test(test_any_damage_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
