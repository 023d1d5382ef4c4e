/* Loading and unloading the parameters of circuits. The decisions what to load and what to unload
   are in srs.c. This file does both, and answers the jobs and calls that need a circuit. */
#include "engine/phase/phase.h"

#include "engine/core.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

#include <inttypes.h>

struct load_task {
    struct task task;
    struct srs_entry *entry; /* of which the worker reads the id */
    struct loaded *loaded;   /* the result */
};

struct unload_task {
    struct task task;
    struct srs_entry *entry; /* the engine thread's */
    struct loaded *loaded;
};

/* --- Those who wait --------------------------------------------------------------------------- */

/* err: loading has failed, and why; NULL: the circuit is ready. */
static void answer_preloads(struct srs_entry *entry, const struct cuzk_error *err)
{
    for (struct call *call; (call = call_pop(&entry->preloads));) {
        CONTAINER_OF(call, struct call_preload, call)->load_ms = entry->load_ns / 1000000;
        if (err)
            call->err = *err;
        call_answer(call, err ? err->status : CUZK_OK);
    }
}

static void answer_evictions(struct srs_entry *entry)
{
    for (struct call *call; (call = call_pop(&entry->evictions));) {
        struct call_evict *evict = CONTAINER_OF(call, struct call_evict, call);
        evict->was_loaded = true;
        evict->freed_bytes = entry->freed_bytes;
        call_answer(call, CUZK_OK);
    }
}

/* Ends all that needs this circuit. */
static void fail_users(struct core *core, struct srs_entry *entry, const struct cuzk_error *err)
{
    answer_preloads(entry, err);
    for (size_t i = 0; i < core->jobs.n; i++) {
        struct job *job = core->jobs.all[i];
        if (job->srs == entry && !job_is_over(job))
            jobs_end(core, job, JOB_FAILED, err);
    }
}

/* --- Unloading -------------------------------------------------------------------------------- */

static enum cuzk_status unload_run(struct task *task, const struct engine_shared *shared)
{
    struct unload_task *unload = CONTAINER_OF(task, struct unload_task, task);
    shared->setup.ops->unload(unload->loaded);
    unload->loaded = NULL;
    return CUZK_OK;
}

static void unload_done(struct task *task, struct core *core)
{
    struct srs_entry *entry = CONTAINER_OF(task, struct unload_task, task)->entry;
    budget_release(&core->budget, &entry->hold, 0);
    srs_unload_ended(&core->srs, entry);
    answer_evictions(entry);
}

static void start_unload(struct core *core, struct srs_entry *entry)
{
    struct worker *worker = workers_find(&core->workers, WORKER_LOADER, true, 0);
    if (!worker)
        return;
    struct unload_task *unload = WORKERS_TASK(worker, struct unload_task);
    unload->task = (struct task){
        .run = unload_run, .done = unload_done, .scope = TRACE_SCOPE(core->shared->trace, NULL)};
    unload->entry = entry;
    unload->loaded = srs_unload_started(entry);
    workers_send(&core->workers, worker);
}

static void make_room_for(struct core *core, const struct srs_entry *entry)
{
    struct srs_entry *victim = srs_pick_eviction(&core->srs, entry);
    if (victim)
        start_unload(core, victim);
}

/* --- Loading ---------------------------------------------------------------------------------- */

static enum cuzk_status load_run(struct task *task, const struct engine_shared *shared)
{
    struct load_task *load = CONTAINER_OF(task, struct load_task, task);
    trace_emit(&task->scope, TRACE_SRS_LOAD_START, -1);
    enum cuzk_status status = shared->setup.ops->load(
        shared->setup.context, load->entry->circuit_id, &load->loaded, &task->err);
    trace_emit(&task->scope, TRACE_SRS_LOAD_END,
               status == CUZK_OK ? (int64_t)load->loaded->mapped_bytes : -1);
    return status;
}

static void load_done(struct task *task, struct core *core)
{
    struct load_task *load = CONTAINER_OF(task, struct load_task, task);
    struct srs_entry *entry = load->entry;
    const struct loaded *loaded = load->loaded;
    const struct cuzk_error err = task->err; /* unloading may take the place of this task */
    const bool is_loaded = task->status == CUZK_OK;
    const uint64_t now_ns = clock_now_ns();
    bool others_in_the_way = false;
    if (is_loaded)
        srs_load_ended(entry, load->loaded, now_ns);
    else
        others_in_the_way = srs_load_failed(&core->srs, entry, task->status, now_ns);
    core->stats.srs_load_ns += entry->load_ns;
    core->stats.srs_loads++;
    if (is_loaded)
        log_info("engine", "%s: %s parameters loaded%s in %" PRIu64 " ms", entry->circuit_id,
                 loaded->dev ? "INSECURE DEVELOPMENT" : "published",
                 loaded->lagrange ? " with Lagrange form" : "", entry->load_ns / 1000000);
    else if (others_in_the_way)
        make_room_for(core, entry);
    else
        fail_users(core, entry, &err);
}

static void start_load(struct core *core, struct srs_entry *entry)
{
    struct worker *worker = workers_find(&core->workers, WORKER_LOADER, entry->critical, 0);
    if (!worker)
        return;
    struct load_task *load = WORKERS_TASK(worker, struct load_task);
    load->task = (struct task){
        .run = load_run, .done = load_done, .scope = TRACE_SCOPE(core->shared->trace, NULL)};
    load->entry = entry;
    srs_load_started(entry, clock_now_ns());
    workers_send(&core->workers, worker);
}

/* The circuit is loaded and takes its part of the budget, now or when another one has gone. */
static void take_budget(struct core *core, struct srs_entry *entry)
{
    struct cuzk_error err;
    const struct loaded *loaded = entry->loaded;
    if (budget_could_fit(&core->budget, BUDGET_CIRCUITS, loaded->host_bytes,
                         loaded->partition_bytes, &err) != CUZK_OK) {
        error_prefix(&err, "%s", entry->circuit_id);
        entry->evict = true;
        fail_users(core, entry, &err);
    } else if (budget_take_circuit(&core->budget, loaded->host_bytes,
                                   srs_partition_floor(&core->srs, entry), &entry->hold)) {
        srs_budget_taken(entry);
        core->stats.dev |= loaded->dev;
        answer_preloads(entry, NULL);
    } else {
        make_room_for(core, entry);
    }
}

void load_start(struct core *core)
{
    for (size_t i = 0; i < SRS_CIRCUITS_MAX; i++) {
        struct srs_entry *entry = &core->srs.entries[i];
        switch (srs_next_step(entry)) {
        case SRS_NOTHING:
            break;
        case SRS_LOAD:
            start_load(core, entry);
            break;
        case SRS_UNLOAD:
            start_unload(core, entry);
            break;
        case SRS_TAKE_BUDGET:
            take_budget(core, entry);
            break;
        }
    }
}
