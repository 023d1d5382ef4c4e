#include "engine/workers.h"

#include "engine/job.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <string.h>

/* --- Threads ---------------------------------------------------------------------------------- */

static void *worker_thread(void *context)
{
    struct worker *worker = context;
    struct task *task;
    while ((task = chan_receive(worker->inbox))) {
        uint64_t start_ns = clock_now_ns();
        task->status = task->run(task, worker->shared);
        task->ns = clock_now_ns() - start_ns;
        chan_send(worker->shared->inbox, &worker->message);
    }
    return NULL;
}

static void add_workers(struct workers *workers, enum worker_class class, unsigned n,
                        unsigned n_reserve, unsigned device, int *number)
{
    for (unsigned i = 0; i < n + n_reserve; i++) {
        struct worker *worker = &workers->all[workers->n++];
        worker->class = class;
        worker->reserve = i >= n;
        worker->device = device;
        worker->number = (*number)++;
    }
}

bool workers_make(struct workers *workers, const struct engine_shared *shared)
{
    const struct pipeline_limits *limits = &shared->limits;
    const unsigned per_device = limits->workers_per_device + (limits->workers_per_device > 1);
    const unsigned n_synthesis = limits->synthesis_concurrency + 1;
    const unsigned total = 3 + 2 + n_synthesis + per_device * limits->n_devices;
    workers->all = mem_zalloc(total, sizeof *workers->all);
    if (!workers->all)
        return false;
    int number = 0;
    add_workers(workers, WORKER_HOST, 2, 1, 0, &number);
    add_workers(workers, WORKER_LOADER, 1, 1, 0, &number);
    number = 0;
    add_workers(workers, WORKER_SYNTHESIS, n_synthesis, 0, 0, &number);
    number = 0;
    for (unsigned d = 0; d < limits->n_devices; d++)
        add_workers(workers, WORKER_DEVICE, per_device, 0, d, &number);
    CHECK(workers->n == total);
    for (unsigned i = 0; i < total; i++) {
        struct worker *worker = &workers->all[i];
        worker->shared = shared;
        worker->inbox = chan_new(1);
        worker->task = mem_zalloc(1, TASK_BYTES_MAX);
        if (!worker->inbox || !worker->task)
            return false;
    }
    return true;
}

enum cuzk_status workers_start(struct workers *workers, struct cuzk_error *err)
{
    for (unsigned i = 0; i < workers->n; i++) {
        struct worker *worker = &workers->all[i];
        if (pthread_create(&worker->thread, NULL, worker_thread, worker) != 0)
            return error_set(err, CUZK_RESOURCE_EXHAUSTED, "cannot start %u threads",
                             workers->n + 1);
        worker->running = true;
    }
    return CUZK_OK;
}

void workers_stop(struct workers *workers)
{
    for (unsigned i = 0; workers->all && i < workers->n; i++) {
        struct worker *worker = &workers->all[i];
        if (worker->inbox)
            chan_close(worker->inbox);
        if (worker->running)
            pthread_join(worker->thread, NULL);
        chan_free(worker->inbox);
        mem_free(worker->task);
    }
    mem_free(workers->all);
    *workers = (struct workers){0};
}

/* --- Tasks ------------------------------------------------------------------------------------ */

struct worker *workers_find(const struct workers *workers, enum worker_class class, bool critical,
                            unsigned device)
{
    for (unsigned i = 0; i < workers->n; i++) {
        struct worker *worker = &workers->all[i];
        if (worker->class == class && !worker->busy && (critical || !worker->reserve) &&
            (class != WORKER_DEVICE || worker->device == device))
            return worker;
    }
    return NULL;
}

void *workers_task(struct worker *worker, size_t bytes)
{
    CHECK(!worker->busy && bytes >= sizeof(struct task) && bytes <= TASK_BYTES_MAX);
    return memset(worker->task, 0, bytes);
}

void workers_send(struct workers *workers, struct worker *worker)
{
    CHECK(!worker->busy);
    worker->busy = true;
    worker->since_ns = clock_now_ns();
    workers->busy++;
    if (worker->task->job)
        worker->task->job->pins++;
    CHECK(chan_send(worker->inbox, worker->task)); /* its inbox is empty: never waits */
}

void workers_take_back(struct workers *workers, struct worker *worker)
{
    CHECK(worker->busy && workers->busy > 0);
    worker->busy = false;
    workers->busy--;
}
