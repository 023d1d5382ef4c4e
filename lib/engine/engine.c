/* The engine's public calls: each becomes a message to the engine thread. */
#include "engine/core.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { INBOX_MESSAGES = 1024, DEFAULT_QUEUE_MAX = 1000, DEFAULT_KEEP_MS = 3600 * 1000 };

/* Sends a call and waits for its answer. */
static enum cuzk_status ask(struct cuzk_engine *engine, struct call *call, struct cuzk_error *err)
{
    CHECK(!pthread_equal(pthread_self(), engine->thread)); /* a callback must not call the engine */
    call->message.is_call = true;
    sem_init(&call->done, 0, 0);
    CHECK(chan_send(engine->inbox, &call->message));
    while (sem_wait(&call->done) != 0)
        ; /* interrupted by a signal */
    sem_destroy(&call->done);
    if (call->status != CUZK_OK && err)
        *err = call->err;
    return call->status;
}

/* --- Opening ----------------------------------------------------------------------- */

static void *worker_thread(void *context)
{
    struct worker *worker = context;
    while (chan_receive(worker->inbox)) {
        task_run(worker->engine, worker);
        chan_send(worker->engine->inbox, &worker->message);
    }
    return NULL;
}

static void add_workers(struct cuzk_engine *engine, enum worker_class class, unsigned n,
                        unsigned n_reserve, unsigned device, int *number)
{
    for (unsigned i = 0; i < n + n_reserve; i++) {
        struct worker *worker = &engine->workers[engine->n_workers++];
        worker->engine = engine;
        worker->class = class;
        worker->reserve = i >= n;
        worker->device = device;
        worker->number = (*number)++;
    }
}

/* Workers beyond those asked for are for CRITICAL jobs: one for each class, and one for each device
   on which workers overlap. Who may use them is decided by the pipeline and by `reserve`. */
static bool make_workers(struct cuzk_engine *engine)
{
    unsigned per_device = engine->limits.workers_per_device;
    per_device += per_device > 1;
    unsigned total =
        3 + engine->limits.synthesis_concurrency + 1 + per_device * engine->limits.n_devices + 2;
    engine->workers = mem_zalloc(total, sizeof *engine->workers);
    if (!engine->workers)
        return false;
    int number = 0;
    add_workers(engine, WORKER_HOST, 2, 1, 0, &number);
    add_workers(engine, WORKER_LOADER, 1, 1, 0, &number);
    number = 0;
    add_workers(engine, WORKER_SYNTHESIS, engine->limits.synthesis_concurrency + 1, 0, 0, &number);
    number = 0;
    for (unsigned d = 0; d < engine->limits.n_devices; d++)
        add_workers(engine, WORKER_DEVICE, per_device, 0, d, &number);
    CHECK(engine->n_workers == total);
    for (unsigned i = 0; i < total; i++)
        if (!(engine->workers[i].inbox = chan_new(1)))
            return false;
    return true;
}

static void stop_workers(struct cuzk_engine *engine)
{
    for (unsigned i = 0; engine->workers && i < engine->n_workers; i++) {
        struct worker *worker = &engine->workers[i];
        if (worker->inbox)
            chan_close(worker->inbox);
        if (worker->running)
            pthread_join(worker->thread, NULL);
        chan_free(worker->inbox);
    }
}

static enum cuzk_status start_threads(struct cuzk_engine *engine, struct cuzk_error *err)
{
    for (unsigned i = 0; i < engine->n_workers; i++) {
        struct worker *worker = &engine->workers[i];
        if (pthread_create(&worker->thread, NULL, worker_thread, worker) != 0)
            return error_set(err, CUZK_RESOURCE_EXHAUSTED, "cannot start %u threads",
                             engine->n_workers + 1);
        worker->running = true;
    }
    if (pthread_create(&engine->thread, NULL, core_thread, engine) != 0)
        return error_set(err, CUZK_RESOURCE_EXHAUSTED, "cannot start %u threads",
                         engine->n_workers + 1);
    engine->running = true;
    return CUZK_OK;
}

static void announce(struct cuzk_engine *engine)
{
    struct trace_scope scope = TRACE_SCOPE(engine->trace, NULL);
    char text[TRACE_TEXT_BYTES];
    snprintf(text, sizeof text, "synth_workers=%u,lookahead=%u,devices=%u,workers_per_device=%u",
             engine->limits.synthesis_concurrency, engine->limits.lookahead,
             engine->limits.n_devices, engine->limits.workers_per_device);
    trace_emit_text(&scope, TRACE_ENGINE_START, -1, text);
    for (unsigned i = 0; i < engine->n_workers; i++) {
        const struct worker *worker = &engine->workers[i];
        if (worker->class != WORKER_DEVICE)
            continue;
        scope.worker = worker->number;
        scope.device = (int32_t)worker->device;
        snprintf(text, sizeof text, "name=%.100s", engine->devices[worker->device].name);
        trace_emit_text(&scope, TRACE_DEVICE_WORKER, -1, text);
    }
}

static void free_engine(struct cuzk_engine *engine)
{
    for (size_t i = 0; i < engine->n_jobs; i++) {
        if (engine->jobs[i]->in_line)
            pipeline_remove(&engine->pipeline, &engine->jobs[i]->line);
        engine->jobs[i]->in_line = false;
        job_free(engine->jobs[i], engine->setup.ops);
    }
    for (size_t i = 0; i < CORE_SRS_MAX; i++)
        if (engine->srs[i].loaded)
            engine->setup.ops->unload(engine->srs[i].loaded);
    pipeline_free(&engine->pipeline);
    journal_close(engine->journal);
    chan_free(engine->inbox);
    mem_free(engine->workers);
    mem_free(engine->jobs);
    mem_free(engine->watches);
    mem_free(engine->forgotten);
    mem_free(engine->devices);
    mem_free(engine);
}

static void read_options(struct cuzk_engine *engine, const struct cuzk_engine_options *options)
{
    const unsigned usual = engine->setup.workers_per_device ? engine->setup.workers_per_device : 1;
    engine->trace = options->trace;
    engine->devices_lost = options->devices_lost;
    engine->devices_lost_context = options->devices_lost_context;
    engine->queue_max = options->queue_max ? options->queue_max : DEFAULT_QUEUE_MAX;
    engine->keep_ms = options->keep_result_ms ? options->keep_result_ms : DEFAULT_KEEP_MS;
    engine->limits = (struct pipeline_limits){
        .synthesis_concurrency =
            options->synthesis_concurrency ? options->synthesis_concurrency : 1,
        .lookahead = options->synthesis_lookahead ? options->synthesis_lookahead : 1,
        .n_devices = engine->setup.n_devices,
        .workers_per_device = options->workers_per_device ? options->workers_per_device : usual,
    };
    uint64_t budget = options->memory_budget_bytes ? options->memory_budget_bytes
                                                   : budget_auto("", options->memory_margin_bytes);
    budget_init(&engine->budget, budget);
    pipeline_init(&engine->pipeline, &engine->limits);
    /* Without a journal nothing remembers the last number; the wall clock keeps the ids of one
       process apart from those of the next. */
    engine->next_number = options->state_dir ? 1 : clock_unix_s() << 20;
}

static enum cuzk_status fill_engine(struct cuzk_engine *engine,
                                    const struct cuzk_engine_options *options,
                                    struct cuzk_error *err)
{
    if (engine->setup.n_devices == 0 || engine->setup.n_devices > PIPELINE_DEVICES_MAX)
        return error_set(err, CUZK_NO_DEVICE, "%u devices, 1 to %d can be used",
                         engine->setup.n_devices, PIPELINE_DEVICES_MAX);
    engine->devices =
        mem_memdup(engine->setup.devices, engine->setup.n_devices * sizeof *engine->devices);
    if (!engine->devices)
        return error_set(err, CUZK_NO_MEMORY, "no memory for an engine");
    read_options(engine, options);
    engine->inbox = chan_new(INBOX_MESSAGES);
    if (!engine->inbox || !make_workers(engine))
        return error_set(err, CUZK_NO_MEMORY, "no memory for an engine");
    if (options->state_dir) {
        TRY(journal_open(options->state_dir, &engine->journal, err));
        TRY(core_restore(engine, err));
    }
    announce(engine);
    return start_threads(engine, err);
}

enum cuzk_status engine_open(const struct cuzk_engine_options *options,
                             const struct work_setup *setup, struct cuzk_engine **out,
                             struct cuzk_error *err)
{
    *out = NULL;
    struct cuzk_engine *engine = mem_zalloc(1, sizeof *engine);
    if (!engine)
        return error_set(err, CUZK_NO_MEMORY, "no memory for an engine");
    engine->setup = *setup;
    engine->opened_ns = clock_now_ns();
    engine->stats.simulated = setup->verification == WORK_SIMULATED;
    engine->stats.journaled = options->state_dir != NULL;
    enum cuzk_status status = fill_engine(engine, options, err);
    if (status != CUZK_OK) {
        stop_workers(engine);
        free_engine(engine);
        return status;
    }
    *out = engine;
    return CUZK_OK;
}

/* Starts of jobs that this process gives up in good order do not count towards poison. */
static void take_back_starts(struct cuzk_engine *engine)
{
    struct cuzk_error err;
    for (size_t i = 0; i < engine->n_jobs; i++)
        if (engine->jobs[i]->interrupted &&
            journal_start(engine->journal, engine->jobs[i]->number, -1, &err) != CUZK_OK)
            log_warn("engine", "job %s: %s", engine->jobs[i]->id, err.text);
}

void cuzk_engine_close(struct cuzk_engine *engine)
{
    if (!engine)
        return;
    struct call call = {.kind = CALL_CLOSE};
    ask(engine, &call, NULL);
    pthread_join(engine->thread, NULL);
    stop_workers(engine);
    take_back_starts(engine);
    const struct work_setup setup = engine->setup;
    free_engine(engine);
    if (setup.ops->context_free)
        setup.ops->context_free(setup.context);
}

void cuzk_engine_drain(struct cuzk_engine *engine, bool finish_queued)
{
    struct call call = {.kind = CALL_DRAIN, .flag = finish_queued};
    ask(engine, &call, NULL);
}

bool cuzk_engine_wait_idle(struct cuzk_engine *engine, uint64_t timeout_ms)
{
    uint64_t now_ms = clock_now_ms();
    struct call call = {.kind = CALL_WAIT_IDLE,
                        .until_ms = timeout_ms > UINT64_MAX - 1 - now_ms ? UINT64_MAX - 1
                                                                         : now_ms + timeout_ms};
    ask(engine, &call, NULL);
    return call.flag;
}

unsigned engine_busy(struct cuzk_engine *engine)
{
    struct call call = {.kind = CALL_BUSY};
    ask(engine, &call, NULL);
    return (unsigned)call.number;
}

/* --- Jobs -------------------------------------------------------------------------- */

/* Second half of a submission with a journal: on the caller's thread, so that a slow disk stops
   nobody else. */
static enum cuzk_status make_durable(struct cuzk_engine *engine, const struct call *reserved,
                                     struct cuzk_error *err)
{
    struct call call = {.kind = CALL_ACTIVATE, .job = reserved->job};
    struct trace_scope scope = TRACE_SCOPE(engine->trace, reserved->job_id);
    int64_t bytes = (int64_t)reserved->request->encoded_len;
    trace_emit(&scope, TRACE_JOURNAL_START, -1);
    call.status = journal_add(engine->journal, reserved->job->number, reserved->request, &call.err);
    trace_emit(&scope, TRACE_JOURNAL_END, bytes);
    enum cuzk_status status = call.status;
    if (status != CUZK_OK && err)
        *err = call.err;
    ask(engine, &call, NULL);
    return status;
}

enum cuzk_status cuzk_engine_submit(struct cuzk_engine *engine, const struct cuzk_request *request,
                                    char job_id[CUZK_JOB_ID_BYTES], uint32_t *queue_position,
                                    bool *attached, struct cuzk_error *err)
{
    char circuit_id[WORK_CIRCUIT_ID_BYTES] = "";
    struct call call = {.kind = CALL_RESERVE, .circuit_id = circuit_id, .job_id = job_id};
    TRY(request_copy(request, &call.request, err));
    enum cuzk_status status =
        engine->setup.ops->admit(engine->setup.context, call.request, circuit_id, err);
    if (status == CUZK_OK)
        status = ask(engine, &call, err);
    if (status != CUZK_OK || call.flag)
        request_release(call.request);
    else if (engine->journal)
        status = make_durable(engine, &call, err);
    if (status != CUZK_OK)
        return status;
    if (queue_position)
        *queue_position = call.position;
    if (attached)
        *attached = call.flag;
    return CUZK_OK;
}

enum cuzk_status cuzk_engine_watch(struct cuzk_engine *engine, const char *job_id,
                                   uint64_t timeout_ms, cuzk_result_fn *fn, void *context,
                                   uint64_t *watch, struct cuzk_error *err)
{
    struct call call = {
        .kind = CALL_WATCH, .text = job_id, .number = timeout_ms, .fn = fn, .context = context};
    TRY(ask(engine, &call, err));
    if (watch)
        *watch = call.number;
    return CUZK_OK;
}

bool cuzk_engine_unwatch(struct cuzk_engine *engine, uint64_t watch)
{
    struct call call = {.kind = CALL_UNWATCH, .number = watch};
    ask(engine, &call, NULL);
    return call.flag;
}

enum cuzk_status cuzk_engine_cancel(struct cuzk_engine *engine, const char *job_id,
                                    bool *was_running, struct cuzk_error *err)
{
    struct call call = {.kind = CALL_CANCEL, .text = job_id};
    TRY(ask(engine, &call, err));
    *was_running = call.flag;
    return CUZK_OK;
}

/* --- Parameters -------------------------------------------------------------------- */

static enum cuzk_status check_circuit_id(const char *circuit_id, struct cuzk_error *err)
{
    if (circuit_id && strnlen(circuit_id, WORK_CIRCUIT_ID_BYTES) < WORK_CIRCUIT_ID_BYTES &&
        circuit_id[0])
        return CUZK_OK;
    return error_set(err, CUZK_NOT_FOUND, "no such circuit: %.64s", circuit_id ? circuit_id : "");
}

enum cuzk_status cuzk_engine_preload(struct cuzk_engine *engine, const char *circuit_id,
                                     bool *already_loaded, uint64_t *load_ms,
                                     struct cuzk_error *err)
{
    struct call call = {.kind = CALL_PRELOAD, .circuit_id = circuit_id};
    TRY(check_circuit_id(circuit_id, err));
    TRY(ask(engine, &call, err));
    *already_loaded = call.flag;
    *load_ms = call.number;
    return CUZK_OK;
}

enum cuzk_status cuzk_engine_evict(struct cuzk_engine *engine, const char *circuit_id,
                                   bool *was_loaded, uint64_t *freed_bytes, struct cuzk_error *err)
{
    struct call call = {.kind = CALL_EVICT, .circuit_id = circuit_id};
    TRY(check_circuit_id(circuit_id, err));
    TRY(ask(engine, &call, err));
    *was_loaded = call.flag;
    *freed_bytes = call.number;
    return CUZK_OK;
}

enum cuzk_status engine_look(struct cuzk_engine *engine, struct cuzk_snapshot *out,
                             struct core_stats *stats, struct cuzk_error *err)
{
    struct call call = {.kind = CALL_SNAPSHOT, .snapshot = out, .stats = stats};
    TRY(ask(engine, &call, err));
    for (size_t i = 0; engine->setup.ops->device_memory && i < out->n_devices; i++)
        engine->setup.ops->device_memory(engine->setup.context, (unsigned)i,
                                         &out->devices[i].memory_total_bytes,
                                         &out->devices[i].memory_free_bytes);
    return CUZK_OK;
}

enum cuzk_status cuzk_engine_snapshot(struct cuzk_engine *engine, struct cuzk_snapshot *out,
                                      struct cuzk_error *err)
{
    struct core_stats stats;
    return engine_look(engine, out, &stats, err);
}
