/* Opening and closing an engine: makes and frees its two halves, shared and core, and starts and
   ends the threads. */
#include "engine/call.h"
#include "engine/calls.h"
#include "engine/core.h"
#include "engine/loop.h"
#include "engine/restore.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <stdio.h>

enum { INBOX_MESSAGES = 1024, DEFAULT_QUEUE_MAX = 1000, DEFAULT_KEEP_MS = 3600 * 1000 };

static unsigned number_or(unsigned number, unsigned otherwise)
{
    return number ? number : otherwise;
}

/* --- Opening ---------------------------------------------------------------------------------- */

static void read_options(struct engine_shared *shared, const struct cuzk_engine_options *options)
{
    const unsigned usual = number_or(shared->setup.workers_per_device, 1);
    shared->trace = options->trace;
    shared->devices_lost = options->devices_lost;
    shared->devices_lost_context = options->devices_lost_context;
    shared->queue_max = number_or(options->queue_max, DEFAULT_QUEUE_MAX);
    shared->keep_ms = options->keep_result_ms ? options->keep_result_ms : DEFAULT_KEEP_MS;
    shared->limits = (struct pipeline_limits){
        .synthesis_concurrency = number_or(options->synthesis_concurrency, 1),
        .lookahead = number_or(options->synthesis_lookahead, 1),
        .n_devices = shared->setup.n_devices,
        .workers_per_device = number_or(options->workers_per_device, usual),
    };
}

static enum cuzk_status make_shared(struct engine_shared *shared, const struct work_setup *setup,
                                    const struct cuzk_engine_options *options,
                                    struct cuzk_error *err)
{
    shared->setup = *setup;
    shared->opened_ns = clock_now_ns();
    if (setup->n_devices == 0 || setup->n_devices > PIPELINE_DEVICES_MAX)
        return error_set(err, CUZK_NO_DEVICE, "%u devices, 1 to %d can be used", setup->n_devices,
                         PIPELINE_DEVICES_MAX);
    read_options(shared, options);
    shared->devices = mem_memdup(setup->devices, setup->n_devices * sizeof *setup->devices);
    shared->inbox = chan_new(INBOX_MESSAGES);
    if (!shared->devices || !shared->inbox)
        return error_set(err, CUZK_NO_MEMORY, "no memory for an engine");
    return options->state_dir ? journal_open(options->state_dir, &shared->journal, err) : CUZK_OK;
}

static enum cuzk_status make_core(struct core *core, const struct engine_shared *shared,
                                  const struct cuzk_engine_options *options, struct cuzk_error *err)
{
    uint64_t budget = options->memory_budget_bytes ? options->memory_budget_bytes
                                                   : budget_auto("", options->memory_margin_bytes);
    core->shared = shared;
    budget_init(&core->budget, budget);
    pipeline_init(&core->pipeline, &shared->limits);
    core->stats.simulated = shared->setup.simulated;
    /* Without a journal nothing remembers the last number; the wall clock keeps the ids of one
       process apart from those of the next. */
    core->jobs.next_number = shared->journal ? 1 : clock_unix_s() << 20;
    if (!workers_make(&core->workers, shared))
        return error_set(err, CUZK_NO_MEMORY, "no memory for an engine");
    return shared->journal ? restore_jobs(core, err) : CUZK_OK;
}

static void emit_start(const struct engine_shared *shared, const struct workers *workers)
{
    struct trace_scope scope = TRACE_SCOPE(shared->trace, NULL);
    char text[TRACE_TEXT_BYTES];
    snprintf(text, sizeof text, "synth_workers=%u,lookahead=%u,devices=%u,workers_per_device=%u",
             shared->limits.synthesis_concurrency, shared->limits.lookahead,
             shared->limits.n_devices, shared->limits.workers_per_device);
    trace_emit_text(&scope, TRACE_ENGINE_START, -1, text);
    for (unsigned i = 0; i < workers->n; i++) {
        const struct worker *worker = &workers->all[i];
        if (worker->class != WORKER_DEVICE)
            continue;
        scope.worker = worker->number;
        scope.device = (int32_t)worker->device;
        snprintf(text, sizeof text, "name=%.100s", shared->devices[worker->device].name);
        trace_emit_text(&scope, TRACE_DEVICE_WORKER, -1, text);
    }
}

static enum cuzk_status start_threads(struct cuzk_engine *engine, struct cuzk_error *err)
{
    struct core *core = engine->core;
    TRY(workers_start(&core->workers, err));
    if (pthread_create(&engine->shared.thread, NULL, loop_run, core) != 0)
        return error_set(err, CUZK_RESOURCE_EXHAUSTED, "cannot start %u threads",
                         core->workers.n + 1);
    return CUZK_OK;
}

/* No thread but this one is left. */
static void free_engine(struct cuzk_engine *engine)
{
    struct engine_shared *shared = &engine->shared;
    struct core *core = engine->core;
    jobs_free(core);
    for (size_t i = 0; i < SRS_CIRCUITS_MAX; i++)
        if (core->srs.entries[i].loaded)
            shared->setup.ops->unload(core->srs.entries[i].loaded);
    pipeline_free(&core->pipeline);
    watches_free(&core->watches);
    journal_close(shared->journal);
    chan_free(shared->inbox);
    mem_free(shared->devices);
    mem_free(core);
    mem_free(engine);
}

enum cuzk_status engine_open(const struct cuzk_engine_options *options,
                             const struct work_setup *setup, struct cuzk_engine **out,
                             struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_engine *engine = mem_zalloc(1, sizeof *engine);
    struct core *core = mem_zalloc(1, sizeof *core);
    if (!engine || !core) {
        mem_free(engine);
        mem_free(core);
        return error_set(err, CUZK_NO_MEMORY, "no memory for an engine");
    }
    engine->core = core;
    enum cuzk_status status = make_shared(&engine->shared, setup, options, err);
    if (status == CUZK_OK)
        status = make_core(core, &engine->shared, options, err);
    if (status == CUZK_OK) {
        emit_start(&engine->shared, &core->workers);
        status = start_threads(engine, err);
    }
    if (status != CUZK_OK) {
        workers_stop(&core->workers);
        free_engine(engine);
        return status;
    }
    *out = engine;
    return CUZK_OK;
}

/* --- Closing ---------------------------------------------------------------------------------- */

/* Starts of jobs that this process gives up in good order do not count towards poison. */
static void take_back_starts(struct core *core)
{
    struct cuzk_error err;
    for (size_t i = 0; i < core->jobs.n; i++) {
        const struct job *job = core->jobs.all[i];
        if (job->interrupted &&
            journal_start(core->shared->journal, job->number, -1, &err) != CUZK_OK)
            log_warn("engine", "job %s: %s", job->id, err.text);
    }
}

void cuzk_engine_close(struct cuzk_engine *engine)
{
    if (!engine)
        return;
    struct call call = {.serve = calls_close};
    call_ask(&engine->shared, &call, NULL);
    pthread_join(engine->shared.thread, NULL);
    workers_stop(&engine->core->workers);
    take_back_starts(engine->core);
    const struct work_setup setup = engine->shared.setup;
    free_engine(engine);
    if (setup.ops->context_free)
        setup.ops->context_free(setup.context);
}
