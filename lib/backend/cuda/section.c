#include "backend/cuda/section.h"

#include "backend/cuda/points.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

const uint8_t *section_bytes(const struct backend_circuit *circuit, enum cuda_section section)
{
    const struct backend_key *key = &circuit->key;
    const uint8_t *const bytes[SECTION_COUNT] = {key->h, key->l, key->a, key->b_g1, key->b_g2};
    return bytes[section];
}

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
    enum cuda_section section;
    /* While loading: */
    const uint32_t *tail_points; /* device; of one set of a tail */
    uint32_t n_tail;
    void *tail;
    uint64_t reported_ns;
    /* Sums: */
    const uint64_t *const *selected;
    unsigned n_witnesses;
    /* Room: a table of a chunk, then scratch. */
    char *room;
};

static struct points_source source_of(const struct backend_circuit *circuit,
                                      enum cuda_section section, void *staging)
{
    return (struct points_source){
        .group = section_group(section),
        .bytes = section_bytes(circuit, section),
        .n = circuit->counts.n_points[section],
        .chunk_points = circuit->plan.chunk_points,
        .staging = staging,
        .faults = (struct points_faults *)((char *)circuit->block.sums + circuit->sums_map.faults),
    };
}

/* Behind a chunk's staging in a room for loading. */
static char *behind_staging(const struct backend_circuit *circuit, enum cuda_section section,
                            void *staging)
{
    const size_t bytes = points_staging_bytes(section_group(section), circuit->plan.chunk_points);
    return (char *)staging + (bytes + 255) / 256 * 256;
}

static enum cuzk_status subset_sum(const struct backend_circuit *circuit, enum cuda_section section,
                                   const void *table, const struct points_chunk *chunk,
                                   uint32_t number, const uint64_t *const selected[],
                                   unsigned n_witnesses, void *scratch, cudaStream_t stream,
                                   struct cuzk_error *err)
{
    struct subset_job job = plan_subset_job(section, chunk->first, chunk->n, n_witnesses);
    job.scratch = scratch;
    job.out = (char *)circuit->block.sums + circuit->sums_map.subset[section] +
              (size_t)number * n_witnesses * msm_point_bytes(job.group);
    for (unsigned i = 0; i < n_witnesses; i++) {
        job.sums[i].table = table;
        job.sums[i].selected = selected[i];
    }
    return device_check(subset_enqueue(&job, stream), "subset sum", err);
}

static void report_progress(struct pass *pass, const struct points_chunk *chunk)
{
    const uint64_t now = clock_now_ns();
    const uint32_t n = pass->circuit->counts.n_points[pass->section];
    if (now - pass->reported_ns < UINT64_C(2000000000))
        return;
    pass->reported_ns = now;
    log_info("cuda", "%s: loading points, section %s: %u of %u million",
             pass->circuit->device->description, section_name(pass->section),
             (chunk->first + chunk->n) / 1000000, n / 1000000);
}

/* h stays as it is. */
static enum cuzk_status keep_h(void *context, const struct points_chunk *chunk, cudaStream_t stream,
                               struct cuzk_error *err)
{
    struct pass *pass = context;
    const size_t slot = msm_slot_bytes(MSM_G1);
    report_progress(pass, chunk);
    if (!pass->circuit->plan.resident[SECTION_H])
        return CUZK_OK;
    return device_check(
        cudaMemcpyAsync((char *)pass->circuit->block.points[SECTION_H] + chunk->first * slot,
                        chunk->slots, chunk->n * slot, cudaMemcpyDeviceToDevice, stream),
        "loading points", err);
}

/* Of the others full-size variables' points are taken out, and the rest becomes signed groups. */
static enum cuzk_status keep_section(void *context, const struct points_chunk *chunk,
                                     cudaStream_t stream, struct cuzk_error *err)
{
    struct pass *pass = context;
    const struct backend_circuit *circuit = pass->circuit;
    const enum msm_group group = section_group(pass->section);
    report_progress(pass, chunk);
    TRY(device_check(points_gather(group, chunk->slots, chunk->first, chunk->n, pass->tail_points,
                                   pass->n_tail, pass->tail, stream),
                     "loading points", err));
    if (!circuit->plan.resident[pass->section])
        return CUZK_OK;
    return device_check(subset_combine(group, chunk->slots, chunk->n,
                                       (char *)circuit->block.points[pass->section] +
                                           subset_table_bytes(group, chunk->first),
                                       pass->room, subset_combine_scratch_bytes(group, chunk->n),
                                       stream),
                        "loading points", err);
}

static enum cuzk_status sum_chunk(void *context, const struct points_chunk *chunk,
                                  cudaStream_t stream, struct cuzk_error *err)
{
    struct pass *pass = context;
    const struct circuit_plan *plan = &pass->circuit->plan;
    const enum msm_group group = section_group(pass->section);
    void *table = pass->room;
    char *scratch = pass->room + (subset_table_bytes(group, plan->chunk_points) + 255) / 256 * 256;
    TRY(device_check(subset_combine(group, chunk->slots, chunk->n, table, scratch,
                                    subset_combine_scratch_bytes(group, chunk->n), stream),
                     "signed groups", err));
    return subset_sum(pass->circuit, pass->section, table, chunk, chunk->first / plan->chunk_points,
                      pass->selected, pass->n_witnesses, scratch, stream, err);
}

enum cuzk_status section_sum(struct backend_circuit *circuit, enum cuda_section section,
                             const uint64_t *const selected[], unsigned n_witnesses,
                             cudaStream_t stream, struct cuzk_error *err)
{
    void *work = circuit->block.sums_work;
    const struct points_chunk whole = {.n = circuit->counts.n_points[section]};
    if (circuit->plan.resident[section])
        return subset_sum(circuit, section, circuit->block.points[section], &whole, 0, selected,
                          n_witnesses, work, stream, err);
    struct pass pass = {
        .circuit = circuit,
        .section = section,
        .selected = selected,
        .n_witnesses = n_witnesses,
        .room = behind_staging(circuit, section, work),
    };
    const struct points_source source = source_of(circuit, section, work);
    return points_load(circuit->loader, &source, sum_chunk, &pass, stream, err);
}

/* Which of a tail's two lists the section is; false for h. */
static bool find_tail(enum cuda_section section, enum cuda_tail *tail, unsigned *set)
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

/* The section's points come to the device once, are checked and become what its sums want. */
enum cuzk_status section_load(struct backend_circuit *circuit, enum cuda_section section,
                              struct points_loader *loader, const struct tail_list *lists,
                              cudaStream_t stream, struct cuzk_error *err)
{
    struct circuit_block *block = &circuit->block;
    struct points_faults faults = {0};
    struct pass pass = {.circuit = circuit,
                        .section = section,
                        .reported_ns = clock_now_ns(),
                        .room = behind_staging(circuit, section, block->load_work)};
    struct points_source source = source_of(circuit, section, block->load_work);
    enum cuda_tail tail;
    unsigned set;
    if (find_tail(section, &tail, &set)) {
        const size_t slots_bytes = lists[tail].n ? msm_slots(&circuit->plan.tail_size[tail]) *
                                                       msm_slot_bytes(section_group(section))
                                                 : 0;
        pass.tail = block->tails[tail][set];
        pass.n_tail = lists[tail].n;
        pass.tail_points = block->scalars; /* not used yet, and larger */
        /* Zeros are infinity, for variables without a point here. */
        TRY(device_check(cudaMemsetAsync(pass.tail, 0, slots_bytes, stream), "loading points",
                         err));
        TRY(device_check(cudaMemcpy(block->scalars, lists[tail].point[set],
                                    lists[tail].n * sizeof *lists[tail].point[set],
                                    cudaMemcpyHostToDevice),
                         "loading points", err));
    }
    TRY(device_check(cudaMemsetAsync(source.faults, 0, sizeof faults, stream), "loading points",
                     err));
    if (source.n > 0)
        TRY(points_load(loader, &source, section == SECTION_H ? keep_h : keep_section, &pass,
                        stream, err));
    TRY(device_check(
        cudaMemcpyAsync(&faults, source.faults, sizeof faults, cudaMemcpyDeviceToHost, stream),
        "loading points", err));
    TRY(device_check(cudaStreamSynchronize(stream), "loading points", err));
    return section_check_faults(&faults, section_name(section), source.n, err);
}

void section_add_chunks_g1(const struct backend_circuit *circuit, const uint8_t *sums,
                           enum cuda_section section, unsigned witness, unsigned n_witnesses,
                           struct g1 *out)
{
    const struct g1_affine *at = (const void *)(sums + circuit->sums_map.subset[section]);
    const uint32_t n = plan_chunks(&circuit->counts, &circuit->plan, section);
    g1_set_infinity(out);
    for (uint32_t i = 0; i < n; i++)
        g1_add_affine(out, out, &at[i * n_witnesses + witness]);
}

void section_add_chunks_g2(const struct backend_circuit *circuit, const uint8_t *sums,
                           enum cuda_section section, unsigned witness, unsigned n_witnesses,
                           struct g2 *out)
{
    const struct g2_affine *at = (const void *)(sums + circuit->sums_map.subset[section]);
    const uint32_t n = plan_chunks(&circuit->counts, &circuit->plan, section);
    g2_set_infinity(out);
    for (uint32_t i = 0; i < n; i++)
        g2_add_affine(out, out, &at[i * n_witnesses + witness]);
}
