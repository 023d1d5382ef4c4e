/* Rings of the emitting threads, and the writer that drains them.

   Each thread has a ring of its own in each timeline: it alone advances `head`, the writer alone
   advances `tail`. The writer collects what all rings hold, orders it by time and writes it. An
   event is stamped just before it is published, so a fresh one is held back for HOLD_BACK_NS,
   during which a slower thread can still deliver an earlier one; events of device clocks that come
   later than that are written when they come (readers sort by offset). */
#include "trace/event.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Lines are written in whole lines of at most PIPE_BUF (4,096) bytes together, which a pipe never
   mixes with the log lines of other threads. */
enum { DEFAULT_RING_EVENTS = 2048, DRAIN_PERIOD_MS = 20, OUTPUT_BYTES = 4096 };
/* Events are written this long after they happened, so that those of slower threads and of devices,
   which are emitted late, still take their place in the order of time. */
#define HOLD_BACK_NS 20000000

struct ring {
    struct ring *next; /* in the recorder's list; set before the ring is published */
    _Alignas(64) atomic_uint_fast64_t head; /* events ever put in, by the owning thread */
    atomic_uint_fast64_t dropped;
    _Alignas(64) atomic_uint_fast64_t tail; /* events ever taken out, by the writer */
    atomic_bool owned; /* cleared when its thread ends; the ring then serves a new thread */
    struct trace_record records[];
};

struct trace {
    uint64_t epoch_ns;
    int fd;
    bool say_gpu_queue;
    uint32_t ring_events;
    pthread_key_t ring_key; /* the calling thread's ring */
    _Atomic(struct ring *) rings;
    atomic_uint_fast64_t unringed; /* events dropped because there was no memory for a ring */

    pthread_t writer;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t wake;   /* to the writer: flush or stop */
    pthread_cond_t done;   /* from the writer: a flush is complete */
    bool stopping;
    uint64_t flushes_asked;
    uint64_t flushes_done;

    struct trace_record *history; /* ring of history_capacity records */
    uint32_t history_capacity;
    uint64_t history_count; /* records ever put in */

    /* The writer's own. */
    struct trace_record *pending; /* taken from the rings, not yet written */
    size_t pending_count;
    size_t pending_capacity;
    uint64_t collected; /* records ever taken from rings */
    uint64_t dropped_reported;
    uint64_t dropped_pending; /* lost by the writer itself, without memory for `pending` */
    char *output;
    size_t output_len;
};

static void release_ring(void *ring)
{
    atomic_store_explicit(&((struct ring *)ring)->owned, false, memory_order_release);
}

/* The ring of a thread that emits for the first time: a ring that an ended thread left, or a new
   one. */
static struct ring *adopt_ring(struct trace *trace)
{
    struct ring *ring = atomic_load(&trace->rings);
    for (; ring; ring = ring->next) {
        bool expected = false;
        if (atomic_compare_exchange_strong(&ring->owned, &expected, true))
            break;
    }
    if (!ring) {
        ring = mem_zalloc(1, sizeof *ring + trace->ring_events * sizeof ring->records[0]);
        if (!ring)
            return NULL;
        atomic_store(&ring->owned, true);
        struct ring *first = atomic_load(&trace->rings);
        do {
            ring->next = first;
        } while (!atomic_compare_exchange_weak(&trace->rings, &first, ring));
    }
    if (pthread_setspecific(trace->ring_key, ring) != 0) {
        release_ring(ring);
        return NULL;
    }
    return ring;
}

/* Copies a label. A label that is too long keeps its beginning and gets a hash (FNV-1a) of the
   whole. */
static void copy_label(char out[TRACE_LABEL_BYTES], const char *label)
{
    size_t len = strnlen(label, TRACE_LABEL_BYTES);
    if (len < TRACE_LABEL_BYTES) {
        memcpy(out, label, len + 1);
        return;
    }
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *s = label; *s; s++)
        hash = (hash ^ (unsigned char)*s) * 0x100000001b3u;
    enum { KEEP = TRACE_LABEL_BYTES - 18 };
    memcpy(out, label, KEEP);
    snprintf(out + KEEP, 18, "~%016llx", (unsigned long long)hash);
}

static void record_event(const struct trace_scope *scope, enum trace_kind kind, int64_t value,
                         const char *text, uint64_t time_ns)
{
    struct trace *trace = scope->trace;
    CHECK((unsigned)kind < TRACE_KIND_COUNT);
    struct ring *ring = pthread_getspecific(trace->ring_key);
    if (!ring && !(ring = adopt_ring(trace))) {
        atomic_fetch_add(&trace->unringed, 1);
        return;
    }
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    if (head - tail >= trace->ring_events) {
        uint64_t dropped = atomic_load_explicit(&ring->dropped, memory_order_relaxed);
        atomic_store_explicit(&ring->dropped, dropped + 1, memory_order_relaxed);
        return;
    }
    struct trace_record *record = &ring->records[head & (trace->ring_events - 1)];
    record->value = value;
    record->partition = scope->partition;
    record->worker = scope->worker;
    record->device = scope->device;
    record->kind = (uint16_t)kind;
    record->label[0] = '\0';
    if (scope->label)
        copy_label(record->label, scope->label);
    record->text[0] = '\0';
    if (text) {
        size_t len = strnlen(text, TRACE_TEXT_BYTES - 1);
        memcpy(record->text, text, len);
        record->text[len] = '\0';
    }
    uint64_t now = time_ns ? time_ns : clock_now_ns();
    record->time_ns = now > trace->epoch_ns ? (int64_t)(now - trace->epoch_ns) : 0;
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

void trace_emit(const struct trace_scope *scope, enum trace_kind kind, int64_t value)
{
    if (scope->trace)
        record_event(scope, kind, value, NULL, 0);
}

void trace_emit_text(const struct trace_scope *scope, enum trace_kind kind, int64_t value,
                     const char *text)
{
    if (scope->trace)
        record_event(scope, kind, value, text, 0);
}

void trace_emit_at(const struct trace_scope *scope, enum trace_kind kind, int64_t value,
                   uint64_t time_ns)
{
    if (scope->trace)
        record_event(scope, kind, value, NULL, time_ns);
}

uint64_t trace_dropped(struct trace *trace)
{
    if (!trace)
        return 0;
    uint64_t dropped = atomic_load(&trace->unringed);
    for (struct ring *ring = atomic_load(&trace->rings); ring; ring = ring->next)
        dropped += atomic_load_explicit(&ring->dropped, memory_order_relaxed);
    return dropped;
}

/* Moves what a ring holds to the pending records. */
static void drain_ring(struct trace *trace, struct ring *ring)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    size_t count = (size_t)(head - tail);
    if (count == 0)
        return;
    if (MEM_GROW(trace->pending, trace->pending_capacity, trace->pending_count + count)) {
        for (; tail < head; tail++) {
            struct trace_record *record = &trace->pending[trace->pending_count++];
            *record = ring->records[tail & (trace->ring_events - 1)];
            record->order = trace->collected++;
        }
    } else {
        trace->dropped_pending += count;
    }
    atomic_store_explicit(&ring->tail, head, memory_order_release);
}

static void write_output(struct trace *trace)
{
    size_t done = 0;
    while (done < trace->output_len) {
        ssize_t n = write(trace->fd, trace->output + done, trace->output_len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; /* the log's reader is gone or its disk is full: no place to report it */
        done += (size_t)n;
    }
    trace->output_len = 0;
}

static void put_out_record(struct trace *trace, const struct trace_record *record)
{
    if (trace->fd >= 0) {
        if (trace->output_len + TRACE_LINE_BYTES > OUTPUT_BYTES)
            write_output(trace);
        trace->output_len +=
            trace_format_line(record, trace->say_gpu_queue, trace->output + trace->output_len);
    }
    if (trace->history_capacity) {
        pthread_mutex_lock(&trace->mutex);
        trace->history[trace->history_count++ % trace->history_capacity] = *record;
        pthread_mutex_unlock(&trace->mutex);
    }
}

static int compare_times(const void *a, const void *b)
{
    const struct trace_record *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void report_drops(struct trace *trace)
{
    uint64_t dropped = trace_dropped(trace) + trace->dropped_pending;
    if (dropped == trace->dropped_reported)
        return;
    struct trace_record record = {
        .time_ns = (int64_t)(clock_now_ns() - trace->epoch_ns),
        .value = (int64_t)(dropped - trace->dropped_reported),
        .partition = -1,
        .worker = -1,
        .device = -1,
        .kind = TRACE_DROPPED,
    };
    trace->dropped_reported = dropped;
    put_out_record(trace, &record);
}

/* One round: all events that are old enough (with `all`: all events) go out in order of time. A
   record's `order` keeps the events of one thread in their order. */
static void drain_rings(struct trace *trace, bool all)
{
    int64_t now = (int64_t)(clock_now_ns() - trace->epoch_ns);
    for (struct ring *ring = atomic_load(&trace->rings); ring; ring = ring->next)
        drain_ring(trace, ring);
    if (trace->pending_count > 1)
        qsort(trace->pending, trace->pending_count, sizeof *trace->pending, compare_times);
    size_t ready = 0;
    while (ready < trace->pending_count &&
           (all || trace->pending[ready].time_ns <= now - HOLD_BACK_NS))
        put_out_record(trace, &trace->pending[ready++]);
    trace->pending_count -= ready;
    if (ready)
        memmove(trace->pending, trace->pending + ready,
                trace->pending_count * sizeof *trace->pending);
    report_drops(trace);
    if (trace->output_len)
        write_output(trace);
}

static void *write_loop(void *argument)
{
    struct trace *trace = argument;
    for (bool stop = false; !stop;) {
        pthread_mutex_lock(&trace->mutex);
        if (!trace->stopping && trace->flushes_done == trace->flushes_asked) {
            struct timespec until;
            clock_gettime(CLOCK_MONOTONIC, &until);
            until.tv_nsec += DRAIN_PERIOD_MS * 1000000;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&trace->wake, &trace->mutex, &until);
        }
        stop = trace->stopping;
        uint64_t asked = trace->flushes_asked;
        bool flush = trace->flushes_done != asked;
        pthread_mutex_unlock(&trace->mutex);

        drain_rings(trace, stop || flush);
        pthread_mutex_lock(&trace->mutex);
        trace->flushes_done = asked;
        pthread_cond_broadcast(&trace->done);
        pthread_mutex_unlock(&trace->mutex);
    }
    return NULL;
}

static void free_trace(struct trace *trace)
{
    for (struct ring *ring = atomic_load(&trace->rings); ring;) {
        struct ring *next = ring->next;
        mem_free(ring);
        ring = next;
    }
    mem_free(trace->history);
    mem_free(trace->pending);
    mem_free(trace->output);
    mem_free(trace);
}

/* The condition variables wait on the monotonic clock, so that a clock change delays nothing. */
static void init_locks(struct trace *trace)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&trace->mutex, NULL);
    pthread_cond_init(&trace->wake, &attributes);
    pthread_cond_init(&trace->done, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* The writer takes no signals: they are for the threads that expect them. */
static int start_writer(struct trace *trace)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&trace->writer, NULL, write_loop, trace);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

enum cuzk_status trace_create(const struct trace_options *options, struct trace **out,
                              struct cuzk_error *err)
{
    uint32_t ring_events = options->ring_events ? options->ring_events : DEFAULT_RING_EVENTS;
    *out = NULL;
    if (ring_events & (ring_events - 1))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "timeline ring of %u events: expected a power of two", ring_events);
    struct trace *trace = mem_zalloc(1, sizeof *trace);
    if (!trace)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a timeline");
    trace->epoch_ns = clock_now_ns();
    trace->fd = options->fd;
    trace->say_gpu_queue = options->say_gpu_queue;
    trace->ring_events = ring_events;
    trace->history_capacity = options->history_events;
    trace->output = mem_alloc(OUTPUT_BYTES, 1);
    trace->history = mem_alloc(options->history_events, sizeof *trace->history);
    if (!trace->output || !trace->history) {
        free_trace(trace);
        return error_set(err, CUZK_NO_MEMORY, "no memory for a timeline of %u events",
                         options->history_events);
    }
    int failure = pthread_key_create(&trace->ring_key, release_ring);
    if (failure) {
        free_trace(trace);
        return error_errno(err, CUZK_RESOURCE_EXHAUSTED, failure, "timeline: no thread key");
    }
    init_locks(trace);
    failure = start_writer(trace);
    if (failure) {
        pthread_key_delete(trace->ring_key);
        free_trace(trace);
        return error_errno(err, CUZK_RESOURCE_EXHAUSTED, failure, "timeline: no writer thread");
    }
    *out = trace;
    return CUZK_OK;
}

void trace_destroy(struct trace *trace)
{
    if (!trace)
        return;
    pthread_mutex_lock(&trace->mutex);
    trace->stopping = true;
    pthread_cond_signal(&trace->wake);
    pthread_mutex_unlock(&trace->mutex);
    pthread_join(trace->writer, NULL);
    pthread_key_delete(trace->ring_key);
    pthread_cond_destroy(&trace->wake);
    pthread_cond_destroy(&trace->done);
    pthread_mutex_destroy(&trace->mutex);
    free_trace(trace);
}

void trace_flush(struct trace *trace)
{
    if (!trace)
        return;
    pthread_mutex_lock(&trace->mutex);
    uint64_t mine = ++trace->flushes_asked;
    pthread_cond_signal(&trace->wake);
    while (trace->flushes_done < mine)
        pthread_cond_wait(&trace->done, &trace->mutex);
    pthread_mutex_unlock(&trace->mutex);
}

enum cuzk_status trace_history(struct trace *trace, struct trace_record **records, size_t *count,
                               struct cuzk_error *err)
{
    *records = NULL;
    *count = 0;
    if (!trace || !trace->history_capacity)
        return CUZK_OK;
    trace_flush(trace);
    struct trace_record *copy = mem_alloc(trace->history_capacity, sizeof *copy);
    if (!copy)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a copy of the timeline");
    pthread_mutex_lock(&trace->mutex);
    uint64_t end = trace->history_count;
    uint64_t start = end > trace->history_capacity ? end - trace->history_capacity : 0;
    for (uint64_t i = start; i < end; i++)
        copy[i - start] = trace->history[i % trace->history_capacity];
    pthread_mutex_unlock(&trace->mutex);
    *records = copy;
    *count = (size_t)(end - start);
    return CUZK_OK;
}
