/* Worker threads, and the tasks that they run. A task is a piece of work of one phase (phase/): the
   engine thread starts it, a worker runs it, and the engine thread does what follows from its
   result. Between start and done the task belongs to the worker. Private to lib/engine.

   Workers know no struct core: their code in workers.c does not see it, and the run function of a
   phase is given none. */
#ifndef ENGINE_WORKERS_H
#define ENGINE_WORKERS_H

#include "base/clock.h"
#include "engine/shared.h"

struct job;

enum worker_class { WORKER_HOST, WORKER_SYNTHESIS, WORKER_DEVICE, WORKER_LOADER };

/* The head of each task; a phase embeds it in a type of its own. */
struct task {
    /* On the worker. Of the job it may read what is fixed while it is pinned: ids, hash, sizes. */
    enum cuzk_status (*run)(struct task *task, const struct engine_shared *shared);
    /* On the engine thread. The worker is free again and may be given another task, which takes the
       place of this one. */
    void (*done)(struct task *task, struct core *core);
    struct job *job;          /* pinned until done has returned; NULL: none */
    struct trace_scope scope; /* of the task's events */
    /* Result: */
    enum cuzk_status status; /* what run returned */
    struct cuzk_error err;   /* unless that is CUZK_OK */
    uint64_t ns;             /* that run took */
};

enum { TASK_BYTES_MAX = 1024 };

/* Milliseconds since a reading of clock_now_ns, as values of trace events. */
static inline int64_t task_ms_since(uint64_t start_ns)
{
    return (int64_t)((clock_now_ns() - start_ns) / 1000000);
}

struct worker {
    struct message message; /* "I am back" */
    const struct engine_shared *shared;
    enum worker_class class;
    unsigned device;
    int number;         /* of the trace: device workers are counted over all devices */
    struct chan *inbox; /* one task at a time */
    /* Room for a task of any phase (TASK_BYTES_MAX). It is the worker's, so that starting a task
       takes no memory and cannot fail. */
    struct task *task;
    pthread_t thread;
    bool running;

    /* The engine thread's: */
    bool reserve; /* only for CRITICAL jobs */
    bool busy;
    uint64_t since_ns; /* busy: when it was given its task */
};

struct workers {
    struct worker *all;
    unsigned n;
    unsigned busy;
};

/* Makes the workers, without their threads: 2 for the host, 1 to load, synthesis_concurrency, and
   workers_per_device for each device; and one more of each class for CRITICAL jobs (of device
   workers one for each device where they overlap). Who may use those is decided by `reserve` and,
   for synthesis and devices, by the pipeline. False without memory; workers_stop frees what is
   there. */
bool workers_make(struct workers *workers, const struct engine_shared *shared);
/* CUZK_RESOURCE_EXHAUSTED: not all threads could be started. */
enum cuzk_status workers_start(struct workers *workers, struct cuzk_error *err);
/* Ends the threads, which have nothing to do any more, and frees everything. */
void workers_stop(struct workers *workers);

/* An idle worker of the class, of this device if it is a device worker. NULL: there is none. */
struct worker *workers_find(const struct workers *workers, enum worker_class class, bool critical,
                            unsigned device);
/* The zeroed room for a task of this type, whose first member is a struct task, in an idle worker.
   The phase fills it, then calls workers_send. */
#define WORKERS_TASK(worker, type) ((type *)workers_task((worker), sizeof(type)))
void *workers_task(struct worker *worker, size_t bytes);
/* Sends the worker to work on its task, and pins the task's job. */
void workers_send(struct workers *workers, struct worker *worker);
/* The worker is back, and idle. */
void workers_take_back(struct workers *workers, struct worker *worker);

#endif
