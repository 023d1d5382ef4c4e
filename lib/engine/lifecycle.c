/* Jobs: how they come, how they end, and who is told. */
#include "engine/core.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const double core_buckets[CORE_BUCKETS] = {0.1, 0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 1e300};

struct job *core_job_of(struct pipeline_job *line)
{
    return (struct job *)(void *)((char *)line - offsetof(struct job, line));
}

static uint64_t ms_between(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns && from_ns ? (to_ns - from_ns) / 1000000 : 0;
}

static bool append_job(struct cuzk_engine *engine, struct job *job)
{
    void *jobs = engine->jobs;
    if (!mem_reserve(&jobs, &engine->jobs_capacity, engine->n_jobs + 1, sizeof *engine->jobs))
        return false;
    engine->jobs = jobs;
    engine->jobs[engine->n_jobs++] = job;
    return true;
}

struct job *core_add_job(struct cuzk_engine *engine, const char *request_id,
                         enum cuzk_priority priority, uint64_t number)
{
    struct job *job = job_new(number, request_id);
    if (!job)
        return NULL;
    job->priority = priority;
    job->accepted_ns = clock_now_ns();
    if (!pipeline_add(&engine->pipeline, &job->line, priority, number)) {
        job_free(job, engine->setup.ops);
        return NULL;
    }
    job->in_line = true;
    if (!append_job(engine, job)) {
        pipeline_remove(&engine->pipeline, &job->line);
        job->in_line = false;
        job_free(job, engine->setup.ops);
        return NULL;
    }
    if (number >= engine->next_number)
        engine->next_number = number + 1;
    return job;
}

/* Position of the first job whose number is not smaller. */
static size_t job_position(const struct cuzk_engine *engine, uint64_t number)
{
    size_t low = 0;
    size_t high = engine->n_jobs;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (engine->jobs[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct job *core_find_job(struct cuzk_engine *engine, const char *text, struct cuzk_error *err)
{
    uint64_t number;
    bool is_job_id = request_job_number(text, &number);
    if (is_job_id) {
        size_t at = job_position(engine, number);
        if (at < engine->n_jobs && strcmp(engine->jobs[at]->id, text) == 0)
            return engine->jobs[at];
    }
    struct job *found = NULL;
    for (size_t i = 0; i < engine->n_jobs; i++) {
        if (strcmp(engine->jobs[i]->request_id, text) != 0)
            continue;
        if (found) {
            error_set(err, CUZK_NOT_FOUND,
                      "several jobs have the request id %s: ask with the job id of one", text);
            return NULL;
        }
        found = engine->jobs[i];
    }
    if (found)
        return found;
    if (is_job_id && number < engine->next_number)
        error_set(err, CUZK_NOT_FOUND, "job expired: %s (results are kept for %" PRIu64 " s)", text,
                  engine->keep_ms / 1000);
    else
        error_set(err, CUZK_NOT_FOUND, "job not found: %s", text);
    return NULL;
}

/* --- Telling ----------------------------------------------------------------------- */

void core_result(const struct job *job, enum cuzk_job_outcome outcome, struct cuzk_result *out)
{
    *out = (struct cuzk_result){
        .job_id = job->id,
        .outcome = outcome,
        .error = job->error,
        .queue_ms = ms_between(job->accepted_ns, job->started_ns),
        .srs_load_ms = job->srs_ns / 1000000,
        .synthesis_ms = job->synthesis_ms,
        .device_ms = job->device_ms,
        .total_ms = ms_between(job->accepted_ns, job->done_ns),
    };
    if (outcome == CUZK_JOB_COMPLETED) {
        CHECK(job->proof && job->proof_len > 0);
        out->proof = job->proof;
        out->proof_len = job->proof_len;
    }
}

void core_tell_watchers(struct cuzk_engine *engine, const struct job *job,
                        const struct cuzk_result *result)
{
    size_t kept = 0;
    for (size_t i = 0; i < engine->n_watches; i++) {
        struct watch *watch = &engine->watches[i];
        if (watch->job == job)
            watch->fn(watch->context, result);
        else
            engine->watches[kept++] = *watch;
    }
    engine->n_watches = kept;
}

/* --- Ending ------------------------------------------------------------------------ */

void core_drop_witness(struct cuzk_engine *engine, struct job *job, unsigned partition)
{
    struct job_partition *p = &job->partitions[partition];
    if (p->witness)
        engine->setup.ops->witness_free(p->witness);
    p->witness = NULL;
    budget_release(&engine->budget, &p->hold, 0);
}

/* Once a job is over and no worker looks at it, only its result stays. */
static void settle(struct cuzk_engine *engine, struct job *job)
{
    if (!job_is_over(job) || job->pins > 0)
        return;
    if (job->work)
        engine->setup.ops->work_free(job->work);
    job->work = NULL;
    request_release(job->request);
    job->request = NULL;
    budget_release(&engine->budget, &job->request_hold, 0);
    if (job->srs)
        srs_release(engine, job->srs);
    job->srs = NULL;
    for (unsigned p = 0; job->partitions && p < job->n_partitions; p++)
        core_drop_witness(engine, job, p);
    mem_free(job->partitions);
    mem_free(job->line_partitions);
    job->partitions = NULL;
    job->line_partitions = NULL;
}

void core_unpin(struct cuzk_engine *engine, struct job *job)
{
    CHECK(job->pins > 0);
    job->pins--;
    settle(engine, job);
}

static void leave_line(struct cuzk_engine *engine, struct job *job)
{
    pipeline_remove(&engine->pipeline, &job->line);
    job->in_line = false;
    for (unsigned p = 0; job->partitions && p < job->n_partitions; p++) {
        enum partition_state state = job->line_partitions[p].state;
        if (state == PARTITION_BLOCKED || state == PARTITION_READY)
            core_drop_witness(engine, job, p);
    }
}

static void close_spans(struct cuzk_engine *engine, struct job *job, enum job_state was)
{
    struct trace_scope scope = job_scope(job, engine->trace);
    if (was == JOB_ACCEPTED || was == JOB_QUEUED)
        trace_emit(&scope, TRACE_QUEUE_END, (int64_t)ms_between(job->accepted_ns, job->done_ns));
    if (job->srs_waits)
        trace_emit(&scope, TRACE_SRS_WAIT_END, -1);
    if (job->budget_waits)
        trace_emit(&scope, TRACE_BUDGET_WAIT_END, -1);
    for (unsigned p = 0; job->partitions && p < job->n_partitions; p++)
        if (job->in_line && job->line_partitions[p].state == PARTITION_BLOCKED) {
            scope.partition = (int32_t)p;
            trace_emit(&scope, TRACE_LOOKAHEAD_WAIT_END, -1);
        }
    job->srs_waits = job->budget_waits = false;
}

static void count_end(struct cuzk_engine *engine, struct job *job)
{
    struct core_kind_stats *stats = &engine->stats.kind[job->kind - 1];
    double seconds = (double)(job->done_ns - job->accepted_ns) / 1e9;
    if (job->state == JOB_FAILED)
        stats->failed++;
    else if (job->state == JOB_CANCELLED)
        stats->cancelled++;
    if (job->state != JOB_DONE)
        return;
    stats->completed++;
    stats->seconds += seconds;
    for (unsigned i = 0; i < CORE_BUCKETS; i++)
        if (seconds <= core_buckets[i])
            stats->bucket[i]++;
}

static void log_end(const struct job *job, int64_t ms)
{
    if (job->state == JOB_DONE)
        log_info("engine", "job %s done in %" PRId64 " ms", job->id, ms);
    else if (job->state == JOB_FAILED)
        log_error("engine", "job %s failed: %s", job->id, job->error.text);
    else
        log_info("engine", "job %s cancelled: %s", job->id, job->error.text);
}

static void say_end(struct cuzk_engine *engine, const struct job *job)
{
    struct trace_scope scope = job_scope(job, engine->trace);
    int64_t ms = (int64_t)ms_between(job->accepted_ns, job->done_ns);
    if (job->state == JOB_DONE) {
        trace_emit(&scope, TRACE_JOB_DONE, ms);
    } else if (job->state == JOB_FAILED) {
        char reason[32];
        (void)snprintf(reason, sizeof reason, "reason=%.20s", cuzk_status_text(job->error.status));
        trace_emit_text(&scope, TRACE_JOB_FAILED, ms, reason);
    } else {
        trace_emit(&scope, TRACE_JOB_CANCELLED, ms);
    }
    if (!engine->setup.quiet)
        log_end(job, ms);
}

void core_end_job(struct cuzk_engine *engine, struct job *job, enum job_state state,
                  const struct cuzk_error *err)
{
    enum job_state was = job->state;
    job->done_ns = clock_now_ns();
    close_spans(engine, job, was);
    job_become(job, state);
    for (unsigned p = 0; job->partitions && p < job->n_partitions; p++) {
        job->synthesis_ms += job->partitions[p].synth_ns / 1000000;
        job->device_ms += job->partitions[p].device_ns / 1000000;
    }
    if (job->in_line)
        leave_line(engine, job);
    if (engine->suspect == job)
        engine->suspect = NULL;
    if (err)
        job->error = *err;
    job->expires_ms = clock_now_ms() + engine->keep_ms;
    if (job->journaled && state != JOB_DONE && !engine->closing) {
        job->record_wanted = true;
        engine->n_records++;
    }
    count_end(engine, job);
    say_end(engine, job);
    struct cuzk_result result;
    core_result(job,
                state == JOB_DONE     ? CUZK_JOB_COMPLETED
                : state == JOB_FAILED ? CUZK_JOB_FAILED
                                      : CUZK_JOB_CANCELLED,
                &result);
    core_tell_watchers(engine, job, &result);
    settle(engine, job);
}

/* --- Time -------------------------------------------------------------------------- */

static void expire_watches(struct cuzk_engine *engine, uint64_t now_ms)
{
    for (size_t i = 0; i < engine->n_watches;) {
        struct watch watch = engine->watches[i];
        if (watch.until_ms == 0 || watch.until_ms > now_ms) {
            i++;
            continue;
        }
        engine->watches[i] = engine->watches[--engine->n_watches];
        struct cuzk_result result;
        core_result(watch.job, CUZK_JOB_TIMEOUT, &result);
        watch.fn(watch.context, &result);
    }
}

/* The journal forgets a job later, in one transaction with others. If there is no memory to
   remember the number, the row stays until the next start, which knows its age. */
static void forget_later(struct cuzk_engine *engine, uint64_t number)
{
    void *numbers = engine->forgotten;
    if (!mem_reserve(&numbers, &engine->forgotten_capacity, engine->n_forgotten + 1,
                     sizeof *engine->forgotten))
        return;
    engine->forgotten = numbers;
    engine->forgotten[engine->n_forgotten++] = number;
}

static void expire_results(struct cuzk_engine *engine, uint64_t now_ms)
{
    size_t over = 0;
    for (size_t i = 0; i < engine->n_jobs; i++)
        over += job_is_over(engine->jobs[i]);
    size_t kept = 0;
    for (size_t i = 0; i < engine->n_jobs; i++) {
        struct job *job = engine->jobs[i];
        bool free_to_go = job_is_over(job) && job->pins == 0 && !job->record_wanted;
        if (!free_to_go || (job->expires_ms > now_ms && over <= CORE_RESULTS_MAX)) {
            engine->jobs[kept++] = job;
            continue;
        }
        over--;
        if (job->journaled)
            forget_later(engine, job->number);
        job_become(job, JOB_EXPIRED);
        job_free(job, engine->setup.ops);
    }
    engine->n_jobs = kept;
}

void core_expire(struct cuzk_engine *engine, uint64_t now_ms)
{
    expire_watches(engine, now_ms);
    if (now_ms >= engine->next_sweep_ms) {
        expire_results(engine, now_ms);
        engine->next_sweep_ms = now_ms + (engine->keep_ms < 1000 ? engine->keep_ms : 1000);
    }
    struct call **link = &engine->idle_waiters;
    while (*link) {
        struct call *call = *link;
        bool idle = core_is_idle(engine);
        if (!idle && call->until_ms > now_ms) {
            link = &call->next;
            continue;
        }
        *link = call->next;
        call->flag = idle;
        core_answer(call, CUZK_OK);
    }
}

uint64_t core_next_expiry(const struct cuzk_engine *engine, uint64_t now_ms)
{
    uint64_t next =
        engine->n_jobs > engine->pipeline.queue.len ? engine->next_sweep_ms : UINT64_MAX;
    for (size_t i = 0; i < engine->n_watches; i++)
        if (engine->watches[i].until_ms && engine->watches[i].until_ms < next)
            next = engine->watches[i].until_ms;
    for (const struct call *call = engine->idle_waiters; call; call = call->next)
        if (call->until_ms < next)
            next = call->until_ms;
    return next == UINT64_MAX ? UINT64_MAX : next > now_ms ? next - now_ms : 0;
}

bool core_is_idle(const struct cuzk_engine *engine)
{
    if (engine->busy > 0 || engine->n_forgotten > 0)
        return false;
    for (size_t i = 0; i < engine->n_jobs; i++) {
        const struct job *job = engine->jobs[i];
        bool waits = job->state == JOB_ACCEPTED || job->state == JOB_QUEUED;
        if (job->pins > 0 || job->record_wanted || job->state == JOB_PARSING ||
            job->state == JOB_RUNNING || (waits && !engine->hold_queue))
            return false;
    }
    return true;
}

/* --- The journal's jobs ------------------------------------------------------------ */

void core_journal_record(const struct job *job, enum journal_state state, struct journal_job *out)
{
    struct cuzk_result result;
    core_result(job, CUZK_JOB_UNKNOWN, &result);
    *out = (struct journal_job){
        .number = job->number,
        .hash = job->hash,
        .state = state,
        .error_status = job->error.status,
        .error_text = job->error.text,
        .proof = state == JOURNAL_DONE ? job->proof : NULL,
        .proof_len = state == JOURNAL_DONE ? job->proof_len : 0,
        .queue_ms = result.queue_ms,
        .srs_load_ms = result.srs_load_ms,
        .synthesis_ms = result.synthesis_ms,
        .device_ms = result.device_ms,
        .total_ms = result.total_ms,
    };
}

/* A finished job of an earlier process. Its clock readings mean nothing here; they are set so that
   the same durations come out. */
static enum cuzk_status restore_over(struct cuzk_engine *engine, struct job *job,
                                     const struct journal_job *from, struct cuzk_error *err)
{
    pipeline_remove(&engine->pipeline, &job->line);
    job->in_line = false;
    job->state = from->state == JOURNAL_DONE     ? JOB_DONE
                 : from->state == JOURNAL_FAILED ? JOB_FAILED
                                                 : JOB_CANCELLED;
    if (from->state != JOURNAL_DONE)
        error_set(&job->error, from->error_status, "%s", from->error_text);
    job->accepted_ns = 1;
    job->started_ns = 1 + from->queue_ms * 1000000;
    job->done_ns = 1 + from->total_ms * 1000000;
    job->srs_ns = from->srs_load_ms * 1000000;
    job->synthesis_ms = from->synthesis_ms;
    job->device_ms = from->device_ms;
    uint64_t left = from->age_ms < engine->keep_ms ? engine->keep_ms - from->age_ms : 0;
    job->expires_ms = clock_now_ms() + left;
    if (from->state != JOURNAL_DONE)
        return CUZK_OK;
    job->proof = from->proof_len > 0 ? mem_memdup(from->proof, from->proof_len) : NULL;
    job->proof_len = from->proof_len;
    return job->proof ? CUZK_OK : error_set(err, CUZK_NO_MEMORY, "no memory for a kept proof");
}

static enum cuzk_status restore_job(void *context, const struct journal_job *from,
                                    struct cuzk_error *err)
{
    struct cuzk_engine *engine = context;
    bool known_kind = from->kind >= 1 && from->kind <= CUZK_PROOF_KINDS;
    if (!known_kind || strlen(from->request_id) > CUZK_REQUEST_ID_MAX)
        return error_set(err, CUZK_IO, "journal: job %" PRIu64 " makes no sense", from->number);
    struct job *job = core_add_job(engine, from->request_id, from->priority, from->number);
    if (!job)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the journal's jobs");
    memcpy(job->hash, from->hash, REQUEST_HASH_BYTES);
    job->kind = from->kind;
    job->journaled = true;
    job->starts = from->starts;
    job->request_bytes = from->request_bytes;
    if (from->state != JOURNAL_PENDING)
        return restore_over(engine, job, from, err);
    job_become(job, JOB_QUEUED);
    struct trace_scope scope = job_scope(job, engine->trace);
    trace_emit(&scope, TRACE_JOB_ACCEPTED, (int64_t)job->request_bytes);
    trace_emit(&scope, TRACE_QUEUE_START, -1);
    return CUZK_OK;
}

enum cuzk_status core_restore(struct cuzk_engine *engine, struct cuzk_error *err)
{
    TRY(journal_visit(engine->journal, restore_job, engine, err));
    if (journal_next_number(engine->journal) > engine->next_number)
        engine->next_number = journal_next_number(engine->journal);
    return CUZK_OK;
}
