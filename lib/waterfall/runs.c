/* Separating runs, and putting jobs, partitions and intervals in order beneath them. */
#include "waterfall/runs.h"

#include "base/error.h"
#include "base/mem.h"
#include "waterfall/strings.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_GAP_US = 10000000, DEFAULT_WORKERS_PER_DEVICE = 2 };

/* --- Order ------------------------------------------------------------------------------------ */

static int compare_partitions(const void *a, const void *b)
{
    const struct waterfall_partition *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

static int64_t begin_of(const struct waterfall_interval *interval)
{
    return interval->start_us >= 0 ? interval->start_us : interval->end_us;
}

/* Intervals without a job come last, by epoch. */
static int compare_intervals(const void *a, const void *b)
{
    const struct waterfall_interval *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    return (begin_of(x) > begin_of(y)) - (begin_of(x) < begin_of(y));
}

/* A request that was received but neither accepted nor worked on is no job: what is recorded of it
   stays as intervals without job. */
static enum cuzk_status dissolve_requests(struct waterfall_report *report, struct cuzk_error *err)
{
    uint32_t *place = mem_zalloc(report->job_count, sizeof *place);
    if (!place)
        return error_set(err, CUZK_NO_MEMORY, "no memory to order the log's jobs");
    for (size_t i = 0; i < report->partition_count; i++)
        place[report->partitions[i].job] = 1;
    size_t kept = 0;
    for (size_t i = 0; i < report->job_count; i++) {
        const struct waterfall_job *job = &report->jobs[i];
        bool keep = place[i] || job->accepted_us >= 0 || job->outcome != WATERFALL_OUTCOME_UNSAID;
        place[i] = keep ? (uint32_t)kept : WATERFALL_NO_JOB;
        if (keep)
            report->jobs[kept++] = *job;
    }
    report->requests_without_job = report->job_count - kept;
    report->job_count = kept;
    for (size_t i = 0; i < report->partition_count; i++)
        report->partitions[i].job = place[report->partitions[i].job];
    for (size_t i = 0; i < report->interval_count; i++)
        if (report->intervals[i].job != WATERFALL_NO_JOB)
            report->intervals[i].job = place[report->intervals[i].job];
    for (size_t i = 0; i < report->unpaired_count; i++)
        if (report->unpaired[i].job != WATERFALL_NO_JOB)
            report->unpaired[i].job = place[report->unpaired[i].job];
    mem_free(place);
    return CUZK_OK;
}

/* Whole: the latest attempt at each partition is complete, none is missing in the count. */
static void judge_completeness(const struct waterfall_report *report, struct waterfall_job *job)
{
    int64_t next = 0;
    uint32_t distinct = 0;
    job->first_synth_us = WATERFALL_NONE;
    job->complete = job->partition_count > 0 && job->outcome != WATERFALL_OUTCOME_FAILED &&
                    job->outcome != WATERFALL_OUTCOME_CANCELLED;
    for (size_t i = 0; i < job->partition_count; i++) {
        const struct waterfall_partition *p = &report->partitions[job->partitions + i];
        bool latest = i + 1 == job->partition_count || p[1].index != p->index;
        bool whole_job = p->index == WATERFALL_NONE;
        int64_t start = p->synth_start_us;
        if (start >= 0 && (job->first_synth_us < 0 || start < job->first_synth_us))
            job->first_synth_us = start;
        if (!latest && !whole_job)
            continue;
        if (!p->complete || (!whole_job && p->index != next))
            job->complete = false;
        if (!whole_job)
            next = (int64_t)p->index + 1;
        distinct++;
    }
    if (job->partitions_expected && distinct != job->partitions_expected)
        job->complete = false;
}

static enum cuzk_status order_report(struct waterfall_report *report, struct cuzk_error *err)
{
    if (report->partition_count)
        qsort(report->partitions, report->partition_count, sizeof *report->partitions,
              compare_partitions);
    if (report->interval_count)
        qsort(report->intervals, report->interval_count, sizeof *report->intervals,
              compare_intervals);
    report->job_intervals = mem_alloc(report->job_count + 1, sizeof *report->job_intervals);
    if (!report->job_intervals)
        return error_set(err, CUZK_NO_MEMORY, "no memory to order the log's jobs");
    size_t partition = 0, interval = 0;
    for (size_t i = 0; i < report->job_count; i++) {
        struct waterfall_job *job = &report->jobs[i];
        job->partitions = partition;
        while (partition < report->partition_count && report->partitions[partition].job == i)
            partition++;
        job->partition_count = partition - job->partitions;
        report->job_intervals[i] = interval;
        while (interval < report->interval_count && report->intervals[interval].job == i)
            interval++;
        judge_completeness(report, job);
    }
    report->job_intervals[report->job_count] = interval;
    return CUZK_OK;
}

/* --- Runs ------------------------------------------------------------------------------------- */

/* Labelled stretches of the log, in order. A stretch that another one begins in ends there. */
struct labels {
    struct waterfall_run *runs;
    size_t count, capacity;
};

static bool add_label(struct labels *labels, const struct waterfall_log *log,
                      const struct waterfall_event *event)
{
    struct waterfall_run run = {.labelled = true,
                                .open = true,
                                .epoch = event->epoch,
                                .start_us = event->time_us,
                                .end_us = event->time_us};
    text_add(&run.label, "%s", strings_get(&log->strings, event->label));
    text_add(&run.config, "%s", strings_get(&log->strings, event->text));
    if (run.label.failed || run.config.failed ||
        !MEM_GROW(labels->runs, labels->capacity, labels->count + 1)) {
        text_free(&run.label);
        text_free(&run.config);
        return false;
    }
    labels->runs[labels->count++] = run;
    return true;
}

static bool find_labels(const struct waterfall_log *log, struct labels *labels)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct waterfall_event *event = &log->events[i];
        struct waterfall_run *last = labels->count ? &labels->runs[labels->count - 1] : NULL;
        bool inside = last && last->open && last->epoch == event->epoch;
        if (inside)
            last->end_us = event->time_us;
        if (event->kind == TRACE_RUN_START && !add_label(labels, log, event))
            return false;
        if (event->kind == TRACE_RUN_END && inside)
            last->open = false;
        /* An open stretch that is followed by another one is over where that begins. */
        if (event->kind == TRACE_RUN_START && inside)
            labels->runs[labels->count - 2].open = false;
    }
    return true;
}

static bool add_unlabelled(struct waterfall_report *report, const struct waterfall_job *job)
{
    struct waterfall_run run = {
        .epoch = job->epoch, .start_us = job->start_us, .end_us = job->end_us};
    text_add(&run.label, "%zu", report->run_count + 1);
    if (run.label.failed || !MEM_GROW(report->runs, report->run_capacity, report->run_count + 1)) {
        text_free(&run.label);
        return false;
    }
    report->runs[report->run_count++] = run;
    return true;
}

/* Moves the labelled run into the report; its texts go with it. */
static bool add_labelled(struct waterfall_report *report, struct labels *labels, size_t *next)
{
    struct waterfall_run *from = &labels->runs[*next];
    if (!MEM_GROW(report->runs, report->run_capacity, report->run_count + 1))
        return false;
    report->runs[report->run_count++] = *from;
    from->label = from->config = (struct text){0};
    (*next)++;
    return true;
}

static bool is_before(const struct waterfall_run *run, const struct waterfall_job *job)
{
    return run->epoch < job->epoch || (run->epoch == job->epoch && run->start_us <= job->start_us);
}

/* Jobs are in order of epoch and start. Each belongs to the labelled stretch in which it starts;
   the others form runs that restarts and quiet times separate. */
static bool assign_jobs(struct waterfall_report *report, struct labels *labels, int64_t gap_us)
{
    size_t next = 0;
    for (size_t i = 0; i < report->job_count; i++) {
        struct waterfall_job *job = &report->jobs[i];
        while (next < labels->count && is_before(&labels->runs[next], job)) {
            if (report->run_count)
                report->runs[report->run_count - 1].job_count =
                    i - report->runs[report->run_count - 1].jobs;
            if (!add_labelled(report, labels, &next))
                return false;
            report->runs[report->run_count - 1].jobs = i;
        }
        struct waterfall_run *run = report->run_count ? &report->runs[report->run_count - 1] : NULL;
        bool fits =
            run && run->epoch == job->epoch &&
            (run->labelled ? job->start_us <= run->end_us : job->start_us - run->end_us < gap_us);
        if (!fits) {
            if (run)
                run->job_count = i - run->jobs;
            if (!add_unlabelled(report, job))
                return false;
            run = &report->runs[report->run_count - 1];
            run->jobs = i;
        }
        job->run = (uint32_t)(run - report->runs);
        if (!run->labelled && job->end_us > run->end_us)
            run->end_us = job->end_us;
    }
    if (report->run_count)
        report->runs[report->run_count - 1].job_count =
            report->job_count - report->runs[report->run_count - 1].jobs;
    while (next < labels->count) {
        if (!add_labelled(report, labels, &next))
            return false;
        report->runs[report->run_count - 1].jobs = report->job_count;
    }
    return true;
}

/* --- Devices ---------------------------------------------------------------------------------- */

enum { WORKERS_MAX = 1024 };

/* What the events of an epoch say about its workers and settings. */
struct setup {
    int32_t device_of[WORKERS_MAX]; /* WATERFALL_NONE: not said */
    int64_t workers_per_device, synth_workers;
    const char *config;
    bool said;
};

static void learn_setup(const struct waterfall_log *log, size_t *next, uint32_t epoch,
                        struct setup *setup)
{
    *setup = (struct setup){
        .workers_per_device = WATERFALL_NONE, .synth_workers = WATERFALL_NONE, .config = ""};
    for (size_t i = 0; i < WORKERS_MAX; i++)
        setup->device_of[i] = WATERFALL_NONE;
    for (; *next < log->count && log->events[*next].epoch <= epoch; (*next)++) {
        const struct waterfall_event *event = &log->events[*next];
        if (event->epoch < epoch)
            continue;
        if (event->worker >= 0 && event->worker < WORKERS_MAX && event->device >= 0) {
            setup->device_of[event->worker] = event->device;
            setup->said = true;
        }
        if (event->kind == TRACE_ENGINE_START) {
            setup->config = strings_get(&log->strings, event->text);
            setup->workers_per_device = waterfall_log_detail(setup->config, "workers_per_device");
            setup->synth_workers = waterfall_log_detail(setup->config, "synth_workers");
        }
    }
}

static struct waterfall_device *find_device(struct waterfall_run *run, int32_t id)
{
    for (size_t i = 0; i < run->device_count; i++)
        if (run->devices[i].id == id)
            return &run->devices[i];
    return NULL;
}

enum { DEVICES_MAX = 256 };

/* Keeps the devices by id; false without memory. More than DEVICES_MAX are no real machine's. */
static bool add_device(struct waterfall_run *run, int32_t id)
{
    if (id < 0 || run->device_count == DEVICES_MAX || find_device(run, id))
        return true;
    struct waterfall_device *grown =
        mem_realloc(run->devices, run->device_count + 1, sizeof *run->devices);
    if (!grown)
        return false;
    run->devices = grown;
    size_t at = run->device_count++;
    for (; at > 0 && grown[at - 1].id > id; at--)
        grown[at] = grown[at - 1];
    grown[at] = (struct waterfall_device){.id = id, .phases_us = WATERFALL_NONE};
    return true;
}

static int32_t guess_device(const struct setup *setup, int32_t worker, int32_t workers_per_device)
{
    if (worker < 0)
        return WATERFALL_NONE;
    if (worker < WORKERS_MAX && setup->device_of[worker] >= 0)
        return setup->device_of[worker];
    return worker / workers_per_device;
}

static bool place_run(struct waterfall_report *report, struct waterfall_run *run,
                      const struct setup *setup, int32_t workers_per_device, int32_t *top_guess)
{
    for (size_t i = 0; i < WORKERS_MAX; i++)
        if (!add_device(run, setup->device_of[i]))
            return false;
    run->synth_workers = setup->synth_workers;
    text_add(&run->config, "%s%s", run->config.len && *setup->config ? "," : "", setup->config);
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++) {
        const struct waterfall_job *job = &report->jobs[j];
        run->complete += job->complete;
        run->incomplete += !job->complete;
        for (size_t p = job->partitions; p < job->partitions + job->partition_count; p++) {
            struct waterfall_partition *partition = &report->partitions[p];
            if (partition->device < 0) {
                partition->device = guess_device(setup, partition->worker, workers_per_device);
                if (!setup->said && partition->device > *top_guess)
                    *top_guess = partition->device;
            }
            if (!add_device(run, partition->device))
                return false;
        }
    }
    return !run->config.failed;
}

static bool place_devices(struct waterfall_report *report, int32_t workers_per_device)
{
    struct setup setup = {0};
    size_t next = 0;
    int64_t learned = WATERFALL_NONE;
    int32_t top_guess = 0, workers = DEFAULT_WORKERS_PER_DEVICE;
    for (size_t r = 0; r < report->run_count; r++) {
        struct waterfall_run *run = &report->runs[r];
        if (learned != run->epoch) {
            learn_setup(report->log, &next, run->epoch, &setup);
            learned = run->epoch;
        }
        if (setup.workers_per_device > 0 && setup.workers_per_device <= WORKERS_MAX)
            workers = (int32_t)setup.workers_per_device;
        if (workers_per_device > 0)
            workers = workers_per_device;
        if (!place_run(report, run, &setup, workers, &top_guess))
            return false;
    }
    for (size_t i = 0; i < report->unpaired_count; i++)
        if (report->unpaired[i].job != WATERFALL_NO_JOB)
            report->runs[report->jobs[report->unpaired[i].job].run].unpaired++;
    for (size_t r = 0; r < report->run_count; r++) {
        struct waterfall_run *run = &report->runs[r];
        run->whole = run->unpaired == 0 && run->incomplete == 0 && !run->open &&
                     report->log->dropped == 0 && report->log->lines_skipped == 0 &&
                     report->log->ordered;
    }
    return top_guess == 0 ||
           waterfall_report_warn(
               report,
               "the log does not say which worker drives which device: %d workers "
               "a device are assumed (--workers-per-device)",
               workers);
}

enum cuzk_status runs_separate(struct waterfall_report *report, int64_t gap_us,
                               int32_t workers_per_device, struct cuzk_error *err)
{
    struct labels labels = {0};
    TRY(dissolve_requests(report, err));
    TRY(order_report(report, err));
    bool ok = find_labels(report->log, &labels) &&
              assign_jobs(report, &labels, gap_us > 0 ? gap_us : DEFAULT_GAP_US) &&
              place_devices(report, workers_per_device);
    for (size_t i = 0; i < labels.count; i++) {
        text_free(&labels.runs[i].label);
        text_free(&labels.runs[i].config);
    }
    mem_free(labels.runs);
    return ok ? CUZK_OK : error_set(err, CUZK_NO_MEMORY, "no memory to separate the log's runs");
}
