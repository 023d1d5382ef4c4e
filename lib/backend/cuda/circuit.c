#include "backend/cuda/circuit.h"

#include "backend/cuda/ntt.h"
#include "backend/cuda/points_load.h"
#include "backend/cuda/subset.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

/* A chunk of points while they are loaded: 32 MiB of a file in G1, 64 in G2. */
enum { ALIGNMENT = 256, CHUNK_POINTS = 1820 * SUBSET_ALIGNMENT };

static const char *const section_names[SECTION_COUNT] = {"h", "l", "a", "b_g1", "b_g2"};

static size_t words_of(size_t bits)
{
    return (bits + 63) / 64;
}

size_t circuit_sums_bytes(enum cuda_section section)
{
    return (1 + MSM_SUMS_MAX) * msm_point_bytes(section_group(section));
}

size_t circuit_bits_bytes(const struct shape *shape)
{
    return witness_plane_words(shape->n_aux) * sizeof(uint64_t);
}

size_t circuit_values_bytes(const struct shape *shape)
{
    return ((size_t)shape->n_inputs + shape->n_full) * sizeof(struct fr);
}

/* --- The plan --------------------------------------------------------------------------------- */

/* Hands out parts of the block; with base NULL it only counts. */
struct layout {
    char *base;
    size_t used;
};

static void *take(struct layout *layout, size_t bytes)
{
    const size_t at = layout->used;
    layout->used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return layout->base ? layout->base + at : NULL;
}

static void take_map(struct layout *layout, struct cuda_map *map, const struct query *from,
                     uint32_t n_aux)
{
    if (from->dense) {
        map->density = take(layout, words_of(n_aux) * sizeof *map->density);
        map->ranks = take(layout, words_of(n_aux) * sizeof *map->ranks);
    }
    map->point = take(layout, from->n_scalars * sizeof *map->point);
    map->source = take(layout, from->n_scalars * sizeof *map->source);
}

/* Points of variables that may be bits. */
static uint32_t ones_max(const struct query *map)
{
    return map->n_points - map->n_inputs;
}

/* The largest room that one of the witness's sums takes. */
static size_t side_scratch_bytes(const struct backend_circuit *circuit)
{
    size_t most = 0;
    for (enum cuda_section i = SECTION_L; i < SECTION_COUNT; i++) {
        const struct query *map = query_of(circuit, i);
        const enum msm_group group = section_group(i);
        const size_t subset = ones_scratch_bytes(group, circuit->shape->n_aux, ones_max(map));
        const struct msm_size size = section_msm(circuit, i);
        const size_t tail = size.n ? msm_scratch_bytes(&size) : 0;
        most = subset > most ? subset : most;
        most = tail > most ? tail : most;
    }
    return most;
}

static uint32_t most_scalars(const struct queries *queries)
{
    const uint32_t l = queries->l.n_scalars, a = queries->a.n_scalars, b = queries->b.n_scalars;
    const uint32_t most = l > a ? l : a;
    return most > b ? most : b;
}

struct plan {
    size_t rows_bytes, tables_bytes, points_bytes, work_bytes, total_bytes;
};

/* Lays the block out from base on (NULL: to count). */
static struct plan lay_out(struct backend_circuit *circuit, void *base)
{
    const struct shape *shape = circuit->shape;
    const size_t domain = ((size_t)1 << shape->log2_domain) * sizeof(struct fr);
    struct cuda_block *block = &circuit->block;
    struct layout layout = {base, 0};
    struct plan plan;
    block->image = take(&layout, circuit->rows.n_bytes);
    take_map(&layout, &block->l, &circuit->queries.l, shape->n_aux);
    take_map(&layout, &block->a, &circuit->queries.a, shape->n_aux);
    take_map(&layout, &block->b, &circuit->queries.b, shape->n_aux);
    plan.rows_bytes = layout.used;
    block->tables = take(&layout, ntt_table_bytes(shape->log2_domain));
    plan.tables_bytes = layout.used - plan.rows_bytes;
    for (enum cuda_section i = 0; i < SECTION_COUNT; i++)
        block->points[i] = take(&layout, circuit->n_points[i] * msm_slot_bytes(section_group(i)));
    for (enum cuda_section i = SECTION_L; i < SECTION_COUNT; i++)
        block->tails[i] =
            take(&layout, query_of(circuit, i)->n_scalars * msm_slot_bytes(section_group(i)));
    plan.points_bytes = layout.used - plan.rows_bytes - plan.tables_bytes;
    for (unsigned i = 0; i < WITNESS_SLOTS; i++) {
        block->slots[i].bits = take(&layout, circuit_bits_bytes(shape) + 64);
        block->slots[i].values = take(&layout, circuit_values_bytes(shape));
    }
    block->a_rows = take(&layout, domain);
    block->b_rows = take(&layout, domain);
    block->c_rows = take(&layout, domain);
    block->scalars = take(&layout, most_scalars(&circuit->queries) * sizeof(struct fr));
    block->h_scratch = take(&layout, circuit->h_scratch_bytes);
    block->side_scratch = take(&layout, circuit->side_scratch_bytes);
    size_t sums = 0;
    for (enum cuda_section i = 0; i < SECTION_COUNT; i++)
        sums += circuit_sums_bytes(i);
    block->sums = take(&layout, sums);
    block->faults = take(&layout, sizeof(struct points_faults));
    plan.work_bytes = layout.used - plan.rows_bytes - plan.tables_bytes - plan.points_bytes;
    plan.total_bytes = layout.used;
    return plan;
}

/* Device memory beside the block while points are loaded. */
static size_t loading_bytes(void)
{
    return points_staging_bytes(MSM_G2, CHUNK_POINTS);
}

static unsigned mib(uint64_t bytes)
{
    return (unsigned)((bytes + ((1 << 20) - 1)) >> 20);
}

/* Takes the block, or says why it does not fit. */
static enum cuzk_status allocate(struct backend_circuit *circuit, struct cuzk_error *err)
{
    const struct msm_size h = section_msm(circuit, SECTION_H);
    circuit->h_scratch_bytes = msm_scratch_bytes(&h);
    circuit->side_scratch_bytes = side_scratch_bytes(circuit);
    const struct plan plan = lay_out(circuit, NULL);
    const struct backend_device *device = circuit->device;
    struct backend_memory memory;
    TRY(device_memory(device, &memory, err));
    uint64_t limit = memory.free_bytes;
    if (device->budget_bytes > 0 && device->budget_bytes < limit)
        limit = device->budget_bytes;
    log_info("cuda",
             "%s: circuit of 2^%u rows takes %u MiB: rows %u, tables %u, points %u, work %u; "
             "available %u MiB",
             device->description, circuit->shape->log2_domain, mib(plan.total_bytes),
             mib(plan.rows_bytes), mib(plan.tables_bytes), mib(plan.points_bytes),
             mib(plan.work_bytes), mib(limit));
    const uint64_t needed = plan.total_bytes + loading_bytes();
    cudaError_t error = cudaErrorMemoryAllocation;
    if (needed <= limit)
        error = cudaMalloc(&circuit->memory, plan.total_bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return error_set(
            err, CUZK_RESOURCE_EXHAUSTED,
            "%s: circuit of 2^%u rows needs %u MiB (rows %u, tables %u, points %u, work "
            "%u, loading %u), available are %u MiB",
            device->description, circuit->shape->log2_domain, mib(needed), mib(plan.rows_bytes),
            mib(plan.tables_bytes), mib(plan.points_bytes), mib(plan.work_bytes),
            mib(loading_bytes()), mib(limit));
    }
    TRY(device_check(error, "taking memory", err));
    circuit->memory_bytes = plan.total_bytes;
    lay_out(circuit, circuit->memory);
    return CUZK_OK;
}

/* --- Filling it ------------------------------------------------------------------------------- */

static enum cuzk_status copy_in(void *to, const void *from, size_t bytes, struct cuzk_error *err)
{
    if (bytes == 0)
        return CUZK_OK;
    return device_check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "loading a circuit",
                        err);
}

static enum cuzk_status load_map(const struct cuda_map *to, const struct query *from,
                                 uint32_t n_aux, struct cuzk_error *err)
{
    TRY(copy_in(to->point, from->point, from->n_scalars * sizeof *from->point, err));
    TRY(copy_in(to->source, from->source, from->n_scalars * sizeof *from->source, err));
    if (!from->dense)
        return CUZK_OK;
    const size_t n_words = words_of(n_aux);
    TRY(copy_in(to->density, from->dense, n_words * sizeof *from->dense, err));
    uint32_t *ranks = mem_alloc(n_words, sizeof *ranks);
    if (!ranks)
        return error_set(err, CUZK_NO_MEMORY, "circuit of %u variables: out of memory", n_aux);
    uint32_t rank = 0;
    for (size_t i = 0; i < n_words; i++) {
        ranks[i] = rank;
        rank += (uint32_t)__builtin_popcountll(from->dense[i]);
    }
    enum cuzk_status status = copy_in(to->ranks, ranks, n_words * sizeof *ranks, err);
    mem_free(ranks);
    return status;
}

/* Where a section's slots go. */
struct destination {
    char *slots;
    size_t slot_bytes;
};

static enum cuzk_status keep_chunk(void *context, const struct points_chunk *chunk,
                                   cudaStream_t stream, struct cuzk_error *err)
{
    const struct destination *to = context;
    return device_check(cudaMemcpyAsync(to->slots + chunk->first * to->slot_bytes, chunk->slots,
                                        chunk->n * to->slot_bytes, cudaMemcpyDeviceToDevice,
                                        stream),
                        "loading points", err);
}

/* Lays the points of a section's full-size variables out in their order. */
static enum cuzk_status gather_tail(struct backend_circuit *circuit, enum cuda_section section,
                                    struct cuzk_error *err)
{
    const struct cuda_block *block = &circuit->block;
    const struct cuda_map *const maps[SECTION_COUNT] = {NULL, &block->l, &block->a, &block->b,
                                                        &block->b};
    if (!maps[section])
        return CUZK_OK;
    return device_check(points_gather(section_group(section), block->points[section], 0,
                                      circuit->n_points[section], maps[section]->point,
                                      query_of(circuit, section)->n_scalars, block->tails[section],
                                      circuit->device->stream),
                        "loading points", err);
}

/* Loads one section and refuses what is no point of the curve. */
static enum cuzk_status load_section(struct backend_circuit *circuit, enum cuda_section section,
                                     const uint8_t *bytes, struct points_loader *loader,
                                     void *staging, struct cuzk_error *err)
{
    const cudaStream_t stream = circuit->device->stream;
    const enum msm_group group = section_group(section);
    struct destination to = {circuit->block.points[section], msm_slot_bytes(group)};
    const struct points_source source = {
        .group = group,
        .bytes = bytes,
        .n = circuit->n_points[section],
        .chunk_points = CHUNK_POINTS,
        .staging = staging,
        .faults = circuit->block.faults,
    };
    struct points_faults faults = {0};
    TRY(device_check(cudaMemsetAsync(circuit->block.faults, 0, sizeof faults, stream),
                     "loading points", err));
    TRY(points_load(loader, &source, keep_chunk, &to, stream, err));
    TRY(gather_tail(circuit, section, err));
    TRY(device_check(cudaMemcpyAsync(&faults, circuit->block.faults, sizeof faults,
                                     cudaMemcpyDeviceToHost, stream),
                     "loading points", err));
    TRY(device_check(cudaStreamSynchronize(stream), "loading points", err));
    if (faults.malformed + faults.infinite + faults.off_curve == 0)
        return CUZK_OK;
    return error_set(err, CUZK_BAD_PARAMS,
                     "section %s: of %u points %u are malformed, %u infinite, %u not on the curve",
                     section_names[section], circuit->n_points[section], faults.malformed,
                     faults.infinite, faults.off_curve);
}

static enum cuzk_status load_points(struct backend_circuit *circuit, const struct backend_key *key,
                                    struct cuzk_error *err)
{
    const uint8_t *const bytes[SECTION_COUNT] = {key->h, key->l, key->a, key->b_g1, key->b_g2};
    struct points_loader *loader = NULL;
    void *staging = NULL;
    enum cuzk_status status = points_loader_open(0, &loader, err);
    if (status == CUZK_OK)
        status = device_check(cudaMalloc(&staging, loading_bytes()), "memory for loading", err);
    for (enum cuda_section i = 0; i < SECTION_COUNT && status == CUZK_OK; i++)
        status = load_section(circuit, i, bytes[i], loader, staging, err);
    if (status != CUZK_OK)
        cudaStreamSynchronize(circuit->device->stream);
    points_loader_close(loader);
    cudaFree(staging);
    return status;
}

static enum cuzk_status fill(struct backend_circuit *circuit, const struct backend_key *key,
                             struct cuzk_error *err)
{
    const struct shape *shape = circuit->shape;
    struct cuda_block *block = &circuit->block;
    const cudaStream_t stream = circuit->device->stream;
    TRY(copy_in(block->image, circuit->rows.bytes, circuit->rows.n_bytes, err));
    TRY(load_map(&block->l, &circuit->queries.l, shape->n_aux, err));
    TRY(load_map(&block->a, &circuit->queries.a, shape->n_aux, err));
    TRY(load_map(&block->b, &circuit->queries.b, shape->n_aux, err));
    TRY(device_check(ntt_build_tables(shape->log2_domain, block->tables, stream), "making tables",
                     err));
    return load_points(circuit, key, err);
}

/* --- Checks ----------------------------------------------------------------------------------- */

static enum cuzk_status check_key(const struct backend_circuit *circuit, struct cuzk_error *err)
{
    for (enum cuda_section i = 0; i < SECTION_COUNT; i++) {
        const struct query *map = query_of(circuit, i);
        const uint64_t wanted =
            map ? map->n_points : (UINT64_C(1) << circuit->shape->log2_domain) - 1;
        if (circuit->n_points[i] != wanted)
            return error_set(err, CUZK_BAD_PARAMS,
                             "section %s has %u points, the circuit needs %llu", section_names[i],
                             circuit->n_points[i], (unsigned long long)wanted);
    }
    return CUZK_OK;
}

static enum cuzk_status prepare(struct backend_circuit *circuit, struct cuzk_error *err)
{
    const unsigned log2_domain = circuit->shape->log2_domain;
    if (log2_domain < NTT_CUDA_LOG2_MIN || log2_domain > NTT_CUDA_LOG2_MAX)
        return error_set(err, CUZK_UNSUPPORTED,
                         "cuda: circuit of 2^%u rows; the device takes 2^%d "
                         "to 2^%d",
                         log2_domain, NTT_CUDA_LOG2_MIN, NTT_CUDA_LOG2_MAX);
    TRY(queries_init(&circuit->queries, circuit->shape, err));
    TRY(check_key(circuit, err));
    TRY(rows_image_make(circuit->shape, &circuit->rows, err));
    return device_use(circuit->device, err);
}

enum cuzk_status circuit_load(struct backend_device *device, const struct shape *shape,
                              const struct backend_key *key, struct backend_circuit **out,
                              struct cuzk_error *err)
{
    struct backend_circuit *circuit = mem_zalloc(1, sizeof *circuit);
    if (!circuit)
        return error_set(err, CUZK_NO_MEMORY, "cuda: out of memory");
    circuit->device = device;
    circuit->shape = shape;
    pthread_mutex_init(&circuit->slots_lock, NULL);
    pthread_cond_init(&circuit->slot_given_back, NULL);
    const uint32_t counts[SECTION_COUNT] = {key->n_h, key->n_l, key->n_a, key->n_b_g1, key->n_b_g2};
    memcpy(circuit->n_points, counts, sizeof counts);
    enum cuzk_status status = prepare(circuit, err);
    pthread_mutex_lock(&device->busy);
    if (status == CUZK_OK)
        status = allocate(circuit, err);
    if (status == CUZK_OK)
        status = fill(circuit, key, err);
    pthread_mutex_unlock(&device->busy);
    mem_free(circuit->rows.bytes);
    circuit->rows.bytes = NULL;
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
    if (circuit->memory && cudaSetDevice(circuit->device->ordinal) == cudaSuccess)
        cudaFree(circuit->memory);
    rows_image_free(&circuit->rows);
    queries_free(&circuit->queries);
    pthread_mutex_destroy(&circuit->slots_lock);
    pthread_cond_destroy(&circuit->slot_given_back);
    mem_free(circuit);
}

uint64_t circuit_bytes(const struct backend_circuit *circuit)
{
    return circuit->memory_bytes;
}

struct witness_slot *circuit_take_slot(struct backend_circuit *circuit)
{
    struct witness_slot *taken = NULL;
    pthread_mutex_lock(&circuit->slots_lock);
    for (;;) {
        for (unsigned i = 0; i < WITNESS_SLOTS && !taken; i++) {
            if (!circuit->block.slots[i].taken)
                taken = &circuit->block.slots[i];
        }
        if (taken)
            break;
        pthread_cond_wait(&circuit->slot_given_back, &circuit->slots_lock);
    }
    taken->taken = true;
    pthread_mutex_unlock(&circuit->slots_lock);
    return taken;
}

void circuit_give_back_slot(struct backend_circuit *circuit, struct witness_slot *slot)
{
    pthread_mutex_lock(&circuit->slots_lock);
    slot->taken = false;
    pthread_cond_signal(&circuit->slot_given_back);
    pthread_mutex_unlock(&circuit->slots_lock);
}
