/* What a run would have been with other settings: the durations that its log holds (receiving,
   parsing, synthesis, device, finishing, verification, loading of parameters) go once more through
   the engine's own scheduler, on simulated devices and in simulated time, so a replay of an hour
   takes a second and does not depend on what else the machine does.

   What the replay keeps: the jobs and their sizes, the order in which they come, and how a client
   sends them: a closed loop that keeps a number of them in flight, or the recorded arrivals. What
   it leaves out: the memory budget, the journal's disk, priorities, and jobs that did not get all
   their partitions through the device. If syntheses slowed each other down in the log, other
   numbers of workers slow them accordingly.

   The run is also replayed as it was; how far that is from the measured run tells how far to trust
   the prediction. */
#ifndef WHATIF_WHATIF_H
#define WHATIF_WHATIF_H

#include <cuzk/status.h>
#include <stddef.h>

struct waterfall_report; /* lib/waterfall/report.h */

struct cuzk_whatif_settings {
    unsigned synthesis_workers, lookahead, devices, workers_per_device;
    unsigned in_flight; /* jobs that the client keeps in flight; 0: they come as recorded */
};

/* A run in a few figures; shares and seconds. */
struct cuzk_whatif_run {
    double wall_s;
    double proofs_per_minute;
    double proof_p50_s, proof_p95_s;
    double device_busy;     /* share of the time, all devices together */
    const char *bottleneck; /* "synthesis"; a constant */
};

struct cuzk_whatif {
    unsigned jobs, partitions;
    unsigned left_out; /* jobs that did not get all their partitions through the device */
    struct cuzk_whatif_settings was, then;
    struct cuzk_whatif_run measured, replayed, predicted;
    char verdict[1024]; /* on the predicted run */
};

/* knobs: "key=value,…", any of
     synth=N       partitions synthesized at once      lookahead=N  room in the channel
     devices=N     devices                             workers=N    workers a device
     jobs=N        jobs that the client keeps in flight, or jobs=recorded
     faster=P:F    phase P takes 1/F of its time; P is receive, parse, synth, device, finish, verify
                   or load; may be given several times
   report is that of a log, run the index of one of its runs. CUZK_INVALID_ARGUMENT: the knobs, with
   what was expected; CUZK_FAILED_PRECONDITION: the run has no job to replay;
   CUZK_RESOURCE_EXHAUSTED: more than 20,000 partitions. */
enum cuzk_status cuzk_whatif(const struct waterfall_report *report, size_t run, const char *knobs,
                             struct cuzk_whatif *out, struct cuzk_error *err);

#endif
