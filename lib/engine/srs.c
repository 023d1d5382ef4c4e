/* Parameters of circuits: loaded when first wanted, shared by jobs, given up least recently used
   first when the budget or a device needs the room. */
#include "engine/core.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_free(const struct srs_entry *entry)
{
    return entry->state == SRS_ABSENT && entry->references == 0 && !entry->preloads &&
           !entry->evictions;
}

struct srs_entry *srs_find(struct cuzk_engine *engine, const char *circuit_id, bool create)
{
    struct srs_entry *room = NULL;
    for (size_t i = 0; i < CORE_SRS_MAX; i++) {
        struct srs_entry *entry = &engine->srs[i];
        if (strcmp(entry->circuit_id, circuit_id) == 0)
            return entry;
        if (!room && is_free(entry))
            room = entry;
    }
    if (!create || !room)
        return NULL;
    *room = (struct srs_entry){.state = SRS_ABSENT};
    snprintf(room->circuit_id, sizeof room->circuit_id, "%s", circuit_id);
    return room;
}

void srs_reference(struct srs_entry *entry, bool critical)
{
    entry->references++;
    entry->failed = false;
    entry->critical |= critical;
    entry->last_used_ns = clock_now_ns();
}

void srs_release(struct cuzk_engine *engine, struct srs_entry *entry)
{
    (void)engine;
    CHECK(entry->references > 0);
    entry->references--;
    entry->last_used_ns = clock_now_ns();
    if (entry->references == 0)
        entry->critical = false;
}

static bool is_wanted(const struct srs_entry *entry)
{
    return entry->references > 0 || entry->preloads;
}

static bool is_loaded(const struct srs_entry *entry)
{
    return entry->state == SRS_UNPAID || entry->state == SRS_READY;
}

/* --- Answers ----------------------------------------------------------------------- */

static void answer_preloads(struct srs_entry *entry, const struct cuzk_error *err)
{
    while (entry->preloads) {
        struct call *call = entry->preloads;
        entry->preloads = call->next;
        call->number = entry->load_ns / 1000000;
        call->flag = false;
        if (err)
            call->err = *err;
        core_answer(call, err ? err->status : CUZK_OK);
    }
}

static void answer_evictions(struct srs_entry *entry, uint64_t freed)
{
    while (entry->evictions) {
        struct call *call = entry->evictions;
        entry->evictions = call->next;
        call->flag = true;
        call->number = freed;
        core_answer(call, CUZK_OK);
    }
}

/* Ends all that needs this circuit. */
static void fail_users(struct cuzk_engine *engine, struct srs_entry *entry,
                       const struct cuzk_error *err)
{
    answer_preloads(entry, err);
    for (size_t i = 0; i < engine->n_jobs; i++)
        if (engine->jobs[i]->srs == entry && !job_is_over(engine->jobs[i]))
            core_end_job(engine, engine->jobs[i], JOB_FAILED, err);
}

/* --- Loading and unloading --------------------------------------------------------- */

static void start_load(struct cuzk_engine *engine, struct srs_entry *entry)
{
    struct worker *worker = core_worker(engine, WORKER_LOADER, entry->critical, 0);
    if (!worker)
        return;
    entry->state = SRS_LOADING;
    entry->load_started_ns = clock_now_ns();
    worker->task = (struct task){.kind = TASK_LOAD, .srs = entry};
    core_send(engine, worker);
}

static bool start_unload(struct cuzk_engine *engine, struct srs_entry *entry)
{
    struct worker *worker = core_worker(engine, WORKER_LOADER, true, 0);
    if (!worker)
        return false;
    entry->state = SRS_UNLOADING;
    entry->freed_bytes = entry->loaded->mapped_bytes + entry->loaded->host_bytes;
    worker->task = (struct task){.kind = TASK_UNLOAD, .srs = entry, .loaded = entry->loaded};
    entry->loaded = NULL;
    core_send(engine, worker);
    return true;
}

/* The loaded circuit that nobody uses for longest; WinningPoSt's only when `critical` work needs
   the room, so that a block is never missed for a load. */
static struct srs_entry *least_recent(struct cuzk_engine *engine, const struct srs_entry *not_this)
{
    struct srs_entry *found = NULL;
    for (size_t i = 0; i < CORE_SRS_MAX; i++) {
        struct srs_entry *entry = &engine->srs[i];
        bool spared = strncmp(entry->circuit_id, "winning-", 8) == 0 && !not_this->critical;
        if (entry != not_this && is_loaded(entry) && !is_wanted(entry) && !spared &&
            (!found || entry->last_used_ns < found->last_used_ns))
            found = entry;
    }
    return found;
}

static bool others_loaded(const struct cuzk_engine *engine, const struct srs_entry *entry)
{
    for (size_t i = 0; i < CORE_SRS_MAX; i++)
        if (&engine->srs[i] != entry &&
            (is_loaded(&engine->srs[i]) || engine->srs[i].state == SRS_UNLOADING))
            return true;
    return false;
}

/* Largest partition of this circuit and of those that have their part of the budget. */
static uint64_t partition_floor(const struct cuzk_engine *engine, const struct srs_entry *entry)
{
    uint64_t floor = entry->loaded->partition_bytes;
    for (size_t i = 0; i < CORE_SRS_MAX; i++)
        if (engine->srs[i].state == SRS_READY && engine->srs[i].loaded->partition_bytes > floor)
            floor = engine->srs[i].loaded->partition_bytes;
    return floor;
}

/* Loaded; now its part of the budget. */
static void pay(struct cuzk_engine *engine, struct srs_entry *entry)
{
    struct cuzk_error err;
    uint64_t bytes = entry->loaded->host_bytes;
    if (budget_could_fit(&engine->budget, BUDGET_CIRCUITS, bytes, entry->loaded->partition_bytes,
                         &err) != CUZK_OK) {
        error_prefix(&err, "%s", entry->circuit_id);
        entry->evict = true;
        fail_users(engine, entry, &err);
        return;
    }
    if (!budget_take_circuit(&engine->budget, bytes, partition_floor(engine, entry),
                             &entry->hold)) {
        struct srs_entry *idle = least_recent(engine, entry);
        if (idle)
            start_unload(engine, idle);
        return;
    }
    entry->state = SRS_READY;
    engine->stats.dev |= entry->loaded->dev;
    answer_preloads(entry, NULL);
}

static void loaded_or_not(struct cuzk_engine *engine, struct srs_entry *entry,
                          const struct task *task)
{
    entry->load_ns = clock_now_ns() - entry->load_started_ns;
    engine->stats.srs_load_ns += entry->load_ns;
    engine->stats.srs_loads++;
    if (task->status == CUZK_OK) {
        entry->loaded = task->loaded;
        entry->state = SRS_UNPAID;
        if (!engine->setup.quiet)
            log_info("engine", "%s: %s parameters loaded%s in %" PRIu64 " ms", entry->circuit_id,
                     entry->loaded->dev ? "INSECURE DEVELOPMENT" : "published",
                     entry->loaded->lagrange ? " with Lagrange form" : "",
                     entry->load_ns / 1000000);
        return;
    }
    entry->state = SRS_ABSENT;
    if (task->status == CUZK_RESOURCE_EXHAUSTED && others_loaded(engine, entry)) {
        struct srs_entry *idle = least_recent(engine, entry);
        entry->crowded = true;
        if (idle)
            start_unload(engine, idle);
        return;
    }
    entry->failed = true; /* a job that is over may still be parsed, and refers to it until then */
    fail_users(engine, entry, &task->err);
}

static void unloaded(struct cuzk_engine *engine, struct srs_entry *entry)
{
    budget_release(&engine->budget, &entry->hold, 0);
    entry->state = SRS_ABSENT;
    entry->stale = entry->evict = false;
    answer_evictions(entry, entry->freed_bytes);
    for (size_t i = 0; i < CORE_SRS_MAX; i++)
        engine->srs[i].crowded = false;
}

void srs_task_done(struct cuzk_engine *engine, struct task *task)
{
    if (task->kind == TASK_LOAD)
        loaded_or_not(engine, task->srs, task);
    else
        unloaded(engine, task->srs);
}

/* A loaded circuit that nobody uses is looked at again before the next use: if its file was
   replaced meanwhile, it is loaded anew instead of failing the job. */
static bool file_changed(struct cuzk_engine *engine, const struct srs_entry *entry)
{
    struct cuzk_error err;
    if (engine->setup.ops->check(entry->loaded, &err) == CUZK_OK)
        return false;
    log_warn("engine", "%s: parameters are loaded again: %s", entry->circuit_id, err.text);
    return true;
}

void srs_dispatch(struct cuzk_engine *engine)
{
    for (size_t i = 0; i < CORE_SRS_MAX; i++) {
        struct srs_entry *entry = &engine->srs[i];
        if (entry->state == SRS_ABSENT && is_wanted(entry) && !entry->crowded && !entry->failed)
            start_load(engine, entry);
        else if (is_loaded(entry) && entry->references == 0 && (entry->stale || entry->evict))
            start_unload(engine, entry);
        else if (entry->state == SRS_UNPAID)
            pay(engine, entry);
    }
}

/* --- Calls ------------------------------------------------------------------------- */

bool srs_preload(struct cuzk_engine *engine, struct call *call)
{
    struct srs_entry *entry = srs_find(engine, call->circuit_id, true);
    if (!entry) {
        error_set(&call->err, CUZK_RESOURCE_EXHAUSTED, "more than %d circuits", CORE_SRS_MAX);
        core_answer(call, call->err.status);
        return true;
    }
    if (entry->state == SRS_READY && !entry->stale && entry->references == 0)
        entry->stale = file_changed(engine, entry);
    if (entry->state == SRS_READY && !entry->stale) {
        call->flag = true;
        call->number = 0;
        core_answer(call, CUZK_OK);
        return true;
    }
    call->next = entry->preloads;
    entry->preloads = call;
    entry->failed = false;
    return false;
}

bool srs_evict(struct cuzk_engine *engine, struct call *call)
{
    struct srs_entry *entry = srs_find(engine, call->circuit_id, false);
    call->flag = false;
    call->number = 0;
    enum cuzk_status status = CUZK_OK;
    if (entry && (entry->references > 0 || entry->state == SRS_LOADING))
        status = error_set(&call->err, CUZK_FAILED_PRECONDITION, "%s: %u jobs use it",
                           call->circuit_id, entry->references);
    else if (entry && entry->state != SRS_ABSENT) {
        entry->evict = true;
        call->next = entry->evictions;
        entry->evictions = call;
        return false;
    }
    core_answer(call, status);
    return true;
}
