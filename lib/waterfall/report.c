#include "waterfall/report.h"

#include "base/check.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

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

static const char *const bottleneck_names[] = {
    [WATERFALL_BOUND_UNKNOWN] = "unknown",     [WATERFALL_BOUND_DEVICE] = "device",
    [WATERFALL_BOUND_SYNTHESIS] = "synthesis", [WATERFALL_BOUND_CONTENTION] = "contention",
    [WATERFALL_BOUND_LOOKAHEAD] = "lookahead", [WATERFALL_BOUND_BUDGET] = "memory_budget",
    [WATERFALL_BOUND_SRS] = "srs_load",        [WATERFALL_BOUND_PARSE] = "parse",
    [WATERFALL_BOUND_ADMISSION] = "admission", [WATERFALL_BOUND_FINISH] = "finish",
    [WATERFALL_BOUND_DISPATCH] = "dispatch",   [WATERFALL_BOUND_CLIENT] = "client",
};

const char *waterfall_bottleneck_name(enum waterfall_bottleneck bottleneck)
{
    CHECK((unsigned)bottleneck < ARRAY_LEN(bottleneck_names));
    return bottleneck_names[bottleneck];
}

bool waterfall_report_warn(struct waterfall_report *report, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    struct text warning = {0};
    text_add(&warning, "%s", line);
    if (warning.failed ||
        !MEM_GROW(report->warnings, report->warning_capacity, report->warning_count + 1)) {
        text_free(&warning);
        return false;
    }
    report->warnings[report->warning_count++] = warning;
    return true;
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
