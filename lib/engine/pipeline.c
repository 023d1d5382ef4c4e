#include "engine/pipeline.h"

#include "base/check.h"

#include <string.h>

static bool is_critical(const struct pipeline_job *job)
{
    return job->entry.priority >= CUZK_PRIORITY_CRITICAL;
}

static void move_partition(struct pipeline *pipeline, struct pipeline_job *job, unsigned partition,
                           enum partition_state from, enum partition_state to)
{
    struct pipeline_partition *p = &job->partitions[partition];
    CHECK(p->state == from && job->count[from] > 0 && pipeline->count[from] > 0);
    job->count[from]--;
    pipeline->count[from]--;
    p->state = to;
    job->count[to]++;
    pipeline->count[to]++;
}

void pipeline_init(struct pipeline *pipeline, const struct pipeline_limits *limits)
{
    CHECK(limits->n_devices >= 1 && limits->n_devices <= PIPELINE_DEVICES_MAX);
    *pipeline = (struct pipeline){.limits = *limits};
}

void pipeline_free(struct pipeline *pipeline)
{
    queue_free(&pipeline->queue);
}

bool pipeline_add(struct pipeline *pipeline, struct pipeline_job *job, enum cuzk_priority priority,
                  uint64_t age)
{
    *job = (struct pipeline_job){.entry = {(int)priority, age, job}};
    return queue_insert(&pipeline->queue, &job->entry);
}

void pipeline_open(struct pipeline_job *job, struct pipeline *pipeline,
                   struct pipeline_partition *partitions, unsigned n, uint64_t devices)
{
    memset(partitions, 0, n * sizeof *partitions);
    job->partitions = partitions;
    job->n_partitions = n;
    job->devices = devices;
    job->count[PARTITION_WAITING] = n;
    pipeline->count[PARTITION_WAITING] += n;
    job->ready = true;
}

void pipeline_remove(struct pipeline *pipeline, struct pipeline_job *job)
{
    queue_remove(&pipeline->queue, &job->entry);
    job->ready = false;
    for (unsigned state = 0; state < PARTITION_STATES; state++)
        if (state != PARTITION_SYNTHESIZING && state != PARTITION_PROVING) {
            pipeline->count[state] -= job->count[state];
            job->count[state] = 0;
        }
}

void pipeline_dropped(struct pipeline *pipeline, struct pipeline_job *job, unsigned partition)
{
    const struct pipeline_partition *p = &job->partitions[partition];
    CHECK(p->state == PARTITION_SYNTHESIZING || p->state == PARTITION_PROVING);
    CHECK(job->count[p->state] > 0 && pipeline->count[p->state] > 0);
    job->count[p->state]--;
    pipeline->count[p->state]--;
    if (p->state == PARTITION_PROVING)
        pipeline->proving[p->device]--;
}

static bool find_partition(const struct pipeline_job *job, enum partition_state state,
                           unsigned *partition)
{
    if (!job->ready || job->count[state] == 0)
        return false;
    for (unsigned i = 0; i < job->n_partitions; i++)
        if (job->partitions[i].state == state) {
            *partition = i;
            return true;
        }
    return false;
}

bool pipeline_pick_synthesis(const struct pipeline *pipeline, struct pipeline_pick *pick)
{
    unsigned busy = pipeline->count[PARTITION_SYNTHESIZING] + pipeline->count[PARTITION_BLOCKED];
    for (size_t i = 0; i < pipeline->queue.len; i++) {
        struct pipeline_job *job = pipeline->queue.entries[i]->owner;
        unsigned workers = pipeline->limits.synthesis_concurrency + (is_critical(job) ? 1 : 0);
        if (busy >= workers)
            return false; /* later jobs have no better right */
        if (find_partition(job, PARTITION_WAITING, &pick->partition)) {
            pick->job = job;
            return true;
        }
    }
    return false;
}

void pipeline_start_synthesis(struct pipeline *pipeline, const struct pipeline_pick *pick)
{
    move_partition(pipeline, pick->job, pick->partition, PARTITION_WAITING, PARTITION_SYNTHESIZING);
}

enum partition_state pipeline_synthesized(struct pipeline *pipeline, struct pipeline_job *job,
                                          unsigned partition)
{
    bool room = is_critical(job) || pipeline->count[PARTITION_READY] < pipeline->limits.lookahead;
    enum partition_state state = room ? PARTITION_READY : PARTITION_BLOCKED;
    move_partition(pipeline, job, partition, PARTITION_SYNTHESIZING, state);
    return state;
}

/* The least loaded device that may take this partition. A device that is quarantined, or has failed
   the partition, is only taken when no other device has the circuit. */
static bool find_device(const struct pipeline *pipeline, const struct pipeline_job *job,
                        unsigned partition, unsigned *device)
{
    uint64_t usable = job->devices & ~pipeline->quarantined;
    if (!usable)
        usable = job->devices;
    if (usable & ~job->partitions[partition].avoid)
        usable &= ~job->partitions[partition].avoid;
    /* Where workers overlap on a device, a CRITICAL partition need not wait for a worker. */
    unsigned workers = pipeline->limits.workers_per_device;
    unsigned slots = workers + (workers > 1 && is_critical(job) ? 1 : 0);
    bool found = false;
    for (unsigned d = 0; d < pipeline->limits.n_devices; d++)
        if (usable >> d & 1 && pipeline->proving[d] < slots &&
            (!found || pipeline->proving[d] < pipeline->proving[*device])) {
            *device = d;
            found = true;
        }
    return found;
}

bool pipeline_pick_proving(const struct pipeline *pipeline, struct pipeline_pick *pick)
{
    for (size_t i = 0; i < pipeline->queue.len; i++) {
        struct pipeline_job *job = pipeline->queue.entries[i]->owner;
        if (!job->ready || job->count[PARTITION_READY] == 0)
            continue;
        for (unsigned p = 0; p < job->n_partitions; p++)
            if (job->partitions[p].state == PARTITION_READY &&
                find_device(pipeline, job, p, &pick->device)) {
                pick->job = job;
                pick->partition = p;
                return true;
            }
    }
    return false;
}

/* Is there an older job of a lower priority with a synthesized partition, READY or BLOCKED? */
static bool passes_another(const struct pipeline *pipeline, const struct pipeline_job *job)
{
    for (size_t i = queue_rank(&pipeline->queue, &job->entry); i < pipeline->queue.len; i++) {
        const struct pipeline_job *other = pipeline->queue.entries[i]->owner;
        if (other->entry.priority < job->entry.priority && other->entry.age < job->entry.age &&
            other->count[PARTITION_READY] + other->count[PARTITION_BLOCKED] > 0)
            return true;
    }
    return false;
}

void pipeline_start_proving(struct pipeline *pipeline, const struct pipeline_pick *pick)
{
    if (passes_another(pipeline, pick->job))
        pipeline->preemptions++;
    move_partition(pipeline, pick->job, pick->partition, PARTITION_READY, PARTITION_PROVING);
    pick->job->partitions[pick->partition].device = pick->device;
    pipeline->proving[pick->device]++;
}

bool pipeline_unblock(struct pipeline *pipeline, struct pipeline_pick *pick)
{
    if (pipeline->count[PARTITION_READY] >= pipeline->limits.lookahead ||
        pipeline->count[PARTITION_BLOCKED] == 0)
        return false;
    for (size_t i = 0; i < pipeline->queue.len; i++) {
        struct pipeline_job *job = pipeline->queue.entries[i]->owner;
        if (find_partition(job, PARTITION_BLOCKED, &pick->partition)) {
            pick->job = job;
            move_partition(pipeline, job, pick->partition, PARTITION_BLOCKED, PARTITION_READY);
            return true;
        }
    }
    return false;
}

void pipeline_proved(struct pipeline *pipeline, struct pipeline_job *job, unsigned partition)
{
    unsigned device = job->partitions[partition].device;
    CHECK(pipeline->proving[device] > 0);
    pipeline->proving[device]--;
    move_partition(pipeline, job, partition, PARTITION_PROVING, PARTITION_PROVED);
}

void pipeline_verified(struct pipeline *pipeline, struct pipeline_job *job, unsigned partition)
{
    move_partition(pipeline, job, partition, PARTITION_PROVED, PARTITION_VERIFIED);
}

void pipeline_redo(struct pipeline *pipeline, struct pipeline_job *job, unsigned partition)
{
    struct pipeline_partition *p = &job->partitions[partition];
    p->avoid |= UINT64_C(1) << p->device;
    move_partition(pipeline, job, partition, PARTITION_PROVED, PARTITION_WAITING);
}

bool pipeline_quarantine(struct pipeline *pipeline, unsigned device)
{
    uint64_t all = pipeline->limits.n_devices == PIPELINE_DEVICES_MAX
                       ? UINT64_MAX
                       : (UINT64_C(1) << pipeline->limits.n_devices) - 1;
    uint64_t without = all & ~pipeline->quarantined & ~(UINT64_C(1) << device);
    if (without == 0)
        return false;
    pipeline->quarantined |= UINT64_C(1) << device;
    return true;
}

bool pipeline_wants_parse(const struct pipeline *pipeline, enum cuzk_priority priority,
                          unsigned parsing)
{
    if (priority >= CUZK_PRIORITY_CRITICAL)
        return true;
    unsigned ahead = parsing;
    for (size_t i = 0; i < pipeline->queue.len; i++) {
        const struct pipeline_job *job = pipeline->queue.entries[i]->owner;
        if (job->entry.priority < (int)priority)
            break; /* jobs of a lower priority do not count */
        if (job->ready && job->count[PARTITION_WAITING] == job->n_partitions)
            ahead++;
    }
    return ahead < pipeline->limits.synthesis_concurrency;
}
