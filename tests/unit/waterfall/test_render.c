/* What the pictures and tables say, and that hostile ids stay words in all of them. */
#include "analyse.h"

#include "base/clock.h"
#include "base/mem.h"
#include "waterfall/live.h"
#include "waterfall/render.h"
#include "support/schedule.h"

#include <stdio.h>

/* --- A reader of JSON's grammar, to know that other programs can read it ---------------------- */

static const char *json_value(const char *s);

static const char *json_space(const char *s)
{
    return s ? s + strspn(s, " \t\r\n") : NULL;
}

static const char *json_string(const char *s)
{
    if (*s++ != '"')
        return NULL;
    for (; *s != '"'; s++) {
        if ((unsigned char)*s < 0x20)
            return NULL;
        if (*s == '\\' && !*++s)
            return NULL;
    }
    return s + 1;
}

static const char *json_members(const char *s, char end, bool named)
{
    s = json_space(s + 1);
    if (*s == end)
        return s + 1;
    for (;;) {
        if (named) {
            s = json_space(json_string(json_space(s)));
            if (!s || *s++ != ':')
                return NULL;
        }
        s = json_space(json_value(s));
        if (!s || (*s != ',' && *s != end))
            return NULL;
        if (*s++ == end)
            return s;
    }
}

static const char *json_value(const char *s)
{
    static const char *const words[] = {"true", "false", "null"};
    s = json_space(s);
    if (!s)
        return NULL;
    if (*s == '{' || *s == '[')
        return json_members(s, *s == '{' ? '}' : ']', *s == '{');
    if (*s == '"')
        return json_string(s);
    for (size_t i = 0; i < 3; i++)
        if (strncmp(s, words[i], strlen(words[i])) == 0)
            return s + strlen(words[i]);
    size_t len = strspn(s, "-0123456789.");
    return len ? s + len : NULL;
}

static void assert_is_json(const char *text)
{
    const char *end = json_space(json_value(text));
    assert_non_null(end);
    assert_string_equal(end, "");
}

/* --- Logs ------------------------------------------------------------------------------------- */

static void analyse_model(struct analysed *a, bool damaged)
{
    struct schedule_options options = schedule_defaults(3);
    struct schedule_truth truth;
    struct text log = {0};
    options.label = "c2j4";
    schedule_run(&options, &log, &truth);
    if (damaged)
        text_add(&log,
                 "TIMELINE,1,SYNTH_START,\x1b[31m\"</script>&' =cmd\xff, x,partition=0\n"
                 "TIMELINE,2,SYNTH_END,\x1b[31m\"</script>&' =cmd\xff, x,partition=0,synth_ms=1\n"
                 "TIMELINE,\x1b[2J<b>\n"
                 "TIMELINE,3,RUN_START,<i>\",x=<u>\n");
    analyse_bytes(a, log.data, log.len);
    text_free(&log);
}

static void assert_lines_fit(const char *text, size_t width)
{
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        if (len > width)
            fail_msg("%zu columns: %.*s", len, (int)len, line);
        line += len + (line[len] == '\n');
    }
}

static void test_text_fits_and_has_no_control_characters(void **state)
{
    (void)state;
    for (int damaged = 0; damaged < 2; damaged++) {
        struct analysed a;
        struct text out = {0};
        struct waterfall_style style = {0};
        analyse_model(&a, damaged);
        waterfall_render_text(&a.report, &style, &out);
        assert_lines_fit(out.data, 80);
        for (const char *s = out.data; *s; s++)
            assert_true(*s == '\n' || (*s >= 0x20 && *s < 0x7f));
        assert_non_null(strstr(out.data, damaged ? "Uncertain" : "Confidence"));
        out.len = 0;
        style.width = 200;
        waterfall_render_text(&a.report, &style, &out);
        assert_lines_fit(out.data, 200);
        text_free(&out);
        release_analysed(&a);
    }
}

static void test_colours_only_when_asked(void **state)
{
    (void)state;
    struct analysed a;
    struct text plain = {0}, coloured = {0};
    analyse_model(&a, false);
    waterfall_render_text(&a.report, &(struct waterfall_style){0}, &plain);
    waterfall_render_text(&a.report, &(struct waterfall_style){.colour = true}, &coloured);
    assert_null(strchr(plain.data, '\x1b'));
    assert_non_null(strstr(coloured.data, "\x1b[36m#"));
    text_free(&plain);
    text_free(&coloured);
    release_analysed(&a);
}

static void test_json_has_the_promised_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "\"lines\":{\"total\":", "\"timeline\":",     "\"skipped\":",        "\"runs\":[",
        "\"label\":\"c2j4\"",    "\"start_ms\":0",    "\"end_ms\":",         "\"jobs\":4",
        "\"complete\":4",        "\"incomplete\":0",  "\"devices\":[",       "\"id\":0",
        "\"busy_ms\":",          "\"idle_ms\":",      "\"idle_by_cause\":{", "\"synthesis\":",
        "\"wall_split_ms\":{",   "\"bottleneck\":\"", "\"confidence\":",     "\"text\":\"",
        "\"id\":\"job-3-0\"",    "\"run\":\"c2j4\"",  "\"wall_ms\":",        "\"split_ms\":{",
        "\"partitions\":[",      "\"index\":0",       "\"synth_ms\":",       "\"wait_ms\":",
        "\"device_ms\":",        "\"unpaired\":[",    "\"warnings\":[",
    };
    struct analysed a;
    struct text out = {0};
    struct waterfall_style style = {0};
    analyse_model(&a, false);
    waterfall_render_json(&a.report, &style, &out);
    assert_is_json(out.data);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!strstr(out.data, keys[i]))
            fail_msg("no %s", keys[i]);
    text_free(&out);
    release_analysed(&a);
}

static void test_hostile_ids_stay_words(void **state)
{
    (void)state;
    struct analysed a;
    struct text out = {0};
    struct waterfall_style style = {0};
    analyse_model(&a, true);
    waterfall_render_json(&a.report, &style, &out);
    assert_is_json(out.data);
    out.len = 0;
    waterfall_render_perfetto(&a.report, &style, &out);
    assert_is_json(out.data);
    out.len = 0;
    waterfall_render_html(&a.report, &style, &out);
    assert_null(strstr(out.data, "</script>&'"));
    assert_null(strstr(out.data, "<b>"));
    assert_null(strstr(out.data, "<u>"));
    assert_null(strchr(out.data, '\x1b'));
    assert_non_null(strstr(out.data, "&lt;/script&gt;&amp;&#39; =cmd"));
    text_free(&out);
    release_analysed(&a);
}

static void test_csv_has_a_row_for_each_partition(void **state)
{
    (void)state;
    struct analysed a;
    struct text out = {0};
    struct waterfall_style style = {.job = "job-3-1"};
    analyse_model(&a, false);
    waterfall_render_csv(&a.report, &style, &out);
    size_t rows = 0;
    for (const char *line = out.data; *line; line = strchr(line, '\n') + 1) {
        size_t commas = 0;
        for (const char *s = line; *s != '\n'; s++)
            commas += *s == ',';
        assert_int_equal(commas, 15);
        rows++;
    }
    assert_int_equal(rows, 1 + 3);
    assert_non_null(strstr(out.data, "\n\"c2j4\",\"job-3-1\",0,0,1,"));
    text_free(&out);
    release_analysed(&a);
}

static void test_what_is_not_drawn_is_counted(void **state)
{
    (void)state;
    struct analysed a;
    struct text out = {0};
    struct waterfall_style style = {.jobs_max = 1};
    analyse_model(&a, false);
    waterfall_render_text(&a.report, &style, &out);
    assert_non_null(strstr(out.data, "1 of 4 jobs are shown"));
    out.len = 0;
    waterfall_render_html(&a.report, &style, &out);
    assert_non_null(strstr(out.data, "1 of 4 jobs"));
    text_free(&out);
    release_analysed(&a);
}

static void test_comparison(void **state)
{
    (void)state;
    struct analysed a, b;
    struct text out = {0};
    analyse_model(&a, false);
    analyse_text(&b, "TIMELINE,0,SYNTH_START,a,partition=0\n");
    assert_int_equal(waterfall_render_compare(&a.report, NULL, &a.report, NULL, &out), 1);
    assert_non_null(strstr(out.data, "A: c2j4"));
    assert_non_null(strstr(out.data, "+0.0 %"));
    assert_int_equal(waterfall_render_compare(&a.report, NULL, &b.report, NULL, &out), 1);
    assert_int_equal(waterfall_render_compare(&a.report, "c2j4", &b.report, "none", &out), 0);
    assert_int_equal(waterfall_render_compare(&a.report, "c2j4", &b.report, "1", &out), 1);
    text_free(&out);
    release_analysed(&a);
    release_analysed(&b);
}

static void test_the_live_page(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct trace *trace;
    struct trace_options options = {.fd = -1, .history_events = 100};
    struct text out = {0};
    assert_ok(waterfall_live_page(NULL, &out, &err), err);
    assert_non_null(strstr(out.data, "no run to show"));
    assert_ok(trace_create(&options, &trace, &err), err);
    struct trace_scope scope = {trace, "live-job", 0, 0, 0};
    static const enum trace_kind kinds[] = {TRACE_SYNTH_START, TRACE_SYNTH_END, TRACE_CHAN_SEND,
                                            TRACE_GPU_PICKUP,  TRACE_GPU_START, TRACE_GPU_END};
    uint64_t now = clock_now_ns();
    for (size_t i = 0; i < 6; i++)
        trace_emit_at(&scope, kinds[i], 1, now + i * 1000000);
    out.len = 0;
    assert_ok(waterfall_live_page(trace, &out, &err), err);
    assert_non_null(strstr(out.data, "live-job p0"));
    assert_non_null(strstr(out.data, "Reload every 5 s"));
    assert_non_null(strstr(out.data, "1 complete, 0 incomplete"));
    text_free(&out);
    trace_destroy(trace);
}

static void test_memory_may_run_out_in_a_picture(void **state)
{
    (void)state;
    struct analysed a;
    analyse_model(&a, true);
    size_t used = mem_used_bytes();
    for (long after = 0; after < 60; after++) {
        struct text out = {0};
        struct waterfall_style style = {0};
        mem_fail_after(after);
        waterfall_render_text(&a.report, &style, &out);
        waterfall_render_json(&a.report, &style, &out);
        waterfall_render_perfetto(&a.report, &style, &out);
        waterfall_render_html(&a.report, &style, &out);
        waterfall_render_csv(&a.report, &style, &out);
        waterfall_render_compare(&a.report, NULL, &a.report, NULL, &out);
        mem_fail_after(-1);
        text_free(&out);
        assert_int_equal(mem_used_bytes(), used);
    }
    release_analysed(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_fits_and_has_no_control_characters),
        cmocka_unit_test(test_colours_only_when_asked),
        cmocka_unit_test(test_json_has_the_promised_keys),
        cmocka_unit_test(test_hostile_ids_stay_words),
        cmocka_unit_test(test_csv_has_a_row_for_each_partition),
        cmocka_unit_test(test_what_is_not_drawn_is_counted),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_the_live_page),
        cmocka_unit_test(test_memory_may_run_out_in_a_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
