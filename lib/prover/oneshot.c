/* Proving and verifying in one call, without an engine. */
#include <cuzk/prove.h>

#include "prover/real.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "vanilla/c1.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* One call under way. */
struct oneshot {
    const struct cuzk_prove_options *options;
    struct cuzk_phase_times times;
    uint64_t start_ns, start_cpu_ns;
    struct work *work;
    struct real *real; /* proving only */
    struct loaded *loaded;
    struct trace *trace; /* where the device's phases are read from */
};

static void begin(struct oneshot *shot, const struct cuzk_prove_options *options)
{
    *shot = (struct oneshot){
        .options = options, .start_ns = clock_now_ns(), .start_cpu_ns = clock_cpu_ns()};
}

static void progress(const struct oneshot *shot, const char *phase, int partition, uint64_t ns)
{
    if (shot->options->progress)
        shot->options->progress(shot->options->progress_context, phase, partition,
                                shot->work ? shot->work->n_partitions : 0, ns);
}

static void end(struct oneshot *shot, struct cuzk_phase_times *times)
{
    struct rusage usage;
    shot->times.total_ns = clock_now_ns() - shot->start_ns;
    shot->times.cpu_ns = clock_cpu_ns() - shot->start_cpu_ns;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        shot->times.peak_rss_bytes = (uint64_t)usage.ru_maxrss << 10;
    if (times)
        *times = shot->times;
    if (shot->loaded)
        real_unload(shot->loaded);
    porep_free(shot->work);
    real_close(shot->real);
    trace_destroy(shot->trace);
}

static enum cuzk_status read_c1(struct oneshot *shot, const uint8_t *c1, size_t c1_len,
                                struct pool *pool, struct cuzk_error *err)
{
    const struct cuzk_prove_options *options = shot->options;
    struct c1_expect expect = {
        .has_sector_number = options->has_sector_number,
        .sector_number = options->sector_number,
        .has_miner_id = options->has_miner_id,
        .miner_id = options->miner_id,
    };
    uint64_t start = clock_now_ns();
    TRY(porep_read(c1, c1_len, &expect, pool, &shot->work, err));
    TRY(porep_check_all(shot->work, pool, err));
    shot->times.parse_ns = clock_now_ns() - start;
    progress(shot, "parse and check", -1, shot->times.parse_ns);
    return CUZK_OK;
}

/* --- Proving ----------------------------------------------------------------------- */

static enum cuzk_status open_backend(struct oneshot *shot, struct cuzk_error *err)
{
    struct trace_options recording = {.fd = -1, .history_events = 1u << 14};
    TRY(trace_create(&recording, &shot->trace, err));
    struct backend_options options = {.threads = shot->options->threads};
    TRY(real_open(shot->options->backend, shot->options->param_cache, &options, &shot->real, err));
    if (!shot->real->backend->makes_proofs)
        return error_set(err, CUZK_INVALID_ARGUMENT, "backend '%s' makes no proofs",
                         shot->real->backend->name);
    return CUZK_OK;
}

static enum cuzk_status load(struct oneshot *shot, struct cuzk_error *err)
{
    const struct shape *shape;
    uint64_t start = clock_now_ns();
    TRY(real_shape(shot->real, circuit_by_id(shot->work->circuit_id), &shape, err));
    shot->times.shape_ns = clock_now_ns() - start;
    progress(shot, "compile circuit", -1, shot->times.shape_ns);
    start = clock_now_ns();
    TRY(real_load(shot->real, shot->work->circuit_id, &shot->loaded, err));
    shot->times.params_ns = clock_now_ns() - start;
    progress(shot, "load parameters", -1, shot->times.params_ns);
    return CUZK_OK;
}

static enum cuzk_status prove_one(struct oneshot *shot, unsigned partition, uint8_t *proof,
                                  struct cuzk_error *err)
{
    struct real_loaded *loaded = (struct real_loaded *)(void *)shot->loaded;
    struct witness witness;
    struct work_span span = {.scope = {shot->trace, "prove", (int32_t)partition, 0, 0},
                             .partition = partition};
    uint64_t start = clock_now_ns();
    TRY(porep_synthesize_part(shot->work, loaded->shape, &span, shot->real->pool, &witness, err));
    uint64_t synthesized = clock_now_ns();
    uint64_t device_ns;
    enum cuzk_status status =
        porep_prove(shot->work, shot->loaded, &witness, &span, proof, &device_ns, err);
    witness_free(&witness);
    TRY(status);
    uint64_t proved = clock_now_ns();
    TRY(porep_verify(shot->work, &loaded->params->vk, partition, proof, err));
    uint64_t verified = clock_now_ns();
    shot->times.synthesis_ns += synthesized - start;
    shot->times.device_ns += proved - synthesized;
    shot->times.verify_ns += verified - proved;
    progress(shot, "synthesis", (int)partition, synthesized - start);
    progress(shot, "proof", (int)partition, proved - synthesized);
    progress(shot, "verification", (int)partition, verified - proved);
    return CUZK_OK;
}

/* Sum of the spans of a kind. Phases of one partition do not overlap with those of another. */
static uint64_t span_sum(const struct trace_record *records, size_t n, enum trace_span span)
{
    uint64_t sum = 0;
    int64_t began = 0;
    for (size_t i = 0; i < n; i++) {
        if (records[i].kind == 2 * (unsigned)span)
            began = records[i].time_ns;
        else if (records[i].kind == 2 * (unsigned)span + 1)
            sum += (uint64_t)(records[i].time_ns - began);
    }
    return sum;
}

static void read_phases(struct oneshot *shot)
{
    struct trace_record *records;
    size_t n;
    trace_flush(shot->trace);
    if (trace_history(shot->trace, &records, &n, NULL) != CUZK_OK)
        return; /* the proof is there; only its times are not */
    shot->times.eval_ns = span_sum(records, n, TRACE_SPAN_EVAL);
    shot->times.ntt_ns = span_sum(records, n, TRACE_SPAN_NTT);
    for (enum trace_span i = TRACE_SPAN_MSM_H; i <= TRACE_SPAN_MSM_TAILS; i++)
        shot->times.msm_ns += span_sum(records, n, i);
    shot->times.finish_ns = span_sum(records, n, TRACE_SPAN_FINISH);
    mem_free(records);
}

static enum cuzk_status prove_all(struct oneshot *shot, uint8_t *proof, struct cuzk_error *err)
{
    for (unsigned p = 0; p < shot->work->n_partitions; p++)
        if (prove_one(shot, p, proof + (size_t)p * CUZK_PROOF_BYTES, err) != CUZK_OK)
            return error_prefix(err, "partition %u", p);
    uint64_t start = clock_now_ns();
    TRY(porep_verify_all(shot->work, &((struct real_loaded *)(void *)shot->loaded)->params->vk,
                         proof, err));
    shot->times.verify_ns += clock_now_ns() - start;
    read_phases(shot);
    return CUZK_OK;
}

enum cuzk_status cuzk_prove_c1(const struct cuzk_prove_options *options, const uint8_t *c1,
                               size_t c1_len, uint8_t **proof, size_t *proof_len,
                               struct cuzk_phase_times *times, struct cuzk_error *err)
{
    struct oneshot shot;
    uint8_t *made = NULL;
    begin(&shot, options);
    enum cuzk_status status = open_backend(&shot, err);
    if (status == CUZK_OK)
        status = read_c1(&shot, c1, c1_len, shot.real->pool, err);
    if (status == CUZK_OK)
        status = load(&shot, err);
    if (status == CUZK_OK) {
        *proof_len = (size_t)shot.work->n_partitions * CUZK_PROOF_BYTES;
        made = mem_zalloc(*proof_len, 1);
        status = made ? prove_all(&shot, made, err)
                      : error_set(err, CUZK_NO_MEMORY, "no memory for a proof");
    }
    end(&shot, times);
    if (status != CUZK_OK) {
        mem_free(made);
        return status;
    }
    *proof = made;
    return CUZK_OK;
}

void cuzk_proof_free(uint8_t *proof)
{
    mem_free(proof);
}

/* --- Verifying --------------------------------------------------------------------- */

/* The .vk file, or the key at the head of the .params file. */
static enum cuzk_status read_vk(const char *folder, const struct circuit_info *circuit,
                                struct vk *vk, struct cuzk_error *err)
{
    char path[PATH_MAX];
    if (!folder || !folder[0])
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "param_cache: the folder of parameters is missing");
    int len = snprintf(path, sizeof path, "%s/%s.vk", folder, circuit->params_name);
    if (len >= (int)sizeof path - 8)
        return error_set(err, CUZK_BAD_PARAMS, "%s: folder name too long", circuit->id);
    if (access(path, F_OK) != 0)
        snprintf(path, sizeof path, "%s/%s.params", folder, circuit->params_name);
    TRY(vk_read(path, vk, err));
    enum cuzk_status status = vk_match_circuit(vk, params_in_dev_folder(path), path, circuit, err);
    if (status != CUZK_OK)
        vk_free(vk);
    return status;
}

static enum cuzk_status verify_all(struct oneshot *shot, const struct vk *vk, const uint8_t *proof,
                                   size_t proof_len, struct cuzk_error *err)
{
    unsigned n = shot->work->n_partitions;
    if (proof_len != (size_t)n * CUZK_PROOF_BYTES)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "proof: %zu bytes, %zu expected for %u partitions", proof_len,
                         (size_t)n * CUZK_PROOF_BYTES, n);
    struct cuzk_error whole;
    enum cuzk_status status = porep_verify_all(shot->work, vk, proof, &whole);
    if (status != CUZK_VERIFY_FAILED) {
        if (status != CUZK_OK && err)
            *err = whole;
        return status;
    }
    for (unsigned p = 0; p < n; p++) /* which one is it? */
        if (porep_verify(shot->work, vk, p, proof + (size_t)p * CUZK_PROOF_BYTES, err) != CUZK_OK)
            return error_prefix(err, "partition %u of %u", p, n);
    if (err)
        *err = whole;
    return status;
}

enum cuzk_status cuzk_verify_c1(const struct cuzk_prove_options *options, const uint8_t *c1,
                                size_t c1_len, const uint8_t *proof, size_t proof_len,
                                struct cuzk_phase_times *times, struct cuzk_error *err)
{
    struct oneshot shot;
    struct vk vk = {0};
    begin(&shot, options);
    struct pool *pool = pool_new(options->threads);
    enum cuzk_status status = pool ? read_c1(&shot, c1, c1_len, pool, err)
                                   : error_set(err, CUZK_NO_MEMORY, "no memory for threads");
    if (status == CUZK_OK)
        status = read_vk(options->param_cache, circuit_by_id(shot.work->circuit_id), &vk, err);
    if (status == CUZK_OK) {
        uint64_t start = clock_now_ns();
        status = verify_all(&shot, &vk, proof, proof_len, err);
        shot.times.verify_ns = clock_now_ns() - start;
        vk_free(&vk);
    }
    end(&shot, times);
    pool_free(pool);
    return status;
}
