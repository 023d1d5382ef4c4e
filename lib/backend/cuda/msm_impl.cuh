/* One multi-scalar multiplication: Pippenger's method with signed digits; buckets are filled and reduced by
   rounds of affine additions (spec/gpu-msm.md, sections 1 to 5). Compiled once a group, in msm_g1.cu
   and msm_g2.cu. */
#ifndef CUDA_MSM_IMPL_CUH
#define CUDA_MSM_IMPL_CUH

#include "digits.h"
#include "msm.h"
#include "plan.h"

namespace
{

/* Rows then columns: columns[c·rows + r] = rows[r·columns + c], window by window. */
__global__ void transpose_refs(const uint32_t *rows, uint32_t n, int width, uint32_t *columns)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row_bits = (width - 1) / 2, column_bits = width - 1 - row_bits;
    uint32_t window = i >> (width - 1), b = i & ((1u << (width - 1)) - 1);
    uint32_t row = b >> row_bits, column = b & ((1u << row_bits) - 1);
    columns[(window << (width - 1)) + (column << column_bits) + row] = rows[i];
}

__global__ void set_range(RoundRange *range, uint32_t first_slot, uint32_t count)
{
    *range = { 0, first_slot, count };
}

__global__ void set_count(uint32_t *count, uint32_t value)
{
    *count = value;
}

/* References to the sums of pairs: consecutive slots, with the sign of the first operand. */
__global__ void refer_to_sums(const uint2 *pairs, uint32_t n, uint32_t first, uint32_t *refs)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        refs[i] = (first + i) | (pairs[i].x & REF_SIGN);
}

template <class F> __global__ void set_infinity(F *x, F *y)
{
    *x = F::zero();
    *y = F::zero();
}

template <class F> struct Cell {
    Affine<F> point;
};

/* The points behind references, which rows and columns end up as. */
template <class F>
__global__ void copy_cells(RoundMemory<F> memory, const uint32_t *refs, uint32_t n, uint32_t a_window,
                           uint32_t stride, Cell<F> *cells)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        cells[size_t(i / a_window) * stride + i % a_window].point = memory.point(refs[i]);
}

struct Widths {
    int width[WINDOWS_MAX];
};

template <class F> constexpr int WEIGH_THREADS = sizeof(F) > 48 ? 64 : 128;

/* sums[2·window + kind]: kind 0 Σ row·R_row, kind 1 Σ (column + 1)·C_column. A window's cells are its
   rows and then its columns. Each thread sums a stretch with running sums, then the block adds up. */
template <class F>
__global__ void __launch_bounds__(WEIGH_THREADS<F>)
    weigh_cells(const Cell<F> *cells, uint32_t stride, Widths widths, Affine<F> *sums)
{
    __shared__ Xyzz<F> shared[WEIGH_THREADS<F>];
    int window = blockIdx.x / 2, kind = blockIdx.x % 2;
    int row_bits = (widths.width[window] - 1) / 2;
    int row_count = 1 << (widths.width[window] - 1 - row_bits);
    int count = kind ? 1 << row_bits : row_count;
    cells += size_t(window) * stride + (kind ? row_count : 0);
    int stretch = (count + WEIGH_THREADS<F> - 1) / WEIGH_THREADS<F>;
    int low = int(threadIdx.x) * stretch, high = min(low + stretch, count);
    Xyzz<F> plain = Xyzz<F>::infinity(), weighted = Xyzz<F>::infinity();
    for (int i = high - 1; i >= low; i--) {
        Xyzz<F> cell = Xyzz<F>::from(cells[i].point);
        weighted.add(plain);
        plain.add(cell);
    }
    if (low < high)
        weighted.add(plain.times(uint32_t(low + kind)));
    shared[threadIdx.x] = weighted;
    __syncthreads();
    for (int half = WEIGH_THREADS<F> / 2; half > 0; half /= 2) {
        if (int(threadIdx.x) < half)
            shared[threadIdx.x].add(shared[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = shared[0].to_affine();
}

inline unsigned blocks_of(size_t n)
{
    return unsigned((n + 255) / 256);
}

template <class F> struct Msm {
    Windows windows;
    Batch batches[WINDOWS_MAX];
    int n_batches;
    uint32_t n, entries_max, buckets_max, groups_max, slots, cell_stride;

    DigitMemory digits;
    RoundMemory<F> memory;
    uint32_t *group_first, *group_starts, *group_finals, *refs[2], *next_slot, *counters;
    uint32_t *block_groups, *block_bases, *bucket_count;
    uint2 *pairs;
    RoundRange *ranges;
    Cell<F> *cells;
    void *scan_temp;
    size_t scan_bytes;

    Msm(uint32_t count, void *scratch, size_t *bytes)
    {
        n = count;
        windows = make_windows(n);
        n_batches = make_batches(windows, n, batches);
        entries_max = buckets_max = 0;
        cell_stride = 0;
        for (int i = 0; i < n_batches; i++) {
            entries_max = max(entries_max, uint32_t(batches[i].count) * n);
            buckets_max = max(buckets_max, batches[i].buckets());
            cell_stride = max(cell_stride, (1u << row_bits_of(batches[i].width)) +
                                               (1u << column_bits_of(batches[i].width)));
        }
        groups_max = buckets_max + entries_max / PLAN_GROUP_MAX + 1;
        /* Filling takes less than an addition an entry, the reduction two a bucket; and infinity. */
        slots = entries_max + 2 * buckets_max + 1;
        scan_bytes = plan_scan_bytes(buckets_max);
        size_t blocks = max(plan_blocks(entries_max, groups_max), plan_blocks(groups_max, buckets_max));

        Arena arena(scratch);
        digits = DigitMemory::take(arena, n, entries_max, buckets_max);
        for (int i = 0; i < 2; i++)
            refs[i] = arena.take<uint32_t>(size_t(2) * buckets_max);
        group_first = arena.take<uint32_t>(buckets_max + 1);
        group_starts = arena.take<uint32_t>(groups_max + 1);
        group_finals = arena.take<uint32_t>(groups_max + 1);
        next_slot = arena.take<uint32_t>(1);
        bucket_count = arena.take<uint32_t>(1);
        counters = arena.take<uint32_t>(PLAN_ROUNDS_MAX);
        block_groups = arena.take<uint32_t>(blocks + 1);
        block_bases = arena.take<uint32_t>(blocks * PLAN_ROUNDS_MAX);
        pairs = arena.take<uint2>(entries_max);
        ranges = arena.take<RoundRange>(PLAN_ROUNDS_MAX);
        cells = arena.take<Cell<F>>(size_t(windows.count) * cell_stride);
        scan_temp = arena.take<unsigned char>(scan_bytes);
        memory = RoundMemory<F>::take(arena, slots, max(entries_max / 2, buckets_max) + 1);
        *bytes = arena.used();
    }

    /* Fills the batch's buckets; refs[0][b] then refers to bucket b's sum. */
    void fill_buckets(const msm_job &job, const Batch &batch, cudaStream_t stream)
    {
        uint32_t entries = uint32_t(batch.count) * n, n_buckets = batch.buckets();
        PlanMemory plan = {};
        plan.entries = sort_digits(stream, digits, windows, batch, job.indices, n);
        plan_cut_buckets(stream, digits.bucket_starts, n_buckets, group_first, group_starts,
                         scan_temp, scan_bytes);
        cudaMemsetAsync(next_slot, 0, sizeof *next_slot, stream);
        set_count<<<1, 1, 0, stream>>>(bucket_count, n_buckets);

        plan.starts = group_starts;
        plan.n_groups = group_first + n_buckets;
        plan.entries_max = entries;
        plan.n_groups_max = n_buckets + entries / PLAN_GROUP_MAX + 1;
        plan.finals = group_finals;
        plan.pairs = pairs;
        plan.ranges = ranges;
        plan.next_slot = next_slot;
        plan.counters = counters;
        plan.block_groups = block_groups;
        plan.block_bases = block_bases;
        plan.first_slot_ref = job.n_points;
        plan.empty_ref = job.n_points + slots - 1;
        plan_rounds(stream, plan, PLAN_GROUP_ROUNDS);
        for (int round = 0; round < PLAN_GROUP_ROUNDS; round++)
            run_round(stream, memory, pairs, ranges + round, pairs_bound(entries, n_buckets, round),
                      round == 0 ? Operands::INPUTS : Operands::ANY);

        /* Second level: a bucket's groups. Nearly always there is one and this adds nothing. */
        int rounds = 0;
        while ((size_t(PLAN_GROUP_MAX) << rounds) < n)
            rounds++;
        plan.entries = group_finals;
        plan.starts = group_first;
        plan.n_groups = bucket_count;
        plan.entries_max = plan.n_groups_max;
        plan.n_groups_max = n_buckets;
        plan.finals = refs[0];
        plan_rounds(stream, plan, rounds);
        for (int round = 0; round < rounds; round++)
            run_round(stream, memory, pairs, ranges + round,
                      (entries / PLAN_GROUP_MAX >> round) + 1, Operands::ANY);
    }

    /* The most pairs of a round: of e entries in g groups at most e/2^r + g·(1 − 2^−r) are left after r
       rounds, and every pair takes two. */
    static size_t pairs_bound(size_t entries, size_t groups, int round)
    {
        size_t by_groups = (entries >> (round + 1)) + groups / 2 + 1;
        return min(by_groups, entries / 2);
    }

    /* Row and column sums of the batch's buckets. */
    void reduce_buckets(const msm_job &job, const Batch &batch, cudaStream_t stream)
    {
        uint32_t n_buckets = batch.buckets();
        int row_bits = row_bits_of(batch.width), column_bits = column_bits_of(batch.width);
        transpose_refs<<<blocks_of(n_buckets), 256, 0, stream>>>(refs[0], n_buckets, batch.width,
                                                                 refs[0] + n_buckets);
        /* Rows take row_bits halvings, columns column_bits, which is the same or one more: the first
           ones are done together. */
        uint32_t slot = entries_max, count = 2 * n_buckets;
        int current = 0;
        const uint32_t *row_refs = refs[0];
        for (int round = 0; round < column_bits; round++) {
            bool last_columns = round == row_bits;
            const uint2 *from = reinterpret_cast<const uint2 *>(
                refs[current] + (last_columns ? count / 2 : 0));
            uint32_t pairs_now = (last_columns ? count / 2 : count) / 2;
            set_range<<<1, 1, 0, stream>>>(ranges, slot, pairs_now);
            run_round(stream, memory, from, ranges, pairs_now, Operands::ANY);
            if (last_columns)
                row_refs = refs[current]; /* stay where they are */
            current ^= 1;
            refer_to_sums<<<blocks_of(pairs_now), 256, 0, stream>>>(
                from, pairs_now, job.n_points + slot, refs[current]);
            slot += pairs_now;
            count /= 2;
            if (!last_columns)
                row_refs = refs[current];
        }
        uint32_t rows = 1u << column_bits, columns = 1u << row_bits;
        const uint32_t *column_refs =
            column_bits > row_bits ? refs[current] : refs[current] + batch.count * rows;
        Cell<F> *to = cells + size_t(batch.first) * cell_stride;
        copy_cells<<<blocks_of(batch.count * rows), 256, 0, stream>>>(
            memory, row_refs, batch.count * rows, rows, cell_stride, to);
        copy_cells<<<blocks_of(batch.count * columns), 256, 0, stream>>>(
            memory, column_refs, batch.count * columns, columns, cell_stride, to + rows);
    }

    void run(const msm_job &job, cudaStream_t stream)
    {
        memory.points = static_cast<const unsigned char *>(job.points);
        memory.n_points = job.n_points;
        prepare_digits(stream, digits, windows, job.scalars, n);
        set_infinity<F><<<1, 1, 0, stream>>>(memory.scratch_x + slots - 1,
                                             memory.scratch_y + slots - 1);
        for (int i = 0; i < n_batches; i++) {
            fill_buckets(job, batches[i], stream);
            reduce_buckets(job, batches[i], stream);
        }
        Widths widths = {};
        for (int w = 0; w < windows.count; w++)
            widths.width[w] = windows.width[w];
        weigh_cells<F><<<2 * windows.count, WEIGH_THREADS<F>, 0, stream>>>(
            cells, cell_stride, widths, static_cast<Affine<F> *>(job.sums));
    }
};

} // namespace

template <class F> size_t msm_bytes(uint32_t n)
{
    size_t bytes;
    Msm<F>(n, nullptr, &bytes);
    return bytes;
}

template <class F> int msm_run(const msm_job &job, cudaStream_t stream)
{
    size_t needed;
    Msm<F> msm(job.n, job.scratch, &needed);
    if (needed > job.scratch_bytes)
        return cudaErrorInvalidValue;
    msm.run(job, stream);
    return cudaGetLastError();
}

#endif
