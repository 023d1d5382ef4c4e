/* Pairing: an ordered log's events to jobs, attempts at partitions, and intervals. Nothing is
   thrown away: what lacks its partner stays, open-ended, and is listed. */
#include "waterfall/report.h"

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
    size_t older_count, older_capacity;
    uint32_t *open_attempts; /* of a job: attempts without their last stage */
    size_t open_count, open_capacity;
};

int64_t *partition_stage(struct waterfall_partition *partition, enum stage stage)
{
    int64_t *const stages[STAGE_COUNT] = {
        &partition->synth_start_us, &partition->synth_end_us, &partition->sent_us,
        &partition->picked_us,      &partition->gpu_start_us, &partition->gpu_end_us,
    };
    return stages[stage];
}

int64_t partition_stage_us(const struct waterfall_partition *partition, enum stage stage)
{
    const int64_t stages[STAGE_COUNT] = {
        partition->synth_start_us, partition->synth_end_us, partition->sent_us,
        partition->picked_us,      partition->gpu_start_us, partition->gpu_end_us,
    };
    return stages[stage];
}

static bool stage_of(uint16_t kind, enum stage *stage)
{
    switch (kind) {
    case TRACE_SYNTH_START:
        *stage = STAGE_SYNTH_START;
        return true;
    case TRACE_SYNTH_END:
        *stage = STAGE_SYNTH_END;
        return true;
    case TRACE_CHAN_SEND:
        *stage = STAGE_SENT;
        return true;
    case TRACE_GPU_PICKUP:
        *stage = STAGE_PICKED;
        return true;
    case TRACE_GPU_START:
        *stage = STAGE_GPU_START;
        return true;
    case TRACE_GPU_END:
        *stage = STAGE_GPU_END;
        return true;
    default:
        return false;
    }
}

static bool add_unpaired(struct pairing *pairing, uint16_t kind, uint32_t job, int64_t time_us,
                         int32_t partition, int32_t worker)
{
    struct waterfall_report *report = pairing->report;
    struct waterfall_unpaired unpaired = {kind, job, time_us, partition, worker};
    return REPORT_APPEND(report->unpaired, report->unpaired_count, report->unpaired_capacity,
                         unpaired);
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
    return REPORT_APPEND(report->jobs, report->job_count, report->job_capacity, new_job) &&
           REPORT_APPEND(pairing->open_attempts, pairing->open_count, pairing->open_capacity, 0u);
}

/* Whether an event begins another job under a label that was used before. A closed job still gets
   its replies and its journal entries. In logs that do not say when a job ends, a partition that is
   synthesized once more while nothing is in flight means that the job was sent again. */
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

/* The job of an event, made when it is new; NO_JOB for events without label. */
static bool find_job(struct pairing *pairing, const struct waterfall_event *event, uint32_t *job)
{
    *job = NO_JOB;
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

/* The newest attempt that can take a stage: none of that stage or a later one yet, on this worker.
 */
static uint32_t find_attempt(struct pairing *pairing, uint32_t newest, enum stage stage,
                             int32_t worker)
{
    enum { LOOK_BACK = 8 };
    uint32_t attempt = newest;
    for (int n = 0; n < LOOK_BACK && attempt != UINT32_MAX; n++) {
        const struct waterfall_partition *partition = &pairing->report->partitions[attempt];
        bool fits = worker < 0 || partition->worker < 0 || partition->worker == worker;
        for (enum stage s = stage; s < STAGE_COUNT && fits; s++)
            fits = partition_stage_us(partition, s) < 0;
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
    uint32_t older = *latest;
    *attempt = *latest = (uint32_t)report->partition_count;
    pairing->open_attempts[job]++;
    return REPORT_APPEND(report->partitions, report->partition_count, report->partition_capacity,
                         partition) &&
           REPORT_APPEND(pairing->older, pairing->older_count, pairing->older_capacity, older);
}

static bool take_stage(struct pairing *pairing, const struct waterfall_event *event, uint32_t job,
                       enum stage stage)
{
    uint32_t *latest = map_at(&pairing->partitions, job, partition_key(event->partition));
    if (!latest)
        return false;
    uint32_t attempt = find_attempt(pairing, *latest, stage, event->worker);
    if (attempt == UINT32_MAX && stage == STAGE_GPU_END && event->partition >= 0) {
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
    *partition_stage(partition, stage) = event->time_us;
    if (event->worker >= 0 && stage >= STAGE_PICKED)
        partition->worker = event->worker;
    if (event->device >= 0 && stage >= STAGE_PICKED)
        partition->device = event->device;
    if (stage == STAGE_SYNTH_END)
        partition->synth_ms = event->value;
    if (stage == STAGE_GPU_END) {
        partition->gpu_ms = event->value;
        pairing->open_attempts[job]--;
    }
    return true;
}

static bool take_span(struct pairing *pairing, const struct waterfall_event *event, uint32_t job)
{
    struct waterfall_report *report = pairing->report;
    enum trace_span span = (enum trace_span)(event->kind / 2);
    uint64_t key = (uint64_t)partition_key(event->partition) << 42 |
                   (uint64_t)(event->worker + 1) << 21 | (uint64_t)(event->device + 1);
    uint32_t *open = map_at(&pairing->intervals, (uint64_t)job << 8 | span, key);
    if (!open)
        return false;
    bool starts = event->kind % 2 == 0;
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
    return REPORT_APPEND(report->intervals, report->interval_count, report->interval_capacity,
                         interval);
}

static void take_instant(struct pairing *pairing, const struct waterfall_event *event, uint32_t job)
{
    if (job == NO_JOB)
        return;
    struct waterfall_job *of = &pairing->report->jobs[job];
    const char *text = strings_get(&pairing->log->strings, event->text);
    int64_t count;
    switch (event->kind) {
    case TRACE_JOB_ACCEPTED:
        of->accepted_us = event->time_us;
        count = detail_number(text, "partitions");
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
    enum stage stage;
    if (event->epoch != pairing->epoch) {
        map_free(&pairing->intervals); /* nothing is in flight across a restart */
        pairing->epoch = event->epoch;
    }
    if (!find_job(pairing, event, &job))
        return false;
    if (job != NO_JOB)
        extend_job(&pairing->report->jobs[job], event);
    if (stage_of(event->kind, &stage))
        return take_stage(pairing, event, job, stage);
    if (event->kind < 2 * TRACE_SPAN_COUNT)
        return take_span(pairing, event, job);
    take_instant(pairing, event, job);
    return true;
}

/* Each present event of a pair whose partner is absent. */
static bool list_unpaired_stages(struct pairing *pairing)
{
    static const uint16_t kinds[STAGE_COUNT] = {TRACE_SYNTH_START, TRACE_SYNTH_END, TRACE_CHAN_SEND,
                                                TRACE_GPU_PICKUP,  TRACE_GPU_START, TRACE_GPU_END};
    struct waterfall_report *report = pairing->report;
    for (size_t i = 0; i < report->partition_count; i++) {
        struct waterfall_partition *partition = &report->partitions[i];
        partition->complete = true;
        for (enum stage s = 0; s < STAGE_COUNT; s += 2) {
            int64_t first = partition_stage_us(partition, s);
            int64_t second = partition_stage_us(partition, s + 1);
            if (first < 0 || second < 0)
                partition->complete = false;
            if ((first < 0) == (second < 0))
                continue;
            if (!add_unpaired(pairing, first >= 0 ? kinds[s] : kinds[s + 1], partition->job,
                              first >= 0 ? first : second, partition->index, partition->worker))
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

enum cuzk_status report_pair(struct waterfall_report *report, struct cuzk_error *err)
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
