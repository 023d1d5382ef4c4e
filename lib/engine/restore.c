#include "engine/restore.h"

#include "engine/core.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

/* Milliseconds since a job was finished, by the wall clock; never negative. */
static uint64_t age_of(const struct journal_job *from)
{
    uint64_t now = clock_unix_s();
    return now > from->finished_unix ? (now - from->finished_unix) * 1000 : 0;
}

/* A finished job of an earlier process. Its clock readings mean nothing here; they are set so that
   the same durations come out. */
static enum cuzk_status restore_over(struct core *core, struct job *job,
                                     const struct journal_job *from, struct cuzk_error *err)
{
    pipeline_remove(&core->pipeline, &job->line);
    job->in_line = false;
    job->state = from->state == JOURNAL_DONE     ? JOB_DONE
                 : from->state == JOURNAL_FAILED ? JOB_FAILED
                                                 : JOB_CANCELLED;
    if (from->state != JOURNAL_DONE)
        error_set(&job->error, from->error_status, "%s", from->error_text);
    job->accepted_ns = 1;
    job->started_ns = 1 + from->queue_ms * 1000000;
    job->done_ns = 1 + from->total_ms * 1000000;
    job->srs_ns = from->srs_load_ms * 1000000;
    job->synthesis_ms = from->synthesis_ms;
    job->device_ms = from->device_ms;
    const uint64_t age_ms = age_of(from);
    const uint64_t keep_ms = core->shared->keep_ms;
    job->expires_ms = clock_now_ms() + (age_ms < keep_ms ? keep_ms - age_ms : 0);
    if (from->state != JOURNAL_DONE)
        return CUZK_OK;
    job->proof = from->proof_len > 0 ? mem_memdup(from->proof, from->proof_len) : NULL;
    job->proof_len = from->proof_len;
    return job->proof ? CUZK_OK : error_set(err, CUZK_NO_MEMORY, "no memory for a kept proof");
}

static enum cuzk_status restore_one(void *context, const struct journal_job *from,
                                    struct cuzk_error *err)
{
    struct core *core = context;
    bool known_kind = from->kind >= CUZK_POREP && from->kind <= CUZK_WINNING_POST;
    if (!known_kind || strlen(from->request_id) > CUZK_REQUEST_ID_MAX)
        return error_set(err, CUZK_IO, "journal: job %" PRIu64 " makes no sense", from->number);
    struct job *job = jobs_add(core, from->request_id, from->priority, from->number);
    if (!job)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the journal's jobs");
    memcpy(job->hash, from->hash, REQUEST_HASH_BYTES);
    job->kind = from->kind;
    job->journaled = true;
    job->starts = from->starts;
    job->request_bytes = from->request_bytes;
    if (from->state != JOURNAL_PENDING)
        return restore_over(core, job, from, err);
    job_become(job, JOB_QUEUED);
    struct trace_scope scope = job_scope(job, core->shared->trace);
    trace_emit(&scope, TRACE_JOB_ACCEPTED, (int64_t)job->request_bytes);
    trace_emit(&scope, TRACE_QUEUE_START, -1);
    return CUZK_OK;
}

enum cuzk_status restore_jobs(struct core *core, struct cuzk_error *err)
{
    TRY(journal_visit(core->shared->journal, restore_one, core, err));
    if (journal_next_number(core->shared->journal) > core->jobs.next_number)
        core->jobs.next_number = journal_next_number(core->shared->journal);
    return CUZK_OK;
}
