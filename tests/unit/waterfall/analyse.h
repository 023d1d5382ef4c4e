/* Analysing a log that a test has as text. */
#ifndef TESTS_UNIT_TIMELINE_ANALYSE_H
#define TESTS_UNIT_TIMELINE_ANALYSE_H

#include "support/support.h"
#include "waterfall/analyse.h"

#include <string.h>

struct analysed {
    struct waterfall_log log;
    struct waterfall_report report;
};

static inline void analyse_bytes(struct analysed *a, const char *bytes, size_t len)
{
    struct cuzk_error err = {0};
    *a = (struct analysed){0};
    assert_ok(waterfall_log_read_bytes(&a->log, bytes, len, &err), err);
    assert_ok(waterfall_analyse(&a->log, NULL, &a->report, &err), err);
}

static inline void analyse_text(struct analysed *a, const char *text)
{
    analyse_bytes(a, text, strlen(text));
}

static inline void release_analysed(struct analysed *a)
{
    waterfall_report_free(&a->report);
    waterfall_log_free(&a->log);
}

/* What must hold of any report, whatever the log was. */
static inline void assert_report_adds_up(const struct waterfall_report *report)
{
    for (size_t i = 0; i < report->run_count; i++) {
        const struct waterfall_run *run = &report->runs[i];
        int64_t time = run->end_us - run->start_us, path = run->path_nothing_us;
        assert_true(time >= 0);
        for (size_t d = 0; d < run->device_count; d++) {
            const struct waterfall_device *device = &run->devices[d];
            int64_t idle = 0, at = run->start_us;
            for (size_t c = 0; c < WATERFALL_CAUSE_COUNT; c++)
                idle += device->idle_by_cause_us[c];
            assert_int_equal(idle, device->idle_us);
            assert_int_equal(device->busy_us + device->idle_us, time);
            for (size_t s = 0; s < device->stretch_count; s++) {
                assert_int_equal(device->stretches[s].start_us, at);
                at = device->stretches[s].end_us;
            }
            assert_int_equal(at, time ? run->end_us : run->start_us);
        }
        for (size_t p = 0; p < WATERFALL_PART_COUNT; p++)
            path += run->path_us[p];
        if (run->job_count)
            assert_int_equal(path, time);
        assert_true(run->verdict.confidence >= 0 && run->verdict.confidence <= 1);
        assert_int_equal(run->complete + run->incomplete, run->job_count);
    }
    for (size_t j = 0; j < report->job_count; j++) {
        int64_t split = 0, path = 0;
        for (size_t p = 0; p < WATERFALL_PART_COUNT; p++) {
            split += report->jobs[j].split_us[p];
            path += report->jobs[j].path_us[p];
        }
        assert_int_equal(path, split);
        assert_true(report->jobs[j].path_others_us <= path);
        assert_int_equal(split, report->jobs[j].end_us - report->jobs[j].start_us);
    }
}

#endif
