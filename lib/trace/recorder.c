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
#define HOLD_BACK_NS 20000000

struct ring {
    struct ring *next; /* in the timeline's list; set before the ring is published */
    _Alignas(64) atomic_uint_fast64_t head; /* events ever put in, by the owning thread */
    atomic_uint_fast64_t dropped;
    _Alignas(64) atomic_uint_fast64_t tail; /* events ever taken out, by the writer */
    atomic_bool owned; /* cleared when its thread ends; the ring then serves a new thread */
    struct timeline_record records[];
};

struct timeline {
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

    struct timeline_record *history; /* ring of history_capacity records */
    uint32_t history_capacity;
    uint64_t history_count; /* records ever put in */

    /* The writer's own. */
    struct timeline_record *pending; /* taken from the rings, not yet written */
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

/* The ring of a thread that emits for the first time: one that an ended thread left, or a new one.
 */
static struct ring *adopt_ring(struct timeline *timeline)
{
    struct ring *ring = atomic_load(&timeline->rings);
    for (; ring; ring = ring->next) {
        bool expected = false;
        if (atomic_compare_exchange_strong(&ring->owned, &expected, true))
            break;
    }
    if (!ring) {
        ring = mem_zalloc(1, sizeof *ring + timeline->ring_events * sizeof ring->records[0]);
        if (!ring)
            return NULL;
        atomic_store(&ring->owned, true);
        struct ring *first = atomic_load(&timeline->rings);
        do {
            ring->next = first;
        } while (!atomic_compare_exchange_weak(&timeline->rings, &first, ring));
    }
    if (pthread_setspecific(timeline->ring_key, ring) != 0) {
        release_ring(ring);
        return NULL;
    }
    return ring;
}

/* Copies a label; one that is too long keeps its beginning and gets a hash (FNV-1a) of all of it.
 */
static void copy_label(char out[TIMELINE_LABEL_BYTES], const char *label)
{
    size_t len = strnlen(label, TIMELINE_LABEL_BYTES);
    if (len < TIMELINE_LABEL_BYTES) {
        memcpy(out, label, len + 1);
        return;
    }
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *s = label; *s; s++)
        hash = (hash ^ (unsigned char)*s) * 0x100000001b3u;
    enum { KEEP = TIMELINE_LABEL_BYTES - 18 };
    memcpy(out, label, KEEP);
    snprintf(out + KEEP, 18, "~%016llx", (unsigned long long)hash);
}

static void emit(const struct timeline_scope *scope, enum timeline_kind kind, int64_t value,
                 const char *text, uint64_t time_ns)
{
    struct timeline *timeline = scope->timeline;
    CHECK((unsigned)kind < TIMELINE_KIND_COUNT);
    struct ring *ring = pthread_getspecific(timeline->ring_key);
    if (!ring && !(ring = adopt_ring(timeline))) {
        atomic_fetch_add(&timeline->unringed, 1);
        return;
    }
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    if (head - tail >= timeline->ring_events) {
        uint64_t dropped = atomic_load_explicit(&ring->dropped, memory_order_relaxed);
        atomic_store_explicit(&ring->dropped, dropped + 1, memory_order_relaxed);
        return;
    }
    struct timeline_record *record = &ring->records[head & (timeline->ring_events - 1)];
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
        size_t len = strnlen(text, TIMELINE_TEXT_BYTES - 1);
        memcpy(record->text, text, len);
        record->text[len] = '\0';
    }
    uint64_t now = time_ns ? time_ns : clock_now_ns();
    record->time_ns = now > timeline->epoch_ns ? (int64_t)(now - timeline->epoch_ns) : 0;
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

void timeline_emit(const struct timeline_scope *scope, enum timeline_kind kind, int64_t value)
{
    if (scope->timeline)
        emit(scope, kind, value, NULL, 0);
}

void timeline_emit_text(const struct timeline_scope *scope, enum timeline_kind kind, int64_t value,
                        const char *text)
{
    if (scope->timeline)
        emit(scope, kind, value, text, 0);
}

void timeline_emit_at(const struct timeline_scope *scope, enum timeline_kind kind, int64_t value,
                      uint64_t time_ns)
{
    if (scope->timeline)
        emit(scope, kind, value, NULL, time_ns);
}

uint64_t timeline_dropped(struct timeline *timeline)
{
    if (!timeline)
        return 0;
    uint64_t dropped = atomic_load(&timeline->unringed);
    for (struct ring *ring = atomic_load(&timeline->rings); ring; ring = ring->next)
        dropped += atomic_load_explicit(&ring->dropped, memory_order_relaxed);
    return dropped;
}

/* Moves what a ring holds to the pending records. */
static void drain_ring(struct timeline *timeline, struct ring *ring)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    void *pending = timeline->pending;
    size_t count = (size_t)(head - tail);
    if (count == 0)
        return;
    if (mem_reserve(&pending, &timeline->pending_capacity, timeline->pending_count + count,
                    sizeof *timeline->pending)) {
        timeline->pending = pending;
        for (; tail < head; tail++) {
            struct timeline_record *record = &timeline->pending[timeline->pending_count++];
            *record = ring->records[tail & (timeline->ring_events - 1)];
            record->order = timeline->collected++;
        }
    } else {
        timeline->dropped_pending += count;
    }
    atomic_store_explicit(&ring->tail, head, memory_order_release);
}

static void write_output(struct timeline *timeline)
{
    size_t done = 0;
    while (done < timeline->output_len) {
        ssize_t n = write(timeline->fd, timeline->output + done, timeline->output_len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; /* nobody to tell: the log's reader is gone or its disk is full */
        done += (size_t)n;
    }
    timeline->output_len = 0;
}

static void put_out(struct timeline *timeline, const struct timeline_record *record)
{
    if (timeline->fd >= 0) {
        if (timeline->output_len + TIMELINE_LINE_BYTES > OUTPUT_BYTES)
            write_output(timeline);
        timeline->output_len += timeline_format_line(record, timeline->say_gpu_queue,
                                                     timeline->output + timeline->output_len);
    }
    if (timeline->history_capacity) {
        pthread_mutex_lock(&timeline->mutex);
        timeline->history[timeline->history_count++ % timeline->history_capacity] = *record;
        pthread_mutex_unlock(&timeline->mutex);
    }
}

static int compare_times(const void *a, const void *b)
{
    const struct timeline_record *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void report_drops(struct timeline *timeline)
{
    uint64_t dropped = timeline_dropped(timeline) + timeline->dropped_pending;
    if (dropped == timeline->dropped_reported)
        return;
    struct timeline_record record = {
        .time_ns = (int64_t)(clock_now_ns() - timeline->epoch_ns),
        .value = (int64_t)(dropped - timeline->dropped_reported),
        .partition = -1,
        .worker = -1,
        .device = -1,
        .kind = TIMELINE_DROPPED,
    };
    timeline->dropped_reported = dropped;
    put_out(timeline, &record);
}

/* One round: everything that is old enough (with `all`: everything) goes out in order of time;
   `order` keeps the events of one thread in their order. */
static void drain(struct timeline *timeline, bool all)
{
    int64_t now = (int64_t)(clock_now_ns() - timeline->epoch_ns);
    for (struct ring *ring = atomic_load(&timeline->rings); ring; ring = ring->next)
        drain_ring(timeline, ring);
    if (timeline->pending_count > 1)
        qsort(timeline->pending, timeline->pending_count, sizeof *timeline->pending, compare_times);
    size_t ready = 0;
    while (ready < timeline->pending_count &&
           (all || timeline->pending[ready].time_ns <= now - HOLD_BACK_NS))
        put_out(timeline, &timeline->pending[ready++]);
    timeline->pending_count -= ready;
    if (ready)
        memmove(timeline->pending, timeline->pending + ready,
                timeline->pending_count * sizeof *timeline->pending);
    report_drops(timeline);
    if (timeline->output_len)
        write_output(timeline);
}

static void *write_loop(void *argument)
{
    struct timeline *timeline = argument;
    for (bool stop = false; !stop;) {
        pthread_mutex_lock(&timeline->mutex);
        if (!timeline->stopping && timeline->flushes_done == timeline->flushes_asked) {
            struct timespec until;
            clock_gettime(CLOCK_MONOTONIC, &until);
            until.tv_nsec += DRAIN_PERIOD_MS * 1000000;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&timeline->wake, &timeline->mutex, &until);
        }
        stop = timeline->stopping;
        uint64_t asked = timeline->flushes_asked;
        bool flush = timeline->flushes_done != asked;
        pthread_mutex_unlock(&timeline->mutex);

        drain(timeline, stop || flush);
        pthread_mutex_lock(&timeline->mutex);
        timeline->flushes_done = asked;
        pthread_cond_broadcast(&timeline->done);
        pthread_mutex_unlock(&timeline->mutex);
    }
    return NULL;
}

static void free_timeline(struct timeline *timeline)
{
    for (struct ring *ring = atomic_load(&timeline->rings); ring;) {
        struct ring *next = ring->next;
        mem_free(ring);
        ring = next;
    }
    mem_free(timeline->history);
    mem_free(timeline->pending);
    mem_free(timeline->output);
    mem_free(timeline);
}

/* The condition variables wait on the monotonic clock, so that a clock change delays nothing. */
static void init_locks(struct timeline *timeline)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&timeline->mutex, NULL);
    pthread_cond_init(&timeline->wake, &attributes);
    pthread_cond_init(&timeline->done, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* The writer takes no signals: they are for the threads that expect them. */
static int start_writer(struct timeline *timeline)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&timeline->writer, NULL, write_loop, timeline);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

enum cuzk_status timeline_create(const struct timeline_options *options, struct timeline **out,
                                 struct cuzk_error *err)
{
    uint32_t ring_events = options->ring_events ? options->ring_events : DEFAULT_RING_EVENTS;
    *out = NULL;
    if (ring_events & (ring_events - 1))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "timeline ring of %u events: expected a power of two", ring_events);
    struct timeline *timeline = mem_zalloc(1, sizeof *timeline);
    if (!timeline)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a timeline");
    timeline->epoch_ns = clock_now_ns();
    timeline->fd = options->fd;
    timeline->say_gpu_queue = options->say_gpu_queue;
    timeline->ring_events = ring_events;
    timeline->history_capacity = options->history_events;
    timeline->output = mem_alloc(OUTPUT_BYTES, 1);
    timeline->history = mem_alloc(options->history_events, sizeof *timeline->history);
    if (!timeline->output || !timeline->history) {
        free_timeline(timeline);
        return error_set(err, CUZK_NO_MEMORY, "no memory for a timeline of %u events",
                         options->history_events);
    }
    int failure = pthread_key_create(&timeline->ring_key, release_ring);
    if (failure) {
        free_timeline(timeline);
        return error_errno(err, CUZK_RESOURCE_EXHAUSTED, failure, "timeline: no thread key");
    }
    init_locks(timeline);
    failure = start_writer(timeline);
    if (failure) {
        pthread_key_delete(timeline->ring_key);
        free_timeline(timeline);
        return error_errno(err, CUZK_RESOURCE_EXHAUSTED, failure, "timeline: no writer thread");
    }
    *out = timeline;
    return CUZK_OK;
}

void timeline_destroy(struct timeline *timeline)
{
    if (!timeline)
        return;
    pthread_mutex_lock(&timeline->mutex);
    timeline->stopping = true;
    pthread_cond_signal(&timeline->wake);
    pthread_mutex_unlock(&timeline->mutex);
    pthread_join(timeline->writer, NULL);
    pthread_key_delete(timeline->ring_key);
    pthread_cond_destroy(&timeline->wake);
    pthread_cond_destroy(&timeline->done);
    pthread_mutex_destroy(&timeline->mutex);
    free_timeline(timeline);
}

void timeline_flush(struct timeline *timeline)
{
    if (!timeline)
        return;
    pthread_mutex_lock(&timeline->mutex);
    uint64_t mine = ++timeline->flushes_asked;
    pthread_cond_signal(&timeline->wake);
    while (timeline->flushes_done < mine)
        pthread_cond_wait(&timeline->done, &timeline->mutex);
    pthread_mutex_unlock(&timeline->mutex);
}

enum cuzk_status timeline_history(struct timeline *timeline, struct timeline_record **records,
                                  size_t *count, struct cuzk_error *err)
{
    *records = NULL;
    *count = 0;
    if (!timeline || !timeline->history_capacity)
        return CUZK_OK;
    timeline_flush(timeline);
    struct timeline_record *copy = mem_alloc(timeline->history_capacity, sizeof *copy);
    if (!copy)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a copy of the timeline");
    pthread_mutex_lock(&timeline->mutex);
    uint64_t end = timeline->history_count;
    uint64_t start = end > timeline->history_capacity ? end - timeline->history_capacity : 0;
    for (uint64_t i = start; i < end; i++)
        copy[i - start] = timeline->history[i % timeline->history_capacity];
    pthread_mutex_unlock(&timeline->mutex);
    *records = copy;
    *count = (size_t)(end - start);
    return CUZK_OK;
}
