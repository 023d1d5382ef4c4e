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

bool job_is_over(const struct job *job)
{
    return job->state == JOB_DONE || job->state == JOB_FAILED || job->state == JOB_CANCELLED;
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
