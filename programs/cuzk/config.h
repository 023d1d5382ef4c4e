/* The daemon's configuration: one table of keys, and where each value came from. */
#ifndef CUZK_PROGRAM_CONFIG_H
#define CUZK_PROGRAM_CONFIG_H

#include <cuzk/status.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum config_type {
    CONFIG_TEXT,
    CONFIG_SIZE,     /* "4GiB", "512MiB", "1000000B", "auto" where 0 is allowed */
    CONFIG_DURATION, /* "500ms", "30s", "5m", "1h" */
    CONFIG_COUNT,    /* a whole number */
    CONFIG_SWITCH,   /* true, false */
    CONFIG_LIST, /* comma-separated on the command line and in the environment, an array in the file
                  */
    CONFIG_RETIRED, /* a key of the Rust cuzk: taken with a warning, no effect */
};

/* X(ENUM, key, type, default, least, most, reloads, help). least and most bound the number of a
   size (bytes), duration (ms) or count; for sizes a least of 0 admits "auto". */
#define CONFIG_KEY_MAP(X)                                                                          \
    X(LISTEN, "daemon.listen", CONFIG_LIST, "unix:///run/curio/cuzk.sock", 0, 0, false,            \
      "addresses of the gRPC service: unix:///path, host:port, [::1]:port")                        \
    X(SOCKET_MODE, "daemon.socket_mode", CONFIG_TEXT, "0660", 0, 0, false,                         \
      "octal permissions of the unix socket")                                                      \
    X(STATUS_LISTEN, "daemon.status_listen", CONFIG_TEXT, "", 0, 0, false,                         \
      "address of HTTP /metrics, /status and /timeline; empty: off")                               \
    X(STATE_DIR, "daemon.state_dir", CONFIG_TEXT, "", 0, 0, false,                                 \
      "folder of the job journal, so that accepted jobs survive a restart; empty: none is kept")   \
    X(ALLOW_INSECURE_TCP, "daemon.allow_insecure_tcp", CONFIG_SWITCH, "false", 0, 0, false,        \
      "listen on TCP addresses other than loopback without TLS")                                   \
    X(CANCEL_ON_DISCONNECT, "daemon.cancel_on_disconnect", CONFIG_SWITCH, "false", 0, 0, false,    \
      "a client of Prove that goes away cancels its job; otherwise the job goes on")               \
    X(DRAIN_TIMEOUT, "daemon.drain_timeout", CONFIG_DURATION, "30m", 0, 86400000, true,            \
      "how long SIGTERM waits for running jobs")                                                   \
    X(TLS_CERT, "tls.cert", CONFIG_TEXT, "", 0, 0, false,                                          \
      "PEM file with the certificate chain for TCP addresses; empty: no TLS (content reloads)")    \
    X(TLS_KEY, "tls.key", CONFIG_TEXT, "", 0, 0, false, "PEM file with its private key")           \
    X(TLS_CLIENT_CA, "tls.client_ca", CONFIG_TEXT, "", 0, 0, false,                                \
      "PEM file of the authority that must have signed clients' certificates; empty: none wanted") \
    X(PARAM_CACHE, "srs.param_cache", CONFIG_TEXT, "/data/zk/params", 0, 0, false,                 \
      "folder of the v28-*.params and .vk files")                                                  \
    X(PRELOAD, "srs.preload", CONFIG_LIST, "", 0, 0, false,                                        \
      "circuits to load at start, like porep-32g,winning-32g")                                     \
    X(TOTAL_BUDGET, "memory.total_budget", CONFIG_SIZE, "auto", 0, UINT64_MAX, false,              \
      "memory that the daemon may use; auto: what its cgroup and machine allow, less "             \
      "safety_margin")                                                                             \
    X(SAFETY_MARGIN, "memory.safety_margin", CONFIG_SIZE, "1GiB", 0, UINT64_MAX, false,            \
      "left to others when total_budget is auto")                                                  \
    X(BACKEND, "gpus.backend", CONFIG_TEXT, "auto", 0, 0, false,                                   \
      "what proves: cuda, cpu, or auto for the best there is; sim only simulates")                 \
    X(DEVICES, "gpus.devices", CONFIG_LIST, "", 0, 0, false,                                       \
      "devices to use, by index or UUID; empty: all")                                              \
    X(VRAM_BUDGET, "gpus.vram_budget", CONFIG_SIZE, "0", 0, UINT64_MAX, false,                     \
      "memory to use on each GPU; 0: all that is free. A key that does not fit is streamed")       \
    X(WORKERS_PER_DEVICE, "gpus.gpu_workers_per_device", CONFIG_COUNT, "0", 0, 16, false,          \
      "partitions in flight on a device; 0: 14 on a GPU, 1 on the CPU")                            \
    X(QUEUE_MAX, "scheduler.queue_max", CONFIG_COUNT, "1000", 1, 1000000, false,                   \
      "waiting jobs; more are refused")                                                            \
    X(KEEP_RESULT, "scheduler.keep_result", CONFIG_DURATION, "1h", 1000, 2592000000, false,        \
      "how long a finished proof is served")                                                       \
    X(SYNTHESIS_THREADS, "synthesis.threads", CONFIG_COUNT, "0", 0, 1024, false,                   \
      "threads of input checks, synthesis and the CPU prover; 0: all processors of the process")   \
    X(SYNTHESIS_CONCURRENCY, "pipeline.synthesis_concurrency", CONFIG_COUNT, "1", 1, 256, false,   \
      "partitions synthesized at the same time")                                                   \
    X(SYNTHESIS_LOOKAHEAD, "pipeline.synthesis_lookahead", CONFIG_COUNT, "1", 1, 256, false,       \
      "synthesized partitions that may wait for a device")                                         \
    X(LOG_LEVEL, "logging.level", CONFIG_TEXT, "info", 0, 0, true, "error, warn, info or debug")   \
    X(LOG_FORMAT, "logging.format", CONFIG_TEXT, "text", 0, 0, true, "text or json")               \
    X(TIMELINE, "timeline.enabled", CONFIG_SWITCH, "true", 0, 0, false,                            \
      "write TIMELINE lines to stderr")                                                            \
    X(TIMELINE_GPU_QUEUE, "timeline.gpu_queue", CONFIG_SWITCH, "false", 0, 0, false,               \
      "call the CHAN_SEND event GPU_QUEUE, the newer name of it in logs of the Rust cuzk")         \
    X(EVICTION_MIN_IDLE, "memory.eviction_min_idle", CONFIG_RETIRED, "", 0, 0, false,              \
      "parameters are evicted by last use alone")                                                  \
    X(PINNED_BUDGET, "memory.pinned_budget", CONFIG_RETIRED, "", 0, 0, false,                      \
      "part of total_budget")                                                                      \
    X(WORKING_BUDGET, "memory.working_memory_budget", CONFIG_RETIRED, "", 0, 0, false,             \
      "part of total_budget")                                                                      \
    X(GPU_THREADS, "gpus.gpu_threads", CONFIG_RETIRED, "", 0, 0, false,                            \
      "a GPU needs no pool of threads beside it")                                                  \
    X(MAX_BATCH_SIZE, "scheduler.max_batch_size", CONFIG_RETIRED, "", 0, 0, false,                 \
      "partitions of all jobs share the pipeline, there are no batches")                           \
    X(MAX_BATCH_WAIT, "scheduler.max_batch_wait_ms", CONFIG_RETIRED, "", 0, 0, false,              \
      "there are no batches")                                                                      \
    X(SORT_BY_TYPE, "scheduler.sort_by_type", CONFIG_RETIRED, "", 0, 0, false,                     \
      "jobs are ordered by priority, then age")                                                    \
    X(PARTITION_WORKERS, "synthesis.partition_workers", CONFIG_RETIRED, "", 0, 0, false,           \
      "use pipeline.synthesis_concurrency")                                                        \
    X(PIPELINE_ENABLED, "pipeline.enabled", CONFIG_RETIRED, "", 0, 0, false,                       \
      "there is only the pipeline")                                                                \
    X(MAX_PARALLEL, "pipeline.max_parallel_synthesis", CONFIG_RETIRED, "", 0, 0, false,            \
      "use pipeline.synthesis_concurrency")                                                        \
    X(SLOT_SIZE, "pipeline.slot_size", CONFIG_RETIRED, "", 0, 0, false, "there are no slots")      \
    X(MAX_GPU_QUEUE, "pipeline.max_gpu_queue_depth", CONFIG_RETIRED, "", 0, 0, false,              \
      "use pipeline.synthesis_lookahead")

enum config_key {
#define X(name, key, type, fallback, least, most, reloads, help) CONFIG_##name,
    CONFIG_KEY_MAP(X)
#undef X
        CONFIG_KEY_COUNT
};

enum config_source {
    CONFIG_FROM_DEFAULT,
    CONFIG_FROM_FILE,
    CONFIG_FROM_ENVIRONMENT,
    CONFIG_FROM_FLAG
};

struct config_value {
    char *text;      /* as given; a list comma-separated */
    uint64_t number; /* sizes in bytes, durations in ms, counts, switches */
    enum config_source source;
};

/* Every key has a value. Free with config_free. */
struct config {
    struct config_value values[CONFIG_KEY_COUNT];
};

/* Defaults, then the file (path NULL: none; a given but missing file is an error), then the
   environment (CUZK_<SECTION>_<KEY>, and FIL_PROOFS_PARAMETER_CACHE for srs.param_cache). Errors
   name file, line, key and what was expected; unknown keys get a suggestion. Retired keys are
   listed in the log as warnings. */
enum cuzk_status config_load(const char *path, struct config *out, struct cuzk_error *err);

/* The key of that name; false if there is none, or it has no effect any more. */
bool config_find(const char *name, enum config_key *out);

/* One value from a command-line flag. */
enum cuzk_status config_set(struct config *config, enum config_key key, const char *text,
                            enum config_source source, struct cuzk_error *err);
void config_free(struct config *config);

/* "key = value  # source" for every key that has an effect. */
void config_print(const struct config *config, FILE *out);
/* The documentation of all keys, as a commented configuration file. */
void config_print_reference(FILE *out);

static inline const char *config_text(const struct config *config, enum config_key key)
{
    return config->values[key].text;
}

static inline uint64_t config_number(const struct config *config, enum config_key key)
{
    return config->values[key].number;
}

#endif
