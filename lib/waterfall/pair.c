/* Pairing: an ordered log's events to jobs, attempts at partitions, and intervals. Nothing is
   thrown away: an event without its partner stays as an open-ended span, and is listed. */
#include "waterfall/pair.h"

#include "base/error.h"
#include "base/mem.h"
#include "waterfall/map.h"
#include "waterfall/strings.h"

struct pairing {
    struct waterfall_report *report;
    const struct waterfall_log *log;
    uint32_t epoch;
    struct map jobs;       /* label → the label's current job */
    struct map partitions; /* job, partition → latest attempt */
    struct map intervals;  /* job and span, partition and worker and device → open interval */
    uint32_t *older;       /* of an attempt: the attempt before it */
    size_t older_capacity;
    uint32_t *open_attempts; /* of a job: attempts without their last stage */
    size_t open_capacity;
};

/* The kind of event that marks a stage. */
static const uint16_t stage_kinds[WATERFALL_STAGE_COUNT] = {
    [WATERFALL_STAGE_SYNTH_START] = TRACE_SYNTH_START,
    [WATERFALL_STAGE_SYNTH_END] = TRACE_SYNTH_END,
    [WATERFALL_STAGE_SENT] = TRACE_CHAN_SEND,
    [WATERFALL_STAGE_PICKED] = TRACE_GPU_PICKUP,
    [WATERFALL_STAGE_GPU_START] = TRACE_GPU_START,
    [WATERFALL_STAGE_GPU_END] = TRACE_GPU_END,
};

static bool find_stage(uint16_t kind, enum waterfall_stage *stage)
{
    for (unsigned s = 0; s < WATERFALL_STAGE_COUNT; s++)
        if (stage_kinds[s] == kind) {
            *stage = (enum waterfall_stage)s;
            return true;
        }
    return false;
}

static bool add_unpaired(struct pairing *pairing, uint16_t kind, uint32_t job, int64_t time_us,
                         int32_t partition, int32_t worker)
{
    struct waterfall_report *report = pairing->report;
    struct waterfall_unpaired unpaired = {kind, job, time_us, partition, worker};
    if (!MEM_GROW(report->unpaired, report->unpaired_capacity, report->unpaired_count + 1))
        return false;
    report->unpaired[report->unpaired_count++] = unpaired;
    return true;
}

static bool add_job(struct pairing *pairing, const struct waterfall_event *event, uint32_t *job)
{
    struct waterfall_report *report = pairing->report;
    struct waterfall_job new_job = {
        .label = strings_get(&pairing->log->strings, event->label),
        .epoch = event->epoch,
        .start_us = event->time_us,
        .end_us = event->time_us,
        .accepted_us = WATERFALL_NONE,
    };
    uint32_t *current = map_at(&pairing->jobs, event->label, 0);
    if (!current)
        return false;
    if (*current != UINT32_MAX)
        new_job.instance = report->jobs[*current].instance + 1;
    *current = *job = (uint32_t)report->job_count;
    if (!MEM_GROW(report->jobs, report->job_capacity, report->job_count + 1) ||
        !MEM_GROW(pairing->open_attempts, pairing->open_capacity, report->job_count + 1))
        return false;
    pairing->open_attempts[report->job_count] = 0;
    report->jobs[report->job_count++] = new_job;
    return true;
}

/* Whether an event begins another job under a label that was used before. A closed job still gets
   its replies and its journal entries. In logs without the ends of jobs, a partition that is
   synthesized once more while nothing of the job is in flight means that the job was sent again. */
static bool begins_job(struct pairing *pairing, const struct waterfall_event *event, uint32_t job)
{
    const struct waterfall_job *old = &pairing->report->jobs[job];
    if (event->kind == TRACE_JOB_ACCEPTED)
        return old->accepted_us >= 0 || old->outcome != WATERFALL_OUTCOME_UNSAID;
    if (old->outcome != WATERFALL_OUTCOME_UNSAID)
        return event->kind == TRACE_QUEUE_START || event->kind == TRACE_PARSE_START ||
               event->kind == TRACE_SYNTH_START;
    if (event->kind != TRACE_SYNTH_START || old->retried || pairing->open_attempts[job] > 0)
        return false;
    uint32_t *attempt = map_at(&pairing->partitions, job, (uint64_t)(event->partition + 1));
    return attempt && *attempt != UINT32_MAX;
}

/* The job of an event, made when it is new; WATERFALL_NO_JOB for events without label. */
static bool find_job(struct pairing *pairing, const struct waterfall_event *event, uint32_t *job)
{
    *job = WATERFALL_NO_JOB;
    if (event->label == 0 || event->kind == TRACE_RUN_START || event->kind == TRACE_RUN_END)
        return true;
    uint32_t *current = map_at(&pairing->jobs, event->label, 0);
    if (!current)
        return false;
    *job = *current;
    bool stale = *job != UINT32_MAX && pairing->report->jobs[*job].epoch != event->epoch;
    if (stale)
        *current = UINT32_MAX;
    if (*job == UINT32_MAX || stale || begins_job(pairing, event, *job))
        return add_job(pairing, event, job);
    return true;
}

static uint64_t partition_key(int32_t partition)
{
    return (uint64_t)(partition + 1);
}

/* The newest attempt that can take a stage: an attempt on this worker without a moment of that
   stage or of a later one. */
static uint32_t find_attempt(struct pairing *pairing, uint32_t newest, enum waterfall_stage stage,
                             int32_t worker)
{
    enum { LOOK_BACK = 8 };
    uint32_t attempt = newest;
    for (int n = 0; n < LOOK_BACK && attempt != UINT32_MAX; n++) {
        const struct waterfall_partition *partition = &pairing->report->partitions[attempt];
        bool fits = worker < 0 || partition->worker < 0 || partition->worker == worker;
        for (enum waterfall_stage s = stage; s < WATERFALL_STAGE_COUNT && fits; s++)
            fits = partition->stage_us[s] < 0;
        if (fits)
            return attempt;
        attempt = pairing->older[attempt];
    }
    return UINT32_MAX;
}

static bool add_attempt(struct pairing *pairing, uint32_t job, int32_t index, uint32_t *latest,
                        uint32_t *attempt)
{
    struct waterfall_report *report = pairing->report;
    struct waterfall_partition partition = {
        .job = job,
        .index = index,
        .worker = WATERFALL_NONE,
        .device = WATERFALL_NONE,
        .synth_start_us = WATERFALL_NONE,
        .synth_end_us = WATERFALL_NONE,
        .sent_us = WATERFALL_NONE,
        .picked_us = WATERFALL_NONE,
        .gpu_start_us = WATERFALL_NONE,
        .gpu_end_us = WATERFALL_NONE,
        .synth_ms = WATERFALL_NONE,
        .gpu_ms = WATERFALL_NONE,
    };
    if (*latest != UINT32_MAX)
        partition.attempt = report->partitions[*latest].attempt + 1;
    if (!MEM_GROW(report->partitions, report->partition_capacity, report->partition_count + 1) ||
        !MEM_GROW(pairing->older, pairing->older_capacity, report->partition_count + 1))
        return false;
    pairing->older[report->partition_count] = *latest;
    *attempt = *latest = (uint32_t)report->partition_count;
    pairing->open_attempts[job]++;
    report->partitions[report->partition_count++] = partition;
    return true;
}

static bool take_stage(struct pairing *pairing, const struct waterfall_event *event, uint32_t job,
                       enum waterfall_stage stage)
{
    uint32_t *latest = map_at(&pairing->partitions, job, partition_key(event->partition));
    if (!latest)
        return false;
    uint32_t attempt = find_attempt(pairing, *latest, stage, event->worker);
    if (attempt == UINT32_MAX && stage == WATERFALL_STAGE_GPU_END && event->partition >= 0) {
        /* The Rust cuzk names a WindowPoSt partition only at its end. */
        uint32_t *whole = map_at(&pairing->partitions, job, partition_key(WATERFALL_NONE));
        if (!whole)
            return false;
        attempt = find_attempt(pairing, *whole, stage, event->worker);
        latest = map_at(&pairing->partitions, job, partition_key(event->partition));
    }
    if (attempt == UINT32_MAX && !add_attempt(pairing, job, event->partition, latest, &attempt))
        return false;
    struct waterfall_partition *partition = &pairing->report->partitions[attempt];
    partition->stage_us[stage] = event->time_us;
    if (event->worker >= 0 && stage >= WATERFALL_STAGE_PICKED)
        partition->worker = event->worker;
    if (event->device >= 0 && stage >= WATERFALL_STAGE_PICKED)
        partition->device = event->device;
    if (stage == WATERFALL_STAGE_SYNTH_END)
        partition->synth_ms = event->value;
    if (stage == WATERFALL_STAGE_GPU_END) {
        partition->gpu_ms = event->value;
        pairing->open_attempts[job]--;
    }
    return true;
}

static bool take_span(struct pairing *pairing, const struct waterfall_event *event, uint32_t job,
                      enum trace_span span, bool starts)
{
    struct waterfall_report *report = pairing->report;
    uint64_t key = (uint64_t)partition_key(event->partition) << 42 |
                   (uint64_t)(event->worker + 1) << 21 | (uint64_t)(event->device + 1);
    uint32_t *open = map_at(&pairing->intervals, (uint64_t)job << 8 | span, key);
    if (!open)
        return false;
    if (*open != UINT32_MAX && !starts) {
        report->intervals[*open].end_us = event->time_us;
        report->intervals[*open].value = event->value;
        *open = UINT32_MAX;
        return true;
    }
    struct waterfall_interval interval = {
        .start_us = starts ? event->time_us : WATERFALL_NONE,
        .end_us = starts ? WATERFALL_NONE : event->time_us,
        .value = event->value,
        .job = job,
        .epoch = event->epoch,
        .partition = event->partition,
        .worker = event->worker,
        .device = event->device,
        .span = (uint16_t)span,
    };
    *open = starts ? (uint32_t)report->interval_count : UINT32_MAX;
    if (!MEM_GROW(report->intervals, report->interval_capacity, report->interval_count + 1))
        return false;
    report->intervals[report->interval_count++] = interval;
    return true;
}

static void take_instant(struct pairing *pairing, const struct waterfall_event *event, uint32_t job)
{
    if (job == WATERFALL_NO_JOB)
        return;
    struct waterfall_job *of = &pairing->report->jobs[job];
    const char *text = strings_get(&pairing->log->strings, event->text);
    int64_t count;
    switch (event->kind) {
    case TRACE_JOB_ACCEPTED:
        of->accepted_us = event->time_us;
        count = waterfall_log_detail(text, "partitions");
        of->partitions_expected = count > 0 && count <= 1000000 ? (uint32_t)count : 0;
        break;
    case TRACE_JOB_DONE:
        of->outcome = WATERFALL_OUTCOME_DONE;
        break;
    case TRACE_JOB_FAILED:
        of->outcome = WATERFALL_OUTCOME_FAILED;
        break;
    case TRACE_JOB_CANCELLED:
        of->outcome = WATERFALL_OUTCOME_CANCELLED;
        break;
    case TRACE_RETRY:
        of->retried = true;
        break;
    default:
        break;
    }
}

/* A repeated request for a kept result must not make the finished job look longer. */
static void extend_job(struct waterfall_job *job, const struct waterfall_event *event)
{
    if (job->replied)
        return;
    job->end_us = event->time_us;
    if (event->kind == TRACE_REPLY_END && job->outcome != WATERFALL_OUTCOME_UNSAID)
        job->replied = true;
}

static bool take_event(struct pairing *pairing, const struct waterfall_event *event)
{
    uint32_t job;
    enum waterfall_stage stage;
    enum trace_span span;
    bool starts;
    if (event->epoch != pairing->epoch) {
        map_free(&pairing->intervals); /* nothing is in flight across a restart */
        pairing->epoch = event->epoch;
    }
    if (!find_job(pairing, event, &job))
        return false;
    if (job != WATERFALL_NO_JOB)
        extend_job(&pairing->report->jobs[job], event);
    if (find_stage(event->kind, &stage))
        return take_stage(pairing, event, job, stage);
    if (trace_kind_span((enum trace_kind)event->kind, &span, &starts))
        return take_span(pairing, event, job, span, starts);
    take_instant(pairing, event, job);
    return true;
}

/* Each present event of a pair whose partner is absent. */
static bool list_unpaired_stages(struct pairing *pairing)
{
    struct waterfall_report *report = pairing->report;
    for (size_t i = 0; i < report->partition_count; i++) {
        struct waterfall_partition *partition = &report->partitions[i];
        partition->complete = true;
        for (enum waterfall_stage s = 0; s < WATERFALL_STAGE_COUNT; s += 2) {
            int64_t first = partition->stage_us[s];
            int64_t second = partition->stage_us[s + 1];
            if (first < 0 || second < 0)
                partition->complete = false;
            if ((first < 0) == (second < 0))
                continue;
            if (!add_unpaired(pairing, first >= 0 ? stage_kinds[s] : stage_kinds[s + 1],
                              partition->job, first >= 0 ? first : second, partition->index,
                              partition->worker))
                return false;
        }
    }
    return true;
}

static bool list_unpaired_intervals(struct pairing *pairing)
{
    struct waterfall_report *report = pairing->report;
    for (size_t i = 0; i < report->interval_count; i++) {
        const struct waterfall_interval *interval = &report->intervals[i];
        if (interval->start_us >= 0 && interval->end_us >= 0)
            continue;
        bool open = interval->start_us >= 0;
        if (!add_unpaired(pairing, (uint16_t)(2 * interval->span + (open ? 0 : 1)), interval->job,
                          open ? interval->start_us : interval->end_us, interval->partition,
                          interval->worker))
            return false;
    }
    return true;
}

enum cuzk_status pair_events(struct waterfall_report *report, struct cuzk_error *err)
{
    struct pairing pairing = {.report = report, .log = report->log};
    bool ok = true;
    for (size_t i = 0; i < report->log->count && ok; i++)
        ok = take_event(&pairing, &report->log->events[i]);
    ok = ok && list_unpaired_stages(&pairing) && list_unpaired_intervals(&pairing);
    map_free(&pairing.jobs);
    map_free(&pairing.partitions);
    map_free(&pairing.intervals);
    mem_free(pairing.older);
    mem_free(pairing.open_attempts);
    return ok ? CUZK_OK : error_set(err, CUZK_NO_MEMORY, "no memory to pair the log's events");
}
