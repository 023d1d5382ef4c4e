/* What a run would have been with other settings. The durations that its log holds (receiving,
   parsing, synthesis, device, finishing, verification, loading of parameters) pass once more
   through the engine's own scheduler, on simulated devices and in simulated time. A replay of an
   hour takes about a second, whatever else the machine does.

   The replay keeps the jobs and their sizes, their order, and how the client sends them: in a
   closed loop that keeps a number of jobs in flight, or at the recorded arrivals. It leaves out the
   memory budget, the journal's disk, priorities, and jobs that did not get all their partitions
   through the device. If syntheses slowed each other in the log, other numbers of workers slow them
   accordingly.

   The run is also replayed as it was. The distance of that replay from the measured run shows how
   far to trust the prediction. */
#ifndef WHATIF_WHATIF_H
#define WHATIF_WHATIF_H

#include <cuzk/status.h>
#include <stddef.h>

struct waterfall_report; /* lib/waterfall/report.h */

struct whatif_settings {
    unsigned synthesis_workers, lookahead, devices, workers_per_device;
    unsigned in_flight; /* jobs that the client keeps in flight; 0: they come as recorded */
};

/* A run in a few figures. */
struct whatif_figures {
    double wall_s;
    double proofs_per_minute;
    double proof_p50_s, proof_p95_s;
    double device_busy;     /* share of the time, all devices together, 0 to 1 */
    const char *bottleneck; /* "synthesis"; a constant */
};

struct whatif_answer {
    unsigned jobs, partitions;
    unsigned left_out; /* jobs that did not get all their partitions through the device */
    struct whatif_settings was, then;
    struct whatif_figures measured, replayed, predicted;
    char verdict[1024]; /* on the predicted run */
};

/* Replays a run of a report as it was and with other settings. `run` is the run's index. `knobs` is
   "key=value,…", any of
     synth=N        partitions synthesized at once
     lookahead=N    room in the channel
     devices=N      devices
     workers=N      workers a device
     jobs=N         jobs that the client keeps in flight, or jobs=recorded
     faster=P:F     phase P takes 1/F of its time; P is receive, parse, synth, device, finish,
                    verify or load; may be given several times
   CUZK_INVALID_ARGUMENT: the knobs, with what was expected; CUZK_FAILED_PRECONDITION: the run has
   no job to replay; CUZK_RESOURCE_EXHAUSTED: more than 20,000 partitions. */
enum cuzk_status whatif_run(const struct waterfall_report *report, size_t run, const char *knobs,
                            struct whatif_answer *out, struct cuzk_error *err);

#endif
