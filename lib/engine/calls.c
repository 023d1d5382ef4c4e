#include "engine/calls.h"

#include "engine/core.h"
#include "engine/snapshot.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- Submission ------------------------------------------------------------------------------- */

/* Jobs before this one in the line that have not begun. */
static uint32_t position_of(const struct core *core, const struct job *job)
{
    uint32_t position = 0;
    size_t rank = queue_rank(&core->pipeline.queue, &job->line.entry);
    for (size_t i = 0; i < rank; i++)
        position += job_is_waiting(jobs_in_line(core, i));
    return position;
}

static enum cuzk_status check_admission(struct core *core, const struct request *request,
                                        struct cuzk_error *err)
{
    if (core->draining)
        return error_set(err, CUZK_UNAVAILABLE, "draining: no new jobs are taken");
    size_t waiting = 0;
    for (size_t i = 0; i < core->pipeline.queue.len; i++)
        waiting += job_is_waiting(jobs_in_line(core, i));
    /* A CRITICAL job passes a full queue, but not without end. */
    size_t limit = core->shared->queue_max;
    if (request->priority >= CUZK_PRIORITY_CRITICAL)
        limit *= 2;
    if (waiting >= limit) {
        core->stats.rejected_full++;
        return error_set(err, CUZK_RESOURCE_EXHAUSTED,
                         "queue full: %zu jobs wait, the limit is %u; try again later", waiting,
                         core->shared->queue_max);
    }
    return CUZK_OK;
}

/* Twice the payload: its bytes, and what is parsed from them. */
static enum cuzk_status take_memory(struct core *core, const struct request *request,
                                    struct budget_hold *hold, struct cuzk_error *err)
{
    uint64_t bytes = 2 * (uint64_t)request->encoded_len;
    bool critical = request->priority >= CUZK_PRIORITY_CRITICAL;
    enum cuzk_status status = budget_could_fit(&core->budget, BUDGET_REQUESTS, bytes, 0, err);
    if (status == CUZK_OK && !budget_take(&core->budget, BUDGET_REQUESTS, bytes, critical, hold))
        status =
            error_set(err, CUZK_RESOURCE_EXHAUSTED,
                      "memory budget: %" PRIu64 " MiB for requests are in use; try again later",
                      core->budget.requests_max >> 20);
    if (status != CUZK_OK)
        core->stats.rejected_budget++;
    return status;
}

static void fill_job(struct core *core, struct job *job, const struct call_reserve *reserve)
{
    const struct request *request = reserve->request;
    memcpy(job->hash, request->hash, REQUEST_HASH_BYTES);
    snprintf(job->circuit_id, sizeof job->circuit_id, "%s", reserve->circuit_id);
    job->kind = request->kind;
    job->request_bytes = request->encoded_len;
    struct trace_scope scope = job_scope(job, core->shared->trace);
    char text[TRACE_TEXT_BYTES];
    snprintf(text, sizeof text, "kind=%s,priority=%d", request_kind_label(job->kind),
             (int)job->priority);
    trace_emit_text(&scope, TRACE_JOB_ACCEPTED, (int64_t)job->request_bytes, text);
    trace_emit(&scope, TRACE_QUEUE_START, -1);
}

static void attach(struct core *core, struct call_reserve *reserve, struct job *job)
{
    if (job_is_over(job)) /* a client that asks again has the full time to fetch the result */
        job->expires_ms = clock_now_ms() + core->shared->keep_ms;
    memcpy(reserve->job_id, job->id, CUZK_JOB_ID_BYTES);
    reserve->attached = true;
    reserve->position = job->in_line && job_is_waiting(job) ? position_of(core, job) : 0;
}

static enum cuzk_status accept_job(struct core *core, struct call_reserve *reserve,
                                   struct cuzk_error *err)
{
    struct request *request = reserve->request;
    struct budget_hold hold = {0};
    TRY(check_admission(core, request, err));
    TRY(take_memory(core, request, &hold, err));
    struct job *job = jobs_add(core, request->id, request->priority, core->jobs.next_number);
    if (!job) {
        budget_release(&core->budget, &hold, 0);
        return error_set(err, CUZK_NO_MEMORY, "no memory for another job");
    }
    job->request_hold = hold;
    job->request = request;
    fill_job(core, job, reserve);
    reserve->job = job;
    reserve->number = job->number;
    reserve->position = position_of(core, job);
    memcpy(reserve->job_id, job->id, CUZK_JOB_ID_BYTES);
    if (core->shared->journal)
        job->pins++; /* until calls_activate: the submitter makes it durable */
    else
        job_become(job, JOB_QUEUED);
    return CUZK_OK;
}

void calls_reserve(struct core *core, struct call *call)
{
    struct call_reserve *reserve = CONTAINER_OF(call, struct call_reserve, call);
    struct job *same = jobs_find_same(core, reserve->request);
    enum cuzk_status status = CUZK_OK;
    if (same)
        attach(core, reserve, same);
    else
        status = accept_job(core, reserve, &call->err);
    call_answer(call, status);
}

void calls_activate(struct core *core, struct call *call)
{
    struct call_activate *activate = CONTAINER_OF(call, struct call_activate, call);
    struct job *job = activate->job;
    job->journaled = activate->durable == CUZK_OK;
    request_release(job->request);
    job->request = NULL;
    budget_release(&core->budget, &job->request_hold, 0);
    if (!job_is_over(job) && !job->journaled)
        jobs_end(core, job, JOB_FAILED, &activate->why_not);
    else if (!job_is_over(job))
        job_become(job, JOB_QUEUED);
    else if (job->journaled)
        jobs_want_record(core, job); /* cancelled meanwhile */
    jobs_unpin(core, job);
    call_answer(call, CUZK_OK);
}

/* --- Watching and cancelling ------------------------------------------------------------------ */

void calls_watch(struct core *core, struct call *call)
{
    struct call_watch *watch = CONTAINER_OF(call, struct call_watch, call);
    struct job *job = jobs_find(core, watch->job_id, &call->err);
    call_answer(call, job ? watches_add(&core->watches, job, watch) : call->err.status);
}

void calls_unwatch(struct core *core, struct call *call)
{
    struct call_unwatch *unwatch = CONTAINER_OF(call, struct call_unwatch, call);
    unwatch->was_there = watches_remove(&core->watches, unwatch->watch);
    call_answer(call, CUZK_OK);
}

void calls_cancel(struct core *core, struct call *call)
{
    struct call_cancel *cancel = CONTAINER_OF(call, struct call_cancel, call);
    struct job *job = jobs_find(core, cancel->job_id, &call->err);
    if (!job) {
        call_answer(call, call->err.status);
        return;
    }
    cancel->was_running = !job_is_over(job) && job->ending != ENDING_RECORDING;
    if (cancel->was_running) {
        struct cuzk_error reason;
        error_set(&reason, CUZK_CANCELLED, "cancelled by request");
        jobs_end(core, job, JOB_CANCELLED, &reason);
    }
    call_answer(call, CUZK_OK);
}

/* --- Parameters ------------------------------------------------------------------------------- */

/* The file of a loaded circuit that nobody uses is checked before the next use: if it was replaced
   meanwhile, it is loaded anew instead of failing the job. */
static bool file_has_changed(const struct core *core, const struct srs_entry *entry)
{
    struct cuzk_error err;
    if (core->shared->setup.ops->check(entry->loaded, &err) == CUZK_OK)
        return false;
    log_warn("engine", "%s: parameters are loaded again: %s", entry->circuit_id, err.text);
    return true;
}

void calls_preload(struct core *core, struct call *call)
{
    struct call_preload *preload = CONTAINER_OF(call, struct call_preload, call);
    struct srs_entry *entry = srs_find_or_add(&core->srs, preload->circuit_id);
    if (!entry) {
        call_answer(call, error_set(&call->err, CUZK_RESOURCE_EXHAUSTED, "more than %d circuits",
                                    SRS_CIRCUITS_MAX));
        return;
    }
    if (entry->state == SRS_READY && !entry->stale && entry->references == 0)
        entry->stale = file_has_changed(core, entry);
    if (entry->state == SRS_READY && !entry->stale) {
        preload->already_loaded = true;
        call_answer(call, CUZK_OK);
        return;
    }
    entry->failed = false;
    call_push(&entry->preloads, call);
}

void calls_evict(struct core *core, struct call *call)
{
    struct call_evict *evict = CONTAINER_OF(call, struct call_evict, call);
    struct srs_entry *entry = srs_find(&core->srs, evict->circuit_id);
    if (entry && (entry->references > 0 || entry->state == SRS_LOADING)) {
        call_answer(call, error_set(&call->err, CUZK_FAILED_PRECONDITION, "%s: %u jobs use it",
                                    evict->circuit_id, entry->references));
    } else if (entry && entry->state != SRS_ABSENT) {
        entry->evict = true;
        call_push(&entry->evictions, call);
    } else {
        call_answer(call, CUZK_OK);
    }
}

/* --- Looking ---------------------------------------------------------------------------------- */

void calls_wait_idle(struct core *core, struct call *call)
{
    watches_wait_idle(&core->watches, CONTAINER_OF(call, struct call_wait_idle, call));
}

void calls_snapshot(struct core *core, struct call *call)
{
    struct call_snapshot *look = CONTAINER_OF(call, struct call_snapshot, call);
    call_answer(call, snapshot_take(core, look->snapshot, look->stats, &call->err));
}

void calls_busy(struct core *core, struct call *call)
{
    CONTAINER_OF(call, struct call_busy, call)->busy = core->workers.busy;
    call_answer(call, CUZK_OK);
}

/* --- Ending the engine ------------------------------------------------------------------------ */

/* Jobs that wait will not be begun by this process. They stay in the journal, and their watchers
   learn that; without a journal they are cancelled. */
static void hold_queue(struct core *core)
{
    core->hold_queue = true;
    for (size_t i = 0; i < core->jobs.n; i++) {
        struct job *job = core->jobs.all[i];
        if (!job_is_waiting(job))
            continue;
        if (core->shared->journal) {
            struct cuzk_result result;
            job_result(job, CUZK_JOB_FAILED, &result);
            error_set(&result.error, CUZK_UNAVAILABLE,
                      "draining: the job stays in the journal and is done after the next start");
            watches_notify(&core->watches, job, &result);
        } else {
            struct cuzk_error reason;
            error_set(&reason, CUZK_CANCELLED, "draining: the job was not begun");
            jobs_end(core, job, JOB_CANCELLED, &reason);
        }
    }
}

void calls_drain(struct core *core, struct call *call)
{
    core->draining = true;
    if (!CONTAINER_OF(call, struct call_drain, call)->finish_queued)
        hold_queue(core);
    call_answer(call, CUZK_OK);
}

static void refuse_all(struct call **waiting)
{
    for (struct call *call; (call = call_pop(waiting));)
        call_answer(call, error_set(&call->err, CUZK_UNAVAILABLE, "the engine is closing"));
}

static void give_up_jobs(struct core *core)
{
    for (size_t i = 0; i < core->jobs.n; i++) {
        struct job *job = core->jobs.all[i];
        if (job_is_over(job) || job->ending == ENDING_RECORDING)
            continue;
        bool was_begun = !job_is_waiting(job);
        struct cuzk_error reason;
        error_set(&reason, CUZK_CANCELLED,
                  core->shared->journal
                      ? "closing: the job stays in the journal and is done after the next start"
                      : "closing: the job was given up");
        jobs_end(core, job, JOB_CANCELLED, &reason);
        job->interrupted = was_begun && job->journaled;
    }
}

void calls_close(struct core *core, struct call *call)
{
    core->draining = core->closing = core->hold_queue = true;
    core->closer = call;
    give_up_jobs(core);
    refuse_all(&core->watches.idle_waiters);
    for (size_t i = 0; i < SRS_CIRCUITS_MAX; i++) {
        refuse_all(&core->srs.entries[i].preloads);
        refuse_all(&core->srs.entries[i].evictions);
    }
}
