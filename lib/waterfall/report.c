/* The analysis as a whole, and what its steps share. */
#include "waterfall/steps.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define X(name, json, words) json,
static const char *const part_names[] = {WATERFALL_PART_MAP(X)};
static const char *const cause_names[] = {WATERFALL_CAUSE_MAP(X)};
#undef X
#define X(name, json, words) words,
static const char *const part_words[] = {WATERFALL_PART_MAP(X)};
static const char *const cause_words[] = {WATERFALL_CAUSE_MAP(X)};
#undef X

#define X(name, json) json,
static const char *const phase_names[] = {WATERFALL_PHASE_MAP(X)};
#undef X

const char *waterfall_phase_name(enum waterfall_phase phase)
{
    CHECK((unsigned)phase < WATERFALL_PHASE_COUNT);
    return phase_names[phase];
}

const char *waterfall_part_name(enum waterfall_part part)
{
    CHECK((unsigned)part < WATERFALL_PART_COUNT);
    return part_names[part];
}

const char *waterfall_part_words(enum waterfall_part part)
{
    CHECK((unsigned)part < WATERFALL_PART_COUNT);
    return part_words[part];
}

const char *waterfall_cause_name(enum waterfall_cause cause)
{
    CHECK((unsigned)cause < WATERFALL_CAUSE_COUNT);
    return cause_names[cause];
}

const char *waterfall_cause_words(enum waterfall_cause cause)
{
    CHECK((unsigned)cause < WATERFALL_CAUSE_COUNT);
    return cause_words[cause];
}

int64_t detail_number(const char *details, const char *key)
{
    size_t len = strlen(key);
    for (const char *at = details; (at = strstr(at, key)); at += len) {
        bool begins = at == details || at[-1] == ',';
        if (!begins || at[len] != '=')
            continue;
        int64_t number = 0;
        const char *digit = at + len + 1;
        if (*digit < '0' || *digit > '9')
            return WATERFALL_NONE;
        for (; *digit >= '0' && *digit <= '9' && number < INT64_C(1000000000000); digit++)
            number = number * 10 + (*digit - '0');
        return number;
    }
    return WATERFALL_NONE;
}

bool report_reserve(void **array, size_t *capacity, size_t needed, size_t size)
{
    return mem_reserve(array, capacity, needed, size);
}

bool report_warn(struct waterfall_report *report, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    struct text warning = {0};
    text_add(&warning, "%s", line);
    if (!warning.failed &&
        REPORT_APPEND(report->warnings, report->warning_count, report->warning_capacity, warning))
        return true;
    text_free(&warning);
    return false;
}

static bool warn_of_log(struct waterfall_report *report)
{
    const struct waterfall_log *log = report->log;
    bool ok = true;
    if (log->lines_skipped)
        ok = report_warn(report, "%llu TIMELINE lines could not be used",
                         (unsigned long long)log->lines_skipped);
    if (ok && log->dropped)
        ok = report_warn(report, "the daemon lost %llu events before they could be written",
                         (unsigned long long)log->dropped);
    if (ok && !log->ordered)
        ok = report_warn(report, "the lines are out of order: they were sorted by offset, and "
                                 "restarts of the daemon cannot be told");
    return ok;
}

static bool warn_of_pairs(struct waterfall_report *report)
{
    size_t incomplete = 0, repeated = 0;
    for (size_t i = 0; i < report->job_count; i++) {
        incomplete += !report->jobs[i].complete;
        repeated += report->jobs[i].instance > 0;
    }
    bool ok = true;
    if (report->unpaired_count)
        ok = report_warn(report, "%zu events have no partner", report->unpaired_count);
    if (ok && incomplete)
        ok = report_warn(report, "%zu of %zu jobs are incomplete", incomplete, report->job_count);
    if (ok && repeated)
        ok = report_warn(report, "%zu jobs used the id of an earlier job again", repeated);
    if (ok && report->requests_without_job)
        ok = report_warn(report, "%zu requests never became jobs", report->requests_without_job);
    return ok;
}

enum cuzk_status waterfall_analyse(struct waterfall_log *log,
                                   const struct waterfall_options *options,
                                   struct waterfall_report *report, struct cuzk_error *err)
{
    *report = (struct waterfall_report){.log = log};
    TRY(waterfall_log_order(log, err));
    TRY(report_pair(report, err));
    TRY(report_find_runs(report, options, err));
    report_split_jobs(report);
    if (!warn_of_log(report) || !warn_of_pairs(report))
        return error_set(err, CUZK_NO_MEMORY, "no memory for the report's warnings");
    for (size_t i = 0; i < report->run_count; i++) {
        TRY(report_sweep(report, &report->runs[i], err));
        TRY(report_measure(report, &report->runs[i], err));
        TRY(report_find_path(report, &report->runs[i], err));
    }
    TRY(report_find_growth(report, err));
    for (size_t i = 0; i < report->run_count; i++) {
        report_judge(report, &report->runs[i]);
        if (report->runs[i].verdict.text.failed)
            return error_set(err, CUZK_NO_MEMORY, "no memory for a verdict");
    }
    return CUZK_OK;
}

static void free_run(struct waterfall_run *run)
{
    text_free(&run->label);
    text_free(&run->config);
    text_free(&run->verdict.text);
    for (size_t i = 0; i < run->device_count; i++)
        mem_free(run->devices[i].stretches);
    mem_free(run->devices);
    mem_free(run->path);
}

void waterfall_report_free(struct waterfall_report *report)
{
    for (size_t i = 0; i < report->run_count; i++)
        free_run(&report->runs[i]);
    for (size_t i = 0; i < report->warning_count; i++)
        text_free(&report->warnings[i]);
    mem_free(report->runs);
    mem_free(report->jobs);
    mem_free(report->partitions);
    mem_free(report->intervals);
    mem_free(report->job_intervals);
    mem_free(report->unpaired);
    mem_free(report->warnings);
    *report = (struct waterfall_report){0};
}
