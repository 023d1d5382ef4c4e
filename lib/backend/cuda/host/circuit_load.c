#include "backend/cuda/host/circuit_load.h"

#include "backend/cuda/ntt/ntt.h"
#include "backend/cuda/host/section.h"
#include "base/bits.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { RESERVE_BYTES = 256 << 20 };

static unsigned mib(uint64_t bytes)
{
    return (unsigned)((bytes + ((1 << 20) - 1)) >> 20);
}

/* --- Memory ----------------------------------------------------------------------------------- */

/* What this circuit may take: what is free, less what the runtime itself may want for kernels,
   within the budget that is left. */
static enum cuzk_status memory_limit(const struct backend_device *device, uint64_t *out,
                                     struct cuzk_error *err)
{
    struct backend_memory memory;
    TRY(device_memory(device, &memory, err));
    *out = memory.free_bytes > RESERVE_BYTES ? memory.free_bytes - RESERVE_BYTES : 0;
    if (device->budget_bytes > 0) {
        const uint64_t taken = device->taken_bytes;
        const uint64_t left = device->budget_bytes > taken ? device->budget_bytes - taken : 0;
        *out = left < *out ? left : *out;
    }
    return CUZK_OK;
}

static enum cuzk_status make_plan(struct backend_circuit *circuit, struct cuzk_error *err)
{
    const struct backend_device *device = circuit->device;
    const struct memory_plan *plan = &circuit->plan;
    uint64_t limit;
    char text[120];
    TRY(memory_limit(device, &limit, err));
    if (plan_circuit(&circuit->counts, limit, &circuit->plan, err) != CUZK_OK) {
        circuit->plan.total_bytes = 0;
        return error_prefix(err, "%s", device->description);
    }
    plan_describe(plan, text, sizeof text);
    log_info("cuda",
             "%s: circuit of 2^%u rows takes %u MiB: rows %u, transforms %u, points %u, tails %u, "
             "%u witnesses %u, work %u; available %u MiB; %s",
             device->description, circuit->counts.log2_domain, mib(plan->total_bytes),
             mib(plan->rows_bytes), mib(plan->tables_bytes), mib(plan->points_bytes),
             mib(plan->tails_bytes), plan->n_slots, mib(plan->witness_bytes), mib(plan->work_bytes),
             mib(limit), text);
    return CUZK_OK;
}

/* The block, and what the host has beside it. */
static enum cuzk_status take_block(struct backend_circuit *circuit, struct cuzk_error *err)
{
    const struct memory_plan *plan = &circuit->plan;
    char what[32];
    snprintf(what, sizeof what, "circuit of 2^%u rows", circuit->counts.log2_domain);
    TRY(device_take(circuit->device, plan->total_bytes, what, &circuit->memory, err));
    plan_lay_out(&circuit->counts, plan, circuit->memory, &circuit->block);
    plan_sums(&circuit->counts, plan, &circuit->sums_map);
    for (unsigned i = 0; i < EVENTS_MAX; i++)
        TRY(device_check(cudaEventCreateWithFlags(&circuit->events[i], cudaEventBlockingSync),
                         "making an event", err));
    return device_check(cudaMallocHost((void **)&circuit->sums, circuit->sums_map.bytes),
                        "pinned memory", err);
}

static void destroy_graph(cudaGraphExec_t *graph)
{
    if (*graph)
        cudaGraphExecDestroy(*graph);
    *graph = NULL;
}

/* Gives back all that take_block and loading took. Errors are not looked at: the device may be
   lost. */
static void leave_device(struct backend_circuit *circuit)
{
    points_loader_close(circuit->loader);
    circuit->loader = NULL;
    cudaFreeHost(circuit->sums);
    circuit->sums = NULL;
    for (unsigned i = 0; i < H_PIECES_MAX; i++)
        destroy_graph(&circuit->h_graphs[i]);
    destroy_graph(&circuit->tails_graph);
    for (unsigned i = 0; i < EVENTS_MAX; i++) {
        if (circuit->events[i])
            cudaEventDestroy(circuit->events[i]);
        circuit->events[i] = NULL;
    }
    cudaFree(circuit->memory);
    circuit->memory = NULL;
    cudaGetLastError();
}

/* --- Loading ---------------------------------------------------------------------------------- */

static enum cuzk_status copy_in(void *to, const void *from, size_t bytes, struct cuzk_error *err)
{
    if (bytes == 0)
        return CUZK_OK;
    return device_check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "loading a circuit",
                        err);
}

static enum cuzk_status load_density(const struct cuda_density *to, const uint64_t *dense,
                                     uint32_t n_aux, struct cuzk_error *err)
{
    if (!dense)
        return CUZK_OK;
    const size_t n_words = bit_words(n_aux);
    TRY(copy_in(to->bits, dense, n_words * sizeof *dense, err));
    uint32_t *ranks = mem_alloc(n_words, sizeof *ranks);
    if (!ranks)
        return error_set(err, CUZK_NO_MEMORY, "circuit of %u variables: out of memory", n_aux);
    uint32_t rank = 0;
    for (size_t i = 0; i < n_words; i++) {
        ranks[i] = rank;
        rank += (uint32_t)__builtin_popcountll(dense[i]);
    }
    enum cuzk_status status = copy_in(to->ranks, ranks, n_words * sizeof *ranks, err);
    mem_free(ranks);
    return status;
}

static enum cuzk_status build_tails(struct backend_circuit *circuit, const struct tail_list *lists,
                                    cudaStream_t stream, struct cuzk_error *err)
{
    for (enum cuda_tail i = 0; i < TAIL_COUNT; i++) {
        const struct msm_size *size = &circuit->plan.tail_size[i];
        TRY(copy_in(circuit->block.sources[i], lists[i].source, lists[i].n * sizeof(uint32_t),
                    err));
        for (unsigned set = 0; set < 2 && size->tables && lists[i].n > 0; set++)
            TRY(device_check(msm_build_tables(size, section_group(tail_section(i, set)),
                                              circuit->block.tails[i][set], circuit->block.work,
                                              msm_scratch_bytes(size), stream),
                             "multiples of points", err));
    }
    return device_check(cudaStreamSynchronize(stream), "multiples of points", err);
}

static enum cuzk_status fill_block(struct backend_circuit *circuit, struct points_loader *loader,
                                   const struct tail_list *lists, cudaStream_t stream,
                                   struct cuzk_error *err)
{
    struct circuit_block *block = &circuit->block;
    const uint32_t n_aux = circuit->counts.n_aux;
    TRY(copy_in(block->image, circuit->rows.bytes, circuit->rows.n_bytes, err));
    TRY(load_density(&block->a_dense, circuit->queries.a.dense, n_aux, err));
    TRY(load_density(&block->b_dense, circuit->queries.b.dense, n_aux, err));
    TRY(device_check(ntt_build_tables(circuit->counts.log2_domain, block->tables, stream),
                     "making tables", err));
    TRY(device_check(cudaMemsetAsync(block->sums, 0, circuit->sums_map.bytes, stream),
                     "loading a circuit", err));
    for (enum key_vector i = 0; i < KEY_VECTORS; i++)
        TRY(section_load(circuit, i, loader, lists, stream, err));
    if (has_lagrange_form(circuit))
        TRY(section_load_inputs(circuit, &lists[TAIL_LA], stream, err));
    return build_tails(circuit, lists, stream, err);
}

/* Nothing else works on the new block, so the device need not be locked: other circuits' partitions
   go on meanwhile. */
static enum cuzk_status fill_on_own_stream(struct backend_circuit *circuit,
                                           const struct tail_list *lists, struct cuzk_error *err)
{
    cudaStream_t stream;
    const uint64_t start = clock_now_ns();
    TRY(device_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream",
                     err));
    enum cuzk_status status = points_loader_open(0, &circuit->loader, err);
    if (status == CUZK_OK)
        status = fill_block(circuit, circuit->loader, lists, stream, err);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    if (plan_is_resident(&circuit->plan)) {
        points_loader_close(circuit->loader);
        circuit->loader = NULL;
    }
    if (status == CUZK_OK)
        log_info("cuda", "%s: circuit of 2^%u rows is loaded, %.1f s", circuit->device->description,
                 circuit->counts.log2_domain, (double)(clock_now_ns() - start) / 1e9);
    return status;
}

/* From here on the circuit's h and l are those of the form, if there is one. */
static void use_lagrange_form(struct backend_circuit *circuit)
{
    struct key_vectors *key = &circuit->key;
    if (!has_lagrange_form(circuit))
        return;
    key->v[KEY_H].at = key->lagrange.h;
    key->v[KEY_H].n = UINT32_C(1) << circuit->shape->log2_domain;
    key->v[KEY_L].at = key->lagrange.l;
}

static void set_counts(struct backend_circuit *circuit, const struct tail_list *lists)
{
    const struct shape *shape = circuit->shape;
    circuit->counts = (struct circuit_counts){
        .log2_domain = shape->log2_domain,
        .n_aux = shape->n_aux,
        .n_values = shape->n_inputs + shape->n_full,
        .n_scalars = {lists[TAIL_LA].n, lists[TAIL_B].n},
        .rows_bytes = circuit->rows.n_bytes,
        .a_is_dense = !circuit->queries.a.dense,
        .b_is_dense = !circuit->queries.b.dense,
    };
    for (enum key_vector i = 0; i < KEY_VECTORS; i++)
        circuit->counts.n_points[i] = circuit->key.v[i].n;
}

/* Plans are made one after the other: each counts on what it found free. */
static enum cuzk_status plan_and_take(struct backend_circuit *circuit, struct cuzk_error *err)
{
    struct backend_device *device = circuit->device;
    pthread_mutex_lock(&device->budget_lock);
    enum cuzk_status status = make_plan(circuit, err);
    if (status == CUZK_OK)
        status = take_block(circuit, err);
    device->taken_bytes += circuit->plan.total_bytes;
    pthread_mutex_unlock(&device->budget_lock);
    return status;
}

static enum cuzk_status bring_to_device(struct backend_circuit *circuit, struct cuzk_error *err)
{
    struct tail_list lists[TAIL_COUNT] = {0};
    enum cuzk_status status = tail_lists_make(&circuit->queries, lists, err);
    if (status == CUZK_OK)
        status = rows_image_make(circuit->shape, &circuit->rows, err);
    if (status == CUZK_OK)
        status = key_check(&circuit->key, circuit->shape, err);
    if (status == CUZK_OK) {
        use_lagrange_form(circuit);
        set_counts(circuit, lists);
        status = plan_and_take(circuit, err);
    }
    if (status == CUZK_OK)
        status = fill_on_own_stream(circuit, lists, err);
    mem_free(circuit->rows.bytes);
    circuit->rows.bytes = NULL;
    for (enum cuda_tail i = 0; i < TAIL_COUNT; i++)
        tail_list_free(&lists[i]);
    return status;
}

enum cuzk_status circuit_check_size(unsigned log2_domain, struct cuzk_error *err)
{
    if (log2_domain >= NTT_CUDA_LOG2_MIN && log2_domain <= NTT_CUDA_LOG2_MAX)
        return CUZK_OK;
    return error_set(err, CUZK_UNSUPPORTED,
                     "cuda: circuit of 2^%u rows; the device takes 2^%d to 2^%d", log2_domain,
                     NTT_CUDA_LOG2_MIN, NTT_CUDA_LOG2_MAX);
}

enum cuzk_status circuit_load(struct backend_device *device, const struct shape *shape,
                              const struct key_vectors *key, struct backend_circuit **out,
                              struct cuzk_error *err)
{
    struct backend_circuit *circuit = mem_zalloc(1, sizeof *circuit);
    if (!circuit)
        return error_set(err, CUZK_NO_MEMORY, "cuda: out of memory");
    circuit->device = device;
    circuit->shape = shape;
    circuit->key = *key;
    pthread_mutex_init(&circuit->lock, NULL);
    pthread_cond_init(&circuit->changed, NULL);
    enum cuzk_status status = circuit_check_size(shape->log2_domain, err);
    if (status == CUZK_OK)
        status = queries_init(&circuit->queries, shape, err);
    if (status == CUZK_OK)
        status = device_use(device, err);
    if (status == CUZK_OK)
        status = bring_to_device(circuit, err);
    if (status != CUZK_OK) {
        circuit_unload(circuit);
        return status;
    }
    *out = circuit;
    return CUZK_OK;
}

void circuit_unload(struct backend_circuit *circuit)
{
    if (!circuit)
        return;
    struct backend_device *device = circuit->device;
    if (cudaSetDevice(device->ordinal) == cudaSuccess)
        leave_device(circuit);
    pthread_mutex_lock(&device->budget_lock);
    device->taken_bytes -= circuit->plan.total_bytes;
    pthread_mutex_unlock(&device->budget_lock);
    rows_image_free(&circuit->rows);
    queries_free(&circuit->queries);
    pthread_mutex_destroy(&circuit->lock);
    pthread_cond_destroy(&circuit->changed);
    mem_free(circuit);
}

uint64_t circuit_bytes(const struct backend_circuit *circuit)
{
    return circuit->plan.total_bytes;
}
