/* The state of the whole system over the time of a run: which devices were busy, and while one was
   idle, why. The run's events become edges that raise or lower counters; between two edges nothing
   changes, so each such stretch of an idle device has one cause, by the rules of cause_of. */
#include "waterfall/sweep.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"

/* What is counted. The counters before PER_DEVICE are about the whole system. */
enum counter {
    COUNT_JOBS,
    COUNT_ADMIT, /* RPC, JOURNAL, QUEUE */
    COUNT_PARSE,
    COUNT_BUDGET,
    COUNT_SYNTH,
    COUNT_LOOKAHEAD,
    COUNT_READY, /* sent to the devices, not picked up */
    COUNT_SRS,   /* loads and waits that are not bound to a device */
    COUNT_REPLY, /* FINISH, VERIFY, REPLY */
    COUNT_LOST,  /* something went on whose end or start is missing */
    COUNT_PER_DEVICE,
    COUNT_BUSY = COUNT_PER_DEVICE,
    COUNT_PHASE, /* upload, ntt, msm… */
    COUNT_DEVICE_SRS,
    COUNT_LOCK,   /* picked up, not started */
    COUNT_FINISH, /* FINISH or VERIFY by one of its workers */
    COUNT_DEVICE_LOST,
    COUNT_COUNT,
};

struct edge {
    int64_t time_us;
    uint16_t counter;
    uint16_t device; /* index in the run; 0 for counters of the system */
    int32_t delta;
};

struct sweep {
    struct waterfall_report *report;
    struct waterfall_run *run;
    struct edge *edges;
    size_t count, capacity;
    bool failed;
    int32_t system[COUNT_PER_DEVICE];
    int32_t (*devices)[COUNT_COUNT];
    int32_t synth_limit; /* synthesis workers, as configured or as most seen at once */
};

static void add_edge(struct sweep *sweep, int64_t time_us, enum counter counter, size_t device,
                     int32_t delta)
{
    struct edge edge = {time_us, (uint16_t)counter, (uint16_t)device, delta};
    if (MEM_GROW(sweep->edges, sweep->capacity, sweep->count + 1))
        sweep->edges[sweep->count++] = edge;
    else
        sweep->failed = true;
}

/* Counts one more of something from start to end, as far as this time is in the run. */
static void add_span(struct sweep *sweep, int64_t start_us, int64_t end_us, enum counter counter,
                     size_t device)
{
    const struct waterfall_run *run = sweep->run;
    if (start_us < run->start_us)
        start_us = run->start_us;
    if (end_us > run->end_us)
        end_us = run->end_us;
    if (start_us >= end_us)
        return;
    add_edge(sweep, start_us, counter, device, 1);
    add_edge(sweep, end_us, counter, device, -1);
}

/* The place of a device id among the run's devices; SIZE_MAX: none. */
static size_t device_place(const struct waterfall_run *run, int32_t id)
{
    for (size_t i = 0; i < run->device_count; i++)
        if (run->devices[i].id == id)
            return i;
    return SIZE_MAX;
}

static int64_t first_known(int64_t a, int64_t b, int64_t c)
{
    return a >= 0 ? a : b >= 0 ? b : c;
}

/* Adds the synthesis of an attempt and its way to the device. The next known event stands in for a
   missing one; without any, something is lost until the job's last moment. */
static void add_synthesis(struct sweep *sweep, const struct waterfall_partition *p, int64_t job_end)
{
    int64_t end = first_known(p->synth_end_us, p->sent_us, p->picked_us);
    if (end < 0)
        end = p->gpu_start_us;
    if (p->synth_start_us >= 0 && end >= 0)
        add_span(sweep, p->synth_start_us, end, COUNT_SYNTH, 0);
    else if (p->synth_start_us >= 0)
        add_span(sweep, p->synth_start_us, job_end, COUNT_LOST, 0);
    else if (p->synth_end_us >= 0 && p->synth_ms > 0)
        add_span(sweep, p->synth_end_us - p->synth_ms * 1000, p->synth_end_us, COUNT_SYNTH, 0);
    if (p->sent_us < 0)
        return;
    int64_t picked = first_known(p->picked_us, p->gpu_start_us, WATERFALL_NONE);
    if (picked >= 0)
        add_span(sweep, p->sent_us, picked, COUNT_READY, 0);
    else
        add_span(sweep, p->sent_us, job_end, COUNT_LOST, 0);
}

static void add_device_time(struct sweep *sweep, const struct waterfall_partition *p,
                            int64_t job_end)
{
    size_t device = device_place(sweep->run, p->device);
    if (device == SIZE_MAX)
        return;
    if (p->gpu_start_us >= 0 && p->gpu_end_us >= 0) {
        if (p->picked_us >= 0)
            add_span(sweep, p->picked_us, p->gpu_start_us, COUNT_LOCK, device);
        add_span(sweep, p->gpu_start_us, p->gpu_end_us, COUNT_BUSY, device);
        return;
    }
    int64_t start = first_known(p->picked_us, p->gpu_start_us, WATERFALL_NONE);
    int64_t end = p->gpu_end_us >= 0 ? p->gpu_end_us : job_end;
    if (start < 0 && p->gpu_ms > 0)
        start = end - p->gpu_ms * 1000;
    if (start >= 0)
        add_span(sweep, start, end, COUNT_DEVICE_LOST, device);
}

static bool counter_of(enum trace_span span, enum counter *counter)
{
    static const struct {
        enum trace_span span;
        enum counter counter;
    } table[] = {
        {TRACE_SPAN_RPC, COUNT_ADMIT},          {TRACE_SPAN_JOURNAL, COUNT_ADMIT},
        {TRACE_SPAN_QUEUE, COUNT_ADMIT},        {TRACE_SPAN_PARSE, COUNT_PARSE},
        {TRACE_SPAN_BUDGET_WAIT, COUNT_BUDGET}, {TRACE_SPAN_LOOKAHEAD_WAIT, COUNT_LOOKAHEAD},
        {TRACE_SPAN_SRS_LOAD, COUNT_SRS},       {TRACE_SPAN_SRS_WAIT, COUNT_SRS},
        {TRACE_SPAN_FINISH, COUNT_REPLY},       {TRACE_SPAN_VERIFY, COUNT_REPLY},
        {TRACE_SPAN_REPLY, COUNT_REPLY},        {TRACE_SPAN_UPLOAD, COUNT_PHASE},
        {TRACE_SPAN_EVAL, COUNT_PHASE},         {TRACE_SPAN_NTT, COUNT_PHASE},
        {TRACE_SPAN_MSM_H, COUNT_PHASE},        {TRACE_SPAN_MSM_L, COUNT_PHASE},
        {TRACE_SPAN_MSM_A, COUNT_PHASE},        {TRACE_SPAN_MSM_B_G1, COUNT_PHASE},
        {TRACE_SPAN_MSM_B_G2, COUNT_PHASE},     {TRACE_SPAN_MSM_TAILS, COUNT_PHASE},
        {TRACE_SPAN_DOWNLOAD, COUNT_PHASE},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].span == span) {
            *counter = table[i].counter;
            return true;
        }
    return false;
}

static void add_phase(struct waterfall_device *device, const struct waterfall_interval *interval)
{
    static const enum trace_span spans[WATERFALL_PHASE_COUNT] = {
#define X(name, json) TRACE_SPAN_##name,
        WATERFALL_PHASE_MAP(X)
#undef X
    };
    for (size_t i = 0; i < WATERFALL_PHASE_COUNT; i++)
        if (spans[i] == interval->span)
            device->phase_us[i] += interval->end_us - interval->start_us;
}

/* The place of an interval's device, which the interval names or its partition does. */
static size_t interval_device(const struct sweep *sweep, const struct waterfall_interval *interval)
{
    if (interval->device >= 0)
        return device_place(sweep->run, interval->device);
    if (interval->worker < 0 || interval->job == WATERFALL_NO_JOB)
        return SIZE_MAX;
    const struct waterfall_job *job = &sweep->report->jobs[interval->job];
    for (size_t i = job->partitions; i < job->partitions + job->partition_count; i++)
        if (sweep->report->partitions[i].worker == interval->worker)
            return device_place(sweep->run, sweep->report->partitions[i].device);
    return SIZE_MAX;
}

static void add_interval(struct sweep *sweep, const struct waterfall_interval *interval)
{
    enum counter counter;
    if (interval->start_us < 0 || interval->end_us < 0 ||
        !counter_of((enum trace_span)interval->span, &counter))
        return;
    size_t device = interval_device(sweep, interval);
    if (counter == COUNT_PHASE) {
        if (device != SIZE_MAX) {
            add_span(sweep, interval->start_us, interval->end_us, counter, device);
            add_phase(&sweep->run->devices[device], interval);
            sweep->run->devices[device].phases_us = 0; /* from now on it is known */
        }
        return;
    }
    add_span(sweep, interval->start_us, interval->end_us, counter, 0);
    if (device == SIZE_MAX)
        return;
    if (counter == COUNT_SRS)
        add_span(sweep, interval->start_us, interval->end_us, COUNT_DEVICE_SRS, device);
    if (interval->span == TRACE_SPAN_FINISH || interval->span == TRACE_SPAN_VERIFY)
        add_span(sweep, interval->start_us, interval->end_us, COUNT_FINISH, device);
}

static void add_edges(struct sweep *sweep)
{
    enum { EDGES_OF_PARTITION = 8 };
    const struct waterfall_report *report = sweep->report;
    const struct waterfall_run *run = sweep->run;
    size_t partitions = 0;
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++)
        partitions += report->jobs[j].partition_count;
    if (!MEM_GROW(sweep->edges, sweep->capacity, EDGES_OF_PARTITION * partitions))
        sweep->failed = true;
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++) {
        const struct waterfall_job *job = &report->jobs[j];
        add_span(sweep, job->start_us, job->end_us, COUNT_JOBS, 0);
        for (size_t p = job->partitions; p < job->partitions + job->partition_count; p++) {
            add_synthesis(sweep, &report->partitions[p], job->end_us);
            add_device_time(sweep, &report->partitions[p], job->end_us);
        }
        for (size_t i = report->job_intervals[j]; i < report->job_intervals[j + 1]; i++)
            add_interval(sweep, &report->intervals[i]);
    }
    for (size_t i = report->job_intervals[report->job_count]; i < report->interval_count; i++)
        if (report->intervals[i].epoch == run->epoch)
            add_interval(sweep, &report->intervals[i]);
}

/* Sorts the edges by time: by digits from the lowest, keeping the order of equal ones. Runs have
   millions of edges, and few digits in their times. */
static void sort_edges(struct sweep *sweep)
{
    enum { BITS = 11, DIGITS = 1 << BITS };
    struct edge *from = sweep->edges, *to = mem_alloc(sweep->count, sizeof *to);
    if (!to) {
        sweep->failed = true;
        return;
    }
    int64_t start = sweep->run->start_us, time = sweep->run->end_us - start;
    for (unsigned shift = 0; shift < 63 && time >> shift; shift += BITS) {
        size_t places[DIGITS] = {0}, place = 0;
        for (size_t i = 0; i < sweep->count; i++)
            places[(from[i].time_us - start) >> shift & (DIGITS - 1)]++;
        for (size_t digit = 0; digit < DIGITS; digit++) {
            size_t count = places[digit];
            places[digit] = place;
            place += count;
        }
        for (size_t i = 0; i < sweep->count; i++)
            to[places[(from[i].time_us - start) >> shift & (DIGITS - 1)]++] = from[i];
        struct edge *swap = from;
        from = to;
        to = swap;
    }
    sweep->edges = from;
    sweep->capacity = sweep->count; /* the second block may be the smaller one */
    mem_free(to);
}

/* Why device d is idle now: the rules, in order. They go backwards through the pipeline from the
   device, because what is nearest to it is what it waits for.
   - Parameters count as the cause when they are loaded for this device, when a partition (picked up
     or ready) waits for them, or when nothing is being synthesized.
   - Memory budget counts when something waits for it and not all synthesis workers are at work.
     With all at work more memory would not help. */
static enum waterfall_cause cause_of(const struct sweep *sweep, size_t d)
{
    const int32_t *system = sweep->system, *device = sweep->devices[d];
    if (system[COUNT_LOST] || device[COUNT_DEVICE_LOST])
        return WATERFALL_CAUSE_UNKNOWN;
    bool srs_needed = device[COUNT_LOCK] || system[COUNT_READY] || !system[COUNT_SYNTH];
    if (device[COUNT_DEVICE_SRS] || (system[COUNT_SRS] && srs_needed))
        return WATERFALL_CAUSE_SRS;
    if (device[COUNT_LOCK])
        return WATERFALL_CAUSE_LOCK;
    if (system[COUNT_READY])
        return device[COUNT_FINISH] ? WATERFALL_CAUSE_FINISH : WATERFALL_CAUSE_DISPATCH;
    if (system[COUNT_LOOKAHEAD])
        return WATERFALL_CAUSE_LOOKAHEAD;
    if (system[COUNT_BUDGET] && system[COUNT_SYNTH] < sweep->synth_limit)
        return WATERFALL_CAUSE_BUDGET;
    if (system[COUNT_SYNTH])
        return WATERFALL_CAUSE_SYNTH;
    if (system[COUNT_BUDGET])
        return WATERFALL_CAUSE_BUDGET;
    if (system[COUNT_PARSE])
        return WATERFALL_CAUSE_PARSE;
    if (system[COUNT_ADMIT])
        return WATERFALL_CAUSE_ADMIT;
    if (system[COUNT_REPLY])
        return WATERFALL_CAUSE_REPLY;
    /* What is left of the jobs may all be on other devices. */
    bool elsewhere = false;
    for (size_t i = 0; i < sweep->run->device_count; i++)
        elsewhere |= sweep->devices[i][COUNT_BUSY] || sweep->devices[i][COUNT_LOCK];
    return system[COUNT_JOBS] && !elsewhere ? WATERFALL_CAUSE_UNRECORDED : WATERFALL_CAUSE_NOTHING;
}

static bool add_stretch(struct waterfall_device *device, int64_t start_us, int64_t end_us,
                        enum waterfall_cause cause)
{
    struct waterfall_stretch *last =
        device->stretch_count ? &device->stretches[device->stretch_count - 1] : NULL;
    if (last && last->cause == cause && last->end_us == start_us) {
        last->end_us = end_us;
        return true;
    }
    if (!MEM_GROW(device->stretches, device->stretch_capacity, device->stretch_count + 1))
        return false;
    device->stretches[device->stretch_count++] =
        (struct waterfall_stretch){start_us, end_us, cause};
    return true;
}

static void add_level(struct waterfall_level *level, int32_t now, int64_t for_us)
{
    level->mean += (double)now * (double)for_us; /* divided by the run's time at the end */
    if (now > 0 && (uint32_t)now > level->max)
        level->max = (uint32_t)now;
}

/* Accounts for the time between two edges, in which nothing changed. */
static void account_stretch(struct sweep *sweep, int64_t start_us, int64_t end_us)
{
    struct waterfall_run *run = sweep->run;
    int64_t for_us = end_us - start_us;
    int32_t busy = 0;
    for (size_t d = 0; d < run->device_count; d++) {
        struct waterfall_device *device = &run->devices[d];
        const int32_t *counts = sweep->devices[d];
        enum waterfall_cause cause = WATERFALL_CAUSE_COUNT;
        if (counts[COUNT_BUSY]) {
            device->busy_us += for_us;
            busy++;
        } else {
            cause = cause_of(sweep, d);
            device->idle_us += for_us;
            device->idle_by_cause_us[cause] += for_us;
        }
        device->spans_us += counts[COUNT_BUSY] * for_us;
        if (counts[COUNT_PHASE])
            device->phases_us += for_us;
        if (!add_stretch(device, start_us, end_us, cause))
            sweep->failed = true;
    }
    add_level(&run->jobs_level, sweep->system[COUNT_JOBS], for_us);
    add_level(&run->synth_level, sweep->system[COUNT_SYNTH], for_us);
    add_level(&run->ready_level, sweep->system[COUNT_READY], for_us);
    add_level(&run->device_level, busy, for_us);
}

static void apply_edge(struct sweep *sweep, const struct edge *edge)
{
    if (edge->counter < COUNT_PER_DEVICE)
        sweep->system[edge->counter] += edge->delta;
    else
        sweep->devices[edge->device][edge->counter] += edge->delta;
}

static int32_t most_syntheses(const struct sweep *sweep)
{
    int32_t now = 0, most = 1;
    for (size_t i = 0; i < sweep->count;) {
        int64_t time = sweep->edges[i].time_us;
        for (; i < sweep->count && sweep->edges[i].time_us == time; i++)
            if (sweep->edges[i].counter == COUNT_SYNTH)
                now += sweep->edges[i].delta;
        most = now > most ? now : most;
    }
    return most;
}

static void walk_edges(struct sweep *sweep)
{
    struct waterfall_run *run = sweep->run;
    int64_t at = run->start_us;
    sweep->synth_limit = run->synth_workers > 0 && run->synth_workers < INT32_MAX
                             ? (int32_t)run->synth_workers
                             : most_syntheses(sweep);
    for (size_t i = 0; i < sweep->count && !sweep->failed; i++) {
        const struct edge *edge = &sweep->edges[i];
        if (edge->time_us > at)
            account_stretch(sweep, at, edge->time_us);
        at = edge->time_us;
        apply_edge(sweep, edge);
    }
    if (at < run->end_us)
        account_stretch(sweep, at, run->end_us);
}

static void finish_levels(struct waterfall_run *run)
{
    double time = (double)(run->end_us - run->start_us);
    struct waterfall_level *levels[] = {&run->jobs_level, &run->synth_level, &run->ready_level,
                                        &run->device_level};
    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        levels[i]->mean = time > 0 ? levels[i]->mean / time : 0;
}

enum cuzk_status sweep_run(struct waterfall_report *report, struct waterfall_run *run,
                           struct cuzk_error *err)
{
    struct sweep sweep = {.report = report, .run = run};
    sweep.devices = mem_zalloc(run->device_count, sizeof *sweep.devices);
    sweep.failed = !sweep.devices;
    if (!sweep.failed)
        add_edges(&sweep);
    if (!sweep.failed) {
        sort_edges(&sweep);
        walk_edges(&sweep);
        finish_levels(run);
    }
    mem_free(sweep.edges);
    mem_free(sweep.devices);
    return sweep.failed ? error_set(err, CUZK_NO_MEMORY, "no memory to sweep over a run") : CUZK_OK;
}
