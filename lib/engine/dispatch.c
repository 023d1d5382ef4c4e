#include "engine/dispatch.h"

#include "engine/core.h"
#include "engine/phase/phase.h"

/* Job by job in the order of the line, because both phases share the host's workers. */
static void finish_jobs(struct core *core)
{
    for (size_t i = 0; i < core->pipeline.queue.len; i++) {
        struct job *job = jobs_in_line(core, i);
        for (;;) {
            bool started;
            if (record_is_due(job))
                started = record_start(core, job);
            else if (verify_is_due(job))
                started = verify_start(core, job);
            else
                break;
            if (!started)
                return;
        }
    }
}

static void run_job(struct core *core, struct job *job)
{
    if (job->srs->load_started_ns > job->started_ns)
        job->srs_ns = job->srs->load_ns;
    job_become(job, JOB_RUNNING);
    pipeline_open(&job->line, &core->pipeline, job->line_partitions, job->n_partitions,
                  job->srs->loaded->devices);
}

/* Jobs that are parsed, and whose circuit is loaded, go into the pipeline. */
static void run_jobs(struct core *core)
{
    for (size_t i = 0; i < core->pipeline.queue.len; i++) {
        struct job *job = jobs_in_line(core, i);
        if (job->state != JOB_PARSING || !job->parsed)
            continue;
        bool ready = job->srs->state == SRS_READY && !job->srs->stale;
        if (ready == job->srs_waits) {
            struct trace_scope scope = job_scope(job, core->shared->trace);
            job->srs_waits = !ready;
            trace_emit(&scope, ready ? TRACE_SRS_WAIT_END : TRACE_SRS_WAIT_START, -1);
        }
        if (ready)
            run_job(core, job);
    }
}

void dispatch_run(struct core *core)
{
    finish_jobs(core);
    if (!core->closing) {
        load_start(core);
        parse_start(core);
        load_start(core); /* what these jobs need */
        run_jobs(core);
        synthesize_unblock(core);
        while (prove_start(core))
            synthesize_unblock(core);
        synthesize_start(core);
    }
    record_start_others(core);
}

void dispatch_take_back(struct core *core, struct worker *worker)
{
    struct task *task = worker->task;
    struct job *job = task->job; /* done may give the worker its next task */
    workers_take_back(&core->workers, worker);
    task->done(task, core);
    if (job)
        jobs_unpin(core, job);
}
