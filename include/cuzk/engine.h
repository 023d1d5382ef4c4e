/* The proving engine: jobs in, verified proofs out. The daemon is a thin layer over this header;
   any program can embed the engine in the same way. All functions may be called from any thread,
   except from inside a cuzk_result_fn. No function may be called during or after cuzk_engine_close.

   What a caller can rely on:
   - Every proof that leaves the engine was accepted by the verifier: each partition by itself, and
     the whole proof as a client verifies it. A partition whose proof is invalid, or whose device
     failed, is done once more from its synthesis on, on another device if there is one. If that
     fails too, its job fails with an error that says so. A backend that only simulates never
     completes a job.
   - A device that is to blame twice is quarantined. A device is to blame when it reported a fault,
     or when its proof was invalid and the second proof valid. The last device is never quarantined:
     it goes on, and its failures are logged.
   - The input of every partition is checked before the partition is synthesized. The check is done
     when the partition's turn comes. A wrong input fails the job, even if other partitions are
     proven already.
   - Jobs are served strictly by priority, inside a priority the oldest first, partition by
     partition. A CRITICAL job passes a full queue (up to twice its size), has a reserve of memory
     and of workers, and waits at most for the partition that is on the device.
   - With a state_dir, a job whose submission returned survives the death of the process at any
     point. A job that was begun by three processes that died is set aside and fails.
   - One engine never uses both development parameters and published parameters. */
#ifndef CUZK_ENGINE_H
#define CUZK_ENGINE_H

#include <cuzk/kind.h>
#include <cuzk/status.h>
#include <cuzk/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct cuzk_engine;

enum cuzk_priority {
    CUZK_PRIORITY_DEFAULT = 0, /* by kind: winning CRITICAL, window HIGH, others NORMAL */
    CUZK_PRIORITY_LOW = 1,
    CUZK_PRIORITY_NORMAL = 2,
    CUZK_PRIORITY_HIGH = 3,
    CUZK_PRIORITY_CRITICAL = 4,
};

/* Options of an engine. Zero-initialise, then set what differs from the default. Strings are copied
   by cuzk_engine_open. */
struct cuzk_engine_options {
    const char *param_cache; /* folder of v28-*.params and .vk; required */
    const char *state_dir;   /* folder of the job journal; NULL: no job outlives the process */
    const char *backend;     /* "cpu", "cuda", "sim"; NULL: cuda if there is a device, else cpu */
    const char *devices;     /* comma-separated indices or UUIDs; NULL: all */
    uint64_t vram_budget_bytes;     /* of each CUDA device; 0: what is free */
    unsigned threads;               /* of the cpu backend and of checks; 0: all of this process */
    unsigned synthesis_concurrency; /* partitions synthesized at once; 0: 1 */
    unsigned synthesis_lookahead;   /* finished syntheses that may wait for a device; 0: 1 */
    unsigned workers_per_device;    /* 0: 1 on cpu, 14 on cuda */
    uint64_t memory_budget_bytes;   /* 0: what this process may use, less memory_margin_bytes */
    uint64_t memory_margin_bytes;   /* 0: none */
    unsigned queue_max;             /* jobs waiting; more are refused; 0: 1000 */
    uint64_t keep_result_ms;        /* how long finished proofs are served; 0: one hour */

    /* Durations of the sim backend, "key=value,…" in any order; NULL: the defaults.
         devices      1     number of devices, 1 … 64
         load_ms      0     time to load a circuit's parameters
         prove_ms     1000  time that a partition occupies its device
         jitter       0     percentage, 0 … 90, by which each time varies; the same in every run
         fault_every  0     every n-th partition of a device fails as a device fault; 0: none */
    const char *sim_timing;

    struct cuzk_trace *trace; /* records what runs when; NULL: nothing. Outlives the engine */

    /* Called on the engine's thread when the last device is lost to this process: no partition can
       be proven here any more. A process that ends at once leaves its jobs to the next process, if
       there is a journal; otherwise they fail. NULL: they fail. */
    void (*devices_lost)(void *context, const char *why);
    void *devices_lost_context;
};

/* What a client asks for. The caller keeps all memory; cuzk_engine_submit copies what it needs. */
struct cuzk_request {
    const char *request_id; /* label and idempotency key; "" or NULL: generated */
    enum cuzk_proof_kind kind;
    enum cuzk_priority priority;
    uint64_t sector_bytes; /* 0: as the payload says */
    uint64_t registered_proof;
    bool has_sector_number; /* sector_number was given (0 is a valid number) */
    uint64_t sector_number;
    bool has_miner_id;
    uint64_t miner_id;
    uint32_t partition_index;
    const uint8_t *randomness; /* this and the next three: 32 bytes or NULL */
    const uint8_t *comm_r_old;
    const uint8_t *comm_r_new;
    const uint8_t *comm_d_new;
    /* PoRep: one payload, the C1 or its wrapper. Other kinds: one for each sector or partition. */
    const uint8_t *const *payloads;
    const size_t *payload_lens;
    size_t n_payloads;
};

/* The longest request id accepted, and room for a job id with its terminator. */
enum { CUZK_REQUEST_ID_MAX = 256, CUZK_JOB_ID_BYTES = 320 };

/* How waiting for a job ended. */
enum cuzk_job_outcome {
    CUZK_JOB_UNKNOWN = 0,
    CUZK_JOB_COMPLETED = 1,
    CUZK_JOB_FAILED = 2,
    CUZK_JOB_CANCELLED = 3,
    CUZK_JOB_TIMEOUT = 4, /* the waiting timed out; the job goes on */
};

/* The beginning of the error text of a job that failed because the backend only simulates. The
   times of its result are real times of the simulation. */
#define CUZK_SIMULATION_TEXT "this was a simulation"

/* The result of a job, or of waiting for it. */
struct cuzk_result {
    const char *job_id;
    enum cuzk_job_outcome outcome;
    const uint8_t *proof; /* 192 bytes for each partition; only with COMPLETED, never empty */
    size_t proof_len;
    struct cuzk_error error; /* with FAILED */
    uint64_t queue_ms;       /* from acceptance to the first work */
    uint64_t srs_load_ms;    /* parameters loaded for this job; 0 if they were loaded already */
    uint64_t synthesis_ms;   /* sum over partitions, with the checks of their input */
    uint64_t device_ms;      /* sum over partitions of the time that each occupied its device */
    uint64_t total_ms;       /* from acceptance to the end */
};

/* Called exactly once, on the engine's own thread. It must not block and must not call the engine.
   result and all it points to are valid during the call only. */
typedef void cuzk_result_fn(void *context, const struct cuzk_result *result);

/* Starts an engine. Close it with cuzk_engine_close. CUZK_INVALID_ARGUMENT: an option is wrong;
   CUZK_NO_DEVICE: there is no such backend, or it finds no device; CUZK_IO: the journal cannot be
   used; CUZK_FAILED_PRECONDITION: another process uses it; CUZK_RESOURCE_EXHAUSTED: no threads;
   CUZK_NO_MEMORY. */
enum cuzk_status cuzk_engine_open(const struct cuzk_engine_options *options,
                                  struct cuzk_engine **out, struct cuzk_error *err);

/* Stops taking jobs: from now on submit returns CUZK_UNAVAILABLE. Running jobs go on. Queued jobs
   go on too if finish_queued; otherwise they stay in the journal or, without one, fail as
   cancelled. */
void cuzk_engine_drain(struct cuzk_engine *engine, bool finish_queued);

/* Waits until no job runs (and, after a drain with finish_queued, no job is queued), at most
   timeout_ms. Returns false if the time ran out. */
bool cuzk_engine_wait_idle(struct cuzk_engine *engine, uint64_t timeout_ms);

/* Cancels what still runs, waits for the threads and frees everything. Every watch gets its call
   before this function returns. */
void cuzk_engine_close(struct cuzk_engine *engine);

/* Accepts a job. The job id begins with the request id. *queue_position is the number of jobs that
   will start earlier. A request with the same request id and the same payload as a job that is
   alive or kept is attached to that job: it gets that job's id, there is no new work, and *attached
   is true. The same request id with another payload is a job of its own. queue_position and
   attached may be NULL. Refusals:
   CUZK_INVALID_ARGUMENT (field and reason), CUZK_RESOURCE_EXHAUSTED (the limit), CUZK_UNSUPPORTED,
   CUZK_BAD_PARAMS (no parameters for that circuit), CUZK_UNAVAILABLE (draining). */
enum cuzk_status cuzk_engine_submit(struct cuzk_engine *engine, const struct cuzk_request *request,
                                    char job_id[CUZK_JOB_ID_BYTES], uint32_t *queue_position,
                                    bool *attached, struct cuzk_error *err);

/* Calls fn when the job is finished, or after timeout_ms (0: no limit) with CUZK_JOB_TIMEOUT.
   job_id may also be a request id, as long as only one job has it. *watch, if watch is not NULL,
   can be handed to cuzk_engine_unwatch. CUZK_NOT_FOUND (unknown or expired): fn is not called. */
enum cuzk_status cuzk_engine_watch(struct cuzk_engine *engine, const char *job_id,
                                   uint64_t timeout_ms, cuzk_result_fn *fn, void *context,
                                   uint64_t *watch, struct cuzk_error *err);

/* Forgets a watch. true: fn was not called and will not be; false: fn was called, or is about to
   be. */
bool cuzk_engine_unwatch(struct cuzk_engine *engine, uint64_t watch);

/* Cancels a job. *was_running: the job was queued or running until now. CUZK_NOT_FOUND: no such
   job. */
enum cuzk_status cuzk_engine_cancel(struct cuzk_engine *engine, const char *job_id,
                                    bool *was_running, struct cuzk_error *err);

/* Loads the parameters of a circuit ("porep-32g") and returns when they are loaded. *load_ms: how
   long that took. CUZK_NOT_FOUND: no such circuit; CUZK_BAD_PARAMS: the file is missing or wrong;
   CUZK_RESOURCE_EXHAUSTED: the parameters do not fit into memory. */
enum cuzk_status cuzk_engine_preload(struct cuzk_engine *engine, const char *circuit_id,
                                     bool *already_loaded, uint64_t *load_ms,
                                     struct cuzk_error *err);

/* Unloads the parameters of a circuit. CUZK_NOT_FOUND: no such circuit; CUZK_FAILED_PRECONDITION:
   jobs use them. */
enum cuzk_status cuzk_engine_evict(struct cuzk_engine *engine, const char *circuit_id,
                                   bool *was_loaded, uint64_t *freed_bytes, struct cuzk_error *err);

/* --- Looking at an engine --------------------------------------------------------------------- */

enum cuzk_device_state {
    CUZK_DEVICE_IDLE,
    CUZK_DEVICE_PROVING,
    CUZK_DEVICE_QUARANTINED, /* gets no more work; its last partition may still be on it */
};

/* The state's name in the JSON of GET /status: "idle", "proving", "quarantined". */
const char *cuzk_device_state_text(enum cuzk_device_state state);

struct cuzk_device_status {
    uint32_t ordinal;
    char name[128];
    char backend[16];
    enum cuzk_device_state state;
    uint64_t memory_total_bytes, memory_free_bytes;
    /* The partition on the device; of several, the one that has been there longest. */
    char job_id[CUZK_JOB_ID_BYTES]; /* "": there is none */
    enum cuzk_proof_kind kind;      /* 0: there is none */
    int partition;                  /* −1: there is none */
    uint64_t busy_ms;               /* since the device took that partition */
};

/* Loaded parameters. */
struct cuzk_srs_status {
    char circuit_id[32];
    uint64_t bytes;
    uint32_t references; /* jobs that use them */
    bool dev;            /* development parameters */
};

/* Jobs of one kind. */
struct cuzk_queue_status {
    enum cuzk_proof_kind kind;
    uint32_t pending, in_progress;
    uint64_t completed, failed; /* since the engine was opened */
};

enum cuzk_partition_state {
    CUZK_PARTITION_PENDING,
    CUZK_PARTITION_SYNTHESIZING,
    CUZK_PARTITION_SYNTHESIZED, /* waits for a device */
    CUZK_PARTITION_PROVING,     /* on a device, or proved and being verified */
    CUZK_PARTITION_DONE,        /* its proof is verified */
};

/* The state's name in the JSON of GET /status: "pending", "synthesizing", "synth_done", "gpu",
   "done". */
const char *cuzk_partition_state_text(enum cuzk_partition_state state);

struct cuzk_partition_status {
    uint32_t index;
    enum cuzk_partition_state state;
    uint64_t synth_ms, device_ms; /* 0 until that phase is over */
};

enum cuzk_job_state {
    CUZK_JOB_STATE_ACCEPTED, /* has an id; is being made durable */
    CUZK_JOB_STATE_QUEUED,
    CUZK_JOB_STATE_PARSING, /* is being parsed, or waits for its parameters */
    CUZK_JOB_STATE_RUNNING,
    CUZK_JOB_STATE_DONE,
    CUZK_JOB_STATE_FAILED,
    CUZK_JOB_STATE_CANCELLED,
};

/* The state's name in the JSON of GET /status: "accepted", "queued", "parsing", "running", "done",
   "failed", "cancelled". */
const char *cuzk_job_state_text(enum cuzk_job_state state);

struct cuzk_job_status {
    char job_id[CUZK_JOB_ID_BYTES];
    enum cuzk_proof_kind kind;
    enum cuzk_job_state state;
    uint64_t started_ms_ago; /* since the job was accepted */
    uint32_t n_partitions;   /* 0 until the job is parsed */
    struct cuzk_partition_status *partitions;
};

/* A copy of the engine's state at one moment. */
struct cuzk_snapshot {
    uint64_t uptime_ms;
    uint64_t memory_budget_bytes, memory_used_bytes;
    unsigned synthesis_max, synthesis_active; /* partitions */
    uint64_t completed, failed, cancelled;    /* jobs, since the engine was opened */
    uint64_t invalid_proofs; /* proofs that the verifier refused; none of them left the engine */
    uint64_t preemptions;    /* partitions that passed a ready one of an older, lesser job */
    bool draining;
    struct cuzk_device_status *devices;
    size_t n_devices;
    struct cuzk_srs_status *srs;
    size_t n_srs;
    struct cuzk_queue_status queues[CUZK_PROOF_KINDS];
    struct cuzk_job_status *jobs; /* queued and running */
    size_t n_jobs;
};

/* Fills *out. Free it with cuzk_snapshot_free. CUZK_NO_MEMORY. */
enum cuzk_status cuzk_engine_snapshot(struct cuzk_engine *engine, struct cuzk_snapshot *out,
                                      struct cuzk_error *err);
void cuzk_snapshot_free(struct cuzk_snapshot *snapshot);

/* The state as Prometheus text, and as the JSON of GET /status. Free the text with cuzk_text_free.
   NULL: no memory. */
char *cuzk_engine_metrics_text(struct cuzk_engine *engine);
char *cuzk_engine_status_json(struct cuzk_engine *engine);
void cuzk_text_free(char *text);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
