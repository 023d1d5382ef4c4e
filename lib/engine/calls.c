/* Calls of the public interface, on the engine thread. */
#include "engine/core.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void core_answer(struct call *call, enum cuzk_status status)
{
    call->status = status;
    sem_post(&call->done); /* the caller may be gone after this */
}

/* --- Submit ------------------------------------------------------------------------ */

/* A job with this id and these bytes that is alive or whose result is kept. Jobs that failed or
   were cancelled are no reason to refuse another try. */
static struct job *find_same(const struct cuzk_engine *engine, const struct request *request)
{
    if (request->id[0] == '\0')
        return NULL;
    for (size_t i = engine->n_jobs; i-- > 0;) {
        struct job *job = engine->jobs[i];
        if (memcmp(job->hash, request->hash, REQUEST_HASH_BYTES) == 0 &&
            strcmp(job->request_id, request->id) == 0 && job->state != JOB_FAILED &&
            job->state != JOB_CANCELLED)
            return job;
    }
    return NULL;
}

static bool is_waiting(const struct job *job)
{
    return job->state == JOB_ACCEPTED || job->state == JOB_QUEUED;
}

static enum cuzk_status may_accept(struct cuzk_engine *engine, const struct request *request,
                                   struct cuzk_error *err)
{
    if (engine->draining)
        return error_set(err, CUZK_UNAVAILABLE, "draining: no new jobs are taken");
    size_t waiting = 0;
    for (size_t i = 0; i < engine->pipeline.queue.len; i++) {
        waiting += is_waiting(core_job_of(engine->pipeline.queue.entries[i]->owner));
    }
    /* A CRITICAL job passes a full queue, but not without end. */
    size_t limit = engine->queue_max;
    if (request->priority >= CUZK_PRIORITY_CRITICAL)
        limit *= 2;
    if (waiting >= limit) {
        engine->stats.rejected_full++;
        return error_set(err, CUZK_RESOURCE_EXHAUSTED,
                         "queue full: %zu jobs wait, the limit is %u; try again later", waiting,
                         engine->queue_max);
    }
    return CUZK_OK;
}

/* Twice the payload: its bytes, and what is parsed from them. */
static enum cuzk_status take_memory(struct cuzk_engine *engine, const struct request *request,
                                    struct budget_hold *hold, struct cuzk_error *err)
{
    uint64_t bytes = 2 * (uint64_t)request->encoded_len;
    bool critical = request->priority >= CUZK_PRIORITY_CRITICAL;
    enum cuzk_status status = budget_could_fit(&engine->budget, BUDGET_REQUESTS, bytes, 0, err);
    if (status == CUZK_OK && !budget_take(&engine->budget, BUDGET_REQUESTS, bytes, critical, hold))
        status =
            error_set(err, CUZK_RESOURCE_EXHAUSTED,
                      "memory budget: %" PRIu64 " MiB for requests are in use; try again later",
                      engine->budget.requests_max >> 20);
    if (status != CUZK_OK)
        engine->stats.rejected_budget++;
    return status;
}

static void fill_job(struct cuzk_engine *engine, struct job *job, const struct call *call)
{
    const struct request *request = call->request;
    memcpy(job->hash, request->hash, REQUEST_HASH_BYTES);
    snprintf(job->circuit_id, sizeof job->circuit_id, "%s", call->circuit_id);
    job->kind = request->kind;
    job->request_bytes = request->encoded_len;
    struct trace_scope scope = job_scope(job, engine->trace);
    char text[TRACE_TEXT_BYTES];
    snprintf(text, sizeof text, "kind=%s,priority=%d", cuzk_proof_kind_label(job->kind),
             (int)job->priority);
    trace_emit_text(&scope, TRACE_JOB_ACCEPTED, (int64_t)job->request_bytes, text);
    trace_emit(&scope, TRACE_QUEUE_START, -1);
}

static uint32_t position_of(const struct cuzk_engine *engine, const struct job *job)
{
    uint32_t position = 0;
    size_t rank = queue_rank(&engine->pipeline.queue, &job->line.entry);
    for (size_t i = 0; i < rank; i++) {
        position += is_waiting(core_job_of(engine->pipeline.queue.entries[i]->owner));
    }
    return position;
}

static enum cuzk_status reserve(struct cuzk_engine *engine, struct call *call)
{
    struct job *same = find_same(engine, call->request);
    call->flag = same != NULL;
    if (same) {
        if (job_is_over(same)) /* whoever asks again has the full time to fetch it */
            same->expires_ms = clock_now_ms() + engine->keep_ms;
        memcpy(call->job_id, same->id, CUZK_JOB_ID_BYTES);
        call->position = same->in_line && is_waiting(same) ? position_of(engine, same) : 0;
        return CUZK_OK;
    }
    struct budget_hold hold = {0};
    TRY(may_accept(engine, call->request, &call->err));
    TRY(take_memory(engine, call->request, &hold, &call->err));
    struct job *job =
        core_add_job(engine, call->request->id, call->request->priority, engine->next_number);
    if (!job) {
        budget_release(&engine->budget, &hold, 0);
        return error_set(&call->err, CUZK_NO_MEMORY, "no memory for another job");
    }
    job->request_hold = hold;
    job->request = call->request;
    fill_job(engine, job, call);
    call->job = job;
    call->position = position_of(engine, job);
    memcpy(call->job_id, job->id, CUZK_JOB_ID_BYTES);
    if (engine->journal)
        job->pins++; /* until CALL_ACTIVATE: the submitter makes it durable */
    else
        job_become(job, JOB_QUEUED);
    return CUZK_OK;
}

/* The job is durable (call->status OK), or could not be made so. */
static enum cuzk_status activate(struct cuzk_engine *engine, struct call *call)
{
    struct job *job = call->job;
    job->journaled = call->status == CUZK_OK;
    request_release(job->request);
    job->request = NULL;
    budget_release(&engine->budget, &job->request_hold, 0);
    if (!job_is_over(job) && !job->journaled)
        core_end_job(engine, job, JOB_FAILED, &call->err);
    else if (!job_is_over(job))
        job_become(job, JOB_QUEUED);
    else if (job->journaled) { /* cancelled meanwhile */
        job->record_wanted = true;
        engine->n_records++;
    }
    core_unpin(engine, job);
    return CUZK_OK;
}

/* --- Watching and cancelling ------------------------------------------------------- */

static enum cuzk_status watch(struct cuzk_engine *engine, struct call *call)
{
    struct job *job = core_find_job(engine, call->text, &call->err);
    if (!job)
        return call->err.status;
    uint64_t id = ++engine->next_watch;
    if (job_is_over(job)) {
        struct cuzk_result result;
        call->number = id;
        core_result(job,
                    job->state == JOB_DONE     ? CUZK_JOB_COMPLETED
                    : job->state == JOB_FAILED ? CUZK_JOB_FAILED
                                               : CUZK_JOB_CANCELLED,
                    &result);
        call->fn(call->context, &result);
        return CUZK_OK;
    }
    void *watches = engine->watches;
    if (!mem_reserve(&watches, &engine->watches_capacity, engine->n_watches + 1,
                     sizeof *engine->watches))
        return error_set(&call->err, CUZK_NO_MEMORY, "no memory for another watch");
    engine->watches = watches;
    uint64_t now_ms = clock_now_ms();
    uint64_t until = call->number > UINT64_MAX - now_ms ? 0 : now_ms + call->number;
    engine->watches[engine->n_watches++] =
        (struct watch){id, job, call->number ? until : 0, call->fn, call->context};
    call->number = id;
    return CUZK_OK;
}

static void unwatch(struct cuzk_engine *engine, struct call *call)
{
    call->flag = false;
    for (size_t i = 0; i < engine->n_watches; i++)
        if (engine->watches[i].id == call->number) {
            engine->watches[i] = engine->watches[--engine->n_watches];
            call->flag = true;
            return;
        }
}

static enum cuzk_status cancel(struct cuzk_engine *engine, struct call *call)
{
    struct job *job = core_find_job(engine, call->text, &call->err);
    if (!job)
        return call->err.status;
    call->flag = !job_is_over(job) && job->ending != ENDING_RECORDING;
    if (!call->flag)
        return CUZK_OK;
    struct cuzk_error reason;
    error_set(&reason, CUZK_CANCELLED, "cancelled by request");
    core_end_job(engine, job, JOB_CANCELLED, &reason);
    return CUZK_OK;
}

/* --- Ending the engine ------------------------------------------------------------- */

/* Jobs that wait will not be begun by this process. In the journal they stay as they are; those who
   wait for them are told to come back. */
static void hold_queue(struct cuzk_engine *engine)
{
    engine->hold_queue = true;
    for (size_t i = 0; i < engine->n_jobs; i++) {
        struct job *job = engine->jobs[i];
        if (!is_waiting(job))
            continue;
        struct cuzk_error reason;
        if (engine->journal) {
            struct cuzk_result result;
            core_result(job, CUZK_JOB_FAILED, &result);
            error_set(&result.error, CUZK_UNAVAILABLE,
                      "draining: the job stays in the journal and is done after the next start");
            core_tell_watchers(engine, job, &result);
        } else {
            error_set(&reason, CUZK_CANCELLED, "draining: the job was not begun");
            core_end_job(engine, job, JOB_CANCELLED, &reason);
        }
    }
}

static void refuse_all(struct call **calls)
{
    while (*calls) {
        struct call *call = *calls;
        *calls = call->next;
        call->flag = false;
        core_answer(call, error_set(&call->err, CUZK_UNAVAILABLE, "the engine is closing"));
    }
}

static void close_engine(struct cuzk_engine *engine, struct call *call)
{
    engine->draining = engine->closing = engine->hold_queue = true;
    engine->closer = call;
    for (size_t i = 0; i < engine->n_jobs; i++) {
        struct job *job = engine->jobs[i];
        if (job_is_over(job) || job->ending == ENDING_RECORDING)
            continue;
        bool was_begun = !is_waiting(job);
        struct cuzk_error reason;
        error_set(&reason, CUZK_CANCELLED,
                  engine->journal
                      ? "closing: the job stays in the journal and is done after the next start"
                      : "closing: the job was given up");
        core_end_job(engine, job, JOB_CANCELLED, &reason);
        job->interrupted = was_begun && job->journaled;
    }
    refuse_all(&engine->idle_waiters);
    for (size_t i = 0; i < CORE_SRS_MAX; i++) {
        refuse_all(&engine->srs[i].preloads);
        refuse_all(&engine->srs[i].evictions);
    }
}

/* --- All --------------------------------------------------------------------------- */

bool core_call(struct cuzk_engine *engine, struct call *call)
{
    enum cuzk_status status = CUZK_OK;
    switch (call->kind) {
    case CALL_RESERVE:
        status = reserve(engine, call);
        break;
    case CALL_ACTIVATE:
        status = activate(engine, call);
        break;
    case CALL_WATCH:
        status = watch(engine, call);
        break;
    case CALL_UNWATCH:
        unwatch(engine, call);
        break;
    case CALL_CANCEL:
        status = cancel(engine, call);
        break;
    case CALL_PRELOAD:
        return srs_preload(engine, call);
    case CALL_EVICT:
        return srs_evict(engine, call);
    case CALL_DRAIN:
        engine->draining = true;
        if (!call->flag)
            hold_queue(engine);
        break;
    case CALL_WAIT_IDLE:
        call->next = engine->idle_waiters;
        engine->idle_waiters = call;
        return false;
    case CALL_SNAPSHOT:
        status = core_snapshot(engine, call->snapshot, call->stats, &call->err);
        break;
    case CALL_BUSY:
        call->number = engine->busy;
        break;
    case CALL_CLOSE:
        close_engine(engine, call);
        return false;
    }
    core_answer(call, status);
    return true;
}
