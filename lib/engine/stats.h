/* Counters of an engine since it was opened. Private to lib/engine. */
#ifndef ENGINE_STATS_H
#define ENGINE_STATS_H

#include "engine/job.h"

enum { STATS_BUCKETS = 12 };

/* Upper bounds of the histogram's buckets in seconds; the last one is +Inf. */
extern const double stats_bounds[STATS_BUCKETS];

struct stats_kind {
    uint64_t completed, failed, cancelled; /* jobs */
    uint64_t bucket[STATS_BUCKETS];        /* completed ones that took at most stats_bounds[i] */
    double seconds;                        /* of completed ones, from acceptance to proof */
};

struct stats {
    struct stats_kind kind[REQUEST_KINDS]; /* by cuzk_proof_kind - 1 */
    uint64_t partitions;                   /* proved and verified */
    uint64_t invalid_proofs, device_faults, redone;
    uint64_t device_busy_ns[PIPELINE_DEVICES_MAX];
    uint64_t device_failures[PIPELINE_DEVICES_MAX];
    uint64_t queue_wait_ns, synthesis_ns, device_ns, verify_ns, srs_load_ns, srs_loads;
    uint64_t rejected_full, rejected_budget, journal_failures;
    bool dev, simulated;
    /* Filled in when a snapshot is taken: */
    uint64_t preemptions;
    unsigned queued, running, n_workers;
    uint64_t budget_peak;
};

/* Counts a job that has just ended. */
void stats_count_end(struct stats *stats, const struct job *job);

#endif
