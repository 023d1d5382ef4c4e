/* The report on a log: runs, jobs, partitions and intervals, where their time went, and what
   limited each run. The steps of the analysis (waterfall/analyse.h) fill it, the renderers
   (waterfall/render.h) and the what-if read it.

   Times are as in waterfall/log.h. */
#ifndef WATERFALL_REPORT_H
#define WATERFALL_REPORT_H

#include "base/text.h"
#include "waterfall/log.h"

#define WATERFALL_NO_JOB UINT32_MAX

/* Where the wall time of a job goes: X(NAME, "json name", "words"). The parts of a job add up to
   its wall time exactly. They follow its last partition, which decided when the job was done. */
#define WATERFALL_PART_MAP(X)                                                                      \
    X(RECEIVE, "receive", "receiving the request")                                                 \
    X(JOURNAL, "journal", "journal")                                                               \
    X(QUEUE, "queue", "queue")                                                                     \
    X(PARSE, "parse", "parsing")                                                                   \
    X(WORKER, "worker_wait", "waiting for a synthesis worker")                                     \
    X(BUDGET, "budget", "waiting for memory budget")                                               \
    X(SRS, "srs", "waiting for parameters")                                                        \
    X(SYNTH, "synth", "synthesis")                                                                 \
    X(CHECK, "check", "checking the input")                                                        \
    X(LOOKAHEAD, "lookahead", "waiting for room in the channel")                                   \
    X(CHANNEL, "channel", "waiting for a device worker")                                           \
    X(LOCK, "lock", "waiting for the device")                                                      \
    X(DEVICE, "device", "device")                                                                  \
    X(FINISH, "finish", "finishing")                                                               \
    X(VERIFY, "verify", "verification")                                                            \
    X(REPLY, "reply", "reply")                                                                     \
    X(OTHER, "other", "not recorded")

/* Why a device was idle: X(NAME, "json name", "words"). Every idle moment has exactly one cause;
   the rules are in sweep.c. */
#define WATERFALL_CAUSE_MAP(X)                                                                     \
    X(UNKNOWN, "unknown", "events are missing")                                                    \
    X(SRS, "srs_load", "parameters were being loaded")                                             \
    X(LOCK, "lock", "a picked-up partition had not started")                                       \
    X(FINISH, "finish", "its workers were finishing and verifying")                                \
    X(DISPATCH, "dispatch", "a ready partition was not picked up")                                 \
    X(LOOKAHEAD, "lookahead", "the channel had no room for a finished partition")                  \
    X(BUDGET, "budget", "synthesis waited for memory budget")                                      \
    X(SYNTH, "synthesis", "partitions were still being synthesized")                               \
    X(PARSE, "parse", "inputs were being parsed")                                                  \
    X(ADMIT, "admission", "requests were being received, journalled or queued")                    \
    X(REPLY, "reply", "only verification and replies were left")                                   \
    X(UNRECORDED, "unrecorded", "a job was there, but the log does not say what it did")           \
    X(NOTHING, "nothing_submitted", "nothing (else) was submitted")

enum waterfall_part {
#define X(name, json, words) WATERFALL_PART_##name,
    WATERFALL_PART_MAP(X)
#undef X
        WATERFALL_PART_COUNT
};

enum waterfall_cause {
#define X(name, json, words) WATERFALL_CAUSE_##name,
    WATERFALL_CAUSE_MAP(X)
#undef X
        WATERFALL_CAUSE_COUNT
};

const char *waterfall_part_name(enum waterfall_part part);
const char *waterfall_part_words(enum waterfall_part part);
const char *waterfall_cause_name(enum waterfall_cause cause);
const char *waterfall_cause_words(enum waterfall_cause cause);

/* Any span of the log, paired. An end (or start) that is not in the log is WATERFALL_NONE. */
struct waterfall_interval {
    int64_t start_us, end_us;
    int64_t value;
    uint32_t job; /* index, or WATERFALL_NO_JOB: none */
    uint32_t epoch;
    int32_t partition, worker, device;
    uint16_t span; /* enum trace_span */
};

/* The six classic moments of an attempt at a partition, in their order. */
enum waterfall_stage {
    WATERFALL_STAGE_SYNTH_START,
    WATERFALL_STAGE_SYNTH_END,
    WATERFALL_STAGE_SENT,
    WATERFALL_STAGE_PICKED,
    WATERFALL_STAGE_GPU_START,
    WATERFALL_STAGE_GPU_END,
    WATERFALL_STAGE_COUNT,
};

/* One attempt at one partition of a job, by its classic events. */
struct waterfall_partition {
    uint32_t job;
    int32_t index; /* WATERFALL_NONE: the job is not partitioned */
    int32_t worker, device;
    uint32_t attempt; /* from 0 */
    union {           /* the moments, by name or by stage */
        struct {
            int64_t synth_start_us, synth_end_us, sent_us, picked_us, gpu_start_us, gpu_end_us;
        };
        int64_t stage_us[WATERFALL_STAGE_COUNT];
    };
    int64_t synth_ms, gpu_ms; /* as the daemon reported them */
    bool complete;            /* SYNTH and GPU are both there, start and end */
};

enum waterfall_outcome {
    WATERFALL_OUTCOME_UNSAID, /* no JOB_ event: the Rust cuzk's logs, or cut */
    WATERFALL_OUTCOME_DONE,
    WATERFALL_OUTCOME_FAILED,
    WATERFALL_OUTCOME_CANCELLED,
};

struct waterfall_job {
    const char *label;
    uint32_t run, epoch;
    uint32_t instance; /* how many earlier jobs of the same epoch had the same label */
    enum waterfall_outcome outcome;
    int64_t start_us, end_us; /* first and last moment of it in the log */
    int64_t accepted_us;
    bool replied;
    size_t partitions, partition_count; /* range in the report's partitions */
    int64_t first_synth_us;             /* start of its first synthesis */
    uint32_t partitions_expected;       /* as announced at acceptance; 0: not said */
    bool complete; /* every partition is, and all that were announced are there */
    bool retried;
    int64_t split_us[WATERFALL_PART_COUNT]; /* as its last partition saw it; adds up to its time */
    int64_t path_us[WATERFALL_PART_COUNT];  /* its critical path: what it waited for; likewise */
    int64_t path_others_us;                 /* of the path, the work and waits of other jobs */
};

/* A stretch of idle (or, with cause WATERFALL_CAUSE_COUNT, busy) time of a device. */
struct waterfall_stretch {
    int64_t start_us, end_us;
    enum waterfall_cause cause;
};

/* The phases that a backend records inside GPU spans: X(NAME, "json name"). */
#define WATERFALL_PHASE_MAP(X)                                                                     \
    X(UPLOAD, "upload")                                                                            \
    X(EVAL, "eval")                                                                                \
    X(NTT, "ntt")                                                                                  \
    X(MSM_H, "msm_h")                                                                              \
    X(MSM_L, "msm_l")                                                                              \
    X(MSM_A, "msm_a")                                                                              \
    X(MSM_B_G1, "msm_b_g1")                                                                        \
    X(MSM_B_G2, "msm_b_g2") X(MSM_TAILS, "msm_tails") X(DOWNLOAD, "download")

enum waterfall_phase {
#define X(name, json) WATERFALL_PHASE_##name,
    WATERFALL_PHASE_MAP(X)
#undef X
        WATERFALL_PHASE_COUNT
};

const char *waterfall_phase_name(enum waterfall_phase phase);

struct waterfall_device {
    int32_t id;
    int64_t busy_us;   /* union of the GPU spans of its workers */
    int64_t idle_us;   /* the run's time less busy_us */
    int64_t spans_us;  /* sum of the GPU spans: counts overlapping workers twice */
    int64_t phases_us; /* union of its phases (upload, ntt, msm): true occupancy; or NONE */
    int64_t phase_us[WATERFALL_PHASE_COUNT];         /* sum of each phase's spans */
    int64_t idle_by_cause_us[WATERFALL_CAUSE_COUNT]; /* add up to idle_us */
    struct waterfall_stretch *stretches;             /* the whole run, in order */
    size_t stretch_count, stretch_capacity;
};

/* Distribution of some durations, in microseconds. */
struct waterfall_distribution {
    size_t count;
    int64_t min, mean, p50, p90, p95, p99, max;
    int64_t sum;
};

/* How many of something there were at once, over the time of a run. */
struct waterfall_level {
    double mean; /* time-weighted */
    uint32_t max;
};

/* The critical path of a run: the chain of causes that ends with its last moment. */
struct waterfall_step {
    int64_t start_us, end_us;
    uint32_t job; /* WATERFALL_NO_JOB: none */
    int32_t partition;
    enum waterfall_part part; /* OTHER without a job: nothing was submitted */
};

enum waterfall_bottleneck {
    WATERFALL_BOUND_UNKNOWN,    /* too little data */
    WATERFALL_BOUND_DEVICE,     /* the device is the wall */
    WATERFALL_BOUND_SYNTHESIS,  /* too little synthesis for the device */
    WATERFALL_BOUND_CONTENTION, /* synthesis, and more workers only make each slower */
    WATERFALL_BOUND_LOOKAHEAD,
    WATERFALL_BOUND_BUDGET,
    WATERFALL_BOUND_SRS,
    WATERFALL_BOUND_PARSE,
    WATERFALL_BOUND_ADMISSION,
    WATERFALL_BOUND_FINISH,
    WATERFALL_BOUND_DISPATCH,
    WATERFALL_BOUND_CLIENT, /* too little was submitted */
};

/* A verdict with less confidence than this is called uncertain. */
#define WATERFALL_CONFIDENT 0.5

struct waterfall_verdict {
    enum waterfall_bottleneck bottleneck;
    double confidence; /* 0 to 1 */
    double gain;       /* expected factor on throughput if the advice is followed; 1: none */
    struct text text;  /* what, with its numbers, and what to change */
};

struct waterfall_run {
    struct text label;  /* as given by RUN_START, else "1" and so on */
    struct text config; /* details of RUN_START and of the daemon's start, or empty */
    bool labelled;
    bool open; /* RUN_START without RUN_END */
    uint32_t epoch;
    int64_t start_us, end_us;
    size_t jobs, job_count; /* range in the report's jobs */
    size_t complete, incomplete;
    int64_t synth_workers; /* as configured; NONE: not in the log */
    struct waterfall_device *devices;
    size_t device_count;
    int64_t split_us[WATERFALL_PART_COUNT];                     /* sum over its jobs */
    struct waterfall_distribution wall, synth, channel, device; /* complete jobs, partitions */
    struct waterfall_level jobs_level, synth_level, ready_level, device_level;
    double little_l, little_lambda_w; /* mean jobs there; arrival rate × mean time there */
    double synth_growth;              /* b in "synthesis time grows with (synthesized at once)^b" */
    bool synth_growth_known;
    struct waterfall_step *path;
    size_t path_count, path_capacity;
    int64_t path_us[WATERFALL_PART_COUNT];
    int64_t path_nothing_us; /* of the path, nothing submitted */
    size_t unpaired;         /* events of it without partner */
    bool whole; /* nothing is missing: no unpaired event, incomplete job, lost or bad line */
    struct waterfall_verdict verdict;
};

/* An event without its partner. */
struct waterfall_unpaired {
    uint16_t kind;
    uint32_t job; /* WATERFALL_NO_JOB: none */
    int64_t time_us;
    int32_t partition, worker;
};

struct waterfall_report {
    const struct waterfall_log *log;
    struct waterfall_run *runs;
    size_t run_count, run_capacity;
    struct waterfall_job *jobs; /* by run, then start */
    size_t job_count, job_capacity;
    struct waterfall_partition *partitions; /* by job, then index and attempt */
    size_t partition_count, partition_capacity;
    struct waterfall_interval *intervals; /* by job, then start; those without a job last */
    size_t interval_count, interval_capacity;
    size_t *job_intervals; /* job_count + 1 bounds of the jobs' ranges in intervals */
    struct waterfall_unpaired *unpaired;
    size_t unpaired_count, unpaired_capacity;
    size_t requests_without_job; /* received, but neither accepted nor worked on: refused, say */
    struct text *warnings;
    size_t warning_count, warning_capacity;
};

/* Time between two moments; WATERFALL_NONE if one is not in the log. */
static inline int64_t waterfall_time_between(int64_t start_us, int64_t end_us)
{
    return start_us >= 0 && end_us >= 0 ? end_us - start_us : WATERFALL_NONE;
}

/* "synthesis", "memory_budget" and so on; a constant. */
const char *waterfall_bottleneck_name(enum waterfall_bottleneck bottleneck);

/* Adds a warning, a line of at most 255 bytes; false without memory. */
bool waterfall_report_warn(struct waterfall_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The log stays the caller's. */
void waterfall_report_free(struct waterfall_report *report);

#endif
