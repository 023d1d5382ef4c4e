/* Giving work to workers, and what follows when they come back. */
#include "engine/core.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

static bool is_critical(const struct job *job)
{
    return job->priority >= CUZK_PRIORITY_CRITICAL;
}

/* --- Workers ----------------------------------------------------------------------- */

struct worker *core_worker(struct cuzk_engine *engine, enum worker_class class, bool critical,
                           unsigned device)
{
    for (unsigned i = 0; i < engine->n_workers; i++) {
        struct worker *worker = &engine->workers[i];
        if (worker->class == class && !worker->busy && (critical || !worker->reserve) &&
            (class != WORKER_DEVICE || worker->device == device))
            return worker;
    }
    return NULL;
}

void core_send(struct cuzk_engine *engine, struct worker *worker)
{
    CHECK(!worker->busy);
    worker->busy = true;
    worker->since_ns = clock_now_ns();
    engine->busy++;
    if (worker->task.job)
        worker->task.job->pins++;
    CHECK(chan_send(worker->inbox, &worker->task)); /* its inbox is empty: never waits */
}

/* --- Giving ------------------------------------------------------------------------ */

static struct job *job_in_line(const struct cuzk_engine *engine, size_t i)
{
    return core_job_of(engine->pipeline.queue.entries[i]->owner);
}

static void begin_budget_wait(struct cuzk_engine *engine, struct job *job, uint64_t bytes)
{
    if (job->budget_waits)
        return;
    job->budget_waits = true;
    struct trace_scope scope = job_scope(job, engine->trace);
    trace_emit(&scope, TRACE_BUDGET_WAIT_START, (int64_t)bytes);
}

static void end_budget_wait(struct cuzk_engine *engine, struct job *job, uint64_t bytes)
{
    if (!job->budget_waits)
        return;
    job->budget_waits = false;
    struct trace_scope scope = job_scope(job, engine->trace);
    trace_emit(&scope, TRACE_BUDGET_WAIT_END, (int64_t)bytes);
}

/* A journaled job has its request on disk and takes its memory now; another one has taken it when
   it was accepted. */
static bool take_request_memory(struct cuzk_engine *engine, struct job *job)
{
    if (job->request_hold.bytes > 0)
        return true;
    uint64_t bytes = 2 * job->request_bytes;
    struct cuzk_error err;
    if (budget_could_fit(&engine->budget, BUDGET_REQUESTS, bytes, 0, &err) != CUZK_OK) {
        core_end_job(engine, job, JOB_FAILED, &err);
        return false;
    }
    if (!budget_take(&engine->budget, BUDGET_REQUESTS, bytes, is_critical(job),
                     &job->request_hold)) {
        begin_budget_wait(engine, job, bytes);
        return false;
    }
    end_budget_wait(engine, job, bytes);
    return true;
}

static void use_circuit(struct cuzk_engine *engine, struct job *job)
{
    job->srs = srs_find(engine, job->circuit_id, true);
    if (job->srs) {
        srs_reference(job->srs, is_critical(job));
        return;
    }
    struct cuzk_error err;
    error_set(&err, CUZK_RESOURCE_EXHAUSTED, "more than %d circuits in use", CORE_SRS_MAX);
    core_end_job(engine, job, JOB_FAILED, &err);
}

static void start_parse(struct cuzk_engine *engine, struct job *job, struct worker *worker)
{
    struct trace_scope scope = job_scope(job, engine->trace);
    job->started_ns = clock_now_ns();
    engine->stats.queue_wait_ns += job->started_ns - job->accepted_ns;
    trace_emit(&scope, TRACE_QUEUE_END, (int64_t)((job->started_ns - job->accepted_ns) / 1000000));
    job_become(job, JOB_PARSING);
    if (job->starts > 0)
        engine->suspect = job;
    if (!is_critical(job))
        engine->parsing++;
    worker->task = (struct task){.kind = TASK_PARSE, .job = job, .request = job->request};
    job->request = NULL;
    core_send(engine, worker);
    if (job->circuit_id[0])
        use_circuit(engine, job);
}

static void dispatch_parse(struct cuzk_engine *engine)
{
    if (engine->hold_queue)
        return;
    for (size_t i = 0; i < engine->pipeline.queue.len; i++) {
        struct job *job = job_in_line(engine, i);
        if (job->state != JOB_QUEUED || (job->starts > 0 && engine->suspect))
            continue;
        if (!pipeline_wants_parse(&engine->pipeline, job->priority, engine->parsing))
            return;
        struct worker *worker = core_worker(engine, WORKER_HOST, is_critical(job), 0);
        if (!worker)
            return;
        struct srs_entry *entry = srs_find(engine, job->circuit_id, false);
        if (job->circuit_id[0] && entry && (entry->stale || entry->state == SRS_UNLOADING))
            continue; /* until that has gone */
        if (!take_request_memory(engine, job)) {
            if (job_is_over(job)) {
                i--; /* the line has closed up */
                continue;
            }
            return;
        }
        start_parse(engine, job, worker);
    }
}

/* Parsed, and the circuit is loaded: into the pipeline. */
static void open_jobs(struct cuzk_engine *engine)
{
    for (size_t i = 0; i < engine->pipeline.queue.len; i++) {
        struct job *job = job_in_line(engine, i);
        if (job->state != JOB_PARSING || !job->parsed)
            continue;
        struct trace_scope scope = job_scope(job, engine->trace);
        if (job->srs->state != SRS_READY || job->srs->stale) {
            if (!job->srs_waits)
                trace_emit(&scope, TRACE_SRS_WAIT_START, -1);
            job->srs_waits = true;
            continue;
        }
        if (job->srs_waits)
            trace_emit(&scope, TRACE_SRS_WAIT_END, -1);
        job->srs_waits = false;
        if (job->srs->load_started_ns > job->started_ns)
            job->srs_ns = job->srs->load_ns;
        job_become(job, JOB_RUNNING);
        pipeline_open(&job->line, &engine->pipeline, job->line_partitions, job->n_partitions,
                      job->srs->loaded->devices);
    }
}

static void dispatch_synthesis(struct cuzk_engine *engine)
{
    struct pipeline_pick pick;
    while (pipeline_pick_synthesis(&engine->pipeline, &pick)) {
        struct job *job = core_job_of(pick.job);
        struct worker *worker = core_worker(engine, WORKER_SYNTHESIS, true, 0);
        if (!worker)
            return;
        struct job_partition *p = &job->partitions[pick.partition];
        uint64_t bytes = job->srs->loaded->partition_bytes;
        if (!budget_take(&engine->budget, BUDGET_PARTITIONS, bytes, is_critical(job), &p->hold)) {
            begin_budget_wait(engine, job, bytes);
            return; /* nobody passes whoever waits for memory: first come, first served */
        }
        end_budget_wait(engine, job, bytes);
        pipeline_start_synthesis(&engine->pipeline, &pick);
        worker->task = (struct task){.kind = TASK_SYNTHESIZE,
                                     .job = job,
                                     .work = job->work,
                                     .loaded = job->srs->loaded,
                                     .partition = pick.partition};
        core_send(engine, worker);
    }
}

static void announce_ready(struct cuzk_engine *engine, struct job *job, unsigned partition,
                           bool was_blocked)
{
    struct trace_scope scope = job_scope(job, engine->trace);
    scope.partition = (int32_t)partition;
    if (was_blocked)
        trace_emit(&scope, TRACE_LOOKAHEAD_WAIT_END, -1);
    trace_emit(&scope, TRACE_CHAN_SEND, -1);
}

static void unblock(struct cuzk_engine *engine)
{
    struct pipeline_pick pick;
    while (pipeline_unblock(&engine->pipeline, &pick))
        announce_ready(engine, core_job_of(pick.job), pick.partition, true);
}

static void dispatch_proving(struct cuzk_engine *engine)
{
    struct pipeline_pick pick;
    unblock(engine);
    while (pipeline_pick_proving(&engine->pipeline, &pick)) {
        struct job *job = core_job_of(pick.job);
        struct job_partition *p = &job->partitions[pick.partition];
        struct worker *worker = core_worker(engine, WORKER_DEVICE, true, pick.device);
        CHECK(worker); /* the pipeline knows how many there are */
        pipeline_start_proving(&engine->pipeline, &pick);
        worker->task = (struct task){.kind = TASK_PROVE,
                                     .job = job,
                                     .work = job->work,
                                     .loaded = job->srs->loaded,
                                     .witness = p->witness,
                                     .partition = pick.partition,
                                     .device = pick.device};
        p->witness = NULL;
        core_send(engine, worker);
        unblock(engine);
    }
}

/* Verification of a partition, then of the whole job. A simulation has nothing to verify. */
static bool give_check(struct cuzk_engine *engine, struct job *job)
{
    struct worker *worker = core_worker(engine, WORKER_HOST, is_critical(job), 0);
    if (!worker)
        return false;
    struct task task = {.job = job, .work = job->work, .loaded = job->srs->loaded};
    if (job->ending == ENDING_VERIFY) {
        task.kind = TASK_FINISH;
        task.proofs = job->proof;
        job->ending = ENDING_VERIFYING;
    } else if (job->ending == ENDING_RECORD) {
        task.kind = TASK_RECORD;
        job->done_ns = clock_now_ns();
        core_journal_record(job, JOURNAL_DONE, &task.record);
        job->ending = ENDING_RECORDING;
    } else {
        unsigned p = 0;
        while (job->line_partitions[p].state != PARTITION_PROVED || job->partitions[p].verifying)
            p++;
        task.kind = TASK_VERIFY;
        task.partition = p;
        memcpy(task.proof, job->partitions[p].proof, sizeof task.proof);
        job->partitions[p].verifying = true;
    }
    worker->task = task;
    core_send(engine, worker);
    return true;
}

static bool wants_check(const struct job *job)
{
    if (job->state != JOB_RUNNING)
        return false;
    if (job->ending == ENDING_VERIFY || job->ending == ENDING_RECORD)
        return true;
    for (unsigned p = 0; p < job->n_partitions; p++)
        if (job->line_partitions[p].state == PARTITION_PROVED && !job->partitions[p].verifying)
            return true;
    return false;
}

static void dispatch_checks(struct cuzk_engine *engine)
{
    for (size_t i = 0; i < engine->pipeline.queue.len; i++) {
        struct job *job = job_in_line(engine, i);
        while (wants_check(job))
            if (!give_check(engine, job))
                return;
    }
}

static void dispatch_journal(struct cuzk_engine *engine)
{
    for (size_t i = 0; i < engine->n_jobs && engine->n_records > 0; i++) {
        struct job *job = engine->jobs[i];
        if (!job->record_wanted)
            continue;
        struct worker *worker = core_worker(engine, WORKER_HOST, is_critical(job), 0);
        if (!worker)
            return;
        job->record_wanted = false;
        engine->n_records--;
        worker->task = (struct task){.kind = TASK_RECORD, .job = job};
        core_journal_record(job, job->state == JOB_FAILED ? JOURNAL_FAILED : JOURNAL_CANCELLED,
                            &worker->task.record);
        core_send(engine, worker);
    }
    if (engine->n_forgotten == 0)
        return;
    struct worker *worker = core_worker(engine, WORKER_HOST, false, 0);
    if (!worker)
        return;
    worker->task = (struct task){
        .kind = TASK_FORGET, .numbers = engine->forgotten, .n_numbers = engine->n_forgotten};
    engine->forgotten = NULL;
    engine->n_forgotten = engine->forgotten_capacity = 0;
    core_send(engine, worker);
}

void core_dispatch(struct cuzk_engine *engine)
{
    dispatch_checks(engine);
    if (!engine->closing) {
        srs_dispatch(engine);
        dispatch_parse(engine);
        srs_dispatch(engine);
        open_jobs(engine);
        dispatch_proving(engine);
        dispatch_synthesis(engine);
    }
    dispatch_journal(engine);
}

/* --- Taking back ------------------------------------------------------------------- */

static void fail_job(struct cuzk_engine *engine, struct job *job, struct task *task,
                     const char *phase)
{
    error_prefix(&task->err, "partition %u, %s", task->partition, phase);
    core_end_job(engine, job, JOB_FAILED, &task->err);
}

static void fail_without_memory(struct cuzk_engine *engine, struct job *job)
{
    struct cuzk_error err;
    error_set(&err, CUZK_NO_MEMORY, "no memory for the job's partitions");
    core_end_job(engine, job, JOB_FAILED, &err);
}

static void parsed(struct cuzk_engine *engine, struct task *task)
{
    struct job *job = task->job;
    if (!is_critical(job))
        engine->parsing--;
    job->work = task->work;
    if (job_is_over(job))
        return;
    if (task->status != CUZK_OK) {
        core_end_job(engine, job, JOB_FAILED, &task->err);
        return;
    }
    budget_release(&engine->budget, &job->request_hold, job->request_bytes);
    if (!job_make_partitions(job, job->work->n_partitions)) {
        fail_without_memory(engine, job);
        return;
    }
    job->proof_len = (size_t)job->n_partitions * CUZK_PROOF_BYTES;
    job->proof = mem_zalloc(job->proof_len, 1);
    if (!job->proof) {
        fail_without_memory(engine, job);
        return;
    }
    job->parsed = true;
    if (!job->srs) {
        memcpy(job->circuit_id, job->work->circuit_id, sizeof job->circuit_id);
        use_circuit(engine, job);
    }
}

static void synthesized(struct cuzk_engine *engine, struct task *task)
{
    struct job *job = task->job;
    struct job_partition *p = &job->partitions[task->partition];
    p->witness = task->witness;
    p->synth_ns += task->ns;
    engine->stats.synthesis_ns += task->ns;
    if (task->status == CUZK_INVALID_ARGUMENT && !job_is_over(job))
        core_end_job(engine, job, JOB_FAILED, &task->err); /* in the words of whoever checked */
    else if (task->status != CUZK_OK && !job_is_over(job))
        fail_job(engine, job, task, "synthesis");
    if (job_is_over(job)) {
        pipeline_dropped(&engine->pipeline, &job->line, task->partition);
        core_drop_witness(engine, job, task->partition);
        return;
    }
    if (pipeline_synthesized(&engine->pipeline, &job->line, task->partition) == PARTITION_READY) {
        announce_ready(engine, job, task->partition, false);
        return;
    }
    struct trace_scope scope = job_scope(job, engine->trace);
    scope.partition = (int32_t)task->partition;
    trace_emit(&scope, TRACE_LOOKAHEAD_WAIT_START, -1);
}

static void blame_device(struct cuzk_engine *engine, unsigned device, const char *why)
{
    uint64_t failures = ++engine->stats.device_failures[device];
    log_error("engine", "device %u (%s): %s, %" PRIu64 " failures so far", device,
              engine->devices[device].name, why, failures);
    if (failures < CORE_DEVICE_FAILURES || engine->pipeline.quarantined >> device & 1)
        return;
    if (pipeline_quarantine(&engine->pipeline, device))
        log_error("engine", "device %u (%s) is quarantined: it gets no more work", device,
                  engine->devices[device].name);
    else
        log_error("engine",
                  "device %u (%s) would be quarantined, but it is the last one: it goes on,"
                  " and every proof is verified",
                  device, engine->devices[device].name);
}

/* This process cannot use the device any more: it gets no more work, and if it was the last one,
   whoever opened the engine hears of it before any job fails for it. */
static void lose_device(struct cuzk_engine *engine, unsigned device, const char *why)
{
    if (engine->pipeline.quarantined >> device & 1)
        return;
    log_error("engine", "device %u (%s) is lost to this process: %s", device,
              engine->devices[device].name, why);
    if (!pipeline_quarantine(&engine->pipeline, device) && engine->devices_lost)
        engine->devices_lost(engine->devices_lost_context, why);
}

static bool is_device_failure(enum cuzk_status status)
{
    return status == CUZK_DEVICE_FAULT || status == CUZK_DEVICE_LOST;
}

/* The partition is done again from its synthesis on; false if that has been tried already. */
static bool redo(struct cuzk_engine *engine, struct task *task)
{
    struct job *job = task->job;
    struct job_partition *p = &job->partitions[task->partition];
    if (p->redone)
        return false;
    p->redone = true;
    engine->stats.redone++;
    struct trace_scope scope = job_scope(job, engine->trace);
    scope.partition = (int32_t)task->partition;
    trace_emit_text(&scope, TRACE_RETRY, -1,
                    is_device_failure(task->status) ? "reason=device_fault"
                                                    : "reason=invalid_proof");
    log_warn("engine", "job %s, partition %u: done again after: %s", job->id, task->partition,
             task->err.text);
    pipeline_redo(&engine->pipeline, &job->line, task->partition);
    return true;
}

/* A partition's proof is good; if it is the second one, the device of the first one is to blame. */
static void accept_partition(struct cuzk_engine *engine, struct task *task)
{
    struct job *job = task->job;
    struct job_partition *p = &job->partitions[task->partition];
    pipeline_verified(&engine->pipeline, &job->line, task->partition);
    engine->stats.partitions++;
    memcpy(job->proof + (size_t)task->partition * CUZK_PROOF_BYTES, p->proof, CUZK_PROOF_BYTES);
    if (p->suspected)
        blame_device(engine, p->suspect, "a proof of it did not verify, and a second one did");
    p->suspected = false;
    if (job->line.count[PARTITION_VERIFIED] == job->n_partitions)
        job->ending = ENDING_VERIFY;
}

static void end_simulated(struct cuzk_engine *engine, struct job *job)
{
    struct cuzk_error err;
    error_set(&err, CUZK_FAILED_PRECONDITION,
              CUZK_SIMULATION_TEXT ": the backend '%s' makes no proofs",
              engine->devices[0].backend);
    core_end_job(engine, job, JOB_FAILED, &err);
}

static void proved(struct cuzk_engine *engine, struct task *task)
{
    struct job *job = task->job;
    struct job_partition *p = &job->partitions[task->partition];
    core_drop_witness(engine, job, task->partition);
    p->device_ns += task->device_ns;
    engine->stats.device_ns += task->device_ns;
    engine->stats.device_busy_ns[task->device] += task->device_ns;
    if (is_device_failure(task->status)) {
        engine->stats.device_faults++;
        blame_device(engine, task->device, task->err.text);
    }
    if (task->status == CUZK_DEVICE_LOST)
        lose_device(engine, task->device, task->err.text);
    if (job_is_over(job)) {
        pipeline_dropped(&engine->pipeline, &job->line, task->partition);
        return;
    }
    pipeline_proved(&engine->pipeline, &job->line, task->partition);
    if (task->status == CUZK_OK) {
        memcpy(p->proof, task->proof, sizeof p->proof);
        if (engine->setup.verification == WORK_VERIFIED)
            return;
        accept_partition(engine, task);
        if (job->ending == ENDING_VERIFY)
            end_simulated(engine, job);
        return;
    }
    if (task->status == CUZK_BAD_PARAMS)
        job->srs->stale = true;
    if (!is_device_failure(task->status) || !redo(engine, task))
        fail_job(engine, job, task, "device");
}

static void verified(struct cuzk_engine *engine, struct task *task)
{
    struct job *job = task->job;
    struct job_partition *p = &job->partitions[task->partition];
    engine->stats.verify_ns += task->ns;
    p->verifying = false;
    if (job_is_over(job))
        return;
    if (task->status == CUZK_OK) {
        accept_partition(engine, task);
        return;
    }
    unsigned device = job->line_partitions[task->partition].device;
    engine->stats.invalid_proofs++;
    error_prefix(&task->err, "the proof made on device %u (%s) is not valid", device,
                 engine->devices[device].name);
    unsigned before = p->suspect;
    if (redo(engine, task)) {
        p->suspect = device;
        p->suspected = true;
        return;
    }
    if (p->suspected)
        error_prefix(&task->err, "after one on device %u was not either", before);
    fail_job(engine, job, task, "verification");
}

static void finished(struct cuzk_engine *engine, struct task *task)
{
    struct job *job = task->job;
    engine->stats.verify_ns += task->ns;
    if (job_is_over(job))
        return;
    if (task->status != CUZK_OK) {
        engine->stats.invalid_proofs++;
        error_prefix(&task->err, "the whole proof");
        core_end_job(engine, job, JOB_FAILED, &task->err);
        return;
    }
    if (job->journaled)
        job->ending = ENDING_RECORD;
    else
        core_end_job(engine, job, JOB_DONE, NULL);
}

/* A result that could not be journaled is still a result: after a crash the job would merely be
   done again. */
static void recorded(struct cuzk_engine *engine, struct task *task)
{
    struct job *job = task->job;
    if (task->status != CUZK_OK) {
        engine->stats.journal_failures++;
        log_error("engine", "job %s: its result is not in the journal: %s", job->id,
                  task->err.text);
    }
    if (!job_is_over(job))
        core_end_job(engine, job, JOB_DONE, NULL);
}

void core_task_done(struct cuzk_engine *engine, struct worker *worker)
{
    struct task *task = &worker->task;
    CHECK(worker->busy && engine->busy > 0);
    worker->busy = false;
    engine->busy--;
    switch (task->kind) {
    case TASK_PARSE:
        parsed(engine, task);
        break;
    case TASK_SYNTHESIZE:
        synthesized(engine, task);
        break;
    case TASK_PROVE:
        proved(engine, task);
        break;
    case TASK_VERIFY:
        verified(engine, task);
        break;
    case TASK_FINISH:
        finished(engine, task);
        break;
    case TASK_RECORD:
        recorded(engine, task);
        break;
    case TASK_FORGET:
        mem_free(task->numbers);
        break;
    case TASK_LOAD:
    case TASK_UNLOAD:
        srs_task_done(engine, task);
        break;
    }
    if (task->job)
        core_unpin(engine, task->job);
}
