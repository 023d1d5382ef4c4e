/* The C interface of multi-scalar multiplication, and the order of a job's work (msm_parts.cuh). */
#include "backend/cuda/msm/msm.h"
#include "backend/cuda/msm/msm_parts.cuh"
#include "backend/cuda/msm/tables.cuh"

namespace
{

struct Msm {
    Planner planner;
    Adder<Fp> g1;
    Adder<Fp2> g2;

    Msm(const msm_size &size, Arena &arena)
        : planner(size, arena), g1(planner, size.g1_sets, arena), g2(planner, size.g2_sets, arena)
    {
    }
    Msm(const Msm &) = delete;

    /* Planning on the side stream runs one batch ahead of adding. What orders them: `planned`
       events, recorded when a batch's plan is there, and `added` ones, when it is not needed any
       more. With one stream its own order does. */
    void run(const msm_job &job, cudaStream_t stream)
    {
        cudaStream_t side = job.side ? job.side : stream;
        const msm_set *g1_sets = job.sets, *g2_sets = job.sets + planner.size.g1_sets;
        if (job.side) { /* after what the caller has put into its stream: scalars, the last job */
            cudaEventRecord(job.added[0], stream);
            cudaStreamWaitEvent(side, job.added[0]);
        }
        planner.prepare(job, side);
        g1.prepare(stream);
        g2.prepare(stream);
        for (int i = 0; i < planner.n_batches; i++) {
            const Batch &batch = planner.batches[i];
            const Planned &planned = planner.planned[i % 2];
            if (job.side && i >= 2)
                cudaStreamWaitEvent(side, job.added[i % 2]);
            planner.plan(batch, planned, side);
            if (job.side) {
                cudaEventRecord(job.planned[i % 2], side);
                cudaStreamWaitEvent(stream, job.planned[i % 2]);
            }
            g1.add(g1_sets, batch, planned, stream);
            g2.add(g2_sets, batch, planned, stream);
            if (job.side)
                cudaEventRecord(job.added[i % 2], stream);
        }
        g1.finish(g1_sets, stream);
        g2.finish(g2_sets, stream);
    }
};

/* A size that can be worked on. */
bool is_sound(const msm_size &size)
{
    return size.n >= 1 && size.n <= 1u << 27 && size.g1_sets <= MSM_SETS_MAX &&
           size.g2_sets <= MSM_SETS_MAX && size.g1_sets + size.g2_sets >= 1 &&
           size.g1_sets + size.g2_sets <= MSM_SETS_MAX &&
           (size.bitmaps == 0 || (size.bitmaps <= MSM_BITMAPS_MAX && !size.tables));
}

Windows windows_of(const msm_size &size)
{
    Windows windows;
    Batch batches[MSM_WINDOWS_MAX];
    make_batches(size, &windows, batches);
    return windows;
}

Windows matrices_of(const msm_size &size)
{
    Windows windows;
    Batch batches[MSM_WINDOWS_MAX];
    int n_batches = make_batches(size, &windows, batches);
    return make_matrices(size, batches, n_batches, windows);
}

} // namespace

extern "C" int msm_prepare(void)
{
    cudaError_t result = prepare_sorting();
    if (result == cudaSuccess)
        result = prepare_rounds<Fp>();
    return result == cudaSuccess ? prepare_rounds<Fp2>() : result;
}

extern "C" size_t msm_slot_bytes(enum msm_group group)
{
    return group == MSM_G1 ? Slot<Fp>::BYTES : Slot<Fp2>::BYTES;
}

extern "C" size_t msm_point_bytes(enum msm_group group)
{
    return group == MSM_G1 ? sizeof(Affine<Fp>) : sizeof(Affine<Fp2>);
}

extern "C" size_t msm_scratch_bytes(const struct msm_size *size)
{
    Arena arena(nullptr);
    Msm msm(*size, arena);
    size_t tables = 0;
    if (size->tables)
        tables = tables_scratch_bytes(size->g2_sets > 0 ? MSM_G2 : MSM_G1, size->n);
    return arena.used() > tables ? arena.used() : tables;
}

extern "C" uint32_t msm_sum_count(const struct msm_size *size)
{
    return count_sums(*size, matrices_of(*size));
}

extern "C" size_t msm_slots(const struct msm_size *size)
{
    return size->tables ? size_t(windows_of(*size).count) * size->n : size->n;
}

extern "C" void msm_positions(const struct msm_size *size, unsigned *positions)
{
    Windows matrices = matrices_of(*size);
    for (int i = 0; i < matrices.count; i++) {
        unsigned row_bits = unsigned(row_bits_of(matrices.width[i]));
        unsigned column_bits = unsigned(column_bits_of(matrices.width[i]));
        unsigned position = unsigned(matrices.position[i]);
        for (unsigned bit = 0; bit < column_bits; bit++) /* of row numbers */
            *positions++ = position + row_bits + bit;
        for (unsigned bit = 0; bit <= row_bits; bit++) /* of column numbers and one */
            *positions++ = position + bit;
    }
}

extern "C" unsigned msm_bitmap_sum(const struct msm_size *size, unsigned bitmap)
{
    const int width = matrices_of(*size).width[0];
    const unsigned row_bits = unsigned(row_bits_of(width));
    return bitmap < row_bits ? unsigned(column_bits_of(width)) + bitmap : bitmap - row_bits;
}

extern "C" int msm_enqueue(const struct msm_job *job, struct CUstream_st *stream)
{
    if (!is_sound(job->size))
        return cudaErrorInvalidValue;
    Arena arena(job->scratch);
    Msm msm(job->size, arena);
    if (arena.used() > job->scratch_bytes || msm.planner.n_references > REF_SIGN)
        return cudaErrorInvalidValue;
    msm.run(*job, stream);
    return cudaGetLastError();
}

extern "C" int msm_build_tables(const struct msm_size *size, enum msm_group group, void *slots,
                                void *scratch, size_t scratch_bytes, struct CUstream_st *stream)
{
    if (!is_sound(*size) || !size->tables || tables_scratch_bytes(group, size->n) > scratch_bytes)
        return cudaErrorInvalidValue;
    return tables_build(group, windows_of(*size), size->n, slots, scratch, stream);
}
