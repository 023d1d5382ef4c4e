/* Any bytes as a log, which is read, analysed and rendered. The first byte chooses the renderer,
   and whether the log is read twice, like a log that was collected twice. */
#include "fuzz.h"

#include "base/check.h"
#include "waterfall/analyse.h"
#include "waterfall/render.h"

static void check_sums(const struct waterfall_report *report)
{
    for (size_t i = 0; i < report->run_count; i++) {
        const struct waterfall_run *run = &report->runs[i];
        int64_t path = run->path_nothing_us;
        for (size_t d = 0; d < run->device_count; d++) {
            int64_t time = run->devices[d].busy_us;
            for (size_t c = 0; c < WATERFALL_CAUSE_COUNT; c++)
                time += run->devices[d].idle_by_cause_us[c];
            CHECK(time == run->end_us - run->start_us);
        }
        for (size_t p = 0; p < WATERFALL_PART_COUNT; p++)
            path += run->path_us[p];
        CHECK(run->job_count == 0 || path == run->end_us - run->start_us);
    }
    for (size_t j = 0; j < report->job_count; j++) {
        int64_t split = 0;
        for (size_t p = 0; p < WATERFALL_PART_COUNT; p++)
            split += report->jobs[j].split_us[p];
        CHECK(split == report->jobs[j].end_us - report->jobs[j].start_us);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const renderers[])(const struct waterfall_report *,
                                     const struct waterfall_style *, struct text *) = {
        waterfall_render_text,     waterfall_render_html, waterfall_render_json,
        waterfall_render_perfetto, waterfall_render_csv,
    };
    struct waterfall_log log = {0};
    struct waterfall_report report = {0};
    struct text out = {0};
    struct cuzk_error err = {0};
    struct waterfall_style style = {.colour = true, .job = "a"};
    if (size == 0)
        return 0;
    const char *text = (const char *)(data + 1);
    CHECK(waterfall_log_read_bytes(&log, text, size - 1, &err) == CUZK_OK);
    if (data[0] & 0x80)
        CHECK(waterfall_log_read_bytes(&log, text, size - 1, &err) == CUZK_OK);
    CHECK(log.count + log.lines_skipped == log.lines_timeline);
    CHECK(waterfall_analyse(&log, NULL, &report, &err) == CUZK_OK);
    check_sums(&report);
    if (data[0] & 0x40)
        style.job = NULL;
    renderers[(data[0] & 0x3f) % ARRAY_LEN(renderers)](&report, &style, &out);
    if (data[0] & 0x20)
        waterfall_render_compare(&report, NULL, &report, NULL, &out);
    CHECK(!out.failed);
    text_free(&out);
    waterfall_report_free(&report);
    waterfall_log_free(&log);
    return 0;
}
