/* The state of the engine thread. No other thread sees this struct, so nothing in it needs a lock.
   Private to lib/engine: for what runs on the engine thread, and for engine.c, which makes the
   struct before that thread starts. */
#ifndef ENGINE_CORE_H
#define ENGINE_CORE_H

#include "engine/budget.h"
#include "engine/jobs.h"
#include "engine/pipeline.h"
#include "engine/srs.h"
#include "engine/stats.h"
#include "engine/watches.h"
#include "engine/workers.h"

struct core {
    const struct engine_shared *shared;
    struct workers workers;
    struct budget budget;
    struct pipeline pipeline;
    struct srs srs;
    struct jobs jobs;
    struct watches watches;
    struct stats stats;
    unsigned parsing;    /* jobs being parsed that are not CRITICAL */
    struct job *suspect; /* begun earlier by a process that died, and begun again: one at a time */
    bool draining;       /* no new jobs */
    bool hold_queue;     /* no waiting job is begun */
    bool closing;        /* no task is begun, except for the journal */
    struct call *closer; /* answered when the engine thread ends */
};

#endif
