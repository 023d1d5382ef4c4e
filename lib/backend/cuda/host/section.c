#include "backend/cuda/host/section.h"

#include "backend/cuda/points/points.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

enum cuzk_status section_check_faults(const struct points_faults *faults, const char *section,
                                      uint32_t n, struct cuzk_error *err)
{
    if (faults->malformed + faults->infinite + faults->off_curve == 0)
        return CUZK_OK;
    return error_set(err, CUZK_BAD_PARAMS,
                     "section %s: of %u points %u are malformed, %u infinite, %u not on the curve",
                     section, n, faults->malformed, faults->infinite, faults->off_curve);
}

/* One pass over a section: what is done with each chunk's points. */
struct pass {
    struct backend_circuit *circuit;
    enum key_vector section;
    /* While loading: */
    const uint32_t *tail_points; /* device; of one set of a tail */
    uint32_t n_tail;
    void *tail;
    uint64_t reported_ns;
    /* Sums: */
    const uint64_t *const *selected;
    unsigned n_witnesses;
    char *scratch;
};

static struct points_source source_of(const struct backend_circuit *circuit,
                                      enum key_vector section, void *staging)
{
    return (struct points_source){
        .group = section_group(section),
        .bytes = circuit->key.v[section].at,
        .n = circuit->counts.n_points[section],
        .chunk_points = circuit->plan.chunk_points,
        .staging = staging,
        .faults = (struct points_faults *)((char *)circuit->block.sums + circuit->sums_map.faults),
    };
}

/* The sums of one part of a section, which begins at point `first`. */
static enum cuzk_status sum_part(const struct pass *pass, const void *slots, uint32_t first,
                                 uint32_t n, cudaStream_t stream, struct cuzk_error *err)
{
    const struct backend_circuit *circuit = pass->circuit;
    struct msm_job msm = {
        .size = plan_bits_size(pass->section, n, pass->n_witnesses),
        .scratch = pass->scratch,
    };
    const size_t bytes = msm_sum_count(&msm.size) * msm_point_bytes(section_group(pass->section));
    msm.scratch_bytes = msm_scratch_bytes(&msm.size);
    msm.sets[0].points = slots;
    msm.sets[0].sums = (char *)circuit->block.sums + circuit->sums_map.bits[pass->section] +
                       first / plan_part_points(&circuit->plan, pass->section) * bytes;
    for (unsigned i = 0; i < pass->n_witnesses; i++)
        msm.bitmaps[i] = pass->selected[i] + first / 64;
    return device_check(msm_enqueue(&msm, stream), "sums over bits", err);
}

static void report_progress(struct pass *pass, const struct points_chunk *chunk)
{
    const uint64_t now = clock_now_ns();
    const uint32_t n = pass->circuit->counts.n_points[pass->section];
    if (now - pass->reported_ns < UINT64_C(2000000000))
        return;
    pass->reported_ns = now;
    log_info("cuda", "%s: loading points, section %s: %u of %u million",
             pass->circuit->device->description, key_vector_name(pass->section),
             (chunk->first + chunk->n) / 1000000, n / 1000000);
}

/* Full-size variables' points are taken out, and the section is kept if it is to stay. */
static enum cuzk_status keep_chunk(void *context, const struct points_chunk *chunk,
                                   cudaStream_t stream, struct cuzk_error *err)
{
    struct pass *pass = context;
    const struct backend_circuit *circuit = pass->circuit;
    const enum msm_group group = section_group(pass->section);
    const size_t slot = msm_slot_bytes(group);
    report_progress(pass, chunk);
    if (pass->n_tail > 0)
        TRY(device_check(points_gather(group, chunk->slots, chunk->first, chunk->n,
                                       pass->tail_points, pass->n_tail, pass->tail, stream),
                         "loading points", err));
    if (!circuit->plan.resident[pass->section])
        return CUZK_OK;
    return device_check(
        cudaMemcpyAsync((char *)circuit->block.points[pass->section] + chunk->first * slot,
                        chunk->slots, chunk->n * slot, cudaMemcpyDeviceToDevice, stream),
        "loading points", err);
}

static enum cuzk_status sum_chunk(void *context, const struct points_chunk *chunk,
                                  cudaStream_t stream, struct cuzk_error *err)
{
    return sum_part(context, chunk->slots, chunk->first, chunk->n, stream, err);
}

enum cuzk_status section_sum(struct backend_circuit *circuit, enum key_vector section,
                             const uint64_t *const selected[], unsigned n_witnesses,
                             cudaStream_t stream, struct cuzk_error *err)
{
    const uint32_t n = circuit->counts.n_points[section],
                   most = plan_part_points(&circuit->plan, section);
    char *work = circuit->block.work;
    struct pass pass = {
        .circuit = circuit, .section = section, .selected = selected, .n_witnesses = n_witnesses};
    if (!circuit->plan.resident[section]) {
        const struct points_source source = source_of(circuit, section, work);
        pass.scratch = work + plan_staging_bytes(&circuit->plan, section);
        return points_load(circuit->loader, &source, sum_chunk, &pass, stream, err);
    }
    const char *points = circuit->block.points[section];
    pass.scratch = work;
    for (uint32_t first = 0; first < n; first += most)
        TRY(sum_part(&pass, points + first * msm_slot_bytes(section_group(section)), first,
                     n - first < most ? n - first : most, stream, err));
    return CUZK_OK;
}

/* Which of a tail's two lists the section is; false for h. */
static bool find_tail(enum key_vector section, enum cuda_tail *tail, unsigned *set)
{
    for (enum cuda_tail i = 0; i < TAIL_COUNT; i++) {
        for (unsigned k = 0; k < 2; k++) {
            if (tail_section(i, k) == section) {
                *tail = i;
                *set = k;
                return true;
            }
        }
    }
    return false;
}

enum cuzk_status section_load(struct backend_circuit *circuit, enum key_vector section,
                              struct points_loader *loader, const struct tail_list *lists,
                              cudaStream_t stream, struct cuzk_error *err)
{
    struct circuit_block *block = &circuit->block;
    struct points_faults faults = {0};
    struct pass pass = {.circuit = circuit, .section = section, .reported_ns = clock_now_ns()};
    struct points_source source = source_of(circuit, section, block->work);
    enum cuda_tail tail;
    unsigned set;
    if (find_tail(section, &tail, &set)) {
        const size_t slots_bytes = lists[tail].n ? msm_slots(&circuit->plan.tail_size[tail]) *
                                                       msm_slot_bytes(section_group(section))
                                                 : 0;
        pass.tail = block->tails[tail][set];
        pass.n_tail = lists[tail].n;
        pass.tail_points = block->scalars[tail]; /* not used yet, and larger */
        /* Zeros are infinity, for variables without a point here. */
        TRY(device_check(cudaMemsetAsync(pass.tail, 0, slots_bytes, stream), "loading points",
                         err));
        TRY(device_check(cudaMemcpy(block->scalars[tail], lists[tail].point[set],
                                    lists[tail].n * sizeof *lists[tail].point[set],
                                    cudaMemcpyHostToDevice),
                         "loading points", err));
    }
    TRY(device_check(cudaMemsetAsync(source.faults, 0, sizeof faults, stream), "loading points",
                     err));
    if (source.n > 0)
        TRY(points_load(loader, &source, keep_chunk, &pass, stream, err));
    TRY(device_check(
        cudaMemcpyAsync(&faults, source.faults, sizeof faults, cudaMemcpyDeviceToHost, stream),
        "loading points", err));
    TRY(device_check(cudaStreamSynchronize(stream), "loading points", err));
    return section_check_faults(&faults, key_vector_name(section), source.n, err);
}

/* Section a has points for all inputs, which are the first of the tail's values; l has such points
   in the Lagrange form only. */
enum cuzk_status section_load_inputs(struct backend_circuit *circuit, const struct tail_list *list,
                                     cudaStream_t stream, struct cuzk_error *err)
{
    const uint32_t n = circuit->shape->n_inputs;
    struct points_faults faults,
        *counted = (struct points_faults *)((char *)circuit->block.sums + circuit->sums_map.faults);
    CHECK(list->n >= n && list->source[n - 1] == n - 1);
    TRY(device_check(cudaMemcpyAsync(circuit->block.work, circuit->key.lagrange.inputs,
                                     n * points_file_bytes(MSM_G1), cudaMemcpyHostToDevice, stream),
                     "loading points", err));
    TRY(device_check(cudaMemsetAsync(counted, 0, sizeof faults, stream), "loading points", err));
    TRY(device_check(points_convert(MSM_G1, circuit->block.work, n,
                                    circuit->block.tails[TAIL_LA][0], counted, stream),
                     "loading points", err));
    TRY(device_check(
        cudaMemcpyAsync(&faults, counted, sizeof faults, cudaMemcpyDeviceToHost, stream),
        "loading points", err));
    TRY(device_check(cudaStreamSynchronize(stream), "loading points", err));
    faults.infinite = 0; /* of an input that is not in C */
    return section_check_faults(&faults, "inputs", n, err);
}

/* A witness's sum of the first part; the sums of other parts follow, *apart points from each
   other. */
static const void *sums_of(const struct backend_circuit *circuit, const uint8_t *sums,
                           enum key_vector section, unsigned witness, unsigned n_witnesses,
                           size_t *apart)
{
    const struct msm_size size = plan_bits_size(section, 1, n_witnesses);
    *apart = msm_sum_count(&size);
    return sums + circuit->sums_map.bits[section] +
           msm_bitmap_sum(&size, witness) * msm_point_bytes(section_group(section));
}

void section_finish_g1(const struct backend_circuit *circuit, const uint8_t *sums,
                       enum key_vector section, unsigned witness, unsigned n_witnesses,
                       struct g1 *out)
{
    size_t apart;
    const struct g1_affine *at = sums_of(circuit, sums, section, witness, n_witnesses, &apart);
    g1_set_infinity(out);
    for (uint32_t i = 0; i < plan_parts(&circuit->counts, &circuit->plan, section); i++)
        g1_add_affine(out, out, &at[i * apart]);
}

void section_finish_g2(const struct backend_circuit *circuit, const uint8_t *sums,
                       enum key_vector section, unsigned witness, unsigned n_witnesses,
                       struct g2 *out)
{
    size_t apart;
    const struct g2_affine *at = sums_of(circuit, sums, section, witness, n_witnesses, &apart);
    g2_set_infinity(out);
    for (uint32_t i = 0; i < plan_parts(&circuit->counts, &circuit->plan, section); i++)
        g2_add_affine(out, out, &at[i * apart]);
}
