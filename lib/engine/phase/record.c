/* Recording: how a job ended is written to the journal, and expired jobs are removed from it. A
   proof is recorded before its job is DONE; FAILED and CANCELLED jobs are over when they are
   recorded. */
#include "engine/phase/phase.h"

#include "engine/core.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

struct record_task {
    struct task task;
    struct journal_job record; /* pointers into the job */
};

struct forget_task {
    struct task task;
    uint64_t *numbers; /* the task's */
    size_t n_numbers;
};

/* --- How a job ended -------------------------------------------------------------------------- */

static enum cuzk_status record_run(struct task *task, const struct engine_shared *shared)
{
    struct record_task *record = CONTAINER_OF(task, struct record_task, task);
    trace_emit(&task->scope, TRACE_JOURNAL_START, -1);
    enum cuzk_status status = journal_finish(shared->journal, &record->record, &task->err);
    trace_emit(&task->scope, TRACE_JOURNAL_END, (int64_t)record->record.proof_len);
    return status;
}

/* A result that could not be journaled is still a result: after a crash the job would merely be
   done again. */
static void record_done(struct task *task, struct core *core)
{
    struct job *job = task->job;
    if (task->status != CUZK_OK) {
        core->stats.journal_failures++;
        log_error("engine", "job %s: its result is not in the journal: %s", job->id,
                  task->err.text);
    }
    if (!job_is_over(job))
        jobs_end(core, job, JOB_DONE, NULL);
}

static void send_record(struct core *core, struct job *job, enum journal_state state,
                        struct worker *worker)
{
    struct record_task *record = WORKERS_TASK(worker, struct record_task);
    record->task = (struct task){.run = record_run,
                                 .done = record_done,
                                 .job = job,
                                 .scope = job_scope(job, core->shared->trace)};
    struct cuzk_result result;
    job_result(job, CUZK_JOB_UNKNOWN, &result);
    record->record = (struct journal_job){
        .number = job->number,
        .hash = job->hash,
        .state = state,
        .finished_unix = clock_unix_s(),
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
    workers_send(&core->workers, worker);
}

bool record_is_due(const struct job *job)
{
    return job->state == JOB_RUNNING && job->ending == ENDING_RECORD;
}

bool record_start(struct core *core, struct job *job)
{
    struct worker *worker = workers_find(&core->workers, WORKER_HOST, job_is_critical(job), 0);
    if (!worker)
        return false;
    job->done_ns = clock_now_ns();
    job->ending = ENDING_RECORDING;
    send_record(core, job, JOURNAL_DONE, worker);
    return true;
}

/* False: no worker is free. */
static bool start_endings(struct core *core)
{
    struct jobs *jobs = &core->jobs;
    for (size_t i = 0; i < jobs->n && jobs->n_records > 0; i++) {
        struct job *job = jobs->all[i];
        if (!job->record_wanted)
            continue;
        struct worker *worker = workers_find(&core->workers, WORKER_HOST, job_is_critical(job), 0);
        if (!worker)
            return false;
        job->record_wanted = false;
        jobs->n_records--;
        send_record(core, job, job->state == JOB_FAILED ? JOURNAL_FAILED : JOURNAL_CANCELLED,
                    worker);
    }
    return true;
}

/* --- Expired jobs ----------------------------------------------------------------------------- */

static enum cuzk_status forget_run(struct task *task, const struct engine_shared *shared)
{
    struct forget_task *forget = CONTAINER_OF(task, struct forget_task, task);
    return journal_forget(shared->journal, forget->numbers, forget->n_numbers, &task->err);
}

static void forget_done(struct task *task, struct core *core)
{
    (void)core;
    mem_free(CONTAINER_OF(task, struct forget_task, task)->numbers);
}

static void start_forget(struct core *core)
{
    struct jobs *jobs = &core->jobs;
    struct worker *worker = workers_find(&core->workers, WORKER_HOST, false, 0);
    if (!worker || jobs->n_forgotten == 0)
        return;
    struct forget_task *forget = WORKERS_TASK(worker, struct forget_task);
    forget->task = (struct task){.run = forget_run, .done = forget_done};
    forget->numbers = jobs->forgotten;
    forget->n_numbers = jobs->n_forgotten;
    jobs->forgotten = NULL;
    jobs->n_forgotten = jobs->forgotten_capacity = 0;
    workers_send(&core->workers, worker);
}

void record_start_others(struct core *core)
{
    if (start_endings(core))
        start_forget(core);
}
