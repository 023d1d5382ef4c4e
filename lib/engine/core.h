/* The engine's inside. One thread, the engine thread, owns everything in struct cuzk_engine below
   the line; all else happens by messages to its inbox: calls of the public interface, and workers
   that come back with their task. A worker owns its task from the moment it is sent until it is
   back. */
#ifndef ENGINE_CORE_H
#define ENGINE_CORE_H

#include "base/chan.h"
#include "engine/job.h"
#include "engine/journal.h"
#include "engine/pipeline.h"
#include "engine/work.h"

#include <pthread.h>
#include <semaphore.h>

enum {
    CORE_SRS_MAX = 64,        /* circuits known at once */
    CORE_RESULTS_MAX = 20000, /* finished jobs kept; more push out the oldest */
    CORE_DEVICE_FAILURES = 2, /* after so many a device is quarantined */
    CORE_BUCKETS = 12,
};

/* Everything that arrives in the inbox begins with this. */
struct message {
    bool is_call; /* struct call, else struct worker */
};

/* --- Tasks ------------------------------------------------------------------------- */

enum worker_class { WORKER_HOST, WORKER_SYNTHESIS, WORKER_DEVICE, WORKER_LOADER };

enum task_kind {
    TASK_PARSE,
    TASK_SYNTHESIZE, /* check a partition's input, make its witness */
    TASK_PROVE,
    TASK_VERIFY, /* one partition */
    TASK_FINISH, /* the whole job */
    TASK_RECORD, /* how a job ended, in the journal */
    TASK_FORGET, /* expired jobs */
    TASK_LOAD,
    TASK_UNLOAD,
};

struct task {
    enum task_kind kind;
    struct job *job;
    struct srs_entry *srs;
    struct loaded *loaded;
    struct request *request; /* PARSE: to be parsed; NULL: in the journal */
    struct work *work;
    struct witness *witness;
    unsigned partition, device;
    uint8_t proof[CUZK_PROOF_BYTES];
    uint8_t *proofs; /* FINISH: of the job, CUZK_PROOF_BYTES a partition */
    struct journal_job record;
    uint64_t *numbers; /* FORGET */
    size_t n_numbers;
    /* Result: */
    enum cuzk_status status;
    struct cuzk_error err;
    uint64_t ns;
    uint64_t device_ns; /* PROVE: of true occupancy */
};

struct worker {
    struct message message;
    struct cuzk_engine *engine;
    enum worker_class class;
    bool reserve; /* only for CRITICAL jobs */
    bool busy;
    unsigned device;
    int number;         /* of the timeline: device workers are counted over all devices */
    struct chan *inbox; /* one task at a time */
    pthread_t thread;
    bool running;
    struct task task;
    uint64_t since_ns;
};

void task_run(struct cuzk_engine *engine, struct worker *worker);

/* --- Calls ------------------------------------------------------------------------- */

enum call_kind {
    CALL_RESERVE,  /* submit, first half */
    CALL_ACTIVATE, /* submit, second half: the job is durable, or is not (status) */
    CALL_WATCH,
    CALL_UNWATCH,
    CALL_CANCEL,
    CALL_PRELOAD,
    CALL_EVICT,
    CALL_DRAIN,
    CALL_WAIT_IDLE,
    CALL_SNAPSHOT,
    CALL_BUSY, /* number: workers with a task */
    CALL_CLOSE,
};

struct call {
    struct message message;
    enum call_kind kind;
    sem_t done;
    struct call *next; /* while it waits: WAIT_IDLE, PRELOAD, EVICT */
    enum cuzk_status status;
    struct cuzk_error err;
    /* Arguments and results, by kind: */
    struct request *request;
    const char *circuit_id;
    const char *text; /* job id */
    struct job *job;
    uint32_t position;
    bool flag;       /* attached, was_running, already_loaded, was_loaded, finish_queued, idle */
    uint64_t number; /* watch, timeout_ms, load_ms, freed_bytes */
    uint64_t until_ms;
    cuzk_result_fn *fn;
    void *context;
    struct cuzk_snapshot *snapshot;
    struct core_stats *stats;
    char *job_id; /* CUZK_JOB_ID_BYTES */
};

struct watch {
    uint64_t id;
    struct job *job;
    uint64_t until_ms; /* 0: no limit */
    cuzk_result_fn *fn;
    void *context;
};

/* --- Parameters -------------------------------------------------------------------- */

enum srs_state {
    SRS_ABSENT,
    SRS_LOADING,
    SRS_UNPAID, /* loaded, waiting for its part of the budget */
    SRS_READY,
    SRS_UNLOADING,
};

struct srs_entry {
    char circuit_id[WORK_CIRCUIT_ID_BYTES];
    enum srs_state state;
    struct loaded *loaded;
    struct budget_hold hold;
    unsigned references; /* jobs between the start of parsing and their end */
    bool critical;       /* one of them is */
    bool stale;          /* its file changed: goes as soon as nobody needs it */
    bool evict;          /* wanted away */
    bool crowded;        /* did not fit; tried again when something was unloaded */
    bool failed;         /* those who wanted it have failed; tried again for the next one */
    struct call *preloads, *evictions;
    uint64_t load_started_ns, load_ns;
    uint64_t last_used_ns;
    uint64_t freed_bytes;
};

/* --- Counters ---------------------------------------------------------------------- */

/* Seconds, upper bounds of the histogram's buckets; the last one is +Inf. */
extern const double core_buckets[CORE_BUCKETS];

struct core_kind_stats {
    uint64_t completed, failed, cancelled;
    uint64_t bucket[CORE_BUCKETS];
    double seconds;
};

struct core_stats {
    struct core_kind_stats kind[4];
    uint64_t partitions; /* proved and verified */
    uint64_t invalid_proofs, device_faults, redone;
    uint64_t device_busy_ns[PIPELINE_DEVICES_MAX];
    uint64_t device_failures[PIPELINE_DEVICES_MAX];
    uint64_t queue_wait_ns, synthesis_ns, device_ns, verify_ns, srs_load_ns, srs_loads;
    uint64_t rejected_full, rejected_budget, journal_failures;
    uint64_t preemptions;
    unsigned queued, running, n_workers;
    bool dev, simulated, journaled;
    uint64_t budget_peak;
};

/* --- The engine -------------------------------------------------------------------- */

struct cuzk_engine {
    struct work_setup setup;
    struct work_device *devices;
    struct trace *trace;
    struct journal *journal; /* NULL: none */
    struct chan *inbox;
    pthread_t thread;
    bool running;
    uint64_t opened_ns;
    unsigned queue_max;
    uint64_t keep_ms;
    struct pipeline_limits limits;
    void (*devices_lost)(void *context, const char *why);
    void *devices_lost_context;
    struct worker *workers;
    unsigned n_workers;

    /* --- Only the engine thread looks below this line ---------------------------------------- */
    struct budget budget;
    struct pipeline pipeline;
    struct srs_entry srs[CORE_SRS_MAX];
    struct job **jobs; /* by number; over ones until they expire */
    size_t n_jobs, jobs_capacity;
    uint64_t next_number;
    struct watch *watches;
    size_t n_watches, watches_capacity;
    uint64_t next_watch;
    uint64_t next_sweep_ms; /* when results are looked through for expired ones */
    struct call *idle_waiters;
    struct call *closer;
    size_t n_records;    /* jobs with record_wanted */
    uint64_t *forgotten; /* numbers that the journal is to forget */
    size_t n_forgotten, forgotten_capacity;
    unsigned parsing;    /* PARSE tasks of jobs that are not CRITICAL */
    unsigned busy;       /* workers with a task */
    struct job *suspect; /* begun earlier by a process that died, and begun again: one at a time */
    bool draining, hold_queue, closing;
    struct core_stats stats;
};

/* loop.c: the engine thread. */
void *core_thread(void *engine);

/* calls.c: returns true when the call is answered, false when it waits. */
bool core_call(struct cuzk_engine *engine, struct call *call);
void core_answer(struct call *call, enum cuzk_status status);

/* dispatch.c: gives work to idle workers until nothing more can be given. */
void core_dispatch(struct cuzk_engine *engine);
/* A worker is back. */
void core_task_done(struct cuzk_engine *engine, struct worker *worker);
/* Hands a task to an idle worker of the class; NULL if there is none. The caller fills the task and
   calls core_send. */
struct worker *core_worker(struct cuzk_engine *engine, enum worker_class class, bool critical,
                           unsigned device);
void core_send(struct cuzk_engine *engine, struct worker *worker);

/* lifecycle.c: jobs. */
struct job *core_job_of(struct pipeline_job *line);
struct job *core_add_job(struct cuzk_engine *engine, const char *request_id,
                         enum cuzk_priority priority, uint64_t number);
struct job *core_find_job(struct cuzk_engine *engine, const char *text, struct cuzk_error *err);
/* Ends a job that is not over: tells those who wait and lets go of what nobody looks at. err tells
   why (NULL with DONE). */
void core_end_job(struct cuzk_engine *engine, struct job *job, enum job_state state,
                  const struct cuzk_error *err);
void core_unpin(struct cuzk_engine *engine, struct job *job);
/* Frees a partition's witness and its part of the budget. */
void core_drop_witness(struct cuzk_engine *engine, struct job *job, unsigned partition);
void core_result(const struct job *job, enum cuzk_job_outcome outcome, struct cuzk_result *out);
void core_tell_watchers(struct cuzk_engine *engine, const struct job *job,
                        const struct cuzk_result *result);
/* Watches whose time is over, results whose time is over. */
void core_expire(struct cuzk_engine *engine, uint64_t now_ms);
/* Milliseconds until core_expire has something to do; UINT64_MAX: never. */
uint64_t core_next_expiry(const struct cuzk_engine *engine, uint64_t now_ms);
bool core_is_idle(const struct cuzk_engine *engine);
/* Takes over what the journal holds. */
enum cuzk_status core_restore(struct cuzk_engine *engine, struct cuzk_error *err);
void core_journal_record(const struct job *job, enum journal_state state, struct journal_job *out);

/* srs.c: parameters. NULL: too many circuits. */
struct srs_entry *srs_find(struct cuzk_engine *engine, const char *circuit_id, bool create);
void srs_reference(struct srs_entry *entry, bool critical);
void srs_release(struct cuzk_engine *engine, struct srs_entry *entry);
void srs_dispatch(struct cuzk_engine *engine);
void srs_task_done(struct cuzk_engine *engine, struct task *task);
bool srs_preload(struct cuzk_engine *engine, struct call *call);
bool srs_evict(struct cuzk_engine *engine, struct call *call);

/* snapshot.c. */
enum cuzk_status core_snapshot(struct cuzk_engine *engine, struct cuzk_snapshot *out,
                               struct core_stats *stats, struct cuzk_error *err);
enum cuzk_status engine_look(struct cuzk_engine *engine, struct cuzk_snapshot *out,
                             struct core_stats *stats, struct cuzk_error *err);

#endif
