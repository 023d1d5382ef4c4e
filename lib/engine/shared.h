/* What every thread of an engine sees. Private to lib/engine.

   Three kinds of threads work in an engine:
   - callers: threads of the program, inside a function of <cuzk/engine.h> (public.c);
   - workers: they run the tasks of jobs (workers.h, the run functions of phase/);
   - the engine thread: it owns all scheduling state, struct core (core.h).

   Callers and workers see struct engine_shared and never struct core. They reach the engine thread
   by messages to its inbox: a call, or a worker that is back with its task. */
#ifndef ENGINE_SHARED_H
#define ENGINE_SHARED_H

#include "base/chan.h"
#include "engine/journal.h"
#include "engine/pipeline.h"
#include "engine/work.h"

#include <pthread.h>

/* Nothing in here changes once the threads run. The journal, the trace and the inbox may be used by
   several threads at once. */
struct engine_shared {
    struct work_setup setup;
    struct work_device *devices; /* setup.n_devices of them; a copy of the setup's */
    struct trace *trace;         /* NULL: nothing is recorded */
    struct journal *journal;     /* NULL: none */
    struct chan *inbox;          /* of struct message, to the engine thread */
    pthread_t thread;            /* the engine thread */
    struct pipeline_limits limits;
    unsigned queue_max;
    uint64_t keep_ms; /* how long results are kept */
    uint64_t opened_ns;
    void (*devices_lost)(void *context, const char *why);
    void *devices_lost_context;
};

/* What arrives in the inbox begins with this. */
struct message {
    bool is_call; /* struct call, else struct worker */
};

struct core;

/* What the public interface hands out. */
struct cuzk_engine {
    struct engine_shared shared;
    struct core *core; /* of the engine thread, while it runs */
};

#endif
