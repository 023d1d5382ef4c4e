/* A small deterministic model of the proving pipeline. It writes the TIMELINE log that such a run
   would leave, and knows from its own state why each device was idle at each millisecond. Tests of
   the waterfall compare its analysis of the log with that. The model shares no code with
   lib/waterfall. */
#ifndef TESTS_SCHEDULE_H
#define TESTS_SCHEDULE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCHEDULE_DEVICES_MAX = 4, SCHEDULE_WORKERS_MAX = 32, SCHEDULE_PARTITIONS_MAX = 16 };

/* Why a device was idle, as the model knows it. */
enum schedule_cause {
    SCHEDULE_LOCK,
    SCHEDULE_LOOKAHEAD,
    SCHEDULE_BUDGET,
    SCHEDULE_SYNTH,
    SCHEDULE_PARSE,
    SCHEDULE_ADMIT,
    SCHEDULE_REPLY,
    SCHEDULE_NOTHING,
    SCHEDULE_CAUSE_COUNT,
};

/* Times in milliseconds. Zero-initialise and set what matters; see schedule_defaults. */
struct schedule_options {
    uint64_t seed;
    const char *label;                 /* of the run; NULL: no RUN_START and RUN_END */
    bool classic;                      /* only the six events of the Rust cuzk */
    bool say_gpu_queue;                /* GPU_QUEUE instead of CHAN_SEND */
    unsigned jobs, concurrency, think; /* the client: keeps `concurrency` in flight */
    unsigned partitions;
    unsigned synth_workers, lookahead, budget; /* budget: partitions in memory at once; 0: any */
    unsigned devices, workers_per_device;
    unsigned parse, synth, start, device, verify; /* mean durations; start: pickup to device */
    unsigned jitter;                              /* percent by which synth and device times vary */
    double growth;  /* c syntheses at once take c^growth times as long */
    int64_t offset; /* of the first event */
};

struct schedule_truth {
    int64_t start, end; /* of the run */
    int64_t busy[SCHEDULE_DEVICES_MAX];
    int64_t idle[SCHEDULE_DEVICES_MAX][SCHEDULE_CAUSE_COUNT];
    size_t lines;
};

/* 4 jobs of 3 partitions, 2 synthesis workers, one device with 2 workers, a few 100 ms each. */
struct schedule_options schedule_defaults(uint64_t seed);

/* Runs the model and appends the log's lines. */
void schedule_run(const struct schedule_options *options, struct text *log,
                  struct schedule_truth *truth);

/* The next number of a deterministic sequence. */
uint64_t schedule_random(uint64_t *state);

#endif
