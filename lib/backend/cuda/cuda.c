#include "backend/cuda/cuda.h"

#include "backend/cuda/circuit.h"
#include "backend/cuda/msm_finish.h"
#include "backend/cuda/ntt.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

/* The phases of a partition on the device; each ends with an event. The sums of the witness run on
   a stream of their own beside them; the last phase waits for them. */
enum phase { PHASE_EVAL, PHASE_NTT, PHASE_MSM, PHASE_COUNT };

/* One partition at work. */
struct job {
    struct backend_circuit *circuit;
    const struct witness *witness;
    struct witness_slot *slot;           /* its copy on the device */
    cudaEvent_t events[1 + PHASE_COUNT]; /* start, then the end of each phase */
    cudaEvent_t side_done;
    uint64_t *sums; /* host copy of block.sums */
};

static size_t sums_bytes(void)
{
    size_t bytes = 0;
    for (enum cuda_section i = 0; i < SECTION_COUNT; i++)
        bytes += circuit_sums_bytes(i);
    return bytes;
}

/* A section's part of the sums: the subset sum, then the multiplication's. */
static void *section_sums(void *sums, enum cuda_section section)
{
    char *at = sums;
    for (enum cuda_section i = 0; i < section; i++)
        at += circuit_sums_bytes(i);
    return at;
}

/* --- On the device ---------------------------------------------------------------------------- */

static enum cuzk_status copy_witness(const struct job *job, void *to, const void *from,
                                     size_t bytes, struct cuzk_error *err)
{
    if (bytes == 0)
        return CUZK_OK;
    return device_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice,
                                        job->circuit->device->upload_stream),
                        "uploading a witness", err);
}

/* Copies the witness to the job's slot. Other partitions may be at work meanwhile. */
static enum cuzk_status upload(const struct job *job, struct cuzk_error *err)
{
    const struct witness *witness = job->witness;
    const size_t input_bytes = witness->n_inputs * sizeof(struct fr);
    TRY(copy_witness(job, job->slot->bits, witness->bits, circuit_bits_bytes(job->circuit->shape),
                     err));
    TRY(copy_witness(job, job->slot->values, witness->inputs, input_bytes, err));
    TRY(copy_witness(job, (char *)job->slot->values + input_bytes, witness->full,
                     witness->n_full * sizeof(struct fr), err));
    return device_check(cudaStreamSynchronize(job->circuit->device->upload_stream),
                        "uploading a witness", err);
}

/* The next upload to the slot comes after this, on the same stream. */
static enum cuzk_status wipe(const struct job *job, struct cuzk_error *err)
{
    const struct shape *shape = job->circuit->shape;
    const cudaStream_t stream = job->circuit->device->upload_stream;
    TRY(device_check(cudaMemsetAsync(job->slot->bits, 0, circuit_bits_bytes(shape), stream),
                     "wiping a witness", err));
    return device_check(cudaMemsetAsync(job->slot->values, 0, circuit_values_bytes(shape), stream),
                        "wiping a witness", err);
}

static enum cuzk_status evaluate(const struct job *job, struct cuzk_error *err)
{
    const struct backend_circuit *circuit = job->circuit;
    const struct cuda_block *block = &circuit->block;
    const struct rows_witness witness = {
        .bits = job->slot->bits,
        .full = (const char *)job->slot->values + job->witness->n_inputs * sizeof(struct fr),
        .inputs = job->slot->values,
    };
    return device_check(rows_enqueue(&circuit->rows, block->image, &witness,
                                     circuit->shape->log2_domain, block->a_rows, block->b_rows,
                                     circuit->device->stream),
                        "row values", err);
}

static enum cuzk_status transform(const struct job *job, struct cuzk_error *err)
{
    const struct cuda_block *block = &job->circuit->block;
    return device_check(ntt_quotient_enqueue(job->circuit->shape->log2_domain, block->tables,
                                             block->a_rows, block->b_rows, block->c_rows,
                                             job->circuit->device->stream),
                        "quotient", err);
}

/* Where a sum is made: its stream and the room that belongs to it. */
struct lane {
    cudaStream_t stream;
    void *scratch;
    size_t scratch_bytes;
};

static enum cuzk_status multiply(const struct job *job, const struct lane *lane,
                                 enum cuda_section section, const void *points, const void *scalars,
                                 struct cuzk_error *err)
{
    const struct backend_circuit *circuit = job->circuit;
    void *const sums = section_sums(circuit->block.sums, section);
    const struct msm_job msm = {
        .size = section_msm(circuit, section),
        .sets = {{points, (char *)sums + msm_point_bytes(section_group(section))}},
        .scalars = scalars,
        .scratch = lane->scratch,
        .scratch_bytes = lane->scratch_bytes,
    };
    if (msm.size.n == 0)
        return CUZK_OK;
    return device_check(msm_enqueue(&msm, lane->stream), "multiplication", err);
}

/* A section of the witness: the points of bits that are set, and those of full-size variables times
   these. */
static enum cuzk_status sum_section(const struct job *job, const struct lane *lane,
                                    enum cuda_section section, const struct cuda_map *map,
                                    struct cuzk_error *err)
{
    const struct backend_circuit *circuit = job->circuit;
    const struct query *counts = query_of(circuit, section);
    const struct ones_job subset = {
        .group = section_group(section),
        .points = circuit->block.points[section],
        .n_points = circuit->n_points[section],
        .first_point = counts->n_inputs,
        .bits = job->slot->bits,
        .density = map->density,
        .ranks = map->ranks,
        .n_vars = circuit->shape->n_aux,
        .scratch = lane->scratch,
        .scratch_bytes = lane->scratch_bytes,
        .sum = section_sums(circuit->block.sums, section),
    };
    TRY(device_check(ones_enqueue(&subset, counts->n_points - counts->n_inputs, lane->stream),
                     "subset sum", err));
    TRY(device_check(rows_gather(job->slot->values, map->source, counts->n_scalars,
                                 circuit->block.scalars, lane->stream),
                     "subset sum", err));
    return multiply(job, lane, section, circuit->block.tails[section], circuit->block.scalars, err);
}

/* All sums but h, on the side stream. */
static enum cuzk_status sum_witness(const struct job *job, struct cuzk_error *err)
{
    const struct backend_circuit *circuit = job->circuit;
    const struct cuda_block *block = &circuit->block;
    const struct lane side = {circuit->device->side_stream, block->side_scratch,
                              circuit->side_scratch_bytes};
    TRY(sum_section(job, &side, SECTION_L, &block->l, err));
    TRY(sum_section(job, &side, SECTION_A, &block->a, err));
    TRY(sum_section(job, &side, SECTION_B_G1, &block->b, err));
    TRY(sum_section(job, &side, SECTION_B_G2, &block->b, err));
    return device_check(cudaEventRecord(job->side_done, side.stream), "recording an event", err);
}

static enum cuzk_status sum_h(const struct job *job, struct cuzk_error *err)
{
    const struct backend_circuit *circuit = job->circuit;
    const struct cuda_block *block = &circuit->block;
    const struct lane lane = {circuit->device->stream, block->h_scratch, circuit->h_scratch_bytes};
    TRY(multiply(job, &lane, SECTION_H, block->points[SECTION_H], block->a_rows, err));
    TRY(device_check(cudaStreamWaitEvent(lane.stream, job->side_done, 0), "waiting for sums", err));
    return device_check(
        cudaMemcpyAsync(job->sums, block->sums, sums_bytes(), cudaMemcpyDeviceToHost, lane.stream),
        "downloading sums", err);
}

static enum cuzk_status record(const struct job *job, unsigned event, struct cuzk_error *err)
{
    return device_check(cudaEventRecord(job->events[event], job->circuit->device->stream),
                        "recording an event", err);
}

/* The side's work is enqueued when the device has work already: its many launches take a while. */
static enum cuzk_status enqueue(const struct job *job, struct cuzk_error *err)
{
    TRY(record(job, 0, err));
    TRY(evaluate(job, err));
    TRY(record(job, 1 + PHASE_EVAL, err));
    TRY(transform(job, err));
    TRY(record(job, 1 + PHASE_NTT, err));
    TRY(sum_witness(job, err));
    TRY(sum_h(job, err));
    return record(job, 1 + PHASE_MSM, err);
}

/* --- Afterwards ------------------------------------------------------------------------------- */

/* The phases' times of the device's clock become the host's: the last event was at end_ns. */
static enum cuzk_status emit_phases(const struct job *job, const struct timeline_scope *scope,
                                    uint64_t end_ns, struct cuzk_error *err)
{
    static const enum timeline_kind starts[PHASE_COUNT] = {
        TIMELINE_EVAL_START,
        TIMELINE_NTT_START,
        TIMELINE_MSM_START,
    };
    static const enum timeline_kind ends[PHASE_COUNT] = {
        TIMELINE_EVAL_END,
        TIMELINE_NTT_END,
        TIMELINE_MSM_END,
    };
    uint64_t times_ns[1 + PHASE_COUNT];
    for (unsigned i = 0; i <= PHASE_COUNT; i++) {
        float ms;
        TRY(device_check(cudaEventElapsedTime(&ms, job->events[i], job->events[PHASE_COUNT]),
                         "reading times", err));
        times_ns[i] = end_ns - (uint64_t)((double)ms * 1e6);
    }
    for (unsigned i = 0; i < PHASE_COUNT; i++) {
        timeline_emit_at(scope, starts[i], -1, times_ns[i]);
        timeline_emit_at(scope, ends[i], (int64_t)((times_ns[i + 1] - times_ns[i]) / 1000),
                         times_ns[i + 1]);
    }
    return CUZK_OK;
}

static void finish_g1(const struct job *job, enum cuda_section section, struct g1 *out)
{
    const struct g1_affine *sums = section_sums(job->sums, section);
    const struct msm_size size = section_msm(job->circuit, section);
    g1_set_infinity(out);
    if (size.n > 0)
        msm_finish_g1(out, &size, sums + 1);
    if (section != SECTION_H)
        g1_add_affine(out, out, &sums[0]);
}

static void finish_g2(const struct job *job, enum cuda_section section, struct g2 *out)
{
    const struct g2_affine *sums = section_sums(job->sums, section);
    const struct msm_size size = section_msm(job->circuit, section);
    g2_set_infinity(out);
    if (size.n > 0)
        msm_finish_g2(out, &size, sums + 1);
    g2_add_affine(out, out, &sums[0]);
}

static void finish(const struct job *job, struct backend_sums *out)
{
    finish_g1(job, SECTION_H, &out->h);
    finish_g1(job, SECTION_L, &out->l);
    finish_g1(job, SECTION_A, &out->a);
    finish_g1(job, SECTION_B_G1, &out->b_g1);
    finish_g2(job, SECTION_B_G2, &out->b_g2);
}

/* --- The call --------------------------------------------------------------------------------- */

static void job_free(struct job *job)
{
    for (unsigned i = 0; i <= PHASE_COUNT; i++) {
        if (job->events[i])
            cudaEventDestroy(job->events[i]);
    }
    if (job->side_done)
        cudaEventDestroy(job->side_done);
    mem_free(job->sums);
}

static enum cuzk_status job_init(struct job *job, struct backend_circuit *circuit,
                                 const struct witness *witness, struct cuzk_error *err)
{
    *job = (struct job){.circuit = circuit, .witness = witness};
    job->sums = mem_alloc(sums_bytes(), 1);
    if (!job->sums)
        return error_set(err, CUZK_NO_MEMORY, "cuda: out of memory");
    for (unsigned i = 0; i <= PHASE_COUNT; i++)
        TRY(device_check(cudaEventCreateWithFlags(&job->events[i], cudaEventBlockingSync),
                         "making an event", err));
    return device_check(cudaEventCreateWithFlags(&job->side_done, cudaEventDisableTiming),
                        "making an event", err);
}

/* The job's turn on the device, which is locked. */
static enum cuzk_status run(const struct job *job, const struct timeline_scope *scope,
                            struct cuzk_error *err)
{
    const struct backend_device *device = job->circuit->device;
    enum cuzk_status status = enqueue(job, err);
    if (status == CUZK_OK)
        status = device_check(cudaEventSynchronize(job->events[PHASE_COUNT]), "proving", err);
    if (status == CUZK_OK)
        return emit_phases(job, scope, clock_now_ns(), err);
    /* Whoever comes next finds nothing at work on the circuit's memory. */
    cudaStreamSynchronize(device->stream);
    cudaStreamSynchronize(device->side_stream);
    return status;
}

static enum cuzk_status run_in_turn(const struct job *job, const struct timeline_scope *scope,
                                    struct cuzk_error *err)
{
    struct backend_device *device = job->circuit->device;
    uint64_t start = clock_now_ns();
    timeline_emit(scope, TIMELINE_LOCK_WAIT_START, -1);
    pthread_mutex_lock(&device->busy);
    timeline_emit(scope, TIMELINE_LOCK_WAIT_END, (int64_t)((clock_now_ns() - start) / 1000000));
    start = clock_now_ns();
    timeline_emit(scope, TIMELINE_GPU_START, -1);
    enum cuzk_status status = run(job, scope, err);
    timeline_emit(scope, TIMELINE_GPU_END, (int64_t)((clock_now_ns() - start) / 1000000));
    pthread_mutex_unlock(&device->busy);
    return status;
}

/* Upload, work, wipe; the job has a slot. */
static enum cuzk_status run_with_slot(const struct job *job, const struct timeline_scope *scope,
                                      struct cuzk_error *err)
{
    timeline_emit(scope, TIMELINE_UPLOAD_START, -1);
    enum cuzk_status status = upload(job, err);
    timeline_emit(scope, TIMELINE_UPLOAD_END, (int64_t)witness_bytes(job->witness));
    if (status == CUZK_OK)
        status = run_in_turn(job, scope, err);
    struct cuzk_error second;
    const enum cuzk_status wiped = wipe(job, status == CUZK_OK ? err : &second);
    return status == CUZK_OK ? wiped : status;
}

static enum cuzk_status check_witness(const struct shape *shape, const struct witness *witness,
                                      struct cuzk_error *err)
{
    if (witness->n_aux == shape->n_aux && witness->n_full == shape->n_full &&
        witness->n_inputs == shape->n_inputs)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT,
                     "witness of %u inputs, %u variables, %u of them full-size; the circuit has "
                     "%u, %u, %u",
                     witness->n_inputs, witness->n_aux, witness->n_full, shape->n_inputs,
                     shape->n_aux, shape->n_full);
}

static enum cuzk_status cuda_prove(struct backend_circuit *circuit, const struct witness *witness,
                                   const struct timeline_scope *scope, struct backend_sums *out,
                                   struct cuzk_error *err)
{
    struct job job;
    TRY(check_witness(circuit->shape, witness, err));
    TRY(device_use(circuit->device, err));
    enum cuzk_status status = job_init(&job, circuit, witness, err);
    if (status == CUZK_OK) {
        job.slot = circuit_take_slot(circuit);
        status = run_with_slot(&job, scope, err);
        circuit_give_back_slot(circuit, job.slot);
    }
    if (status == CUZK_OK)
        finish(&job, out);
    job_free(&job);
    return status;
}

const struct backend backend_cuda = {
    .name = "cuda",
    .makes_proofs = true,
    .count = device_count,
    .open = device_open,
    .close = device_close,
    .describe = device_describe,
    .memory = device_memory,
    .load = circuit_load,
    .unload = circuit_unload,
    .bytes = circuit_bytes,
    .prove = cuda_prove,
};
