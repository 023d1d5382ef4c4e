#include "engine/snapshot.h"

#include "engine/core.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <string.h>

static const char *partition_text(const struct job *job, unsigned p)
{
    if (!job->line_partitions)
        return "pending";
    switch (job->line_partitions[p].state) {
    case PARTITION_WAITING:
    case PARTITION_STATES:
        break;
    case PARTITION_SYNTHESIZING:
        return "synthesizing";
    case PARTITION_BLOCKED:
    case PARTITION_READY:
        return "synth_done";
    case PARTITION_PROVING:
    case PARTITION_PROVED:
        return "gpu";
    case PARTITION_VERIFIED:
        return "done";
    }
    return "pending";
}

static bool copy_job(struct cuzk_job_status *out, const struct job *job, uint64_t now_ns)
{
    memcpy(out->job_id, job->id, sizeof out->job_id);
    out->kind = job->kind;
    out->state = job_state_text(job->state);
    out->started_ms_ago = (now_ns - job->accepted_ns) / 1000000;
    out->n_partitions = job->n_partitions;
    out->partitions = mem_zalloc(job->n_partitions, sizeof *out->partitions);
    if (!out->partitions)
        return false;
    for (unsigned p = 0; p < job->n_partitions; p++)
        out->partitions[p] = (struct cuzk_partition_status){
            .index = p,
            .state = partition_text(job, p),
            .synth_ms = job->partitions[p].synth_ns / 1000000,
            .device_ms = job->partitions[p].device_ns / 1000000,
        };
    return true;
}

static bool copy_jobs(const struct core *core, struct cuzk_snapshot *out, uint64_t now_ns)
{
    out->jobs = mem_zalloc(core->pipeline.queue.len, sizeof *out->jobs);
    if (!out->jobs)
        return false;
    for (size_t i = 0; i < core->pipeline.queue.len; i++) {
        const struct job *job = jobs_in_line(core, i);
        bool waits = job_is_waiting(job);
        struct cuzk_queue_status *queue = &out->queues[job->kind - 1];
        queue->pending += waits;
        queue->in_progress += !waits;
        if (!copy_job(&out->jobs[out->n_jobs++], job, now_ns))
            return false;
    }
    return true;
}

static bool copy_devices(const struct core *core, struct cuzk_snapshot *out, uint64_t now_ns)
{
    out->n_devices = core->shared->setup.n_devices;
    out->devices = mem_zalloc(out->n_devices, sizeof *out->devices);
    if (!out->devices)
        return false;
    for (unsigned d = 0; d < out->n_devices; d++) {
        struct cuzk_device_status *device = &out->devices[d];
        device->ordinal = d;
        device->partition = -1;
        memcpy(device->name, core->shared->devices[d].name, sizeof device->name);
        memcpy(device->backend, core->shared->devices[d].backend, sizeof device->backend);
        device->quarantined = core->pipeline.quarantined >> d & 1;
    }
    for (unsigned i = 0; i < core->workers.n; i++) {
        const struct worker *worker = &core->workers.all[i];
        if (worker->class != WORKER_DEVICE || !worker->busy)
            continue;
        struct cuzk_device_status *device = &out->devices[worker->device];
        uint64_t busy_ms = (now_ns - worker->since_ns) / 1000000;
        if (device->partition >= 0 && device->busy_ms >= busy_ms)
            continue; /* of several, the one that has been there longest */
        const struct job *job = worker->task->job;
        memcpy(device->job_id, job->id, sizeof device->job_id);
        device->kind = job->kind;
        device->partition = worker->task->scope.partition;
        device->busy_ms = busy_ms;
    }
    return true;
}

static bool copy_srs(const struct core *core, struct cuzk_snapshot *out)
{
    out->srs = mem_zalloc(SRS_CIRCUITS_MAX, sizeof *out->srs);
    if (!out->srs)
        return false;
    for (size_t i = 0; i < SRS_CIRCUITS_MAX; i++) {
        const struct srs_entry *entry = &core->srs.entries[i];
        if (!entry->loaded)
            continue;
        struct cuzk_srs_status *srs = &out->srs[out->n_srs++];
        memcpy(srs->circuit_id, entry->circuit_id, sizeof srs->circuit_id);
        srs->bytes = entry->loaded->mapped_bytes;
        srs->references = entry->references;
        srs->dev = entry->loaded->dev;
    }
    return true;
}

static void copy_counters(const struct core *core, struct cuzk_snapshot *out, struct stats *stats)
{
    *stats = core->stats;
    stats->preemptions = core->pipeline.preemptions;
    stats->n_workers = core->workers.n;
    stats->budget_peak = core->budget.peak;
    for (unsigned k = 0; k < REQUEST_KINDS; k++) {
        out->queues[k].kind = (enum cuzk_proof_kind)(k + 1);
        out->queues[k].completed = stats->kind[k].completed;
        out->queues[k].failed = stats->kind[k].failed;
        out->completed += stats->kind[k].completed;
        out->failed += stats->kind[k].failed;
        out->cancelled += stats->kind[k].cancelled;
    }
    out->invalid_proofs = stats->invalid_proofs;
    out->preemptions = stats->preemptions;
    out->memory_budget_bytes = core->budget.total;
    out->memory_used_bytes = budget_used(&core->budget);
    out->synthesis_max = core->shared->limits.synthesis_concurrency;
    out->synthesis_active = core->pipeline.count[PARTITION_SYNTHESIZING];
    out->draining = core->draining;
}

enum cuzk_status snapshot_take(const struct core *core, struct cuzk_snapshot *out,
                               struct stats *stats, struct cuzk_error *err)
{
    uint64_t now_ns = clock_now_ns();
    *out = (struct cuzk_snapshot){.uptime_ms = (now_ns - core->shared->opened_ns) / 1000000};
    copy_counters(core, out, stats);
    if (!copy_jobs(core, out, now_ns) || !copy_devices(core, out, now_ns) || !copy_srs(core, out)) {
        cuzk_snapshot_free(out);
        return error_set(err, CUZK_NO_MEMORY, "no memory for a snapshot");
    }
    for (unsigned k = 0; k < REQUEST_KINDS; k++) {
        stats->queued += out->queues[k].pending;
        stats->running += out->queues[k].in_progress;
    }
    return CUZK_OK;
}

void cuzk_snapshot_free(struct cuzk_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->n_jobs; i++)
        mem_free(snapshot->jobs[i].partitions);
    mem_free(snapshot->jobs);
    mem_free(snapshot->devices);
    mem_free(snapshot->srs);
    *snapshot = (struct cuzk_snapshot){0};
}
