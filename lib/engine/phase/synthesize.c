/* Synthesis: a partition WAITING → SYNTHESIZING → READY, or BLOCKED while the channel to the
   devices is full. */
#include "engine/phase/phase.h"

#include "engine/core.h"

#include "base/clock.h"

struct synthesize_task {
    struct task task;
    struct work *work;
    struct loaded *loaded;
    unsigned partition;
    void *witness; /* the result */
};

static enum cuzk_status synthesize_run(struct task *task, const struct engine_shared *shared)
{
    struct synthesize_task *synthesize = CONTAINER_OF(task, struct synthesize_task, task);
    uint64_t start_ns = clock_now_ns();
    struct work_span span = {
        .scope = task->scope, .job = task->job->number, .partition = synthesize->partition};
    trace_emit(&task->scope, TRACE_SYNTH_START, -1);
    enum cuzk_status status = shared->setup.ops->synthesize(
        synthesize->work, synthesize->loaded, &span, &synthesize->witness, &task->err);
    trace_emit(&task->scope, TRACE_SYNTH_END, task_ms_since(start_ns));
    return status;
}

/* --- Done ------------------------------------------------------------------------------------- */

static void enter_channel(struct core *core, struct job *job, unsigned partition)
{
    struct trace_scope scope = job_partition_scope(job, partition, core->shared->trace);
    trace_emit(&scope, TRACE_CHAN_SEND, -1);
}

static void synthesize_done(struct task *task, struct core *core)
{
    struct synthesize_task *synthesize = CONTAINER_OF(task, struct synthesize_task, task);
    const unsigned partition = synthesize->partition;
    struct job *job = task->job;
    struct job_partition *p = &job->partitions[partition];
    p->witness = synthesize->witness;
    p->synth_ns += task->ns;
    core->stats.synthesis_ns += task->ns;
    if (task->status == CUZK_INVALID_ARGUMENT && !job_is_over(job))
        jobs_end(core, job, JOB_FAILED, &task->err); /* the text says where the input is wrong */
    else if (task->status != CUZK_OK && !job_is_over(job))
        jobs_fail_partition(core, job, partition, "synthesis", &task->err);
    if (job_is_over(job)) {
        pipeline_dropped(&core->pipeline, &job->line, partition);
        jobs_drop_witness(core, job, partition);
    } else if (pipeline_synthesized(&core->pipeline, &job->line, partition) == PARTITION_READY) {
        enter_channel(core, job, partition);
    } else {
        trace_emit(&task->scope, TRACE_LOOKAHEAD_WAIT_START, -1);
    }
}

void synthesize_unblock(struct core *core)
{
    struct pipeline_pick pick;
    while (pipeline_unblock(&core->pipeline, &pick)) {
        struct job *job = job_of(pick.job);
        struct trace_scope scope = job_partition_scope(job, pick.partition, core->shared->trace);
        trace_emit(&scope, TRACE_LOOKAHEAD_WAIT_END, -1);
        enter_channel(core, job, pick.partition);
    }
}

/* --- Start ------------------------------------------------------------------------------------ */

void synthesize_start(struct core *core)
{
    struct pipeline_pick pick;
    while (pipeline_pick_synthesis(&core->pipeline, &pick)) {
        struct job *job = job_of(pick.job);
        struct worker *worker = workers_find(&core->workers, WORKER_SYNTHESIS, true, 0);
        if (!worker)
            return;
        struct loaded *loaded = job->srs->loaded;
        if (!jobs_take_memory(core, job, BUDGET_PARTITIONS, loaded->partition_bytes,
                              &job->partitions[pick.partition].hold))
            return; /* no job passes another one that waits for memory: first come, first served */
        pipeline_start_synthesis(&core->pipeline, &pick);
        struct synthesize_task *synthesize = WORKERS_TASK(worker, struct synthesize_task);
        synthesize->task = (struct task){
            .run = synthesize_run,
            .done = synthesize_done,
            .job = job,
            .scope = job_partition_scope(job, pick.partition, core->shared->trace),
        };
        synthesize->work = job->work;
        synthesize->loaded = loaded;
        synthesize->partition = pick.partition;
        workers_send(&core->workers, worker);
    }
}
