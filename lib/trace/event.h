/* The recorder of what ran when. Everything that takes time in the daemon emits typed events into
   the recorder (struct trace). A background thread writes them as TIMELINE lines, the format that
   operators' scripts read today, and keeps the latest ones for the live page. The timeline is this
   record as printed.

   An emit costs tens of nanoseconds: it copies one record into a ring that belongs to the calling
   thread, without a lock and without taking memory. When a ring is full the event is dropped and
   counted, and the count is itself reported. A NULL recorder means "off" in every call.

   Reading logs and explaining them is the work of waterfall/log.h and waterfall/analyse.h. */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <cuzk/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Spans: X(NAME, key of the value printed with its end). Each gives a NAME_START and a NAME_END.
   SYNTH and GPU are the classic ones and keep exactly the format of the Rust cuzk. */
#define TRACE_SPAN_MAP(X)                                                                          \
    X(SYNTH, "synth_ms")    /* a synthesis worker makes a partition's witness */                   \
    X(GPU, "gpu_ms")        /* the device is truly occupied by a partition */                      \
    X(RPC, "bytes")         /* a request message is received and decoded */                        \
    X(JOURNAL, "bytes")     /* something is made durable: payload, state, proof */                 \
    X(QUEUE, "ms")          /* the accepted job waits for its turn */                              \
    X(PARSE, "ms")          /* vanilla proof read, public inputs computed */                       \
    X(CHECK, "ms")          /* inside SYNTH: the input of the partition is checked */              \
    X(BUDGET_WAIT, "bytes") /* a partition waits: the memory budget is spent */                    \
    X(SRS_LOAD, "bytes")    /* params are being mapped, checked or moved to a device */            \
    X(SRS_WAIT, "ms")       /* a partition waits for a load that another partition started */      \
    X(LOOKAHEAD_WAIT, "ms") /* a synthesized partition finds the channel full */                   \
    X(LOCK_WAIT, "ms")      /* a picked-up partition waits for its device to be free */            \
    X(UPLOAD, "bytes")      /* device phase: host to device */                                     \
    X(EVAL, "us")           /* device phase: row values a, b from the witness */                   \
    X(NTT, "us")            /* device phase: quotient polynomial */                                \
    X(MSM_H, "us")          /* device phase: the group sum of one query; they may overlap */       \
    X(MSM_L, "us")                                                                                 \
    X(MSM_A, "us")                                                                                 \
    X(MSM_B_G1, "us")                                                                              \
    X(MSM_B_G2, "us")                                                                              \
    X(MSM_TAILS, "us")  /* full-size variables' part of l, a and b where it runs apart */          \
    X(DOWNLOAD, "us")   /* device phase: sums to the host */                                       \
    X(BATCH_WAIT, "ms") /* a partition's own part is done; its batch's common part is not */       \
    X(FINISH, "ms")     /* host work on a partition's sums: tails, assembly, bytes */              \
    X(VERIFY, "ms")     /* our verifier on a partition's proof or on the whole job */              \
    X(REPLY, "bytes")   /* the answer is encoded and handed to the connection */

/* Instants: X(NAME, key of its value). In RUN_START and RUN_END the label names the run. */
#define TRACE_INSTANT_MAP(X)                                                                       \
    X(CHAN_SEND, "value")    /* a synthesized partition enters the device's queue (classic) */     \
    X(GPU_PICKUP, "value")   /* a device worker takes it (classic) */                              \
    X(JOB_ACCEPTED, "bytes") /* admitted under an id; text: kind=porep-c2,partitions=10 */         \
    X(JOB_DONE, "ms")        /* value: milliseconds since JOB_ACCEPTED */                          \
    X(JOB_FAILED, "ms")      /* text: reason=... */                                                \
    X(JOB_CANCELLED, "ms")                                                                         \
    X(RETRY, "value")         /* a partition is done again; text: reason=... */                    \
    X(ENGINE_START, "value")  /* text: synth_workers=,lookahead=,devices=,workers_per_device= */   \
    X(DEVICE_WORKER, "value") /* says which device a worker drives; text: name=... */              \
    X(RUN_START, "value") /* a labelled stretch begins, e.g. a bench batch; text: its config */    \
    X(RUN_END, "value")                                                                            \
    X(DROPPED, "events") /* rings overflowed; value: events lost since the last DROPPED */

enum trace_span {
#define X(name, key) TRACE_SPAN_##name,
    TRACE_SPAN_MAP(X)
#undef X
        TRACE_SPAN_COUNT
};

/* The closed set of events: span s starts with kind 2s and ends with 2s + 1; then the instants. */
enum trace_kind {
#define X(name, key) TRACE_##name##_START, TRACE_##name##_END,
    TRACE_SPAN_MAP(X)
#undef X
#define X(name, key) TRACE_##name,
        TRACE_INSTANT_MAP(X)
#undef X
            TRACE_KIND_COUNT
};

enum {
    TRACE_LABEL_BYTES = 96, /* longer labels are cut and get a hash, so they stay distinct */
    TRACE_TEXT_BYTES = 120, /* longer texts are cut */
};

struct trace;

/* Where an event belongs. A caller fills the scope once for a job or a partition and passes it
   down; a backend emits its phases with the scope that it gets. */
struct trace_scope {
    struct trace *trace; /* NULL: nothing is recorded */
    const char *label;   /* the job id; unique among the jobs in flight; NULL: no job */
    int32_t partition;   /* -1: the whole job */
    int32_t worker;      /* device worker, counted over all devices; -1: none */
    int32_t device;      /* -1: none */
};

/* A scope of a whole job (or of nothing, with label NULL). */
#define TRACE_SCOPE(trace_, label_) ((struct trace_scope){(trace_), (label_), -1, -1, -1})

struct trace_options {
    int fd;                  /* where lines go, normally 2 (stderr); -1: no lines */
    bool say_gpu_queue;      /* print CHAN_SEND as GPU_QUEUE, the newer name of the same event */
    uint32_t ring_events;    /* capacity of a thread's ring, a power of two; 0: 2048 */
    uint32_t history_events; /* latest events kept in memory for the live page; 0: none */
};

/* One recorded event, as kept in memory. */
struct trace_record {
    int64_t time_ns; /* since the recorder was created */
    int64_t value;   /* -1: none; the unit is in the kind's key */
    int32_t partition;
    int32_t worker;
    int32_t device;
    uint16_t kind;  /* enum trace_kind */
    uint64_t order; /* counts the records as they were collected; decides between equal times */
    char label[TRACE_LABEL_BYTES]; /* "" : no job */
    char text[TRACE_TEXT_BYTES];   /* further key=value details, or "" */
};

/* Starts the epoch (offset 0) and the writer thread. The descriptor stays the caller's. */
enum cuzk_status trace_create(const struct trace_options *options, struct trace **trace,
                              struct cuzk_error *err);

/* Writes what is left, stops the writer and frees the recorder. No other thread may emit any more;
   each thread that has emitted must still run or have been joined. NULL is allowed. */
void trace_destroy(struct trace *trace);

/* Records an event now. value: see the kind's key; -1: none. */
void trace_emit(const struct trace_scope *scope, enum trace_kind kind, int64_t value);

/* As trace_emit, with further details "key=value,key=value" (NULL: none). */
void trace_emit_text(const struct trace_scope *scope, enum trace_kind kind, int64_t value,
                     const char *text);

/* As trace_emit, for an event that happened at clock_now_ns() == time_ns, before this call: a
   device's phases, whose clock the backend maps to the host's. */
void trace_emit_at(const struct trace_scope *scope, enum trace_kind kind, int64_t value,
                   uint64_t time_ns);

/* The kinds of a span's two events. */
static inline enum trace_kind trace_start_kind(enum trace_span span)
{
    return (enum trace_kind)(2 * (unsigned)span);
}

static inline enum trace_kind trace_end_kind(enum trace_span span)
{
    return (enum trace_kind)(2 * (unsigned)span + 1);
}

/* Emits the start of a span and returns its time (clock_now_ns). */
uint64_t trace_begin(const struct trace_scope *scope, enum trace_span span);

/* Emits the end of a span. value: see the span's key; -1: none. */
void trace_end(const struct trace_scope *scope, enum trace_span span, int64_t value);

/* Emits the end of a span that began at begun_ns and whose value is its length in ms or us, as the
   span's key says. Returns the length in nanoseconds. */
uint64_t trace_end_timed(const struct trace_scope *scope, enum trace_span span, uint64_t begun_ns);

/* Emits both events of a span that lay between two times before this call; its value is its
   length, as above. */
void trace_span_at(const struct trace_scope *scope, enum trace_span span, uint64_t from_ns,
                   uint64_t to_ns);

/* Returns when everything that was emitted before the call is written and in the history. */
void trace_flush(struct trace *trace);

/* Events lost since the start because a ring was full. */
uint64_t trace_dropped(struct trace *trace);

/* A copy of the history in order of recording; free *records with mem_free (NULL when empty). */
enum cuzk_status trace_history(struct trace *trace, struct trace_record **records, size_t *count,
                               struct cuzk_error *err);

/* "SYNTH_START" and so on; never NULL. */
const char *trace_kind_name(enum trace_kind kind);

/* The key under which the kind's value is printed ("synth_ms"). */
const char *trace_kind_value_key(enum trace_kind kind);

/* The kind of a name (CHAN_SEND and GPU_QUEUE give TRACE_CHAN_SEND); false: no such name. */
bool trace_kind_parse(const char *name, size_t len, enum trace_kind *kind);

/* Whether the kind is one of the six events of the Rust cuzk, whose format is fixed: SYNTH, GPU,
   CHAN_SEND and GPU_PICKUP. */
bool trace_kind_is_classic(enum trace_kind kind);

/* The span that a kind starts or ends, and which of the two; false: the kind is an instant. */
static inline bool trace_kind_span(enum trace_kind kind, enum trace_span *span, bool *starts)
{
    if (kind >= 2 * TRACE_SPAN_COUNT)
        return false;
    *span = (enum trace_span)(kind / 2);
    *starts = kind % 2 == 0;
    return true;
}

/* Longest line that trace_format_line writes, with newline and terminator. */
#define TRACE_LINE_BYTES 1024

/* Writes "TIMELINE,<offset_ms>,<event>,<job_id>,<detail>\n" to line and returns its length. In the
   label everything that could break the line (comma, %, control and non-ASCII bytes) is written as
   %XX, no label as "-"; so a line has five fields, the last one a list of key=value details (in
   the text of the record commas separate details and stay). */
size_t trace_format_line(const struct trace_record *record, bool say_gpu_queue,
                         char line[TRACE_LINE_BYTES]);

#endif
