#include "whatif/replay.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "engine/work.h"
#include "whatif/sim_clock.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Simulated time jumps at a moment of real time. */
struct jump {
    uint64_t real_ns, sim_us;
};

struct replay {
    const struct replay_plan *plan;
    struct sim_clock *clock;
    struct sim_lock devices[PIPELINE_DEVICES_MAX];
    atomic_uint synthesizing, finished, failed;
    struct trace *trace;
    struct cuzk_engine *engine;
    uint64_t *due_us; /* when a job is submitted; UINT64_MAX: not decided */
    size_t submitted, decided;
    struct jump *jumps;
    size_t n_jumps, jumps_capacity;
    uint64_t began_ns; /* real time of the event RUN_START */
};

struct replay_work {
    struct work base;
    struct replay *replay;
    const struct replay_job *job;
    uint64_t order;
};

static const char circuit[] = "replay";

/* Logs can hold anything; with these limits no sum of times overflows. */
#define DURATION_MAX_US (UINT64_C(24) * 3600 * 1000000)
#define ARRIVAL_MAX_US (1000 * DURATION_MAX_US)

static uint64_t at_most(uint64_t us, uint64_t max_us)
{
    return us < max_us ? us : max_us;
}

static void pass_time(struct replay *replay, uint64_t us, uint64_t order)
{
    sim_clock_pass(replay->clock, at_most(us, DURATION_MAX_US), order);
}

/* --- The work --------------------------------------------------------------------------------- */

static enum cuzk_status replay_admit(void *context, const struct request *request,
                                     char circuit_id[WORK_CIRCUIT_ID_BYTES], struct cuzk_error *err)
{
    (void)context;
    (void)request;
    (void)err;
    snprintf(circuit_id, WORK_CIRCUIT_ID_BYTES, "%s", circuit);
    return CUZK_OK;
}

/* The payload is the job's index. */
static enum cuzk_status replay_parse(void *context, const struct request *request,
                                     struct work **out, struct cuzk_error *err)
{
    struct replay *replay = context;
    size_t index;
    struct replay_work *work = mem_zalloc(1, sizeof *work);
    if (!work)
        return error_set(err, CUZK_NO_MEMORY, "no memory to replay a job");
    memcpy(&index, request->payloads[0].bytes, sizeof index);
    work->replay = replay;
    work->job = &replay->plan->jobs[index];
    work->order = (uint64_t)index << 20;
    work->base.n_partitions = work->job->n_partitions;
    snprintf(work->base.circuit_id, sizeof work->base.circuit_id, "%s", circuit);
    pass_time(replay, work->job->parse_us, work->order);
    *out = &work->base;
    return CUZK_OK;
}

static const struct replay_partition *partition_of(const struct replay_work *work,
                                                   unsigned partition)
{
    return &work->replay->plan->partitions[work->job->first + partition];
}

static enum cuzk_status replay_synthesize(struct work *base, struct loaded *loaded,
                                          const struct work_span *span, void **witness,
                                          struct cuzk_error *err)
{
    (void)loaded;
    (void)err;
    struct replay_work *work = CONTAINER_OF(base, struct replay_work, base);
    struct replay *replay = work->replay;
    const struct replay_partition *p = partition_of(work, span->partition);
    const uint64_t order = work->order + span->partition;
    double us = (double)at_most(p->synth_us, DURATION_MAX_US);
    if (replay->plan->growth > 0)
        sim_clock_take_turn(replay->clock, order); /* its length depends on its place */
    unsigned level = atomic_fetch_add(&replay->synthesizing, 1) + 1;
    if (replay->plan->growth > 0 && p->synth_level >= 1)
        us *= pow(level / p->synth_level, replay->plan->growth);
    pass_time(replay, (uint64_t)fmin(us, (double)DURATION_MAX_US), order);
    atomic_fetch_sub(&replay->synthesizing, 1);
    *witness = work;
    return CUZK_OK;
}

static void replay_witness_free(void *witness)
{
    (void)witness;
}

static enum cuzk_status replay_prove(struct work *base, struct loaded *loaded, void *witness,
                                     const struct work_span *span, uint8_t proof[CUZK_PROOF_BYTES],
                                     uint64_t *device_ns, struct cuzk_error *err)
{
    (void)loaded;
    (void)witness;
    (void)err;
    struct replay_work *work = CONTAINER_OF(base, struct replay_work, base);
    struct sim_clock *clock = work->replay->clock;
    struct sim_lock *device = &work->replay->devices[span->device];
    const struct replay_partition *p = partition_of(work, span->partition);
    uint64_t order = work->order + span->partition;
    trace_emit(&span->scope, TRACE_LOCK_WAIT_START, -1);
    sim_clock_lock(clock, device, order);
    trace_emit(&span->scope, TRACE_LOCK_WAIT_END, -1);
    trace_emit(&span->scope, TRACE_GPU_START, -1);
    pass_time(work->replay, p->device_us, order);
    *device_ns = (uint64_t)p->device_us * 1000;
    trace_emit(&span->scope, TRACE_GPU_END, -1);
    sim_clock_unlock(clock, device);
    if (p->finish_us) {
        trace_emit(&span->scope, TRACE_FINISH_START, -1);
        pass_time(work->replay, p->finish_us, order);
        trace_emit(&span->scope, TRACE_FINISH_END, -1);
    }
    memset(proof, 0, CUZK_PROOF_BYTES);
    return CUZK_OK;
}

static enum cuzk_status replay_verify(struct work *base, struct loaded *loaded, unsigned partition,
                                      const uint8_t proof[CUZK_PROOF_BYTES], struct cuzk_error *err)
{
    (void)loaded;
    (void)proof;
    (void)err;
    struct replay_work *work = CONTAINER_OF(base, struct replay_work, base);
    pass_time(work->replay, partition_of(work, partition)->verify_us, work->order + partition);
    return CUZK_OK;
}

static enum cuzk_status replay_verify_all(struct work *base, struct loaded *loaded,
                                          const uint8_t *proofs, struct cuzk_error *err)
{
    (void)loaded;
    (void)proofs;
    (void)err;
    struct replay_work *work = CONTAINER_OF(base, struct replay_work, base);
    pass_time(work->replay, work->job->verify_us, work->order);
    return CUZK_OK;
}

static void replay_work_free(struct work *work)
{
    mem_free(work);
}

static enum cuzk_status replay_load(void *context, const char *circuit_id, struct loaded **out,
                                    struct cuzk_error *err)
{
    struct replay *replay = context;
    struct loaded *loaded = mem_zalloc(1, sizeof *loaded);
    if (!loaded)
        return error_set(err, CUZK_NO_MEMORY, "no memory to replay the loading of parameters");
    snprintf(loaded->circuit_id, sizeof loaded->circuit_id, "%s", circuit_id);
    loaded->devices = ~UINT64_C(0);
    pass_time(replay, replay->plan->load_us, 0);
    *out = loaded;
    return CUZK_OK;
}

static enum cuzk_status replay_check(const struct loaded *loaded, struct cuzk_error *err)
{
    (void)loaded;
    (void)err;
    return CUZK_OK;
}

static void replay_unload(struct loaded *loaded)
{
    mem_free(loaded);
}

/* No proof leaves the replay, so its proofs may pass as verified. */
static const struct work_ops replay_ops = {
    .admit = replay_admit,
    .parse = replay_parse,
    .synthesize = replay_synthesize,
    .witness_free = replay_witness_free,
    .prove = replay_prove,
    .verify = replay_verify,
    .verify_all = replay_verify_all,
    .work_free = replay_work_free,
    .load = replay_load,
    .check = replay_check,
    .unload = replay_unload,
};

static enum cuzk_status open_engine(struct replay *replay, struct cuzk_error *err)
{
    const struct pipeline_limits *limits = &replay->plan->limits;
    struct work_device devices[PIPELINE_DEVICES_MAX];
    if (limits->n_devices == 0 || limits->n_devices > PIPELINE_DEVICES_MAX)
        return error_set(err, CUZK_INVALID_ARGUMENT, "replay: %u devices, expected 1 to %d",
                         limits->n_devices, PIPELINE_DEVICES_MAX);
    for (unsigned d = 0; d < limits->n_devices; d++) {
        snprintf(devices[d].name, sizeof devices[d].name, "simulated device %u", d);
        snprintf(devices[d].backend, sizeof devices[d].backend, "sim");
    }
    const struct work_setup setup = {
        .ops = &replay_ops,
        .context = replay,
        .devices = devices,
        .n_devices = limits->n_devices,
    };
    const struct cuzk_engine_options options = {
        .synthesis_concurrency = limits->synthesis_concurrency,
        .synthesis_lookahead = limits->lookahead,
        .workers_per_device = limits->workers_per_device,
        .memory_budget_bytes = UINT64_C(1) << 50, /* it takes next to nothing */
        .queue_max = (unsigned)replay->plan->n_jobs,
        .trace = replay->trace,
    };
    return engine_open(&options, &setup, &replay->engine, err);
}

/* --- The client ------------------------------------------------------------------------------- */

static void note_result(void *context, const struct cuzk_result *result)
{
    struct replay *replay = context;
    if (result->outcome != CUZK_JOB_COMPLETED)
        atomic_fetch_add(&replay->failed, 1);
    atomic_fetch_add(&replay->finished, 1);
}

/* A client that keeps some in flight sends its next request when an answer comes. */
static void decide_dues(struct replay *replay)
{
    const struct replay_plan *plan = replay->plan;
    size_t may = plan->in_flight ? plan->in_flight + atomic_load(&replay->finished) : plan->n_jobs;
    for (; replay->decided < plan->n_jobs && replay->decided < may; replay->decided++) {
        const struct replay_job *job = &plan->jobs[replay->decided];
        uint64_t from_us = plan->in_flight ? sim_clock_now(replay->clock)
                                           : at_most(job->arrival_us, ARRIVAL_MAX_US);
        replay->due_us[replay->decided] = from_us + at_most(job->receive_us, DURATION_MAX_US);
    }
}

/* The job that is accepted next; n_jobs: no job has a decided time. */
static size_t next_job(const struct replay *replay)
{
    size_t next = replay->plan->n_jobs;
    for (size_t i = 0; i < replay->decided; i++) {
        if (replay->due_us[i] != UINT64_MAX &&
            (next == replay->plan->n_jobs || replay->due_us[i] < replay->due_us[next]))
            next = i;
    }
    return next;
}

static enum cuzk_status submit_job(struct replay *replay, size_t index, struct cuzk_error *err)
{
    char request_id[32], job_id[CUZK_JOB_ID_BYTES];
    const uint8_t *payload = (const uint8_t *)(const void *)&index;
    size_t len = sizeof index;
    snprintf(request_id, sizeof request_id, "job-%zu", index);
    const struct cuzk_request request = {
        .request_id = request_id,
        .kind = CUZK_POREP,
        .payloads = &payload,
        .payload_lens = &len,
        .n_payloads = 1,
    };
    replay->due_us[index] = UINT64_MAX;
    replay->submitted++;
    TRY(cuzk_engine_submit(replay->engine, &request, job_id, NULL, NULL, err));
    return cuzk_engine_watch(replay->engine, job_id, 0, note_result, replay, NULL, err);
}

/* --- Time ------------------------------------------------------------------------------------- */

static enum cuzk_status add_jump(struct replay *replay, uint64_t sim_us, struct cuzk_error *err)
{
    if (!MEM_GROW(replay->jumps, replay->jumps_capacity, replay->n_jumps + 1))
        return error_set(err, CUZK_NO_MEMORY, "no memory for the replay's times");
    replay->jumps[replay->n_jumps++] = (struct jump){clock_now_ns(), sim_us};
    return CUZK_OK;
}

/* Waits until all threads that work wait for time to pass. The second look finds what the engine
   only does after it has answered the first one. */
static void wait_until_calm(struct replay *replay)
{
    for (unsigned calm = 0; calm < 2;) {
        uint64_t changes = sim_clock_changes(replay->clock);
        unsigned busy = engine_busy(replay->engine);
        calm = sim_clock_is_calm(replay->clock, busy, changes) ? calm + 1 : 0;
    }
}

/* One step: what is due now, or on to the next moment. */
static enum cuzk_status take_step(struct replay *replay, struct cuzk_error *err)
{
    decide_dues(replay);
    size_t job = next_job(replay);
    uint64_t due_us = job < replay->plan->n_jobs ? replay->due_us[job] : UINT64_MAX;
    uint64_t next_us = sim_clock_next(replay->clock);
    if (due_us <= sim_clock_now(replay->clock))
        return submit_job(replay, job, err);
    if (due_us < next_us)
        next_us = due_us;
    if (next_us == UINT64_MAX)
        return error_set(err, CUZK_INTERNAL, "replay: %u of %zu jobs are finished and none goes on",
                         atomic_load(&replay->finished), replay->plan->n_jobs);
    TRY(add_jump(replay, next_us, err));
    sim_clock_advance(replay->clock, next_us);
    return CUZK_OK;
}

/* FLUSH_STEPS steps make fewer events than a ring holds. */
enum { FLUSH_STEPS = 500, RING_EVENTS = 16384 };

static enum cuzk_status drive_jobs(struct replay *replay, const char *label, struct cuzk_error *err)
{
    struct trace_scope scope = TRACE_SCOPE(replay->trace, label);
    TRY(add_jump(replay, 0, err));
    replay->began_ns = clock_now_ns();
    trace_emit_at(&scope, TRACE_RUN_START, -1, replay->began_ns);
    for (size_t i = 1; atomic_load(&replay->finished) < replay->plan->n_jobs; i++) {
        wait_until_calm(replay);
        if (atomic_load(&replay->finished) < replay->plan->n_jobs)
            TRY(take_step(replay, err));
        if (i % FLUSH_STEPS == 0)
            trace_flush(replay->trace);
    }
    trace_emit(&scope, TRACE_RUN_END, -1);
    unsigned failed = atomic_load(&replay->failed);
    return failed ? error_set(err, CUZK_INTERNAL, "replay: %u jobs failed", failed) : CUZK_OK;
}

/* Replaces the real times of recorded events by simulated ones, which the jumps give. Durations
   that the engine measured are in real time and are removed. */
static void set_simulated_times(const struct replay *replay, struct trace_record *records, size_t n)
{
    uint64_t epoch_ns = 0;
    for (size_t i = 0; i < n && epoch_ns == 0; i++) {
        if (records[i].kind == TRACE_RUN_START)
            epoch_ns = replay->began_ns - (uint64_t)records[i].time_ns;
    }
    size_t jump = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t real_ns = epoch_ns + (uint64_t)records[i].time_ns;
        while (jump + 1 < replay->n_jumps && replay->jumps[jump + 1].real_ns <= real_ns)
            jump++;
        records[i].time_ns = (int64_t)replay->jumps[jump].sim_us * 1000;
        records[i].value = -1;
    }
}

static enum cuzk_status collect_log(struct replay *replay, struct waterfall_log *log,
                                    struct cuzk_error *err)
{
    struct trace_record *records;
    size_t n;
    TRY(trace_history(replay->trace, &records, &n, err));
    if (trace_dropped(replay->trace)) {
        mem_free(records);
        return error_set(err, CUZK_INTERNAL, "replay: events were lost");
    }
    set_simulated_times(replay, records, n);
    enum cuzk_status status = waterfall_log_add_records(log, records, n, err);
    mem_free(records);
    return status;
}

/* --- All of it -------------------------------------------------------------------------------- */

static enum cuzk_status open_replay(struct replay *replay, struct cuzk_error *err)
{
    const struct replay_plan *plan = replay->plan;
    const struct trace_options trace = {
        .fd = -1,
        .ring_events = RING_EVENTS,
        .history_events = (uint32_t)(1024 + 32 * (plan->n_jobs + plan->n_partitions)),
    };
    if (plan->n_partitions > REPLAY_PARTITIONS_MAX)
        return error_set(err, CUZK_RESOURCE_EXHAUSTED, "replay: %zu partitions, at most %d",
                         plan->n_partitions, REPLAY_PARTITIONS_MAX);
    replay->clock = sim_clock_new();
    replay->due_us = mem_alloc(plan->n_jobs, sizeof *replay->due_us);
    if (!replay->clock || !replay->due_us)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a replay");
    TRY(trace_create(&trace, &replay->trace, err));
    return open_engine(replay, err);
}

enum cuzk_status replay_run(const struct replay_plan *plan, const char *label,
                            struct waterfall_log *log, struct cuzk_error *err)
{
    struct replay replay = {.plan = plan};
    enum cuzk_status status = open_replay(&replay, err);
    if (status == CUZK_OK)
        status = drive_jobs(&replay, label, err);
    if (status == CUZK_OK)
        status = collect_log(&replay, log, err);
    if (replay.clock)
        sim_clock_end(replay.clock);
    cuzk_engine_close(replay.engine);
    trace_destroy(replay.trace);
    sim_clock_free(replay.clock);
    mem_free(replay.due_us);
    mem_free(replay.jumps);
    return status;
}
