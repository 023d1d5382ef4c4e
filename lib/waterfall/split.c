/* Where the wall time of each job went: every moment between its first and last event belongs to
   one part, so the parts add up to the wall time exactly. */
#include "waterfall/split.h"

/* A stretch of the job that a part claims. Of several claims on one moment the one of the highest
   rank wins, which is the part closest to the end of the pipeline. A moment without claims belongs
   to WATERFALL_PART_OTHER. */
struct claim {
    int64_t start_us, end_us;
    enum waterfall_part part;
    int rank;
};

enum { CLAIMS_MAX = 96, PARTITION_CLAIMS = 5 };

struct claims {
    struct claim list[CLAIMS_MAX];
    size_t count;
};

static void add_claim(struct claims *claims, int64_t start_us, int64_t end_us,
                      enum waterfall_part part)
{
    if (start_us >= 0 && end_us > start_us && claims->count < CLAIMS_MAX)
        claims->list[claims->count++] = (struct claim){start_us, end_us, part, 2 * (int)part};
}

/* A device worker that waits for parameters already holds the partition, so this wait outranks the
   wait for the device. */
static void claim_interval(struct claims *claims, const struct waterfall_interval *interval,
                           enum waterfall_part part)
{
    size_t before = claims->count;
    add_claim(claims, interval->start_us, interval->end_us, part);
    if (part == WATERFALL_PART_SRS && interval->worker >= 0 && claims->count > before)
        claims->list[before].rank = 2 * WATERFALL_PART_LOCK + 1;
}

static enum waterfall_part part_of_span(enum trace_span span)
{
    switch (span) {
    case TRACE_SPAN_RPC:
        return WATERFALL_PART_RECEIVE;
    case TRACE_SPAN_JOURNAL:
        return WATERFALL_PART_JOURNAL;
    case TRACE_SPAN_QUEUE:
        return WATERFALL_PART_QUEUE;
    case TRACE_SPAN_PARSE:
        return WATERFALL_PART_PARSE;
    case TRACE_SPAN_CHECK:
        return WATERFALL_PART_CHECK; /* inside SYNTH, so of a higher rank */
    case TRACE_SPAN_BUDGET_WAIT:
        return WATERFALL_PART_BUDGET;
    case TRACE_SPAN_SRS_LOAD:
    case TRACE_SPAN_SRS_WAIT:
        return WATERFALL_PART_SRS;
    case TRACE_SPAN_LOOKAHEAD_WAIT:
        return WATERFALL_PART_LOOKAHEAD;
    case TRACE_SPAN_LOCK_WAIT:
        return WATERFALL_PART_LOCK;
    case TRACE_SPAN_FINISH:
        return WATERFALL_PART_FINISH;
    case TRACE_SPAN_VERIFY:
        return WATERFALL_PART_VERIFY;
    case TRACE_SPAN_REPLY:
        return WATERFALL_PART_REPLY;
    default:
        return WATERFALL_PART_OTHER; /* device phases are inside GPU */
    }
}

/* The latest moment that is known of an attempt. */
static int64_t last_moment(const struct waterfall_partition *partition)
{
    int64_t last = WATERFALL_NONE;
    for (unsigned s = 0; s < WATERFALL_STAGE_COUNT; s++)
        if (partition->stage_us[s] > last)
            last = partition->stage_us[s];
    return last;
}

const struct waterfall_partition *split_last_partition(const struct waterfall_report *report,
                                                       const struct waterfall_job *job)
{
    const struct waterfall_partition *last = NULL;
    for (size_t i = job->partitions; i < job->partitions + job->partition_count; i++)
        if (!last || last_moment(&report->partitions[i]) > last_moment(last))
            last = &report->partitions[i];
    return last;
}

/* Claims the classic moments of the last partition. From the moment when the job was ready until
   its synthesis began, the partition waited for a synthesis worker. */
static void claim_partition(struct claims *claims, const struct waterfall_job *job,
                            const struct waterfall_partition *last, int64_t ready_us)
{
    if (job->first_synth_us >= 0 && (ready_us < 0 || job->first_synth_us < ready_us))
        ready_us = job->first_synth_us;
    add_claim(claims, ready_us, last->synth_start_us, WATERFALL_PART_WORKER);
    add_claim(claims, last->synth_start_us, last->synth_end_us, WATERFALL_PART_SYNTH);
    add_claim(claims, last->sent_us, last->picked_us, WATERFALL_PART_CHANNEL);
    add_claim(claims, last->picked_us, last->gpu_start_us, WATERFALL_PART_LOCK);
    add_claim(claims, last->gpu_start_us, last->gpu_end_us, WATERFALL_PART_DEVICE);
}

/* The part of the moments between two neighbouring bounds of claims. */
static enum waterfall_part find_winner(const struct claims *claims, int64_t at_us)
{
    const struct claim *best = NULL;
    for (size_t i = 0; i < claims->count; i++) {
        const struct claim *c = &claims->list[i];
        if (c->start_us <= at_us && at_us < c->end_us && (!best || c->rank > best->rank))
            best = c;
    }
    return best ? best->part : WATERFALL_PART_OTHER;
}

static int64_t next_bound(const struct claims *claims, int64_t after_us, int64_t end_us)
{
    int64_t next = end_us;
    for (size_t i = 0; i < claims->count; i++) {
        const struct claim *c = &claims->list[i];
        if (c->start_us > after_us && c->start_us < next)
            next = c->start_us;
        if (c->end_us > after_us && c->end_us < next)
            next = c->end_us;
    }
    return next;
}

void split_window(const struct waterfall_report *report, uint32_t job,
                  const struct waterfall_partition *partition, int64_t start_us, int64_t end_us,
                  split_visitor *visit, void *context)
{
    struct claims claims = {.count = 0};
    int64_t ready_us = WATERFALL_NONE;
    for (size_t i = report->job_intervals[job]; i < report->job_intervals[job + 1]; i++) {
        const struct waterfall_interval *interval = &report->intervals[i];
        bool whole = interval->partition == WATERFALL_NONE;
        if (!whole && (!partition || interval->partition != partition->index))
            continue;
        enum waterfall_part part = part_of_span((enum trace_span)interval->span);
        /* No real job has more intervals. The claims of its partition keep their places. */
        if (part != WATERFALL_PART_OTHER && claims.count < CLAIMS_MAX - PARTITION_CLAIMS)
            claim_interval(&claims, interval, part);
        bool before = interval->span == TRACE_SPAN_PARSE || interval->span == TRACE_SPAN_QUEUE;
        if (before && interval->end_us > ready_us)
            ready_us = interval->end_us;
    }
    if (partition)
        claim_partition(&claims, &report->jobs[job], partition, ready_us);
    for (int64_t at = start_us; at < end_us;) {
        int64_t next = next_bound(&claims, at, end_us);
        visit(context, at, next, find_winner(&claims, at));
        at = next;
    }
}

static void add_to_split(void *context, int64_t start_us, int64_t end_us, enum waterfall_part part)
{
    struct waterfall_job *job = context;
    job->split_us[part] += end_us - start_us;
}

void split_jobs(struct waterfall_report *report)
{
    for (size_t i = 0; i < report->job_count; i++) {
        struct waterfall_job *job = &report->jobs[i];
        split_window(report, (uint32_t)i, split_last_partition(report, job), job->start_us,
                     job->end_us, add_to_split, job);
        for (size_t part = 0; part < WATERFALL_PART_COUNT; part++)
            report->runs[job->run].split_us[part] += job->split_us[part];
    }
}
