#include "backend/cuda/host/partition.h"

#include "backend/cuda/ntt/ntt.h"
#include "backend/cuda/host/section.h"
#include "base/check.h"
#include "base/error.h"

/* --- Multiplications -------------------------------------------------------------------------- */

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

size_t partition_h_offset(const struct backend_circuit *circuit, uint32_t piece)
{
    return circuit->sums_map.h + piece * circuit->sums_map.h_stride;
}

static void *own_sums_at(const struct backend_circuit *circuit, size_t offset)
{
    return (char *)circuit->block.own_sums + offset;
}

/* A piece of h's points, on the device. */
struct h_piece {
    uint32_t number;
    const void *points;
};

static enum cuzk_status multiply_piece(const struct backend_circuit *circuit, const void *context,
                                       struct cuzk_error *err)
{
    const struct circuit_block *block = &circuit->block;
    const struct h_piece *piece = context;
    const struct msm_size size = plan_h_size(&circuit->counts, &circuit->plan, piece->number);
    const size_t first = (size_t)piece->number * circuit->plan.h_piece;
    const char *scalars = (const char *)block->a_rows + first * sizeof(struct fr);
    struct msm_job msm = msm_on(circuit->device, &size, scalars, block->h_work);
    msm.sets[0] = (struct msm_set){
        piece->points, own_sums_at(circuit, partition_h_offset(circuit, piece->number))};
    return device_check(msm_enqueue(&msm, circuit->device->stream), "multiplication of h", err);
}

/* The sums over full-size variables, whose values are in block.scalars. */
static enum cuzk_status multiply_tails(const struct backend_circuit *circuit, const void *context,
                                       struct cuzk_error *err)
{
    (void)context;
    const struct circuit_block *block = &circuit->block;
    const struct backend_device *device = circuit->device;
    for (enum cuda_tail i = 0; i < TAIL_COUNT; i++) {
        const struct msm_size *size = &circuit->plan.tail_size[i];
        if (size->n == 0)
            continue;
        struct msm_job msm = msm_on(device, size, block->scalars[i], block->work);
        for (unsigned set = 0; set < 2; set++)
            msm.sets[set] = (struct msm_set){block->tails[i][set],
                                             own_sums_at(circuit, circuit->sums_map.tails[i][set])};
        TRY(device_check(msm_enqueue(&msm, device->stream), "multiplication of tails", err));
    }
    return CUZK_OK;
}

/* --- Graphs ----------------------------------------------------------------------------------- */

typedef enum cuzk_status enqueue_fn(const struct backend_circuit *circuit, const void *context,
                                    struct cuzk_error *err);

static enum cuzk_status record_graph(const struct backend_circuit *circuit, enqueue_fn *enqueue,
                                     const void *context, cudaGraphExec_t *out,
                                     struct cuzk_error *err)
{
    static const char what[] = "recording a graph";
    const cudaStream_t stream = circuit->device->stream;
    cudaGraph_t graph = NULL;
    struct cuzk_error second;
    enum cuzk_status status =
        device_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), what, err);
    if (status == CUZK_OK)
        status = enqueue(circuit, context, err);
    /* Whatever happened, the stream must work again. */
    const enum cuzk_status ended =
        device_check(cudaStreamEndCapture(stream, &graph), what, status == CUZK_OK ? err : &second);
    if (status == CUZK_OK)
        status = ended;
    if (status == CUZK_OK)
        status = device_check(cudaGraphInstantiate(out, graph, 0), what, err);
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

/* Work that is the same for every partition, whose context never changes, is recorded once: it is
   more launches than the driver takes in at a time, and a thread that launches them would spin
   until the device is nearly done. */
static enum cuzk_status launch_graph(const struct backend_circuit *circuit, enqueue_fn *enqueue,
                                     const void *context, cudaGraphExec_t *graph,
                                     struct cuzk_error *err)
{
    if (!*graph) {
        cudaGraphExec_t recorded = NULL;
        const enum cuzk_status status = record_graph(circuit, enqueue, context, &recorded, err);
        if (status != CUZK_OK) {
            if (recorded)
                cudaGraphExecDestroy(recorded);
            return status;
        }
        *graph = recorded;
    }
    return device_check(cudaGraphLaunch(*graph, circuit->device->stream), "launching a graph", err);
}

/* --- All together ----------------------------------------------------------------------------- */

static enum cuzk_status multiply_chunk(void *context, const struct points_chunk *chunk,
                                       cudaStream_t stream, struct cuzk_error *err)
{
    struct backend_circuit *circuit = context;
    const struct h_piece piece = {chunk->first / circuit->plan.h_piece, chunk->slots};
    (void)stream; /* is the device's */
    CHECK(piece.number < H_PIECES_MAX);
    return launch_graph(circuit, multiply_piece, &piece, &circuit->h_graphs[piece.number], err);
}

static enum cuzk_status multiply_h(struct backend_circuit *circuit, struct cuzk_error *err)
{
    const cudaStream_t stream = circuit->device->stream;
    const uint32_t n = circuit->counts.n_points[KEY_H], most = circuit->plan.h_piece;
    if (!circuit->plan.resident[KEY_H]) {
        const struct points_source source = {
            .group = MSM_G1,
            .bytes = circuit->key.v[KEY_H].at,
            .n = n,
            .chunk_points = most,
            .staging = circuit->block.h_staging,
            .faults = (void *)((char *)circuit->block.sums + circuit->sums_map.faults),
        };
        return points_load(circuit->loader, &source, multiply_chunk, circuit, stream, err);
    }
    const char *points = circuit->block.points[KEY_H];
    for (uint32_t first = 0; first < n; first += most) {
        const struct points_chunk chunk = {first, n - first < most ? n - first : most,
                                           points + first * msm_slot_bytes(MSM_G1)};
        TRY(multiply_chunk(circuit, &chunk, stream, err));
    }
    return CUZK_OK;
}

static enum cuzk_status evaluate(const struct backend_circuit *circuit,
                                 const struct witness_slot *slot, struct cuzk_error *err)
{
    const struct circuit_block *block = &circuit->block;
    const struct rows_witness witness = {
        .bits = slot->bits,
        .full = (const char *)slot->values + circuit->shape->n_inputs * sizeof(struct fr),
        .inputs = slot->values,
    };
    return device_check(rows_enqueue(&circuit->rows, block->image, &witness,
                                     circuit->counts.log2_domain, block->a_rows, block->b_rows,
                                     circuit->device->stream),
                        "row values", err);
}

/* Row values, and from them h's scalars in a_rows: the quotient's coefficients, or, for its
   Lagrange form, the products on the coset. */
static enum cuzk_status transform(const struct backend_circuit *circuit, struct cuzk_error *err)
{
    const struct circuit_block *block = &circuit->block;
    const unsigned log2_n = circuit->counts.log2_domain;
    const cudaStream_t stream = circuit->device->stream;
    return device_check(
        has_lagrange_form(circuit)
            ? ntt_products_enqueue(log2_n, block->tables, block->a_rows, block->b_rows, stream)
            : ntt_quotient_enqueue(log2_n, block->tables, block->a_rows, block->b_rows,
                                   block->c_rows, stream),
        "transforms", err);
}

static enum cuzk_status make_scalars(const struct backend_circuit *circuit,
                                     const struct witness_slot *slot, const cudaEvent_t events[],
                                     struct cuzk_error *err)
{
    const cudaStream_t stream = circuit->device->stream;
    TRY(device_record(events[ROWS_FROM], stream, err));
    TRY(evaluate(circuit, slot, err));
    TRY(device_record(events[ROWS_TO], stream, err));
    TRY(transform(circuit, err));
    return device_record(events[QUOTIENT_TO], stream, err);
}

static enum cuzk_status gather_scalars(const struct backend_circuit *circuit,
                                       const struct witness_slot *slot, struct cuzk_error *err)
{
    const struct circuit_block *block = &circuit->block;
    for (enum cuda_tail i = 0; i < TAIL_COUNT; i++) {
        if (circuit->counts.n_scalars[i] > 0)
            TRY(device_check(rows_gather(slot->values, block->sources[i],
                                         circuit->counts.n_scalars[i], block->scalars[i],
                                         circuit->device->stream),
                             "scalars of tails", err));
    }
    return CUZK_OK;
}

enum cuzk_status partition_enqueue(struct backend_circuit *circuit, const struct witness_slot *slot,
                                   void *sums, const cudaEvent_t events[PARTITION_EVENTS],
                                   struct cuzk_error *err)
{
    const cudaStream_t stream = circuit->device->stream;
    TRY(gather_scalars(circuit, slot, err));
    TRY(make_scalars(circuit, slot, events, err));
    TRY(multiply_h(circuit, err));
    TRY(device_record(events[H_TO], stream, err));
    TRY(launch_graph(circuit, multiply_tails, NULL, &circuit->tails_graph, err));
    TRY(device_check(cudaMemcpyAsync(sums, circuit->block.own_sums, circuit->sums_map.own_bytes,
                                     cudaMemcpyDeviceToDevice, stream),
                     "keeping sums", err));
    return device_record(events[TAILS_TO], stream, err);
}
