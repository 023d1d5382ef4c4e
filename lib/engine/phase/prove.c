/* Proving: a partition READY → PROVING → PROVED, on a device. */
#include "engine/phase/phase.h"

#include "engine/core.h"
#include "engine/devices.h"

#include "base/check.h"
#include "base/error.h"

#include <string.h>

struct prove_task {
    struct task task;
    struct work *work;
    struct loaded *loaded;
    void *witness; /* the task's */
    unsigned partition, device;
    /* Result: */
    uint8_t proof[CUZK_PROOF_BYTES];
    uint64_t device_ns; /* that the device was truly occupied */
};

static enum cuzk_status prove_run(struct task *task, const struct engine_shared *shared)
{
    struct prove_task *prove = CONTAINER_OF(task, struct prove_task, task);
    const struct work_ops *ops = shared->setup.ops;
    trace_emit(&task->scope, TRACE_GPU_PICKUP, -1);
    enum cuzk_status status = ops->check(prove->loaded, &task->err);
    if (status == CUZK_OK) {
        struct work_span span = {task->scope, task->job->number, prove->partition, prove->device};
        status = ops->prove(prove->work, prove->loaded, prove->witness, &span, prove->proof,
                            &prove->device_ns, &task->err);
    }
    ops->witness_free(prove->witness);
    prove->witness = NULL;
    return status;
}

/* --- Done ------------------------------------------------------------------------------------- */

static bool is_device_failure(enum cuzk_status status)
{
    return status == CUZK_DEVICE_FAULT || status == CUZK_DEVICE_LOST;
}

static void count_device(struct core *core, const struct prove_task *prove)
{
    const struct task *task = &prove->task;
    core->stats.device_ns += prove->device_ns;
    core->stats.device_busy_ns[prove->device] += prove->device_ns;
    if (is_device_failure(task->status)) {
        core->stats.device_faults++;
        devices_blame(core, prove->device, task->err.text);
    }
    if (task->status == CUZK_DEVICE_LOST)
        devices_lose(core, prove->device, task->err.text);
}

static void end_simulated(struct core *core, struct job *job)
{
    if (core->shared->setup.results_anyway) {
        jobs_end(core, job, JOB_DONE, NULL);
        return;
    }
    struct cuzk_error err;
    error_set(&err, CUZK_FAILED_PRECONDITION,
              CUZK_SIMULATION_TEXT ": the backend '%s' makes no proofs",
              core->shared->devices[0].backend);
    jobs_end(core, job, JOB_FAILED, &err);
}

static void prove_done(struct task *task, struct core *core)
{
    struct prove_task *prove = CONTAINER_OF(task, struct prove_task, task);
    const unsigned partition = prove->partition;
    struct job *job = task->job;
    struct job_partition *p = &job->partitions[partition];
    jobs_drop_witness(core, job, partition);
    p->device_ns += prove->device_ns;
    count_device(core, prove);
    if (job_is_over(job)) {
        pipeline_dropped(&core->pipeline, &job->line, partition);
        return;
    }
    pipeline_proved(&core->pipeline, &job->line, partition);
    if (task->status == CUZK_OK) {
        memcpy(p->proof, prove->proof, sizeof p->proof);
        if (!core->shared->setup.simulated)
            return; /* verify.c comes next */
        verify_accept(core, job, partition);
        if (job->ending == ENDING_VERIFY)
            end_simulated(core, job);
        return;
    }
    if (task->status == CUZK_BAD_PARAMS)
        job->srs->stale = true;
    if (!is_device_failure(task->status) ||
        !jobs_redo_partition(core, job, partition, "reason=device_fault", &task->err))
        jobs_fail_partition(core, job, partition, "device", &task->err);
}

/* --- Start ------------------------------------------------------------------------------------ */

bool prove_start(struct core *core)
{
    struct pipeline_pick pick;
    if (!pipeline_pick_proving(&core->pipeline, &pick))
        return false;
    struct job *job = job_of(pick.job);
    struct job_partition *p = &job->partitions[pick.partition];
    struct worker *worker = workers_find(&core->workers, WORKER_DEVICE, true, pick.device);
    CHECK(worker); /* the pipeline knows how many there are */
    pipeline_start_proving(&core->pipeline, &pick);
    struct prove_task *prove = WORKERS_TASK(worker, struct prove_task);
    prove->task = (struct task){.run = prove_run, .done = prove_done, .job = job};
    prove->task.scope = job_partition_scope(job, pick.partition, core->shared->trace);
    prove->task.scope.worker = worker->number;
    prove->task.scope.device = (int32_t)worker->device;
    prove->work = job->work;
    prove->loaded = job->srs->loaded;
    prove->witness = p->witness;
    prove->partition = pick.partition;
    prove->device = pick.device;
    p->witness = NULL;
    workers_send(&core->workers, worker);
    return true;
}
