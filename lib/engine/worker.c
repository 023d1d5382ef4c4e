/* What workers do with their tasks. Nothing here touches what belongs to the engine thread; a job's
   fixed fields (ids, request, work) may be read while it is pinned. */
#include "engine/core.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

static struct trace_scope scope_of(const struct cuzk_engine *engine, const struct worker *worker)
{
    const struct task *task = &worker->task;
    struct trace_scope scope = {engine->trace, task->job ? task->job->id : NULL, -1, -1, -1};
    if (task->kind == TASK_SYNTHESIZE || task->kind == TASK_PROVE || task->kind == TASK_VERIFY)
        scope.partition = (int32_t)task->partition;
    if (task->kind == TASK_PROVE) {
        scope.worker = worker->number;
        scope.device = (int32_t)worker->device;
    }
    return scope;
}

/* A start that could not be counted is no reason to fail a job: poison is only noticed later. */
static enum cuzk_status read_request(struct cuzk_engine *engine, struct task *task,
                                     const struct trace_scope *scope)
{
    struct job *job = task->job;
    if (!job->journaled)
        return CUZK_OK;
    trace_emit(scope, TRACE_JOURNAL_START, -1);
    if (journal_start(engine->journal, job->number, 1, &task->err) != CUZK_OK)
        log_warn("engine", "job %s: %s", job->id, task->err.text);
    enum cuzk_status status = journal_read(engine->journal, job->number, job->request_id,
                                           job->priority, job->hash, &task->request, &task->err);
    trace_emit(scope, TRACE_JOURNAL_END, (int64_t)job->request_bytes);
    return status;
}

static int64_t ms_since(uint64_t start_ns)
{
    return (int64_t)((clock_now_ns() - start_ns) / 1000000);
}

static enum cuzk_status parse(struct cuzk_engine *engine, struct task *task,
                              const struct trace_scope *scope)
{
    TRY(read_request(engine, task, scope));
    uint64_t start = clock_now_ns();
    trace_emit(scope, TRACE_PARSE_START, -1);
    enum cuzk_status status =
        engine->setup.ops->parse(engine->setup.context, task->request, &task->work, &task->err);
    trace_emit(scope, TRACE_PARSE_END, ms_since(start));
    request_release(task->request);
    task->request = NULL;
    return status;
}

static enum cuzk_status synthesize(struct cuzk_engine *engine, struct task *task,
                                   const struct trace_scope *scope)
{
    uint64_t start = clock_now_ns();
    struct work_span span = {*scope, task->job->number, task->partition, 0};
    trace_emit(scope, TRACE_SYNTH_START, -1);
    enum cuzk_status status =
        engine->setup.ops->synthesize(task->work, task->loaded, &span, &task->witness, &task->err);
    trace_emit(scope, TRACE_SYNTH_END, ms_since(start));
    return status;
}

static enum cuzk_status prove(struct cuzk_engine *engine, struct task *task,
                              const struct trace_scope *scope)
{
    trace_emit(scope, TRACE_GPU_PICKUP, -1);
    task->device_ns = 0;
    enum cuzk_status status = engine->setup.ops->check(task->loaded, &task->err);
    if (status == CUZK_OK) {
        struct work_span span = {*scope, task->job->number, task->partition, task->device};
        status = engine->setup.ops->prove(task->work, task->loaded, task->witness, &span,
                                          task->proof, &task->device_ns, &task->err);
    }
    engine->setup.ops->witness_free(task->witness);
    task->witness = NULL;
    return status;
}

static enum cuzk_status verify(struct cuzk_engine *engine, struct task *task,
                               const struct trace_scope *scope)
{
    uint64_t start = clock_now_ns();
    trace_emit(scope, TRACE_VERIFY_START, -1);
    enum cuzk_status status =
        task->kind == TASK_VERIFY
            ? engine->setup.ops->verify(task->work, task->loaded, task->partition, task->proof,
                                        &task->err)
            : engine->setup.ops->verify_all(task->work, task->loaded, task->proofs, &task->err);
    trace_emit(scope, TRACE_VERIFY_END, ms_since(start));
    return status;
}

static enum cuzk_status record(struct cuzk_engine *engine, struct task *task,
                               const struct trace_scope *scope)
{
    trace_emit(scope, TRACE_JOURNAL_START, -1);
    enum cuzk_status status = journal_finish(engine->journal, &task->record, &task->err);
    trace_emit(scope, TRACE_JOURNAL_END, (int64_t)task->record.proof_len);
    return status;
}

static enum cuzk_status load(struct cuzk_engine *engine, struct task *task,
                             const struct trace_scope *scope)
{
    trace_emit(scope, TRACE_SRS_LOAD_START, -1);
    enum cuzk_status status = engine->setup.ops->load(engine->setup.context, task->srs->circuit_id,
                                                      &task->loaded, &task->err);
    trace_emit(scope, TRACE_SRS_LOAD_END,
               status == CUZK_OK ? (int64_t)task->loaded->mapped_bytes : -1);
    return status;
}

void task_run(struct cuzk_engine *engine, struct worker *worker)
{
    struct task *task = &worker->task;
    struct trace_scope scope = scope_of(engine, worker);
    uint64_t start = clock_now_ns();
    switch (task->kind) {
    case TASK_PARSE:
        task->status = parse(engine, task, &scope);
        break;
    case TASK_SYNTHESIZE:
        task->status = synthesize(engine, task, &scope);
        break;
    case TASK_PROVE:
        task->status = prove(engine, task, &scope);
        break;
    case TASK_VERIFY:
    case TASK_FINISH:
        task->status = verify(engine, task, &scope);
        break;
    case TASK_RECORD:
        task->status = record(engine, task, &scope);
        break;
    case TASK_FORGET:
        task->status = journal_forget(engine->journal, task->numbers, task->n_numbers, &task->err);
        break;
    case TASK_LOAD:
        task->status = load(engine, task, &scope);
        break;
    case TASK_UNLOAD:
        engine->setup.ops->unload(task->loaded);
        task->loaded = NULL;
        task->status = CUZK_OK;
        break;
    }
    task->ns = clock_now_ns() - start;
}
