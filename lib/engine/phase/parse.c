/* Parsing: a job QUEUED → PARSING. The request is read, from the journal if there is one, and
   becomes work with a number of partitions. Meanwhile the circuit's parameters may be loaded
   (load.c). When both are done, dispatch.c lets the job run. */
#include "engine/phase/phase.h"

#include "engine/core.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <string.h>

struct parse_task {
    struct task task;
    struct request *request; /* NULL: in the journal */
    struct work *work;       /* the result */
};

/* --- Run -------------------------------------------------------------------------------------- */

/* A start that could not be counted is no reason to fail a job: poison is only noticed later. */
static enum cuzk_status read_request(struct parse_task *parse, const struct engine_shared *shared)
{
    struct task *task = &parse->task;
    const struct job *job = task->job;
    if (!job->journaled)
        return CUZK_OK;
    trace_emit(&task->scope, TRACE_JOURNAL_START, -1);
    if (journal_start(shared->journal, job->number, 1, &task->err) != CUZK_OK)
        log_warn("engine", "job %s: %s", job->id, task->err.text);
    enum cuzk_status status = journal_read(shared->journal, job->number, job->request_id,
                                           job->priority, job->hash, &parse->request, &task->err);
    trace_emit(&task->scope, TRACE_JOURNAL_END, (int64_t)job->request_bytes);
    return status;
}

static enum cuzk_status parse_run(struct task *task, const struct engine_shared *shared)
{
    struct parse_task *parse = CONTAINER_OF(task, struct parse_task, task);
    TRY(read_request(parse, shared));
    uint64_t start_ns = clock_now_ns();
    trace_emit(&task->scope, TRACE_PARSE_START, -1);
    enum cuzk_status status =
        shared->setup.ops->parse(shared->setup.context, parse->request, &parse->work, &task->err);
    trace_emit(&task->scope, TRACE_PARSE_END, task_ms_since(start_ns));
    request_release(parse->request);
    parse->request = NULL;
    return status;
}

/* --- Done ------------------------------------------------------------------------------------- */

static void use_circuit(struct core *core, struct job *job)
{
    job->srs = srs_find_or_add(&core->srs, job->circuit_id);
    if (job->srs) {
        srs_reference(job->srs, job_is_critical(job), clock_now_ns());
        return;
    }
    struct cuzk_error err;
    error_set(&err, CUZK_RESOURCE_EXHAUSTED, "more than %d circuits in use", SRS_CIRCUITS_MAX);
    jobs_end(core, job, JOB_FAILED, &err);
}

static bool make_room(struct job *job)
{
    if (!job_make_partitions(job, job->work->n_partitions))
        return false;
    job->proof_len = (size_t)job->n_partitions * CUZK_PROOF_BYTES;
    job->proof = mem_zalloc(job->proof_len, 1);
    return job->proof != NULL;
}

static void parse_done(struct task *task, struct core *core)
{
    struct parse_task *parse = CONTAINER_OF(task, struct parse_task, task);
    struct job *job = task->job;
    if (!job_is_critical(job))
        core->parsing--;
    job->work = parse->work;
    if (job_is_over(job))
        return;
    if (task->status != CUZK_OK) {
        jobs_end(core, job, JOB_FAILED, &task->err);
        return;
    }
    budget_release(&core->budget, &job->request_hold, job->request_bytes);
    if (!make_room(job)) {
        struct cuzk_error err;
        error_set(&err, CUZK_NO_MEMORY, "no memory for the job's partitions");
        jobs_end(core, job, JOB_FAILED, &err);
        return;
    }
    job->parsed = true;
    if (!job->srs) {
        memcpy(job->circuit_id, job->work->circuit_id, sizeof job->circuit_id);
        use_circuit(core, job);
    }
}

/* --- Start ------------------------------------------------------------------------------------ */

/* A journaled job has its request on disk and takes its memory now; another one has taken it when
   it was accepted. False: not now, or never, and then the job has failed. */
static bool take_request_memory(struct core *core, struct job *job)
{
    if (job->request_hold.bytes > 0)
        return true;
    uint64_t bytes = 2 * job->request_bytes;
    struct cuzk_error err;
    if (budget_could_fit(&core->budget, BUDGET_REQUESTS, bytes, 0, &err) != CUZK_OK) {
        jobs_end(core, job, JOB_FAILED, &err);
        return false;
    }
    return jobs_take_memory(core, job, BUDGET_REQUESTS, bytes, &job->request_hold);
}

static void start_job(struct core *core, struct job *job, struct worker *worker)
{
    struct parse_task *parse = WORKERS_TASK(worker, struct parse_task);
    struct trace_scope scope = job_scope(job, core->shared->trace);
    parse->task = (struct task){.run = parse_run, .done = parse_done, .job = job, .scope = scope};
    parse->request = job->request;
    job->request = NULL;
    job->started_ns = clock_now_ns();
    uint64_t waited_ns = job->started_ns - job->accepted_ns;
    core->stats.queue_wait_ns += waited_ns;
    trace_emit(&scope, TRACE_QUEUE_END, (int64_t)(waited_ns / 1000000));
    job_become(job, JOB_PARSING);
    if (job->starts > 0)
        core->suspect = job;
    if (!job_is_critical(job))
        core->parsing++;
    workers_send(&core->workers, worker);
    if (job->circuit_id[0])
        use_circuit(core, job);
}

/* The parameters that the job needs are on their way out: it begins when they have gone. */
static bool circuit_is_leaving(struct core *core, const struct job *job)
{
    const struct srs_entry *entry =
        job->circuit_id[0] ? srs_find(&core->srs, job->circuit_id) : NULL;
    return entry && srs_is_leaving(entry);
}

void parse_start(struct core *core)
{
    if (core->hold_queue)
        return;
    for (size_t i = 0; i < core->pipeline.queue.len; i++) {
        struct job *job = jobs_in_line(core, i);
        if (job->state != JOB_QUEUED || (job->starts > 0 && core->suspect))
            continue;
        if (!pipeline_wants_parse(&core->pipeline, job->priority, core->parsing))
            return;
        struct worker *worker = workers_find(&core->workers, WORKER_HOST, job_is_critical(job), 0);
        if (!worker)
            return;
        if (circuit_is_leaving(core, job))
            continue;
        if (take_request_memory(core, job))
            start_job(core, job, worker);
        else if (job_is_over(job))
            i--; /* the line has closed up */
        else
            return;
    }
}
