/* The scheduler's decisions: which partition is synthesized next, and which one a device takes
   next. Pure bookkeeping: no threads, no clocks, no memory of its own besides the queue. The engine
   thread drives it.

       WAITING → SYNTHESIZING → READY → PROVING → PROVED → VERIFIED
                      ↓           ↑
                      BLOCKED ────┘

   A synthesized partition enters the channel to the devices (READY) if there is room. Otherwise it
   is BLOCKED and keeps its synthesis worker, like a thread that sends on a full channel. A
   partition goes back from PROVED to WAITING if its proof was not valid or the device failed: it is
   synthesized again and avoids that device.

   A CRITICAL job has a synthesis worker and a place in the channel of its own, so it only waits for
   the partition that is on the device. */
#ifndef ENGINE_PIPELINE_H
#define ENGINE_PIPELINE_H

#include "engine/queue.h"

#include <cuzk/engine.h>

enum { PIPELINE_DEVICES_MAX = 64 };

enum partition_state {
    PARTITION_WAITING,
    PARTITION_SYNTHESIZING,
    PARTITION_BLOCKED,
    PARTITION_READY,
    PARTITION_PROVING,
    PARTITION_PROVED,
    PARTITION_VERIFIED,
    PARTITION_STATES,
};

struct pipeline_partition {
    enum partition_state state;
    unsigned device; /* PROVING: where */
    uint64_t avoid;  /* bit d: device d failed it */
};

/* A job's part in the pipeline, embedded in the engine's job. */
struct pipeline_job {
    struct queue_entry entry; /* owner: this */
    bool ready;               /* its partitions may be taken: parsed, parameters loaded */
    uint64_t devices;         /* bit d: device d has its circuit */
    unsigned n_partitions;
    struct pipeline_partition *partitions;
    unsigned count[PARTITION_STATES];
};

struct pipeline_limits {
    unsigned synthesis_concurrency;
    unsigned lookahead;
    unsigned n_devices;
    unsigned workers_per_device;
};

struct pipeline {
    struct pipeline_limits limits;
    struct queue queue; /* of struct pipeline_job */
    unsigned count[PARTITION_STATES];
    unsigned proving[PIPELINE_DEVICES_MAX];
    uint64_t quarantined; /* bit d */
    uint64_t preemptions; /* partitions that passed a ready one of an older, lesser job */
};

void pipeline_init(struct pipeline *pipeline, const struct pipeline_limits *limits);
void pipeline_free(struct pipeline *pipeline);

/* Puts a job in line, without partitions: these come with pipeline_open. False without memory. */
bool pipeline_add(struct pipeline *pipeline, struct pipeline_job *job, enum cuzk_priority priority,
                  uint64_t age);
/* The job's partitions may be taken from now on. The caller owns them; the call zeroes them. */
void pipeline_open(struct pipeline_job *job, struct pipeline *pipeline,
                   struct pipeline_partition *partitions, unsigned n, uint64_t devices);
/* Takes a job out of the line, in any state of its partitions. Those in SYNTHESIZING and PROVING
   keep their worker until pipeline_dropped. */
void pipeline_remove(struct pipeline *pipeline, struct pipeline_job *job);

/* A worker is done with a partition of a job that was removed meanwhile. */
void pipeline_dropped(struct pipeline *pipeline, struct pipeline_job *job, unsigned partition);

struct pipeline_pick {
    struct pipeline_job *job;
    unsigned partition;
    unsigned device;
};

/* The partition to synthesize next. False: none may be synthesized now. Nothing changes until
   pipeline_start_synthesis. */
bool pipeline_pick_synthesis(const struct pipeline *pipeline, struct pipeline_pick *pick);
void pipeline_start_synthesis(struct pipeline *pipeline, const struct pipeline_pick *pick);
/* A synthesis has ended. Returns the new state of the partition: READY or BLOCKED. */
enum partition_state pipeline_synthesized(struct pipeline *pipeline, struct pipeline_job *job,
                                          unsigned partition);

/* The partition to prove next, and the device. False: no device may take a partition now. */
bool pipeline_pick_proving(const struct pipeline *pipeline, struct pipeline_pick *pick);
void pipeline_start_proving(struct pipeline *pipeline, const struct pipeline_pick *pick);
/* A BLOCKED partition that enters the channel now. Call it until false after each start of proving
   and after pipeline_remove. */
bool pipeline_unblock(struct pipeline *pipeline, struct pipeline_pick *pick);
void pipeline_proved(struct pipeline *pipeline, struct pipeline_job *job, unsigned partition);

/* The verdict on a PROVED partition: it is VERIFIED; or WAITING again, and avoids that device if
   there is another one. */
void pipeline_verified(struct pipeline *pipeline, struct pipeline_job *job, unsigned partition);
void pipeline_redo(struct pipeline *pipeline, struct pipeline_job *job, unsigned partition);

/* Takes a device out of use. False: it is the last one, and stays in use. */
bool pipeline_quarantine(struct pipeline *pipeline, unsigned device);

/* May a job of this priority be parsed now? A CRITICAL job always may. The others keep few parsed
   jobs in memory: for each synthesis worker one of this priority or a higher one whose synthesis
   has not begun. parsing: the number of these jobs that are being parsed. */
bool pipeline_wants_parse(const struct pipeline *pipeline, enum cuzk_priority priority,
                          unsigned parsing);

#endif
