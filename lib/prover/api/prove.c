/* cuzk/prove.h: a C1 becomes a proof as the only job of an engine in this process. What its phases
   took is read from the engine's trace. */
#include <cuzk/prove.h>

#include "prover/work.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
    HISTORY_EVENTS = 1 << 14, /* a job of 16 partitions has less than a tenth */
    PROGRESS_MS = 100,
};

/* One call under way. */
struct oneshot {
    const struct cuzk_prove_options *options;
    struct trace *trace;
    struct residency *residency; /* belongs to the engine */
    struct cuzk_engine *engine;
    unsigned n_partitions; /* 0: not known yet */
    uint64_t n_reported;   /* records of the trace whose progress was reported */

    sem_t ended; /* posted by the engine's thread, after it has written what follows */
    struct cuzk_error error;
    uint8_t *proof;
    size_t proof_len;
};

/* --- What the trace says ---------------------------------------------------------------------- */

/* A phase lies between two events of the same partition. */
struct phase {
    enum trace_kind from, to;
    const char *text;
};

static const struct phase phases[] = {
    {TRACE_PARSE_START, TRACE_PARSE_END, "parse"},
    {TRACE_SRS_LOAD_START, TRACE_SRS_LOAD_END, "load parameters"},
    {TRACE_CHECK_START, TRACE_CHECK_END, "check"},
    {TRACE_CHECK_END, TRACE_SYNTH_END, "synthesis"},
    {TRACE_GPU_START, TRACE_FINISH_END, "proof"},
    {TRACE_VERIFY_START, TRACE_VERIFY_END, "verification"},
};

/* From the last event `from` of its partition to the event at `end`, in nanoseconds. */
static uint64_t ns_between(const struct trace_record *records, enum trace_kind from, size_t end)
{
    for (size_t i = end; i-- > 0;)
        if (records[i].kind == from && records[i].partition == records[end].partition)
            return (uint64_t)(records[end].time_ns - records[i].time_ns);
    return 0;
}

static uint64_t phase_sum(const struct trace_record *records, size_t n, enum trace_kind from,
                          enum trace_kind to)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (records[i].kind == to)
            sum += ns_between(records, from, i);
    return sum;
}

static uint64_t span_sum(const struct trace_record *records, size_t n, enum trace_span span)
{
    return phase_sum(records, n, trace_start_kind(span), trace_end_kind(span));
}

static int compare_times(const void *a, const void *b)
{
    const struct trace_record *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* The time during which a device was at work: spans of a batch overlap and count once. Sorts the
   records by time. */
static uint64_t device_time(struct trace_record *records, size_t n)
{
    uint64_t sum = 0;
    unsigned at_work = 0;
    qsort(records, n, sizeof *records, compare_times);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && at_work > 0)
            sum += (uint64_t)(records[i].time_ns - records[i - 1].time_ns);
        at_work += records[i].kind == TRACE_GPU_START;
        at_work -= at_work > 0 && records[i].kind == TRACE_GPU_END;
    }
    return sum;
}

/* Phases that the trace does not have stay 0: the proof is there, only its times are not. */
static void read_times(const struct oneshot *shot, uint64_t shape_ns,
                       struct cuzk_phase_times *times)
{
    struct trace_record *records;
    size_t n;
    times->shape_ns = shape_ns;
    trace_flush(shot->trace);
    if (trace_history(shot->trace, &records, &n, NULL) != CUZK_OK)
        return;
    uint64_t load_ns = span_sum(records, n, TRACE_SPAN_SRS_LOAD);
    times->params_ns = load_ns > shape_ns ? load_ns - shape_ns : 0;
    times->parse_ns =
        span_sum(records, n, TRACE_SPAN_PARSE) + span_sum(records, n, TRACE_SPAN_CHECK);
    times->synthesis_ns = phase_sum(records, n, TRACE_CHECK_END, TRACE_SYNTH_END);
    times->eval_ns = span_sum(records, n, TRACE_SPAN_EVAL);
    times->ntt_ns = span_sum(records, n, TRACE_SPAN_NTT);
    for (enum trace_span i = TRACE_SPAN_MSM_H; i <= TRACE_SPAN_MSM_TAILS; i++)
        times->msm_ns += span_sum(records, n, i);
    times->finish_ns = span_sum(records, n, TRACE_SPAN_FINISH);
    times->verify_ns = span_sum(records, n, TRACE_SPAN_VERIFY);
    times->device_ns = device_time(records, n);
    mem_free(records);
}

/* --- Progress --------------------------------------------------------------------------------- */

static void learn_partitions(struct oneshot *shot)
{
    struct cuzk_snapshot snapshot;
    if (shot->n_partitions > 0 || cuzk_engine_snapshot(shot->engine, &snapshot, NULL) != CUZK_OK)
        return;
    if (snapshot.n_jobs > 0)
        shot->n_partitions = snapshot.jobs[0].n_partitions;
    cuzk_snapshot_free(&snapshot);
}

static void report_phase(const struct oneshot *shot, const struct phase *phase, int partition,
                         uint64_t ns)
{
    const struct cuzk_prove_options *options = shot->options;
    if (phase->to == TRACE_SRS_LOAD_END) { /* compiling the circuit is a part of it */
        uint64_t shape_ns = residency_shapes_ns(shot->residency);
        options->progress(options->progress_context, "compile circuit", partition,
                          shot->n_partitions, shape_ns);
        ns = ns > shape_ns ? ns - shape_ns : 0;
    }
    options->progress(options->progress_context, phase->text, partition, shot->n_partitions, ns);
}

/* Reports the phases that have ended since the last call. */
static void report_progress(struct oneshot *shot)
{
    struct trace_record *records;
    size_t n;
    trace_flush(shot->trace);
    if (trace_history(shot->trace, &records, &n, NULL) != CUZK_OK)
        return;
    learn_partitions(shot); /* known now, if a partition has an event; or the job has failed */
    for (size_t i = shot->n_reported; i < n; i++)
        for (size_t k = 0; k < sizeof phases / sizeof phases[0]; k++)
            if (records[i].kind == phases[k].to &&
                (records[i].partition < 0 || shot->n_partitions > 0))
                report_phase(shot, &phases[k], records[i].partition,
                             ns_between(records, phases[k].from, i));
    shot->n_reported = n;
    mem_free(records);
}

/* --- The job ---------------------------------------------------------------------------------- */

static enum cuzk_status open_engine(struct oneshot *shot, struct cuzk_error *err)
{
    const struct cuzk_prove_options *options = shot->options;
    const struct backend_options backend = {.threads = options->threads};
    const struct trace_options recording = {.fd = -1, .history_events = HISTORY_EVENTS};
    struct work_setup setup;
    TRY(trace_create(&recording, &shot->trace, err));
    TRY(residency_open(options->backend, options->param_cache, &backend, &shot->residency, err));
    prover_setup(shot->residency, &setup);
    setup.quiet = true;
    const struct cuzk_engine_options engine = {.threads = options->threads,
                                               .trace = trace_public(shot->trace)};
    enum cuzk_status status = setup.verification == WORK_VERIFIED
                                  ? engine_open(&engine, &setup, &shot->engine, err)
                                  : error_set(err, CUZK_INVALID_ARGUMENT,
                                              "backend '%s' makes no proofs", options->backend);
    if (status != CUZK_OK)
        residency_close(shot->residency);
    return status;
}

/* On the engine's thread. */
static void take_result(void *context, const struct cuzk_result *result)
{
    struct oneshot *shot = context;
    shot->error = result->error;
    if (result->outcome == CUZK_JOB_COMPLETED) {
        shot->proof = mem_memdup(result->proof, result->proof_len);
        shot->proof_len = result->proof_len;
        if (!shot->proof)
            error_set(&shot->error, CUZK_NO_MEMORY, "no memory for a proof");
    } else if (shot->error.status == CUZK_OK) {
        error_set(&shot->error, CUZK_CANCELLED, "the job was cancelled");
    }
    sem_post(&shot->ended);
}

static void await_end(struct oneshot *shot)
{
    bool over = false;
    while (!over) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += PROGRESS_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        int failed = shot->options->progress ? sem_clockwait(&shot->ended, CLOCK_MONOTONIC, &until)
                                             : sem_wait(&shot->ended);
        over = failed == 0;
        if (over && shot->proof)
            shot->n_partitions = (unsigned)(shot->proof_len / CUZK_PROOF_BYTES);
        if (shot->options->progress && (!over || shot->proof))
            report_progress(shot); /* not the phase that failed */
    }
}

static enum cuzk_status run_job(struct oneshot *shot, const uint8_t *c1, size_t c1_len,
                                struct cuzk_error *err)
{
    const struct cuzk_prove_options *options = shot->options;
    const struct cuzk_request request = {
        .kind = CUZK_POREP,
        .has_sector_number = options->has_sector_number,
        .sector_number = options->sector_number,
        .has_miner_id = options->has_miner_id,
        .miner_id = options->miner_id,
        .payloads = &c1,
        .payload_lens = &c1_len,
        .n_payloads = 1,
    };
    char id[CUZK_JOB_ID_BYTES];
    TRY(cuzk_engine_submit(shot->engine, &request, id, NULL, NULL, err));
    TRY(cuzk_engine_watch(shot->engine, id, 0, take_result, shot, NULL, err));
    await_end(shot);
    if (shot->error.status != CUZK_OK && err)
        *err = shot->error;
    return shot->error.status;
}

enum cuzk_status cuzk_prove_c1(const struct cuzk_prove_options *options, const uint8_t *c1,
                               size_t c1_len, uint8_t **proof, size_t *proof_len,
                               struct cuzk_phase_times *times, struct cuzk_error *err)
{
    const uint64_t start_ns = clock_now_ns(), start_cpu_ns = clock_cpu_ns();
    struct oneshot shot = {.options = options};
    struct cuzk_phase_times taken = {0};
    struct rusage usage;
    sem_init(&shot.ended, 0, 0);
    enum cuzk_status status = open_engine(&shot, err);
    if (status == CUZK_OK) {
        status = run_job(&shot, c1, c1_len, err);
        uint64_t shape_ns = residency_shapes_ns(shot.residency);
        cuzk_engine_close(shot.engine);
        read_times(&shot, shape_ns, &taken);
    }
    trace_destroy(shot.trace);
    sem_destroy(&shot.ended);
    taken.total_ns = clock_now_ns() - start_ns;
    taken.cpu_ns = clock_cpu_ns() - start_cpu_ns;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        taken.peak_rss_bytes = (uint64_t)usage.ru_maxrss << 10;
    if (times)
        *times = taken;
    if (status == CUZK_OK) {
        *proof = shot.proof;
        *proof_len = shot.proof_len;
    }
    return status;
}

void cuzk_proof_free(uint8_t *proof)
{
    mem_free(proof);
}
