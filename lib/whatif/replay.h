/* A run of jobs with given durations through the engine itself: its queue, its pipeline, its
   workers and its recorder, on simulated devices and in simulated time (whatif/sim_clock.h). The
   daemon's own code makes every decision; only the time between the decisions is skipped. Private
   to lib/whatif. */
#ifndef WHATIF_REPLAY_H
#define WHATIF_REPLAY_H

#include "engine/pipeline.h"
#include "waterfall/log.h"

/* Durations in microseconds; more than a day counts as a day. */
struct replay_partition {
    uint64_t synth_us, device_us, finish_us, verify_us;
    double synth_level; /* partitions that were synthesized when its synthesis began, with itself */
};

struct replay_job {
    uint64_t arrival_us; /* of its request, since the beginning */
    uint64_t receive_us; /* from there until it is accepted */
    uint64_t parse_us, verify_us;
    size_t first;          /* of its partitions in the plan's */
    unsigned n_partitions; /* ≥ 1 */
};

enum { REPLAY_PARTITIONS_MAX = 20000 };

struct replay_plan {
    struct pipeline_limits limits;
    const struct replay_job *jobs; /* in the order of their arrival */
    size_t n_jobs;
    const struct replay_partition *partitions;
    size_t n_partitions; /* at most REPLAY_PARTITIONS_MAX */
    unsigned in_flight;  /* jobs that the client keeps in flight; 0: they come at arrival_us */
    uint64_t load_us;    /* to load the parameters */
    /* Each of c syntheses at once takes c^growth times as long as one alone. A synthesis that
       begins as the c-th takes synth_us × (c / synth_level)^growth. */
    double growth;
};

/* Replays a plan as a run with that label and appends its events to a zero-initialised log, which
   is the caller's in any case. CUZK_RESOURCE_EXHAUSTED: too many partitions, no threads. */
enum cuzk_status replay_run(const struct replay_plan *plan, const char *label,
                            struct waterfall_log *log, struct cuzk_error *err);

#endif
