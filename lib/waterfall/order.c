/* Bringing a log's events into order: restarts of the daemon, sorting, doubled lines. */
#include "waterfall/order.h"

#include "base/error.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads of the Rust cuzk print within this of each other; a larger step back is a restart,
   a displaced line, or a log without order. */
enum { STEP_BACK_US = 100000 };

/* The events that are printed when they happen. Device phases come later, with times of before. */
static bool is_prompt(const struct waterfall_event *event)
{
    return trace_kind_is_classic((enum trace_kind)event->kind) || event->kind == TRACE_ENGINE_START;
}

/* A restart begins with nothing in flight, so its first prompt event is the start of the engine or
   of a synthesis; and time goes on from there. A single line in a wrong place is followed by the
   old time. */
static bool is_restart(const struct waterfall_log *log, size_t at, int64_t latest)
{
    const struct waterfall_event *event = &log->events[at];
    if (event->kind == TRACE_ENGINE_START)
        return true;
    if (event->kind != TRACE_SYNTH_START)
        return false;
    for (size_t i = at + 1; i < log->count; i++)
        if (is_prompt(&log->events[i]))
            return log->events[i].time_us < latest - STEP_BACK_US;
    return true;
}

/* Numbers the epochs; returns how many steps back there were that are no restart. */
static size_t number_epochs(struct waterfall_log *log)
{
    uint32_t epoch = 0;
    int64_t latest = 0;
    bool seen = false; /* work in this epoch; a doubled line of a start is no restart */
    size_t misplaced = 0;
    for (size_t i = 0; i < log->count; i++) {
        struct waterfall_event *event = &log->events[i];
        if (is_prompt(event)) {
            bool back = event->time_us < latest - STEP_BACK_US;
            bool starts = event->kind == TRACE_ENGINE_START && seen;
            if ((back || starts) && is_restart(log, i, latest)) {
                epoch++;
                latest = event->time_us;
                seen = false;
            } else if (back) {
                misplaced++;
            }
            if (event->time_us > latest)
                latest = event->time_us;
        }
        seen |= event->label != 0 && event->kind != TRACE_RUN_START;
        event->epoch = epoch;
    }
    return misplaced;
}

/* Was the log sorted by time and text (`sort -t, -k2 -n`)? Then the lines of a millisecond stand by
   name, and CHAN_SEND or GPU_QUEUE before the SYNTH_END that it follows. */
static bool is_sorted_by_text(const struct waterfall_log *log)
{
    for (size_t i = 1; i < log->count; i++) {
        const struct waterfall_event *end = &log->events[i];
        if (end->kind != TRACE_SYNTH_END)
            continue;
        for (size_t j = i; j-- > 0 && i - j <= 64;) {
            const struct waterfall_event *earlier = &log->events[j];
            if (earlier->time_us != end->time_us)
                break;
            if (earlier->kind == TRACE_CHAN_SEND && earlier->label == end->label &&
                earlier->partition == end->partition)
                return true;
        }
    }
    return false;
}

/* Where lines are not in the order in which they were written, the order of a partition's life
   decides between equal times. */
static int rank_of(uint16_t kind)
{
    enum trace_span span;
    bool starts;
    switch (kind) {
    case TRACE_ENGINE_START:
    case TRACE_DEVICE_WORKER:
        return -3;
    case TRACE_RUN_START:
        return -2;
    case TRACE_JOB_ACCEPTED:
        return -1;
    case TRACE_SYNTH_START:
        return 1;
    case TRACE_SYNTH_END:
        return 2;
    case TRACE_CHAN_SEND:
        return 3;
    case TRACE_GPU_PICKUP:
        return 4;
    case TRACE_GPU_START:
        return 5;
    case TRACE_GPU_END:
        return 6;
    case TRACE_JOB_DONE:
    case TRACE_JOB_FAILED:
    case TRACE_JOB_CANCELLED:
        return 8;
    case TRACE_RUN_END:
        return 9;
    default:
        return trace_kind_span((enum trace_kind)kind, &span, &starts) && !starts ? 7 : 0;
    }
}

static int compare_by_line(const void *a, const void *b)
{
    const struct waterfall_event *x = a, *y = b;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static int compare_by_rank(const void *a, const void *b)
{
    const struct waterfall_event *x = a, *y = b;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    int rank = rank_of(x->kind) - rank_of(y->kind);
    return rank ? rank : (x->line > y->line) - (x->line < y->line);
}

static bool same_event(const struct waterfall_event *x, const struct waterfall_event *y)
{
    return x->epoch == y->epoch && x->time_us == y->time_us && x->kind == y->kind &&
           x->label == y->label && x->partition == y->partition && x->worker == y->worker &&
           x->device == y->device && x->value == y->value && x->text == y->text;
}

static void skip_doubled(struct waterfall_log *log, const struct waterfall_event *event)
{
    log->dropped -= event->kind == TRACE_DROPPED && event->value > 0 ? (uint64_t)event->value : 0;
    if (log->lines_skipped++ >= WATERFALL_SKIPPED_MAX)
        return;
    struct waterfall_skipped *skipped = &log->skipped[log->lines_skipped - 1];
    skipped->line = event->line;
    snprintf(skipped->why, sizeof skipped->why, "the line is doubled");
    snprintf(skipped->start, sizeof skipped->start, "%lld,%s", (long long)(event->time_us / 1000),
             trace_kind_name((enum trace_kind)event->kind));
}

/* Removes events that equal an earlier one of the same moment. */
static void remove_doubled(struct waterfall_log *log)
{
    size_t kept = 0, moment = 0; /* where the events of the current time begin, among the kept */
    for (size_t i = 0; i < log->count; i++) {
        const struct waterfall_event *event = &log->events[i];
        if (kept == 0 || log->events[kept - 1].time_us != event->time_us ||
            log->events[kept - 1].epoch != event->epoch)
            moment = kept;
        bool doubled = false;
        /* A moment of very many events is looked back into only so far: doubled lines are near. */
        size_t from = kept - moment > 64 ? kept - 64 : moment;
        for (size_t j = from; j < kept && !doubled; j++)
            doubled = same_event(&log->events[j], event);
        if (doubled)
            skip_doubled(log, event);
        else
            log->events[kept++] = *event;
    }
    log->count = kept;
}

enum cuzk_status order_events(struct waterfall_log *log, struct cuzk_error *err)
{
    if (log->count > UINT32_MAX / 2)
        return error_set(err, CUZK_RESOURCE_EXHAUSTED, "the log has %zu events, at most %u fit",
                         log->count, UINT32_MAX / 2);
    size_t misplaced = number_epochs(log);
    log->ordered = misplaced <= 1 + log->count / 100;
    if (!log->ordered)
        for (size_t i = 0; i < log->count; i++)
            log->events[i].epoch = 0;
    bool by_line = log->ordered && !is_sorted_by_text(log);
    int (*compare)(const void *, const void *) = by_line ? compare_by_line : compare_by_rank;
    bool sorted = true;
    for (size_t i = 1; i < log->count && sorted; i++)
        sorted = compare(&log->events[i - 1], &log->events[i]) <= 0;
    if (!sorted)
        qsort(log->events, log->count, sizeof *log->events, compare);
    remove_doubled(log);
    return CUZK_OK;
}
