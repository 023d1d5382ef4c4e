#include "backend/cuda/batch.h"

#include "backend/cuda/msm_finish.h"
#include "backend/cuda/ntt.h"
#include "backend/cuda/section.h"
#include "backend/cuda/subset_finish.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <string.h>

/* Events of one partition, and those that a batch shares. They bracket the timeline's spans. */
enum job_event { ROWS_FROM, ROWS_TO, QUOTIENT_TO, H_TO };
enum shared_event { SUMS_FROM, TAILS_TO, L_TO, A_TO, B_G1_TO, B_G2_TO, DOWNLOAD_FROM, BATCH_TO };
_Static_assert(H_TO + 1 == EVENTS_EACH, "events of a partition");
_Static_assert((int)BATCH_TO < EVENTS_SHARED, "events of a batch");

/* A batch under way. */
struct batch {
    struct backend_circuit *circuit;
    struct job *const *jobs;
    unsigned n;
};

static cudaEvent_t job_event(const struct batch *batch, unsigned i, enum job_event event)
{
    return batch->circuit->events[i * EVENTS_EACH + event];
}

static cudaEvent_t shared_event(const struct batch *batch, enum shared_event event)
{
    return batch->circuit->events[BATCH_MAX * EVENTS_EACH + event];
}

static enum cuzk_status record(cudaEvent_t event, cudaStream_t stream, struct cuzk_error *err)
{
    return device_check(cudaEventRecord(event, stream), "recording an event", err);
}

static void *sums_at(const struct backend_circuit *circuit, size_t offset)
{
    return (char *)circuit->block.sums + offset;
}

/* --- Multiplications ---------------------------------------------------------------------------
 */

static struct msm_job msm_on(const struct backend_device *device, const struct msm_size *size,
                             const void *scalars, void *scratch)
{
    return (struct msm_job){
        .size = *size,
        .scalars = scalars,
        .scratch = scratch,
        .scratch_bytes = msm_scratch_bytes(size),
        .side = device->planning,
        .planned = {device->planned[0], device->planned[1]},
        .added = {device->added[0], device->added[1]},
    };
}

/* Offset of the sums of one piece of a partition's h. */
static size_t h_offset(const struct backend_circuit *circuit, unsigned number, uint32_t piece)
{
    const uint32_t n_pieces = plan_h_pieces(&circuit->counts, &circuit->plan);
    return circuit->sums_map.h + ((size_t)number * n_pieces + piece) * circuit->sums_map.h_stride;
}

static enum cuzk_status multiply_piece(const struct backend_circuit *circuit, unsigned number,
                                       uint32_t piece, const void *points, struct cuzk_error *err)
{
    const struct circuit_block *block = &circuit->block;
    const struct msm_size size = plan_h_size(&circuit->counts, &circuit->plan, piece);
    const char *scalars =
        (const char *)block->a_rows + (size_t)piece * circuit->plan.h_piece * sizeof(struct fr);
    struct msm_job msm = msm_on(circuit->device, &size, scalars, block->h_work);
    msm.sets[0] = (struct msm_set){points, sums_at(circuit, h_offset(circuit, number, piece))};
    return device_check(msm_enqueue(&msm, circuit->device->stream), "multiplication of h", err);
}

struct h_pass {
    struct backend_circuit *circuit;
    unsigned number;
};

static enum cuzk_status multiply_chunk(void *context, const struct points_chunk *chunk,
                                       cudaStream_t stream, struct cuzk_error *err)
{
    const struct h_pass *pass = context;
    (void)stream; /* is the batch's */
    return multiply_piece(pass->circuit, pass->number, chunk->first / pass->circuit->plan.h_piece,
                          chunk->slots, err);
}

static enum cuzk_status multiply_h(struct backend_circuit *circuit, unsigned number,
                                   struct cuzk_error *err)
{
    const struct circuit_block *block = &circuit->block;
    const struct circuit_plan *plan = &circuit->plan;
    if (!plan->resident[SECTION_H]) {
        struct h_pass pass = {circuit, number};
        const struct points_source source = {
            .group = MSM_G1,
            .bytes = section_bytes(circuit, SECTION_H),
            .n = circuit->counts.n_points[SECTION_H],
            .chunk_points = plan->h_piece,
            .staging = block->h_staging,
            .faults = sums_at(circuit, circuit->sums_map.faults),
        };
        return points_load(circuit->loader, &source, multiply_chunk, &pass, circuit->device->stream,
                           err);
    }
    for (uint32_t i = 0; i < plan_h_pieces(&circuit->counts, plan); i++)
        TRY(multiply_piece(circuit, number, i,
                           (const char *)block->points[SECTION_H] +
                               (size_t)i * plan->h_piece * msm_slot_bytes(MSM_G1),
                           err));
    return CUZK_OK;
}

/* Offset of the sums of one witness's tail. */
static size_t tail_offset(const struct backend_circuit *circuit, enum cuda_tail tail, unsigned set,
                          unsigned number)
{
    const size_t n = msm_sum_count(&circuit->plan.tail_size[tail]);
    return circuit->sums_map.tails[tail][set] +
           number * n * msm_point_bytes(section_group(tail_section(tail, set)));
}

/* The sums over one witness's full-size variables. */
static enum cuzk_status multiply_tails(const struct batch *batch, unsigned number,
                                       struct cuzk_error *err)
{
    const struct backend_circuit *circuit = batch->circuit;
    const struct circuit_block *block = &circuit->block;
    const struct backend_device *device = circuit->device;
    for (enum cuda_tail i = 0; i < TAIL_COUNT; i++) {
        const struct msm_size *size = &circuit->plan.tail_size[i];
        if (size->n == 0)
            continue;
        TRY(device_check(rows_gather(batch->jobs[number]->slot->values, block->sources[i], size->n,
                                     block->scalars, device->stream),
                         "scalars of tails", err));
        struct msm_job msm = msm_on(device, size, block->scalars, block->sums_work);
        for (unsigned set = 0; set < 2; set++)
            msm.sets[set] = (struct msm_set){
                block->tails[i][set], sums_at(circuit, tail_offset(circuit, i, set, number))};
        TRY(device_check(msm_enqueue(&msm, device->stream), "multiplication of tails", err));
    }
    return CUZK_OK;
}

/* --- Phases ------------------------------------------------------------------------------------
 */

static enum cuzk_status evaluate(const struct batch *batch, unsigned number, struct cuzk_error *err)
{
    const struct backend_circuit *circuit = batch->circuit;
    const struct circuit_block *block = &circuit->block;
    const struct job *job = batch->jobs[number];
    const struct rows_witness witness = {
        .bits = job->slot->bits,
        .full = (const char *)job->slot->values + job->witness->n_inputs * sizeof(struct fr),
        .inputs = job->slot->values,
    };
    return device_check(rows_enqueue(&circuit->rows, block->image, &witness,
                                     circuit->counts.log2_domain, block->a_rows, block->b_rows,
                                     circuit->device->stream),
                        "row values", err);
}

/* Row values and their quotient, which leaves h's scalars in a_rows. */
static enum cuzk_status make_quotient(const struct batch *batch, unsigned number,
                                      struct cuzk_error *err)
{
    const struct backend_circuit *circuit = batch->circuit;
    const struct circuit_block *block = &circuit->block;
    const cudaStream_t stream = circuit->device->stream;
    TRY(record(job_event(batch, number, ROWS_FROM), stream, err));
    TRY(evaluate(batch, number, err));
    TRY(record(job_event(batch, number, ROWS_TO), stream, err));
    TRY(device_check(ntt_quotient_enqueue(circuit->counts.log2_domain, block->tables, block->a_rows,
                                          block->b_rows, block->c_rows, stream),
                     "quotient", err));
    return record(job_event(batch, number, QUOTIENT_TO), stream, err);
}

static enum cuzk_status select_bits(const struct batch *batch, cudaStream_t stream,
                                    struct cuzk_error *err)
{
    const struct backend_circuit *circuit = batch->circuit;
    const struct circuit_counts *counts = &circuit->counts;
    const struct circuit_block *block = &circuit->block;
    const struct queries *queries = &circuit->queries;
    for (unsigned i = 0; i < batch->n; i++) {
        const struct witness_slot *slot = batch->jobs[i]->slot;
        TRY(device_check(subset_select(slot->bits, block->a_dense.bits, block->a_dense.ranks,
                                       counts->n_aux, queries->a.n_inputs,
                                       counts->n_points[SECTION_A], slot->selected_a, stream),
                         "selecting bits", err));
        TRY(device_check(subset_select(slot->bits, block->b_dense.bits, block->b_dense.ranks,
                                       counts->n_aux, queries->b.n_inputs,
                                       counts->n_points[SECTION_B_G1], slot->selected_b, stream),
                         "selecting bits", err));
    }
    return CUZK_OK;
}

static const uint64_t *selected_bits(const struct witness_slot *slot, enum cuda_section section)
{
    if (section == SECTION_L)
        return slot->bits;
    return section == SECTION_A ? slot->selected_a : slot->selected_b;
}

/* All sums but h. */
static enum cuzk_status sum_witnesses(const struct batch *batch, struct cuzk_error *err)
{
    struct backend_circuit *circuit = batch->circuit;
    const cudaStream_t stream = circuit->device->stream;
    TRY(record(shared_event(batch, SUMS_FROM), stream, err));
    for (unsigned i = 0; i < batch->n; i++)
        TRY(multiply_tails(batch, i, err));
    TRY(record(shared_event(batch, TAILS_TO), stream, err));
    TRY(select_bits(batch, stream, err));
    for (enum cuda_section section = SECTION_L; section < SECTION_COUNT; section++) {
        const uint64_t *selected[BATCH_MAX];
        for (unsigned i = 0; i < batch->n; i++)
            selected[i] = selected_bits(batch->jobs[i]->slot, section);
        if (circuit->counts.n_points[section] > 0)
            TRY(section_sum(circuit, section, selected, batch->n, stream, err));
        TRY(record(shared_event(batch, L_TO + (section - SECTION_L)), stream, err));
    }
    return CUZK_OK;
}

/* All on one stream: each phase fills the device, and two beside each other take longer than one
   after the other. */
static enum cuzk_status enqueue(const struct batch *batch, struct cuzk_error *err)
{
    struct backend_circuit *circuit = batch->circuit;
    const cudaStream_t stream = circuit->device->stream;
    TRY(device_check(cudaMemsetAsync(sums_at(circuit, circuit->sums_map.faults), 0,
                                     sizeof(struct points_faults), stream),
                     "clearing faults", err));
    for (unsigned i = 0; i < batch->n; i++) {
        TRY(make_quotient(batch, i, err));
        TRY(multiply_h(circuit, i, err));
        TRY(record(job_event(batch, i, H_TO), stream, err));
    }
    TRY(sum_witnesses(batch, err));
    TRY(record(shared_event(batch, DOWNLOAD_FROM), stream, err));
    TRY(device_check(cudaMemcpyAsync(circuit->sums, circuit->block.sums, circuit->sums_map.bytes,
                                     cudaMemcpyDeviceToHost, stream),
                     "downloading sums", err));
    return record(shared_event(batch, BATCH_TO), stream, err);
}

/* --- Afterwards --------------------------------------------------------------------------------
 */

/* The host's time of an event, given that of the batch's end. */
static enum cuzk_status time_of(const struct batch *batch, cudaEvent_t event, uint64_t end_ns,
                                uint64_t *out, struct cuzk_error *err)
{
    float ms;
    TRY(device_check(cudaEventElapsedTime(&ms, event, shared_event(batch, BATCH_TO)),
                     "reading times", err));
    *out = end_ns - (uint64_t)((double)ms * 1e6);
    return CUZK_OK;
}

static enum cuzk_status emit_span(const struct batch *batch, const struct timeline_scope *scope,
                                  enum timeline_span span, cudaEvent_t from, cudaEvent_t to,
                                  uint64_t end_ns, struct cuzk_error *err)
{
    uint64_t from_ns, to_ns;
    TRY(time_of(batch, from, end_ns, &from_ns, err));
    TRY(time_of(batch, to, end_ns, &to_ns, err));
    timeline_emit_at(scope, (enum timeline_kind)(2 * span), -1, from_ns);
    timeline_emit_at(scope, (enum timeline_kind)(2 * span + 1), (int64_t)((to_ns - from_ns) / 1000),
                     to_ns);
    return CUZK_OK;
}

static enum cuzk_status emit_phases(const struct batch *batch, uint64_t end_ns,
                                    struct cuzk_error *err)
{
    static const enum timeline_span own[] = {TIMELINE_SPAN_EVAL, TIMELINE_SPAN_NTT,
                                             TIMELINE_SPAN_MSM_H};
    static const enum timeline_span shared[] = {TIMELINE_SPAN_MSM_TAILS, TIMELINE_SPAN_MSM_L,
                                                TIMELINE_SPAN_MSM_A, TIMELINE_SPAN_MSM_B_G1,
                                                TIMELINE_SPAN_MSM_B_G2};
    for (unsigned i = 0; i < batch->n; i++) {
        const struct timeline_scope *scope = batch->jobs[i]->scope;
        for (unsigned k = 0; k < 3; k++)
            TRY(emit_span(batch, scope, own[k], job_event(batch, i, ROWS_FROM + k),
                          job_event(batch, i, ROWS_TO + k), end_ns, err));
        for (unsigned k = 0; k < 5; k++)
            TRY(emit_span(batch, scope, shared[k], shared_event(batch, SUMS_FROM + k),
                          shared_event(batch, TAILS_TO + k), end_ns, err));
        TRY(emit_span(batch, scope, TIMELINE_SPAN_DOWNLOAD, shared_event(batch, DOWNLOAD_FROM),
                      shared_event(batch, BATCH_TO), end_ns, err));
    }
    return CUZK_OK;
}

/* Points that were streamed are checked every time: the file may have changed. */
static enum cuzk_status hand_out(const struct batch *batch, struct cuzk_error *err)
{
    const struct backend_circuit *circuit = batch->circuit;
    struct points_faults faults;
    memcpy(&faults, circuit->sums + circuit->sums_map.faults, sizeof faults);
    TRY(section_check_faults(&faults, "that is streamed", circuit->counts.n_points[SECTION_H],
                             err));
#ifdef CUZK_CUDA_FAULTS
    if (device_flip_is_due())
        circuit->sums[h_offset(circuit, 0, 0)] ^= 1;
#endif
    for (unsigned i = 0; i < batch->n; i++) {
        struct job *job = batch->jobs[i];
        memcpy(job->sums, circuit->sums, circuit->sums_map.bytes);
        job->number = i;
        job->n_batch = batch->n;
    }
    mem_wipe(circuit->sums, circuit->sums_map.bytes);
    return CUZK_OK;
}

enum cuzk_status batch_run(struct backend_circuit *circuit, struct job *const jobs[], unsigned n,
                           struct cuzk_error *err)
{
    const struct batch batch = {circuit, jobs, n};
    enum cuzk_status status = enqueue(&batch, err);
    if (status == CUZK_OK)
        status = device_check(cudaEventSynchronize(shared_event(&batch, BATCH_TO)), "proving", err);
    if (status == CUZK_OK)
        status = emit_phases(&batch, clock_now_ns(), err);
    if (status == CUZK_OK)
        return hand_out(&batch, err);
    /* Whoever comes next finds nothing at work on the circuit's memory. */
    device_settle();
    return status;
}

static void finish_h(const struct job *job, struct g1 *out)
{
    const struct backend_circuit *circuit = job->circuit;
    g1_set_infinity(out);
    for (uint32_t i = 0; i < plan_h_pieces(&circuit->counts, &circuit->plan); i++) {
        const struct msm_size size = plan_h_size(&circuit->counts, &circuit->plan, i);
        struct g1 piece;
        msm_finish_g1(&piece, &size, (const void *)(job->sums + h_offset(circuit, job->number, i)));
        g1_add(out, out, &piece);
    }
}

static const void *tail_sums(const struct job *job, enum cuda_tail tail, unsigned set)
{
    return job->sums + tail_offset(job->circuit, tail, set, job->number);
}

static void finish_g1(const struct job *job, enum cuda_tail tail, unsigned set, struct g1 *out)
{
    const struct backend_circuit *circuit = job->circuit;
    const enum cuda_section section = tail_section(tail, set);
    const struct msm_size *size = &circuit->plan.tail_size[tail];
    struct g1 sum;
    g1_set_infinity(out);
    if (circuit->counts.n_points[section] > 0) {
        section_add_chunks_g1(circuit, job->sums, section, job->number, job->n_batch, &sum);
        subset_finish_g1(out, &circuit->all_g1[section], &sum);
    }
    if (size->n == 0)
        return;
    msm_finish_g1(&sum, size, tail_sums(job, tail, set));
    g1_add(out, out, &sum);
}

static void finish_b_g2(const struct job *job, struct g2 *out)
{
    const struct backend_circuit *circuit = job->circuit;
    const struct msm_size *size = &circuit->plan.tail_size[TAIL_B];
    struct g2 sum;
    g2_set_infinity(out);
    if (circuit->counts.n_points[SECTION_B_G2] > 0) {
        section_add_chunks_g2(circuit, job->sums, SECTION_B_G2, job->number, job->n_batch, &sum);
        subset_finish_g2(out, &circuit->all_b_g2, &sum);
    }
    if (size->n == 0)
        return;
    msm_finish_g2(&sum, size, tail_sums(job, TAIL_B, 1));
    g2_add(out, out, &sum);
}

void batch_finish(const struct job *job, struct backend_sums *out)
{
    out->device_ns = job->device_ns;
    finish_h(job, &out->h);
    finish_g1(job, TAIL_LA, 0, &out->l);
    finish_g1(job, TAIL_LA, 1, &out->a);
    finish_g1(job, TAIL_B, 0, &out->b_g1);
    finish_b_g2(job, &out->b_g2);
}
