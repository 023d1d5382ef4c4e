#include "engine/jobs.h"

#include "engine/core.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void jobs_free(struct core *core)
{
    struct jobs *jobs = &core->jobs;
    for (size_t i = 0; i < jobs->n; i++) {
        struct job *job = jobs->all[i];
        if (job->in_line)
            pipeline_remove(&core->pipeline, &job->line);
        job->in_line = false;
        job_free(job, core->shared->setup.ops);
    }
    mem_free(jobs->all);
    mem_free(jobs->forgotten);
    *jobs = (struct jobs){0};
}

/* --- The table -------------------------------------------------------------------------------- */

static bool append_job(struct core *core, struct job *job)
{
    if (!MEM_GROW(core->jobs.all, core->jobs.capacity, core->jobs.n + 1))
        return false;
    core->jobs.all[core->jobs.n++] = job;
    return true;
}

struct job *jobs_add(struct core *core, const char *request_id, enum cuzk_priority priority,
                     uint64_t number)
{
    struct job *job = job_new(number, request_id);
    if (!job)
        return NULL;
    job->priority = priority;
    job->accepted_ns = clock_now_ns();
    if (!pipeline_add(&core->pipeline, &job->line, priority, number)) {
        job_free(job, core->shared->setup.ops);
        return NULL;
    }
    job->in_line = true;
    if (!append_job(core, job)) {
        pipeline_remove(&core->pipeline, &job->line);
        job->in_line = false;
        job_free(job, core->shared->setup.ops);
        return NULL;
    }
    if (number >= core->jobs.next_number)
        core->jobs.next_number = number + 1;
    return job;
}

/* Position of the first job whose number is not smaller. */
static size_t job_position(const struct core *core, uint64_t number)
{
    size_t low = 0;
    size_t high = core->jobs.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (core->jobs.all[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct job *jobs_find(const struct core *core, const char *text, struct cuzk_error *err)
{
    uint64_t number;
    bool is_job_id = request_job_number(text, &number);
    if (is_job_id) {
        size_t at = job_position(core, number);
        if (at < core->jobs.n && strcmp(core->jobs.all[at]->id, text) == 0)
            return core->jobs.all[at];
    }
    struct job *found = NULL;
    for (size_t i = 0; i < core->jobs.n; i++) {
        if (strcmp(core->jobs.all[i]->request_id, text) != 0)
            continue;
        if (found) {
            error_set(err, CUZK_NOT_FOUND,
                      "several jobs have the request id %s: ask with the job id of one", text);
            return NULL;
        }
        found = core->jobs.all[i];
    }
    if (found)
        return found;
    if (is_job_id && number < core->jobs.next_number)
        error_set(err, CUZK_NOT_FOUND, "job expired: %s (results are kept for %" PRIu64 " s)", text,
                  core->shared->keep_ms / 1000);
    else
        error_set(err, CUZK_NOT_FOUND, "job not found: %s", text);
    return NULL;
}

struct job *jobs_find_same(const struct core *core, const struct request *request)
{
    if (request->id[0] == '\0')
        return NULL;
    for (size_t i = core->jobs.n; i-- > 0;) {
        struct job *job = core->jobs.all[i];
        if (memcmp(job->hash, request->hash, REQUEST_HASH_BYTES) == 0 &&
            strcmp(job->request_id, request->id) == 0 && job->state != JOB_FAILED &&
            job->state != JOB_CANCELLED)
            return job;
    }
    return NULL;
}

struct job *jobs_in_line(const struct core *core, size_t i)
{
    return job_of(core->pipeline.queue.entries[i]->owner);
}

/* --- Memory ----------------------------------------------------------------------------------- */

bool jobs_take_memory(struct core *core, struct job *job, enum budget_use use, uint64_t bytes,
                      struct budget_hold *hold)
{
    bool taken = budget_take(&core->budget, use, bytes, job_is_critical(job), hold);
    if (taken == job->budget_waits) {
        struct trace_scope scope = job_scope(job, core->shared->trace);
        job->budget_waits = !taken;
        trace_emit(&scope, taken ? TRACE_BUDGET_WAIT_END : TRACE_BUDGET_WAIT_START, (int64_t)bytes);
    }
    return taken;
}

void jobs_drop_witness(struct core *core, struct job *job, unsigned partition)
{
    struct job_partition *p = &job->partitions[partition];
    if (p->witness)
        core->shared->setup.ops->witness_free(p->witness);
    p->witness = NULL;
    budget_release(&core->budget, &p->hold, 0);
}

bool jobs_redo_partition(struct core *core, struct job *job, unsigned partition, const char *reason,
                         const struct cuzk_error *why)
{
    struct job_partition *p = &job->partitions[partition];
    if (p->redone)
        return false;
    p->redone = true;
    core->stats.redone++;
    struct trace_scope scope = job_partition_scope(job, partition, core->shared->trace);
    trace_emit_text(&scope, TRACE_RETRY, -1, reason);
    log_warn("engine", "job %s, partition %u: done again after: %s", job->id, partition, why->text);
    pipeline_redo(&core->pipeline, &job->line, partition);
    return true;
}

/* --- Ending ----------------------------------------------------------------------------------- */

/* Once a job is over and no worker looks at it, only its result stays. */
static void let_go(struct core *core, struct job *job)
{
    if (!job_is_over(job) || job->pins > 0)
        return;
    if (job->work)
        core->shared->setup.ops->work_free(job->work);
    job->work = NULL;
    request_release(job->request);
    job->request = NULL;
    budget_release(&core->budget, &job->request_hold, 0);
    if (job->srs)
        srs_release(job->srs, clock_now_ns());
    job->srs = NULL;
    for (unsigned p = 0; job->partitions && p < job->n_partitions; p++)
        jobs_drop_witness(core, job, p);
    mem_free(job->partitions);
    mem_free(job->line_partitions);
    job->partitions = NULL;
    job->line_partitions = NULL;
}

void jobs_unpin(struct core *core, struct job *job)
{
    CHECK(job->pins > 0);
    job->pins--;
    let_go(core, job);
}

static void leave_line(struct core *core, struct job *job)
{
    pipeline_remove(&core->pipeline, &job->line);
    job->in_line = false;
    for (unsigned p = 0; job->partitions && p < job->n_partitions; p++) {
        enum partition_state state = job->line_partitions[p].state;
        if (state == PARTITION_BLOCKED || state == PARTITION_READY)
            jobs_drop_witness(core, job, p);
    }
}

static void close_spans(struct core *core, struct job *job)
{
    struct trace_scope scope = job_scope(job, core->shared->trace);
    if (job_is_waiting(job))
        trace_emit(&scope, TRACE_QUEUE_END,
                   (int64_t)job_ms_between(job->accepted_ns, job->done_ns));
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

static void report_end(struct core *core, const struct job *job)
{
    struct trace_scope scope = job_scope(job, core->shared->trace);
    int64_t ms = (int64_t)job_ms_between(job->accepted_ns, job->done_ns);
    if (job->state == JOB_DONE) {
        trace_emit(&scope, TRACE_JOB_DONE, ms);
        log_info("engine", "job %s done in %" PRId64 " ms", job->id, ms);
    } else if (job->state == JOB_FAILED) {
        char reason[32];
        (void)snprintf(reason, sizeof reason, "reason=%.20s", cuzk_status_text(job->error.status));
        trace_emit_text(&scope, TRACE_JOB_FAILED, ms, reason);
        log_error("engine", "job %s failed: %s", job->id, job->error.text);
    } else {
        trace_emit(&scope, TRACE_JOB_CANCELLED, ms);
        log_info("engine", "job %s cancelled: %s", job->id, job->error.text);
    }
}

void jobs_end(struct core *core, struct job *job, enum job_state state,
              const struct cuzk_error *err)
{
    job->done_ns = clock_now_ns();
    close_spans(core, job);
    job_become(job, state);
    for (unsigned p = 0; job->partitions && p < job->n_partitions; p++) {
        job->synthesis_ms += job->partitions[p].synth_ns / 1000000;
        job->device_ms += job->partitions[p].device_ns / 1000000;
    }
    if (job->in_line)
        leave_line(core, job);
    if (core->suspect == job)
        core->suspect = NULL;
    if (err)
        job->error = *err;
    job->expires_ms = clock_now_ms() + core->shared->keep_ms;
    if (job->journaled && state != JOB_DONE && !core->closing)
        jobs_want_record(core, job);
    stats_count_end(&core->stats, job);
    report_end(core, job);
    struct cuzk_result result;
    job_result(job, job_outcome(job), &result);
    watches_notify(&core->watches, job, &result);
    let_go(core, job);
}

void jobs_fail_partition(struct core *core, struct job *job, unsigned partition, const char *phase,
                         struct cuzk_error *err)
{
    error_prefix(err, "partition %u, %s", partition, phase);
    jobs_end(core, job, JOB_FAILED, err);
}

void jobs_want_record(struct core *core, struct job *job)
{
    job->record_wanted = true;
    core->jobs.n_records++;
}

/* --- Time ------------------------------------------------------------------------------------- */

/* The journal forgets a job later, in one transaction with others. If there is no memory to
   remember the number, the row stays until the next start, which forgets it by
   its age. */
static void forget_later(struct core *core, uint64_t number)
{
    struct jobs *jobs = &core->jobs;
    if (MEM_GROW(jobs->forgotten, jobs->forgotten_capacity, jobs->n_forgotten + 1))
        jobs->forgotten[jobs->n_forgotten++] = number;
}

static void expire_results(struct core *core, uint64_t now_ms)
{
    size_t over = 0;
    for (size_t i = 0; i < core->jobs.n; i++)
        over += job_is_over(core->jobs.all[i]);
    size_t kept = 0;
    for (size_t i = 0; i < core->jobs.n; i++) {
        struct job *job = core->jobs.all[i];
        bool free_to_go = job_is_over(job) && job->pins == 0 && !job->record_wanted;
        if (!free_to_go || (job->expires_ms > now_ms && over <= JOBS_RESULTS_MAX)) {
            core->jobs.all[kept++] = job;
            continue;
        }
        over--;
        if (job->journaled)
            forget_later(core, job->number);
        job_become(job, JOB_EXPIRED);
        job_free(job, core->shared->setup.ops);
    }
    core->jobs.n = kept;
}

void jobs_expire(struct core *core, uint64_t now_ms)
{
    if (now_ms < core->jobs.next_sweep_ms)
        return;
    const uint64_t keep_ms = core->shared->keep_ms;
    expire_results(core, now_ms);
    core->jobs.next_sweep_ms = now_ms + (keep_ms < 1000 ? keep_ms : 1000);
}

uint64_t jobs_next_ms(const struct core *core)
{
    bool some_are_over = core->jobs.n > core->pipeline.queue.len;
    return some_are_over ? core->jobs.next_sweep_ms : UINT64_MAX;
}

bool jobs_are_idle(const struct core *core)
{
    if (core->workers.busy > 0 || core->jobs.n_forgotten > 0)
        return false;
    for (size_t i = 0; i < core->jobs.n; i++) {
        const struct job *job = core->jobs.all[i];
        if (job->pins > 0 || job->record_wanted || job->state == JOB_PARSING ||
            job->state == JOB_RUNNING || (job_is_waiting(job) && !core->hold_queue))
            return false;
    }
    return true;
}
