/* The proving engine: jobs in, verified proofs out. The daemon is a thin layer over this; a program
   may as well embed it. All functions may be called from any thread, except from inside a
   cuzk_result_fn, and nothing may be called beside or after cuzk_engine_close.

   What can be relied upon:
   - No proof leaves that our own verifier has not accepted, each partition by itself and the whole
     as a client verifies it. A partition whose proof is not valid, or whose device failed, is done
     once more from its synthesis on, on another device if there is one; if that fails too, its job
     fails and says so. A backend that only simulates never completes a job.
   - A device that is to blame twice (it reported a fault, or its proof was bad and the second one
     good) is quarantined, but never the last one: that goes on, and its failures are logged.
   - No partition is synthesized whose input was not checked, which is done when its turn comes: a
     wrong one fails its job, however much of that is proven already.
   - Jobs are served strictly by priority, inside a priority the oldest first, partition by
     partition. A CRITICAL job passes a full queue (up to twice its size), has a reserve of memory
     and of workers, and waits at most for the partition that is on the device.
   - With a state_dir a job whose submission returned survives the death of the process at any
     point. One that was begun three times by processes that died is set aside and fails.
   - Development parameters and published ones are never used by the same engine. */
#ifndef CUZK_ENGINE_H
#define CUZK_ENGINE_H

#include <cuzk/kind.h>
#include <cuzk/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

struct cuzk_engine;
struct trace; /* lib/trace/event.h */

enum cuzk_priority {
    CUZK_PRIORITY_DEFAULT = 0, /* by kind: winning CRITICAL, window HIGH, others NORMAL */
    CUZK_PRIORITY_LOW = 1,
    CUZK_PRIORITY_NORMAL = 2,
    CUZK_PRIORITY_HIGH = 3,
    CUZK_PRIORITY_CRITICAL = 4,
};

/* Options of an engine; zero-initialise, then set what differs from the default. Strings are
   copied. */
struct cuzk_engine_options {
    const char *param_cache; /* folder of v28-*.params and .vk; required */
    const char *state_dir;   /* folder of the job journal; NULL: nothing outlives the process */
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
    uint64_t keep_result_ms;        /* finished proofs are served that long; 0: one hour */
    const char *sim_timing;         /* durations of the sim backend, see lib/backend/sim */
    struct trace *trace;            /* may be NULL; outlives the engine */
    /* Called on the engine's thread when the last device is lost to this process: no partition can
       be proven here any more. A process that ends at once leaves its jobs to the next one, if
       there is a journal; otherwise they fail. NULL: they fail. */
    void (*devices_lost)(void *context, const char *why);
    void *devices_lost_context;
};

/* What a client asks for. All memory stays the caller's of cuzk_engine_submit. */
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
    const uint8_t *randomness; /* 32 bytes or NULL */
    const uint8_t *comm_r_old;
    const uint8_t *comm_r_new;
    const uint8_t *comm_d_new;
    /* PoRep: one payload, the C1 or its wrapper. Others: one per sector or partition. */
    const uint8_t *const *payloads;
    const size_t *payload_lens;
    size_t n_payloads;
};

/* Longest request id taken, and room for a job id with its terminator. */
enum { CUZK_REQUEST_ID_MAX = 256, CUZK_JOB_ID_BYTES = 320 };

enum cuzk_job_outcome {
    CUZK_JOB_UNKNOWN = 0,
    CUZK_JOB_COMPLETED = 1,
    CUZK_JOB_FAILED = 2,
    CUZK_JOB_CANCELLED = 3,
    CUZK_JOB_TIMEOUT = 4, /* of the waiting, not of the job: it goes on */
};

/* How the error of a job begins that failed because the backend only simulates. Its times are real
   times of the simulation. */
#define CUZK_SIMULATION_TEXT "this was a simulation"

/* The result of a job, or of waiting for one. */
struct cuzk_result {
    const char *job_id;
    enum cuzk_job_outcome outcome;
    const uint8_t *proof; /* 192 bytes a partition; only with COMPLETED, never empty */
    size_t proof_len;
    struct cuzk_error error; /* with FAILED */
    uint64_t queue_ms;       /* accepted → first work */
    uint64_t srs_load_ms;
    uint64_t synthesis_ms; /* sum over partitions, with the checks of their input */
    uint64_t device_ms;    /* sum over partitions of true device occupancy */
    uint64_t total_ms;     /* accepted → done */
};

/* Called exactly once, on the engine's own thread: must not block, must not call the engine. result
   is valid during the call. */
typedef void cuzk_result_fn(void *context, const struct cuzk_result *result);

enum cuzk_status cuzk_engine_open(const struct cuzk_engine_options *options,
                                  struct cuzk_engine **out, struct cuzk_error *err);

/* Stops taking jobs (submit answers CUZK_UNAVAILABLE). Running jobs go on; queued ones too when
   finish_queued, otherwise they stay in the journal or, without one, fail as cancelled. */
void cuzk_engine_drain(struct cuzk_engine *engine, bool finish_queued);

/* Waits until no job runs (and, after a drain with finish_queued, none is queued), at most
   timeout_ms; false if time ran out. */
bool cuzk_engine_wait_idle(struct cuzk_engine *engine, uint64_t timeout_ms);

/* Cancels what still runs, waits for the threads, frees everything. Waiters get their call. */
void cuzk_engine_close(struct cuzk_engine *engine);

/* Accepts a job. job_id begins with the request id. *queue_position counts jobs that will start
   earlier. Same request id and same payload as a job that is alive or kept: that job's id, no new
   work (*attached = true). Same id, other payload: a job of its own. Refusals:
   CUZK_INVALID_ARGUMENT (field and reason), CUZK_RESOURCE_EXHAUSTED (the limit), CUZK_UNSUPPORTED,
   CUZK_BAD_PARAMS (no parameters for that circuit), CUZK_UNAVAILABLE (draining). The payload is
   copied. */
enum cuzk_status cuzk_engine_submit(struct cuzk_engine *engine, const struct cuzk_request *request,
                                    char job_id[CUZK_JOB_ID_BYTES], uint32_t *queue_position,
                                    bool *attached, struct cuzk_error *err);

/* Calls fn when the job is finished, or after timeout_ms (0: no limit) with CUZK_JOB_TIMEOUT.
   CUZK_NOT_FOUND (unknown or expired): fn is not called. A bare request id is understood while only
   one job has it. *watch, if not NULL, can be handed to cuzk_engine_unwatch. */
enum cuzk_status cuzk_engine_watch(struct cuzk_engine *engine, const char *job_id,
                                   uint64_t timeout_ms, cuzk_result_fn *fn, void *context,
                                   uint64_t *watch, struct cuzk_error *err);

/* Forgets a watch: true: fn was not and will not be called; false: it was, or is about to be. */
bool cuzk_engine_unwatch(struct cuzk_engine *engine, uint64_t watch);

/* *was_running: the job was queued or running and now is not. CUZK_NOT_FOUND for unknown ids. */
enum cuzk_status cuzk_engine_cancel(struct cuzk_engine *engine, const char *job_id,
                                    bool *was_running, struct cuzk_error *err);

/* Loads a circuit's parameters ("porep-32g"); blocks while they load. */
enum cuzk_status cuzk_engine_preload(struct cuzk_engine *engine, const char *circuit_id,
                                     bool *already_loaded, uint64_t *load_ms,
                                     struct cuzk_error *err);
/* CUZK_FAILED_PRECONDITION while jobs use them. */
enum cuzk_status cuzk_engine_evict(struct cuzk_engine *engine, const char *circuit_id,
                                   bool *was_loaded, uint64_t *freed_bytes, struct cuzk_error *err);

/* --- Looking at an engine ---------------------------------------------------------- */

struct cuzk_device_status {
    uint32_t ordinal;
    char name[128];
    char backend[16];
    uint64_t memory_total_bytes, memory_free_bytes;
    char job_id[CUZK_JOB_ID_BYTES]; /* "" while idle */
    enum cuzk_proof_kind kind;      /* 0 while idle */
    int partition;
    uint64_t busy_ms; /* since it took that partition */
    bool quarantined;
};

struct cuzk_srs_status {
    char circuit_id[32];
    uint64_t bytes;
    uint32_t references;
    bool dev; /* development parameters */
};

struct cuzk_queue_status {
    enum cuzk_proof_kind kind;
    uint32_t pending, in_progress;
    uint64_t completed, failed;
};

struct cuzk_partition_status {
    uint32_t index;
    const char *state; /* "pending" "synthesizing" "synth_done" "gpu" "done" "failed" */
    uint64_t synth_ms, device_ms;
};

struct cuzk_job_status {
    char job_id[CUZK_JOB_ID_BYTES];
    enum cuzk_proof_kind kind;
    const char *state; /* "accepted" "queued" "parsing" "running" "done" "failed" "cancelled" */
    uint64_t started_ms_ago;
    uint32_t n_partitions;
    struct cuzk_partition_status *partitions;
};

/* A copy of the engine's state at one moment; free with cuzk_snapshot_free. */
struct cuzk_snapshot {
    uint64_t uptime_ms;
    uint64_t memory_budget_bytes, memory_used_bytes;
    unsigned synthesis_max, synthesis_active;
    uint64_t completed, failed, cancelled;
    uint64_t invalid_proofs; /* proofs that our verifier refused; none of them left the process */
    uint64_t preemptions;    /* partitions that passed a ready one of an older, lesser job */
    bool draining;
    struct cuzk_device_status *devices;
    size_t n_devices;
    struct cuzk_srs_status *srs;
    size_t n_srs;
    struct cuzk_queue_status queues[4]; /* one per proof kind, in the order of the enum */
    struct cuzk_job_status *jobs;       /* queued and running */
    size_t n_jobs;
};

enum cuzk_status cuzk_engine_snapshot(struct cuzk_engine *engine, struct cuzk_snapshot *out,
                                      struct cuzk_error *err);
void cuzk_snapshot_free(struct cuzk_snapshot *snapshot);

/* The snapshot as Prometheus text and as the JSON of GET /status; free with cuzk_text_free. NULL
   without memory. */
char *cuzk_engine_metrics_text(struct cuzk_engine *engine);
char *cuzk_engine_status_json(struct cuzk_engine *engine);
void cuzk_text_free(char *text);

#pragma GCC visibility pop

#endif
