/* A job: one request on its way to a proof. Belongs to the engine thread; while `pins` > 0 other
   threads read what they were given. */
#ifndef ENGINE_JOB_H
#define ENGINE_JOB_H

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
    struct witness *witness;
    struct budget_hold hold;
    uint8_t proof[CUZK_PROOF_BYTES];
    bool redone;      /* its first proof was no good */
    bool suspected;   /* the first one was not valid: that device is to blame if the second is */
    unsigned suspect; /* that device */
    bool verifying;   /* PROVED: a worker is at it */
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
    unsigned starts; /* times that it was begun by processes that did not end well */

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
    bool interrupted;   /* given up by closing; the next process goes on with it */
    bool record_wanted; /* FAILED or CANCELLED, and the journal does not know it yet */
    struct job_partition *partitions;
    struct pipeline_partition *line_partitions;
    unsigned n_partitions;
    unsigned pins; /* tasks and calls that still look at it */

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

/* DONE, FAILED or CANCELLED. */
bool job_is_over(const struct job *job);

/* After parsing: room for the partitions, both arrays or none. false without memory. */
bool job_make_partitions(struct job *job, unsigned n);

struct trace_scope job_scope(const struct job *job, struct trace *trace);

#endif
