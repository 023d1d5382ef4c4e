/* A job: one request on its way to a proof. Belongs to the engine thread; while `pins` > 0 other
   threads read what they were given. Private to lib/engine. */
#ifndef ENGINE_JOB_H
#define ENGINE_JOB_H

#include "base/pointer.h"
#include "engine/budget.h"
#include "engine/pipeline.h"
#include "engine/work.h"

/* X(NAME, text of the status). */
#define JOB_STATE_MAP(X)                                                                           \
    X(ACCEPTED, "accepted") /* has an id; being made durable */                                    \
    X(QUEUED, "queued")                                                                            \
    X(PARSING, "parsing") /* being parsed, or waiting for its parameters */                        \
    X(RUNNING, "running")                                                                          \
    X(DONE, "done")                                                                                \
    X(FAILED, "failed")                                                                            \
    X(CANCELLED, "cancelled")                                                                      \
    X(EXPIRED, "expired") /* its result is gone; about to be freed */

enum job_state {
#define X(name, text) JOB_##name,
    JOB_STATE_MAP(X)
#undef X
        JOB_STATES
};

/* The last steps of a job all whose partitions are verified. */
enum job_ending {
    ENDING_NOT_YET,
    ENDING_VERIFY, /* the whole job is to be verified */
    ENDING_VERIFYING,
    ENDING_RECORD,    /* the proof is to be journaled */
    ENDING_RECORDING, /* it can no longer be cancelled */
};

struct srs_entry;

/* What the engine keeps for each partition. */
struct job_partition {
    void *witness;
    struct budget_hold hold;
    uint8_t proof[CUZK_PROOF_BYTES];
    bool redone;      /* it is being done for the second time, or was */
    bool suspected;   /* its first proof was not valid: a second, valid one blames the device */
    unsigned suspect; /* the device of the first proof */
    bool verifying;   /* PROVED: a worker verifies it */
    uint64_t synth_ns, device_ns;
};

struct job {
    uint64_t number; /* the internal id */
    char id[CUZK_JOB_ID_BYTES];
    char request_id[CUZK_REQUEST_ID_MAX + 1];
    uint8_t hash[REQUEST_HASH_BYTES];
    enum cuzk_proof_kind kind;
    enum cuzk_priority priority;
    enum job_state state;
    bool journaled;
    unsigned starts; /* number of processes that began it and did not end in good order */

    struct request *request; /* until it is parsed; NULL while only the journal has it */
    size_t request_bytes;
    struct budget_hold request_hold;
    char circuit_id[WORK_CIRCUIT_ID_BYTES];
    struct srs_entry *srs; /* referenced from the start of parsing to the end */
    struct work *work;
    struct pipeline_job line;
    bool in_line; /* in the pipeline's queue */
    bool parsed;
    bool budget_waits; /* a BUDGET_WAIT span is open */
    bool srs_waits;    /* an SRS_WAIT span is open */
    enum job_ending ending;
    bool interrupted;   /* begun, and given up by closing: the next process does it */
    bool record_wanted; /* FAILED or CANCELLED, and the journal does not know it yet */
    struct job_partition *partitions;
    struct pipeline_partition *line_partitions;
    unsigned n_partitions;
    unsigned pins; /* number of tasks and calls that look at it */

    struct cuzk_error error; /* FAILED, CANCELLED */
    uint8_t *proof;          /* DONE */
    size_t proof_len;
    uint64_t accepted_ns, started_ns, done_ns, srs_ns;
    uint64_t expires_ms;              /* DONE, FAILED, CANCELLED */
    uint64_t synthesis_ms, device_ms; /* sums, set when it ends */
};

/* NULL without memory. */
struct job *job_new(uint64_t number, const char *request_id);
/* Nothing may be running on it. */
void job_free(struct job *job, const struct work_ops *ops);

/* Is this step of the life of a job legal? */
bool job_may_become(enum job_state from, enum job_state to);
/* The only way to change a state; an illegal step is a bug of ours. */
void job_become(struct job *job, enum job_state to);
const char *job_state_text(enum job_state state);

/* ACCEPTED or QUEUED: nothing has been done for it yet. */
bool job_is_waiting(const struct job *job);
/* DONE, FAILED or CANCELLED. */
bool job_is_over(const struct job *job);
/* Of the highest priority, which has workers and memory of its own. */
bool job_is_critical(const struct job *job);

/* The job whose part in the pipeline this is. */
static inline struct job *job_of(struct pipeline_job *line)
{
    return CONTAINER_OF(line, struct job, line);
}

/* Of a job that is over. */
enum cuzk_job_outcome job_outcome(const struct job *job);
/* What a watcher of the job is given. Pointers are into the job. */
void job_result(const struct job *job, enum cuzk_job_outcome outcome, struct cuzk_result *out);
/* Milliseconds between two readings of the clock; 0 if one was not taken. */
uint64_t job_ms_between(uint64_t from_ns, uint64_t to_ns);

/* After parsing: makes room for the partitions. False without memory: then nothing is changed. */
bool job_make_partitions(struct job *job, unsigned n);

/* Of the events of the whole job, or of one partition. */
struct trace_scope job_scope(const struct job *job, struct trace *trace);
struct trace_scope job_partition_scope(const struct job *job, unsigned partition,
                                       struct trace *trace);

#endif
