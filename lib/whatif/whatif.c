#include "whatif/whatif.h"

#include "whatif/replay.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/number.h"
#include "waterfall/analyse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Knobs ------------------------------------------------------------------------------------ */

#define PHASE_MAP(X)                                                                               \
    X(RECEIVE, "receive")                                                                          \
    X(PARSE, "parse")                                                                              \
    X(SYNTH, "synth")                                                                              \
    X(DEVICE, "device")                                                                            \
    X(FINISH, "finish")                                                                            \
    X(VERIFY, "verify")                                                                            \
    X(LOAD, "load")

enum phase {
#define X(name, text) PHASE_##name,
    PHASE_MAP(X)
#undef X
        PHASES
};

static const char *const phase_names[] = {
#define X(name, text) text,
    PHASE_MAP(X)
#undef X
};

struct knobs {
    struct whatif_settings settings; /* 0: as it was */
    bool as_recorded;                /* jobs=recorded */
    double faster[PHASES];
};

enum { SYNTHESIS_MAX = 1024, LOOKAHEAD_MAX = 1000000, WORKERS_MAX = 64, JOBS_MAX = 100000 };

static enum cuzk_status take_faster(const char *value, struct knobs *knobs, struct cuzk_error *err)
{
    const char *colon = strchr(value, ':');
    size_t len = colon ? (size_t)(colon - value) : 0;
    char *end = NULL;
    double factor = colon ? strtod(colon + 1, &end) : 0;
    for (size_t p = 0; p < PHASES; p++) {
        if (len != strlen(phase_names[p]) || memcmp(value, phase_names[p], len) != 0)
            continue;
        if (end == colon + 1 || *end || !(factor >= 0.001 && factor <= 1000))
            break;
        knobs->faster[p] *= factor;
        return CUZK_OK;
    }
    return error_set(err, CUZK_INVALID_ARGUMENT,
                     "what-if: faster=%s: expected PHASE:FACTOR, a phase of receive, parse, synth, "
                     "device, finish, verify, load and a factor from 0.001 to 1000",
                     value);
}

static enum cuzk_status take_knob(const char *key, const char *value, struct knobs *knobs,
                                  struct cuzk_error *err)
{
    const struct {
        const char *key;
        unsigned *value;
        unsigned max;
    } numbers[] = {
        {"synth", &knobs->settings.synthesis_workers, SYNTHESIS_MAX},
        {"lookahead", &knobs->settings.lookahead, LOOKAHEAD_MAX},
        {"devices", &knobs->settings.devices, PIPELINE_DEVICES_MAX},
        {"workers", &knobs->settings.workers_per_device, WORKERS_MAX},
        {"jobs", &knobs->settings.in_flight, JOBS_MAX},
    };
    if (strcmp(key, "faster") == 0)
        return take_faster(value, knobs, err);
    if (strcmp(key, "jobs") == 0 && strcmp(value, "recorded") == 0) {
        knobs->as_recorded = true;
        return CUZK_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        if (strcmp(key, numbers[i].key) != 0)
            continue;
        uint64_t number;
        if (!number_parse(value, 1, numbers[i].max, &number))
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "what-if: %s=%s: expected a number from 1 to %u", key, value,
                             numbers[i].max);
        *numbers[i].value = (unsigned)number;
        return CUZK_OK;
    }
    return error_set(err, CUZK_INVALID_ARGUMENT,
                     "what-if: '%s': expected synth=, lookahead=, devices=, workers=, jobs= or "
                     "faster=PHASE:FACTOR",
                     key);
}

static enum cuzk_status parse_knobs(const char *text, struct knobs *knobs, struct cuzk_error *err)
{
    *knobs = (struct knobs){0};
    for (size_t p = 0; p < PHASES; p++)
        knobs->faster[p] = 1;
    while (*text) {
        char pair[64];
        size_t len = strcspn(text, ",");
        if (len >= sizeof pair)
            return error_set(err, CUZK_INVALID_ARGUMENT, "what-if: '%.64s': too long", text);
        memcpy(pair, text, len);
        pair[len] = '\0';
        char *equals = strchr(pair, '=');
        if (equals)
            *equals = '\0';
        TRY(take_knob(pair, equals ? equals + 1 : "", knobs, err));
        text += len + (text[len] == ',');
    }
    return CUZK_OK;
}

/* --- The run as it was ------------------------------------------------------------------------ */

/* A setting in the details of a run; 0: not there. */
static unsigned find_setting(const char *config, const char *key)
{
    int64_t number = waterfall_log_detail(config, key);
    return number < 0 ? 0 : number < JOBS_MAX ? (unsigned)number : JOBS_MAX;
}

static unsigned at_least_one(unsigned value)
{
    return value ? value : 1;
}

/* How far the device's spans overlap; at least 1. */
static double overlap_of(const struct waterfall_run *run, int32_t device)
{
    for (size_t d = 0; d < run->device_count; d++) {
        const struct waterfall_device *at = &run->devices[d];
        if (at->id == device && at->busy_us > 0 && at->spans_us > at->busy_us)
            return (double)at->spans_us / (double)at->busy_us;
    }
    return 1;
}

/* A mean number of jobs above this share of the highest shows a client that answers each end with a
   new request. */
#define CLOSED_LOOP 0.7

/* GPU spans that overlap by more than this show more than one worker on a device. */
#define OVERLAP_OF_WORKERS 1.05

/* Jobs that the client kept in flight; 0: they came by themselves. The Rust cuzk does not
   record when a request comes: if its log shows a closed loop, all other jobs were waiting. */
static unsigned find_in_flight(const struct waterfall_report *report,
                               const struct waterfall_run *run)
{
    bool arrivals_known = false;
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++)
        arrivals_known |= report->jobs[j].accepted_us >= 0;
    if (run->jobs_level.mean <= CLOSED_LOOP * run->jobs_level.max)
        return 0;
    return arrivals_known ? run->jobs_level.max : (unsigned)run->job_count;
}

static void find_settings(const struct waterfall_report *report, const struct waterfall_run *run,
                          struct whatif_settings *out)
{
    const char *config = run->config.data ? run->config.data : "";
    bool overlaps = false;
    for (size_t d = 0; d < run->device_count; d++)
        overlaps |= overlap_of(run, run->devices[d].id) > OVERLAP_OF_WORKERS;
    *out = (struct whatif_settings){
        .synthesis_workers = find_setting(config, "synth_workers"),
        .lookahead = find_setting(config, "lookahead"),
        .devices = find_setting(config, "devices"),
        .workers_per_device = find_setting(config, "workers_per_device"),
        .in_flight = find_setting(config, "concurrency"),
    };
    if (!out->synthesis_workers)
        out->synthesis_workers = at_least_one(run->synth_level.max);
    if (!out->lookahead)
        out->lookahead = at_least_one(run->ready_level.max);
    if (!out->devices || out->devices > PIPELINE_DEVICES_MAX)
        out->devices = at_least_one((unsigned)run->device_count);
    if (!out->workers_per_device)
        out->workers_per_device = overlaps ? 2 : 1;
    if (!out->in_flight)
        out->in_flight = find_in_flight(report, run);
}

/* --- The plan --------------------------------------------------------------------------------- */

/* Moments, in order. */
struct moments {
    int64_t *us;
    size_t count;
};

struct draft {
    const struct waterfall_report *report;
    const struct waterfall_run *run;
    struct replay_job *jobs;
    struct replay_partition *partitions;
    size_t n_jobs, n_partitions;
    unsigned left_out;
    uint64_t load_us;
    struct moments starts, ends; /* of syntheses */
    struct moments walls;        /* times of the jobs, in order once all are there */
};

static int compare_moments(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* How many moments are not after t. */
static size_t count_until(const struct moments *moments, int64_t t)
{
    size_t low = 0, high = moments->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (moments->us[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t duration_us(int64_t start_us, int64_t end_us)
{
    return start_us >= 0 && end_us > start_us ? (uint64_t)(end_us - start_us) : 0;
}

static void find_syntheses(struct draft *draft)
{
    const struct waterfall_run *run = draft->run;
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++) {
        const struct waterfall_job *job = &draft->report->jobs[j];
        for (size_t i = job->partitions; i < job->partitions + job->partition_count; i++) {
            const struct waterfall_partition *p = &draft->report->partitions[i];
            if (!p->complete)
                continue;
            draft->starts.us[draft->starts.count++] = p->synth_start_us;
            draft->ends.us[draft->ends.count++] = p->synth_end_us;
        }
    }
    qsort(draft->starts.us, draft->starts.count, sizeof *draft->starts.us, compare_moments);
    qsort(draft->ends.us, draft->ends.count, sizeof *draft->ends.us, compare_moments);
}

/* Whether all partitions of a job have been through the device. A job that failed after that did
   its work all the same, as all jobs of a daemon on the sim backend do. */
static bool did_its_work(const struct waterfall_report *report, const struct waterfall_job *job)
{
    size_t done = 0;
    for (size_t i = 0; i < job->partition_count; i++) {
        const struct waterfall_partition *p = &report->partitions[job->partitions + i];
        bool latest = i + 1 == job->partition_count || p[1].index != p->index;
        if (latest && !p->complete)
            return false;
        done += latest;
    }
    return done > 0 && (job->partitions_expected == 0 || done == job->partitions_expected);
}

/* Adds the latest attempt at each partition. Spans that overlap on a device contain waiting for the
   device, so they are shortened by their overlap. */
static void add_partitions(struct draft *draft, const struct waterfall_job *job,
                           struct replay_job *to)
{
    to->first = draft->n_partitions;
    for (size_t i = 0; i < job->partition_count; i++) {
        const struct waterfall_partition *p = &draft->report->partitions[job->partitions + i];
        bool latest = i + 1 == job->partition_count || p[1].index != p->index;
        if (!latest)
            continue;
        double device_us = (double)duration_us(p->gpu_start_us, p->gpu_end_us);
        draft->partitions[draft->n_partitions++] = (struct replay_partition){
            .synth_us = duration_us(p->synth_start_us, p->synth_end_us),
            .device_us = (uint64_t)(device_us / overlap_of(draft->run, p->device)),
            .synth_level = (double)(count_until(&draft->starts, p->synth_start_us) -
                                    count_until(&draft->ends, p->synth_start_us)),
        };
    }
    to->n_partitions = (unsigned)(draft->n_partitions - to->first);
}

static void add_intervals(struct draft *draft, size_t job, struct replay_job *to)
{
    const struct waterfall_report *report = draft->report;
    for (size_t i = report->job_intervals[job]; i < report->job_intervals[job + 1]; i++) {
        const struct waterfall_interval *interval = &report->intervals[i];
        uint64_t us = duration_us(interval->start_us, interval->end_us);
        bool of_partition =
            interval->partition >= 0 && (unsigned)interval->partition < to->n_partitions;
        struct replay_partition *p =
            &draft->partitions[to->first + (of_partition ? (size_t)interval->partition : 0)];
        if (interval->span == TRACE_SPAN_PARSE)
            to->parse_us += us;
        else if (interval->span == TRACE_SPAN_FINISH)
            p->finish_us = us;
        else if (interval->span == TRACE_SPAN_VERIFY && of_partition)
            p->verify_us = us;
        else if (interval->span == TRACE_SPAN_VERIFY)
            to->verify_us += us;
    }
}

static void add_job(struct draft *draft, size_t index)
{
    const struct waterfall_job *job = &draft->report->jobs[index];
    struct replay_job to = {
        .arrival_us = duration_us(draft->run->start_us, job->start_us),
        .receive_us = duration_us(job->start_us, job->accepted_us),
    };
    if (!did_its_work(draft->report, job)) {
        draft->left_out++;
        return;
    }
    add_partitions(draft, job, &to);
    add_intervals(draft, index, &to);
    draft->walls.us[draft->walls.count++] = job->end_us - job->start_us;
    draft->jobs[draft->n_jobs++] = to;
}

/* Loading parameters belongs to no job. The times of several circuits add up. */
static void add_loading(struct draft *draft)
{
    const struct waterfall_report *report = draft->report;
    const struct waterfall_run *run = draft->run;
    for (size_t i = report->job_intervals[report->job_count]; i < report->interval_count; i++) {
        const struct waterfall_interval *interval = &report->intervals[i];
        if (interval->span == TRACE_SPAN_SRS_LOAD && interval->epoch == run->epoch &&
            interval->start_us >= run->start_us && interval->end_us <= run->end_us)
            draft->load_us += duration_us(interval->start_us, interval->end_us);
    }
}

static enum cuzk_status make_draft(struct draft *draft, struct cuzk_error *err)
{
    const struct waterfall_run *run = draft->run;
    size_t n_partitions = 0;
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++)
        n_partitions += draft->report->jobs[j].partition_count;
    draft->jobs = mem_alloc(run->job_count, sizeof *draft->jobs);
    draft->partitions = mem_alloc(n_partitions, sizeof *draft->partitions);
    draft->starts.us = mem_alloc(n_partitions, sizeof *draft->starts.us);
    draft->ends.us = mem_alloc(n_partitions, sizeof *draft->ends.us);
    draft->walls.us = mem_alloc(run->job_count, sizeof *draft->walls.us);
    if (!draft->jobs || !draft->partitions || !draft->starts.us || !draft->ends.us ||
        !draft->walls.us)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a replay of %zu partitions",
                         n_partitions);
    find_syntheses(draft);
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++)
        add_job(draft, j);
    qsort(draft->walls.us, draft->walls.count, sizeof *draft->walls.us, compare_moments);
    add_loading(draft);
    if (draft->n_jobs == 0)
        return error_set(err, CUZK_FAILED_PRECONDITION,
                         "what-if: run %s has no job with all its partitions to replay",
                         run->label.data);
    return CUZK_OK;
}

static void free_draft(struct draft *draft)
{
    mem_free(draft->jobs);
    mem_free(draft->partitions);
    mem_free(draft->starts.us);
    mem_free(draft->ends.us);
    mem_free(draft->walls.us);
}

static void divide_time(uint64_t *us, double factor)
{
    *us = (uint64_t)((double)*us / factor);
}

static void apply_faster(struct draft *draft, const double faster[PHASES])
{
    for (size_t j = 0; j < draft->n_jobs; j++) {
        divide_time(&draft->jobs[j].receive_us, faster[PHASE_RECEIVE]);
        divide_time(&draft->jobs[j].parse_us, faster[PHASE_PARSE]);
        divide_time(&draft->jobs[j].verify_us, faster[PHASE_VERIFY]);
    }
    for (size_t i = 0; i < draft->n_partitions; i++) {
        divide_time(&draft->partitions[i].synth_us, faster[PHASE_SYNTH]);
        divide_time(&draft->partitions[i].device_us, faster[PHASE_DEVICE]);
        divide_time(&draft->partitions[i].finish_us, faster[PHASE_FINISH]);
        divide_time(&draft->partitions[i].verify_us, faster[PHASE_VERIFY]);
    }
    divide_time(&draft->load_us, faster[PHASE_LOAD]);
}

static void apply_settings(const struct knobs *knobs, const struct whatif_settings *was,
                           struct whatif_settings *then)
{
    const struct whatif_settings *s = &knobs->settings;
    *then = (struct whatif_settings){
        .synthesis_workers = s->synthesis_workers ? s->synthesis_workers : was->synthesis_workers,
        .lookahead = s->lookahead ? s->lookahead : was->lookahead,
        .devices = s->devices ? s->devices : was->devices,
        .workers_per_device =
            s->workers_per_device ? s->workers_per_device : was->workers_per_device,
        .in_flight = s->in_flight         ? s->in_flight
                     : knobs->as_recorded ? 0
                                          : was->in_flight,
    };
}

/* --- Replaying -------------------------------------------------------------------------------- */

static void fill_figures(const struct waterfall_run *run, struct whatif_figures *out)
{
    double busy = 0, time = (double)(run->end_us - run->start_us);
    for (size_t d = 0; d < run->device_count; d++)
        busy += (double)run->devices[d].busy_us;
    *out = (struct whatif_figures){
        .wall_s = time / 1e6,
        .proofs_per_minute = time > 0 ? (double)run->complete * 60e6 / time : 0,
        .proof_p50_s = (double)run->wall.p50 / 1e6,
        .proof_p95_s = (double)run->wall.p95 / 1e6,
        .device_busy = time > 0 ? busy / (time * at_least_one((unsigned)run->device_count)) : 0,
        .bottleneck = waterfall_bottleneck_name(run->verdict.bottleneck),
    };
}

/* The measured run, of the jobs that are replayed. */
static void fill_measured(const struct draft *draft, struct whatif_figures *out)
{
    const struct moments *walls = &draft->walls;
    fill_figures(draft->run, out);
    out->proofs_per_minute = out->wall_s > 0 ? (double)draft->n_jobs * 60 / out->wall_s : 0;
    out->proof_p50_s = (double)walls->us[(walls->count - 1) / 2] / 1e6;
    out->proof_p95_s = (double)walls->us[(walls->count * 95 + 99) / 100 - 1] / 1e6;
}

static enum cuzk_status replay_draft(const struct draft *draft,
                                     const struct whatif_settings *settings,
                                     struct whatif_figures *out, char verdict[1024],
                                     struct cuzk_error *err)
{
    const struct waterfall_run *run = draft->run;
    const struct replay_plan plan = {
        .limits = {.synthesis_concurrency = settings->synthesis_workers,
                   .lookahead = settings->lookahead,
                   .n_devices = settings->devices,
                   .workers_per_device = settings->workers_per_device},
        .jobs = draft->jobs,
        .n_jobs = draft->n_jobs,
        .partitions = draft->partitions,
        .n_partitions = draft->n_partitions,
        .in_flight = settings->in_flight,
        .load_us = draft->load_us,
        .growth = run->synth_growth_known ? run->synth_growth : 0,
    };
    struct waterfall_log log = {0};
    struct waterfall_report report = {0};
    enum cuzk_status status = replay_run(&plan, "what-if", &log, err);
    if (status == CUZK_OK)
        status = waterfall_analyse(&log, NULL, &report, err);
    if (status == CUZK_OK) {
        CHECK(report.run_count == 1);
        fill_figures(&report.runs[0], out);
        snprintf(verdict, 1024, "%s", report.runs[0].verdict.text.data);
    }
    waterfall_report_free(&report);
    waterfall_log_free(&log);
    return status;
}

enum cuzk_status whatif_run(const struct waterfall_report *report, size_t run, const char *text,
                            struct whatif_answer *out, struct cuzk_error *err)
{
    struct knobs knobs;
    struct draft draft = {.report = report, .run = &report->runs[run]};
    CHECK(run < report->run_count);
    *out = (struct whatif_answer){0};
    TRY(parse_knobs(text, &knobs, err));
    enum cuzk_status status = make_draft(&draft, err);
    if (status == CUZK_OK) {
        out->jobs = (unsigned)draft.n_jobs;
        out->partitions = (unsigned)draft.n_partitions;
        out->left_out = draft.left_out;
        fill_measured(&draft, &out->measured);
        find_settings(report, draft.run, &out->was);
        apply_settings(&knobs, &out->was, &out->then);
        status = replay_draft(&draft, &out->was, &out->replayed, out->verdict, err);
    }
    if (status == CUZK_OK) {
        apply_faster(&draft, knobs.faster);
        status = replay_draft(&draft, &out->then, &out->predicted, out->verdict, err);
    }
    free_draft(&draft);
    return status;
}
