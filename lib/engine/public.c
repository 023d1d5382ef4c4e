/* The public interface, on the caller's thread: each function becomes a call to the engine thread.
   Opening and closing are in engine.c. */
#include "engine/public.h"

#include "engine/call.h"
#include "engine/calls.h"

#include "base/clock.h"
#include "base/error.h"

#include <string.h>

/* --- Jobs ------------------------------------------------------------------------------------- */

/* Second half of a submission with a journal: on the caller's thread, so that a slow disk stops
   nobody else. */
static enum cuzk_status make_durable(const struct engine_shared *shared,
                                     const struct call_reserve *reserved, struct cuzk_error *err)
{
    struct call_activate activate = {.call.serve = calls_activate, .job = reserved->job};
    struct trace_scope scope = TRACE_SCOPE(shared->trace, reserved->job_id);
    int64_t bytes = (int64_t)reserved->request->encoded_len;
    trace_emit(&scope, TRACE_JOURNAL_START, -1);
    activate.durable =
        journal_add(shared->journal, reserved->number, reserved->request, &activate.why_not);
    trace_emit(&scope, TRACE_JOURNAL_END, bytes);
    if (activate.durable != CUZK_OK && err)
        *err = activate.why_not;
    call_ask(shared, &activate.call, NULL);
    return activate.durable;
}

enum cuzk_status cuzk_engine_submit(struct cuzk_engine *engine, const struct cuzk_request *request,
                                    char job_id[CUZK_JOB_ID_BYTES], uint32_t *queue_position,
                                    bool *attached, struct cuzk_error *err)
{
    const struct engine_shared *shared = &engine->shared;
    const struct work_setup *setup = &shared->setup;
    char circuit_id[WORK_CIRCUIT_ID_BYTES] = "";
    struct call_reserve reserve = {
        .call.serve = calls_reserve, .circuit_id = circuit_id, .job_id = job_id};
    TRY(request_copy(request, &reserve.request, err));
    enum cuzk_status status = setup->ops->admit(setup->context, reserve.request, circuit_id, err);
    if (status == CUZK_OK)
        status = call_ask(shared, &reserve.call, err);
    if (status != CUZK_OK || reserve.attached)
        request_release(reserve.request);
    else if (shared->journal)
        status = make_durable(shared, &reserve, err);
    if (status != CUZK_OK)
        return status;
    if (queue_position)
        *queue_position = reserve.position;
    if (attached)
        *attached = reserve.attached;
    return CUZK_OK;
}

enum cuzk_status cuzk_engine_watch(struct cuzk_engine *engine, const char *job_id,
                                   uint64_t timeout_ms, cuzk_result_fn *fn, void *context,
                                   uint64_t *watch, struct cuzk_error *err)
{
    struct call_watch call = {.call.serve = calls_watch,
                              .job_id = job_id,
                              .timeout_ms = timeout_ms,
                              .fn = fn,
                              .context = context};
    TRY(call_ask(&engine->shared, &call.call, err));
    if (watch)
        *watch = call.watch;
    return CUZK_OK;
}

bool cuzk_engine_unwatch(struct cuzk_engine *engine, uint64_t watch)
{
    struct call_unwatch call = {.call.serve = calls_unwatch, .watch = watch};
    call_ask(&engine->shared, &call.call, NULL);
    return call.was_there;
}

enum cuzk_status cuzk_engine_cancel(struct cuzk_engine *engine, const char *job_id,
                                    bool *was_running, struct cuzk_error *err)
{
    struct call_cancel call = {.call.serve = calls_cancel, .job_id = job_id};
    TRY(call_ask(&engine->shared, &call.call, err));
    *was_running = call.was_running;
    return CUZK_OK;
}

/* --- Parameters ------------------------------------------------------------------------------- */

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
    struct call_preload call = {.call.serve = calls_preload, .circuit_id = circuit_id};
    TRY(check_circuit_id(circuit_id, err));
    TRY(call_ask(&engine->shared, &call.call, err));
    *already_loaded = call.already_loaded;
    *load_ms = call.load_ms;
    return CUZK_OK;
}

enum cuzk_status cuzk_engine_evict(struct cuzk_engine *engine, const char *circuit_id,
                                   bool *was_loaded, uint64_t *freed_bytes, struct cuzk_error *err)
{
    struct call_evict call = {.call.serve = calls_evict, .circuit_id = circuit_id};
    TRY(check_circuit_id(circuit_id, err));
    TRY(call_ask(&engine->shared, &call.call, err));
    *was_loaded = call.was_loaded;
    *freed_bytes = call.freed_bytes;
    return CUZK_OK;
}

/* --- The engine as a whole -------------------------------------------------------------------- */

void cuzk_engine_drain(struct cuzk_engine *engine, bool finish_queued)
{
    struct call_drain call = {.call.serve = calls_drain, .finish_queued = finish_queued};
    call_ask(&engine->shared, &call.call, NULL);
}

bool cuzk_engine_wait_idle(struct cuzk_engine *engine, uint64_t timeout_ms)
{
    const uint64_t now_ms = clock_now_ms();
    const uint64_t latest = UINT64_MAX - 1;
    struct call_wait_idle call = {
        .call.serve = calls_wait_idle,
        .until_ms = timeout_ms > latest - now_ms ? latest : now_ms + timeout_ms,
    };
    call_ask(&engine->shared, &call.call, NULL);
    return call.idle;
}

unsigned engine_busy(struct cuzk_engine *engine)
{
    struct call_busy call = {.call.serve = calls_busy};
    call_ask(&engine->shared, &call.call, NULL);
    return call.busy;
}

enum cuzk_status public_look(struct cuzk_engine *engine, struct cuzk_snapshot *out,
                             struct stats *stats, struct cuzk_error *err)
{
    const struct work_setup *setup = &engine->shared.setup;
    struct call_snapshot call = {.call.serve = calls_snapshot, .snapshot = out, .stats = stats};
    TRY(call_ask(&engine->shared, &call.call, err));
    for (size_t i = 0; setup->ops->device_memory && i < out->n_devices; i++)
        setup->ops->device_memory(setup->context, (unsigned)i, &out->devices[i].memory_total_bytes,
                                  &out->devices[i].memory_free_bytes);
    return CUZK_OK;
}

enum cuzk_status cuzk_engine_snapshot(struct cuzk_engine *engine, struct cuzk_snapshot *out,
                                      struct cuzk_error *err)
{
    struct stats stats;
    return public_look(engine, out, &stats, err);
}
