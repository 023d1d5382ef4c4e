#include "engine/job.h"

#include "base/check.h"
#include "base/mem.h"

#include <stdio.h>

#define TO(state) (1u << JOB_##state)

static const unsigned legal[JOB_STATES] = {
    [JOB_ACCEPTED] = TO(QUEUED) | TO(FAILED) | TO(CANCELLED),
    [JOB_QUEUED] = TO(PARSING) | TO(FAILED) | TO(CANCELLED),
    [JOB_PARSING] = TO(RUNNING) | TO(FAILED) | TO(CANCELLED),
    [JOB_RUNNING] = TO(DONE) | TO(FAILED) | TO(CANCELLED),
    [JOB_DONE] = TO(EXPIRED),
    [JOB_FAILED] = TO(EXPIRED),
    [JOB_CANCELLED] = TO(EXPIRED),
    [JOB_EXPIRED] = 0,
};

bool job_may_become(enum job_state from, enum job_state to)
{
    return legal[from] >> to & 1;
}

void job_become(struct job *job, enum job_state to)
{
    CHECK(job_may_become(job->state, to));
    job->state = to;
}

const char *job_state_text(enum job_state state)
{
    static const char *const texts[JOB_STATES] = {
#define X(name, text) text,
        JOB_STATE_MAP(X)
#undef X
    };
    return texts[state];
}

bool job_is_waiting(const struct job *job)
{
    return job->state == JOB_ACCEPTED || job->state == JOB_QUEUED;
}

bool job_is_over(const struct job *job)
{
    return job->state == JOB_DONE || job->state == JOB_FAILED || job->state == JOB_CANCELLED;
}

bool job_is_critical(const struct job *job)
{
    return job->priority >= CUZK_PRIORITY_CRITICAL;
}

enum cuzk_job_outcome job_outcome(const struct job *job)
{
    CHECK(job_is_over(job));
    return job->state == JOB_DONE     ? CUZK_JOB_COMPLETED
           : job->state == JOB_FAILED ? CUZK_JOB_FAILED
                                      : CUZK_JOB_CANCELLED;
}

uint64_t job_ms_between(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns && from_ns ? (to_ns - from_ns) / 1000000 : 0;
}

void job_result(const struct job *job, enum cuzk_job_outcome outcome, struct cuzk_result *out)
{
    *out = (struct cuzk_result){
        .job_id = job->id,
        .outcome = outcome,
        .error = job->error,
        .queue_ms = job_ms_between(job->accepted_ns, job->started_ns),
        .srs_load_ms = job->srs_ns / 1000000,
        .synthesis_ms = job->synthesis_ms,
        .device_ms = job->device_ms,
        .total_ms = job_ms_between(job->accepted_ns, job->done_ns),
    };
    if (outcome == CUZK_JOB_COMPLETED) {
        CHECK(job->proof && job->proof_len > 0);
        out->proof = job->proof;
        out->proof_len = job->proof_len;
    }
}

struct job *job_new(uint64_t number, const char *request_id)
{
    struct job *job = mem_zalloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->number = number;
    request_job_id(request_id, number, job->id);
    snprintf(job->request_id, sizeof job->request_id, "%s", request_id);
    return job;
}

bool job_make_partitions(struct job *job, unsigned n)
{
    struct job_partition *partitions = mem_zalloc(n, sizeof *partitions);
    struct pipeline_partition *line = mem_zalloc(n, sizeof *line);
    if (!partitions || !line) {
        mem_free(partitions);
        mem_free(line);
        return false;
    }
    job->partitions = partitions;
    job->line_partitions = line;
    job->n_partitions = n;
    return true;
}

void job_free(struct job *job, const struct work_ops *ops)
{
    if (!job)
        return;
    CHECK(job->pins == 0 && !job->srs && !job->in_line);
    if (job->work)
        ops->work_free(job->work);
    request_release(job->request);
    mem_free(job->partitions);
    mem_free(job->line_partitions);
    mem_free(job->proof);
    mem_free(job);
}

struct trace_scope job_scope(const struct job *job, struct trace *trace)
{
    return TRACE_SCOPE(trace, job->id);
}

struct trace_scope job_partition_scope(const struct job *job, unsigned partition,
                                       struct trace *trace)
{
    struct trace_scope scope = job_scope(job, trace);
    scope.partition = (int32_t)partition;
    return scope;
}
