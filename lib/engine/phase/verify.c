/* Verification: a partition PROVED → VERIFIED, or once more WAITING; and when all partitions are
   VERIFIED, the whole job, as a client will verify it. Simulated proofs are not verified: prove.c
   calls verify_accept at once. */
#include "engine/phase/phase.h"

#include "engine/core.h"
#include "engine/devices.h"

#include "base/clock.h"
#include "base/error.h"

#include <string.h>

struct verify_task {
    struct task task;
    struct work *work;
    struct loaded *loaded;
    unsigned partition;
    uint8_t proof[CUZK_PROOF_BYTES]; /* of that partition */
};

struct verify_job_task {
    struct task task;
    struct work *work;
    struct loaded *loaded;
    const uint8_t *proofs; /* CUZK_PROOF_BYTES a partition, in the job */
};

/* --- Run -------------------------------------------------------------------------------------- */

static enum cuzk_status verify_run(struct task *task, const struct engine_shared *shared)
{
    struct verify_task *verify = CONTAINER_OF(task, struct verify_task, task);
    uint64_t start_ns = clock_now_ns();
    trace_emit(&task->scope, TRACE_VERIFY_START, -1);
    enum cuzk_status status = shared->setup.ops->verify(
        verify->work, verify->loaded, verify->partition, verify->proof, &task->err);
    trace_emit(&task->scope, TRACE_VERIFY_END, task_ms_since(start_ns));
    return status;
}

static enum cuzk_status verify_job_run(struct task *task, const struct engine_shared *shared)
{
    struct verify_job_task *verify = CONTAINER_OF(task, struct verify_job_task, task);
    uint64_t start_ns = clock_now_ns();
    trace_emit(&task->scope, TRACE_VERIFY_START, -1);
    enum cuzk_status status =
        shared->setup.ops->verify_all(verify->work, verify->loaded, verify->proofs, &task->err);
    trace_emit(&task->scope, TRACE_VERIFY_END, task_ms_since(start_ns));
    return status;
}

/* --- Done ------------------------------------------------------------------------------------- */

void verify_accept(struct core *core, struct job *job, unsigned partition)
{
    struct job_partition *p = &job->partitions[partition];
    pipeline_verified(&core->pipeline, &job->line, partition);
    core->stats.partitions++;
    memcpy(job->proof + (size_t)partition * CUZK_PROOF_BYTES, p->proof, CUZK_PROOF_BYTES);
    if (p->suspected) /* the second proof is good: the device of the first one is to blame */
        devices_blame(core, p->suspect, "a proof of it did not verify, and a second one did");
    p->suspected = false;
    if (job->line.count[PARTITION_VERIFIED] == job->n_partitions)
        job->ending = ENDING_VERIFY;
}

static void refuse_partition(struct core *core, struct job *job, unsigned partition,
                             struct cuzk_error *err)
{
    struct job_partition *p = &job->partitions[partition];
    const unsigned device = job->line_partitions[partition].device;
    core->stats.invalid_proofs++;
    error_prefix(err, "the proof made on device %u (%s) is not valid", device,
                 core->shared->devices[device].name);
    if (jobs_redo_partition(core, job, partition, "reason=invalid_proof", err)) {
        p->suspect = device;
        p->suspected = true;
        return;
    }
    if (p->suspected)
        error_prefix(err, "after one on device %u was not either", p->suspect);
    jobs_fail_partition(core, job, partition, "verification", err);
}

static void verify_done(struct task *task, struct core *core)
{
    struct verify_task *verify = CONTAINER_OF(task, struct verify_task, task);
    struct job *job = task->job;
    core->stats.verify_ns += task->ns;
    job->partitions[verify->partition].verifying = false;
    if (job_is_over(job))
        return;
    if (task->status == CUZK_OK)
        verify_accept(core, job, verify->partition);
    else
        refuse_partition(core, job, verify->partition, &task->err);
}

static void verify_job_done(struct task *task, struct core *core)
{
    struct job *job = task->job;
    core->stats.verify_ns += task->ns;
    if (job_is_over(job))
        return;
    if (task->status != CUZK_OK) {
        core->stats.invalid_proofs++;
        error_prefix(&task->err, "the whole proof");
        jobs_end(core, job, JOB_FAILED, &task->err);
    } else if (job->journaled) {
        job->ending = ENDING_RECORD;
    } else {
        jobs_end(core, job, JOB_DONE, NULL);
    }
}

/* --- Start ------------------------------------------------------------------------------------ */

/* The first partition whose proof nobody is verifying; n_partitions: there is none. */
static unsigned find_proved(const struct job *job)
{
    unsigned p = 0;
    while (p < job->n_partitions &&
           (job->line_partitions[p].state != PARTITION_PROVED || job->partitions[p].verifying))
        p++;
    return p;
}

bool verify_is_due(const struct job *job)
{
    return job->state == JOB_RUNNING &&
           (job->ending == ENDING_VERIFY || find_proved(job) < job->n_partitions);
}

static void fill_partition_task(struct core *core, struct job *job, struct worker *worker)
{
    struct verify_task *verify = WORKERS_TASK(worker, struct verify_task);
    const unsigned partition = find_proved(job);
    verify->task = (struct task){.run = verify_run, .done = verify_done, .job = job};
    verify->task.scope = job_partition_scope(job, partition, core->shared->trace);
    verify->work = job->work;
    verify->loaded = job->srs->loaded;
    verify->partition = partition;
    memcpy(verify->proof, job->partitions[partition].proof, sizeof verify->proof);
    job->partitions[partition].verifying = true;
}

static void fill_job_task(struct core *core, struct job *job, struct worker *worker)
{
    struct verify_job_task *verify = WORKERS_TASK(worker, struct verify_job_task);
    verify->task = (struct task){.run = verify_job_run, .done = verify_job_done, .job = job};
    verify->task.scope = job_scope(job, core->shared->trace);
    verify->work = job->work;
    verify->loaded = job->srs->loaded;
    verify->proofs = job->proof;
    job->ending = ENDING_VERIFYING;
}

bool verify_start(struct core *core, struct job *job)
{
    struct worker *worker = workers_find(&core->workers, WORKER_HOST, job_is_critical(job), 0);
    if (!worker)
        return false;
    if (job->ending == ENDING_VERIFY)
        fill_job_task(core, job, worker);
    else
        fill_partition_task(core, job, worker);
    workers_send(&core->workers, worker);
    return true;
}
