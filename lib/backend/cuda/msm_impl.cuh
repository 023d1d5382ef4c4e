/* One multi-scalar multiplication: Pippenger's method with signed digits; buckets are filled and
   reduced by rounds of affine additions (spec/gpu-msm.md, sections 1 to 5). Compiled once a
   group, in msm_g1.cu and msm_g2.cu. */
#ifndef CUDA_MSM_IMPL_CUH
#define CUDA_MSM_IMPL_CUH

#include "digits.h"
#include "msm.h"
#include "plan.h"

namespace
{

/* rows: the n buckets as they are; columns[c·rows + r] = buckets[r·columns + c], window by
   window. */
__global__ void transpose_refs(const uint32_t *buckets, uint32_t n, int width, uint32_t *rows,
                               uint32_t *columns)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row_bits = (width - 1) / 2, column_bits = width - 1 - row_bits;
    uint32_t window = i >> (width - 1), b = i & ((1u << (width - 1)) - 1);
    uint32_t row = b >> row_bits, column = b & ((1u << row_bits) - 1);
    rows[i] = buckets[i];
    columns[(window << (width - 1)) + (column << column_bits) + row] = buckets[i];
}

__global__ void set_range(RoundRange *range, uint32_t first_slot, uint32_t count)
{
    *range = {0, first_slot, count};
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
__global__ void copy_cells(RoundMemory<F> memory, const uint32_t *refs, uint32_t n,
                           uint32_t a_window, uint32_t stride, Cell<F> *cells)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        cells[size_t(i / a_window) * stride + i % a_window].point = memory.point(refs[i]);
}

template <class F> constexpr int WEIGH_THREADS = sizeof(F) > 48 ? 64 : 128;

/* sums[2·window + kind]: kind 0 Σ row·R_row, kind 1 Σ (column + 1)·C_column. A window's cells
   are its rows and then its columns. Each thread sums a stretch with running sums, then the
   block adds up. */
template <class F>
__global__ void __launch_bounds__(WEIGH_THREADS<F>)
    weigh_cells(const Cell<F> *cells, uint32_t stride, Windows windows, Affine<F> *sums)
{
    __shared__ Xyzz<F> shared[WEIGH_THREADS<F>];
    int window = blockIdx.x / 2, kind = blockIdx.x % 2;
    int row_bits = (windows.width[window] - 1) / 2;
    int row_count = 1 << (windows.width[window] - 1 - row_bits);
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

/* Halvings of a batch's rows and columns before they wait for the other batches: short rounds,
   which mostly wait for an inversion, are then done once for all windows. */
constexpr int HALVINGS_ALONE = 3;

/* What planning leaves for adding. Two of them, so that a batch is planned while the one before
   it is added. */
struct Planned {
    uint2 *pairs;
    RoundRange *group_ranges,
        *bucket_ranges; /* of filling groups; of adding up a bucket's groups */
    uint32_t *buckets;  /* references to the buckets' sums */
};

/* All windows of one width. What is kept of each: `kept` row and as many column references. */
struct Width {
    int first, count, width;
    uint32_t kept, first_slot;
    uint32_t *refs;
};

template <class F> struct Msm {
    Windows windows;
    Batch batches[WINDOWS_MAX];
    Width widths[2];
    int n_batches, n_widths;
    uint32_t n, entries_max, buckets_max, groups_max, infinity_slot, slots, cell_stride;

    DigitMemory digits;
    RoundMemory<F> memory;
    Planned planned[2];
    uint32_t *group_first, *group_starts, *group_finals, *refs[2], *next_slot, *counters;
    uint32_t *block_groups, *block_bases, *bucket_count;
    RoundRange *range; /* of reducing */
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
        /* Filling takes less than an addition an entry, a batch's reduction less than two a bucket;
           then infinity and what is kept. */
        uint32_t refs_max = 2 * buckets_max, pairs_max = max(entries_max / 2, buckets_max) + 1;
        infinity_slot = entries_max + 2 * buckets_max;
        slots = infinity_slot + 1;
        find_widths();
        for (int i = 0; i < n_widths; i++) {
            uint32_t kept = 2 * uint32_t(widths[i].count) * widths[i].kept;
            widths[i].first_slot = slots;
            slots += kept;
            refs_max = max(refs_max, kept / 2);
            pairs_max = max(pairs_max, kept / 2);
        }
        scan_bytes = plan_scan_bytes(buckets_max);
        size_t blocks =
            max(plan_blocks(entries_max, groups_max), plan_blocks(groups_max, buckets_max));

        Arena arena(scratch);
        digits = DigitMemory::take(arena, n, entries_max, buckets_max);
        for (int i = 0; i < 2; i++)
            refs[i] = arena.take<uint32_t>(refs_max);
        for (int i = 0; i < n_widths; i++)
            widths[i].refs = arena.take<uint32_t>(size_t(2) * widths[i].count * widths[i].kept);
        group_first = arena.take<uint32_t>(buckets_max + 1);
        group_starts = arena.take<uint32_t>(groups_max + 1);
        group_finals = arena.take<uint32_t>(groups_max + 1);
        next_slot = arena.take<uint32_t>(1);
        bucket_count = arena.take<uint32_t>(1);
        counters = arena.take<uint32_t>(PLAN_ROUNDS_MAX);
        block_groups = arena.take<uint32_t>(blocks + 1);
        block_bases = arena.take<uint32_t>(blocks * PLAN_ROUNDS_MAX);
        for (int i = 0; i < 2; i++) {
            if (i < n_batches) {
                planned[i].pairs = arena.take<uint2>(entries_max);
                planned[i].group_ranges = arena.take<RoundRange>(PLAN_ROUNDS_MAX);
                planned[i].bucket_ranges = arena.take<RoundRange>(PLAN_ROUNDS_MAX);
                planned[i].buckets = arena.take<uint32_t>(buckets_max);
            }
        }
        range = arena.take<RoundRange>(1);
        cells = arena.take<Cell<F>>(size_t(windows.count) * cell_stride);
        scan_temp = arena.take<unsigned char>(scan_bytes);
        memory = RoundMemory<F>::take(arena, slots, pairs_max);
        *bytes = arena.used();
    }

    void find_widths()
    {
        n_widths = 0;
        for (int w = 0; w < windows.count; w++) {
            if (w > 0 && windows.width[w] == windows.width[w - 1]) {
                widths[n_widths - 1].count++;
                continue;
            }
            widths[n_widths] = {};
            widths[n_widths].first = w;
            widths[n_widths].count = 1;
            widths[n_widths].width = windows.width[w];
            widths[n_widths].kept = 1u << (windows.width[w] - 1 - HALVINGS_ALONE);
            n_widths++;
        }
    }

    const Width &width_of(const Batch &batch) const
    {
        return widths[n_widths > 1 && batch.first >= widths[1].first ? 1 : 0];
    }

    /* Second level, for buckets of several groups, which only skewed scalars have. */
    int bucket_rounds() const
    {
        int rounds = 0;
        while ((size_t(PLAN_GROUP_MAX) << rounds) < n)
            rounds++;
        return rounds;
    }

    /* Integers only: which additions fill the batch's buckets. */
    void plan_batch(const msm_job &job, const Batch &batch, const Planned &out, cudaStream_t stream)
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
        plan.pairs = out.pairs;
        plan.ranges = out.group_ranges;
        plan.next_slot = next_slot;
        plan.counters = counters;
        plan.block_groups = block_groups;
        plan.block_bases = block_bases;
        plan.first_slot_ref = job.n_points;
        plan.empty_ref = job.n_points + infinity_slot;
        plan_rounds(stream, plan, PLAN_GROUP_ROUNDS);

        plan.entries = group_finals;
        plan.starts = group_first;
        plan.n_groups = bucket_count;
        plan.entries_max = plan.n_groups_max;
        plan.n_groups_max = n_buckets;
        plan.finals = out.buckets;
        plan.ranges = out.bucket_ranges;
        plan_rounds(stream, plan, bucket_rounds());
    }

    void fill_batch(const Batch &batch, const Planned &plan, cudaStream_t stream)
    {
        uint32_t entries = uint32_t(batch.count) * n, n_buckets = batch.buckets();
        for (int round = 0; round < PLAN_GROUP_ROUNDS; round++)
            run_round(stream, memory, plan.pairs, plan.group_ranges + round,
                      pairs_bound(entries, n_buckets, round),
                      round == 0 ? Operands::INPUTS : Operands::ANY);
        for (int round = 0; round < bucket_rounds(); round++)
            run_round(stream, memory, plan.pairs, plan.bucket_ranges + round,
                      (entries / PLAN_GROUP_MAX >> round) + 1, Operands::ANY);
    }

    /* The most pairs of a round: of e entries in g groups at most e/2^r + g·(1 − 2^−r) are left
       after r rounds, and every pair takes two. */
    static size_t pairs_bound(size_t entries, size_t groups, int round)
    {
        size_t by_groups = (entries >> (round + 1)) + groups / 2 + 1;
        return min(by_groups, entries / 2);
    }

    void add_pairs(const uint2 *from, uint32_t count, uint32_t first_slot, cudaStream_t stream)
    {
        set_range<<<1, 1, 0, stream>>>(range, first_slot, count);
        run_round(stream, memory, from, range, count, Operands::ANY);
    }

    void refer(const msm_job &job, const uint2 *from, uint32_t count, uint32_t first_slot,
               uint32_t *to, cudaStream_t stream)
    {
        refer_to_sums<<<blocks_of(count), 256, 0, stream>>>(from, count, job.n_points + first_slot,
                                                            to);
    }

    /* The first halvings of rows and columns of a batch's buckets, down to what is kept of it. */
    void reduce_batch(const msm_job &job, const Batch &batch, const Planned &plan,
                      const Width &width, cudaStream_t stream)
    {
        uint32_t n_buckets = batch.buckets();
        transpose_refs<<<blocks_of(n_buckets), 256, 0, stream>>>(
            plan.buckets, n_buckets, batch.width, refs[0], refs[0] + n_buckets);
        uint32_t slot = entries_max, pairs_now = n_buckets;
        for (int round = 0; round + 1 < HALVINGS_ALONE; round++) {
            auto from = reinterpret_cast<const uint2 *>(refs[round % 2]);
            add_pairs(from, pairs_now, slot, stream);
            refer(job, from, pairs_now, slot, refs[1 - round % 2], stream);
            slot += pairs_now;
            pairs_now /= 2;
        }
        auto from = reinterpret_cast<const uint2 *>(refs[(HALVINGS_ALONE - 1) % 2]);
        uint32_t half = pairs_now / 2; /* the rows', then the columns' */
        uint32_t before = uint32_t(batch.first - width.first) * width.kept;
        uint32_t first_slot = width.first_slot + 2 * before;
        add_pairs(from, pairs_now, first_slot, stream);
        refer(job, from, half, first_slot, width.refs + before, stream);
        refer(job, from + half, half, first_slot + half,
              width.refs + uint32_t(width.count) * width.kept + before, stream);
    }

    /* The other halvings, of all windows of one width together. */
    void reduce_width(const msm_job &job, const Width &width, cudaStream_t stream)
    {
        int row_bits = row_bits_of(width.width), column_bits = column_bits_of(width.width);
        uint32_t rows = 1u << column_bits, columns = 1u << row_bits;
        uint32_t windows_now = uint32_t(width.count);
        uint32_t slot = 0, count = 2 * windows_now * width.kept;
        const uint32_t *now = width.refs, *row_refs = now;
        /* Rows take as many halvings as columns or one less: then the columns go on alone. */
        for (int round = HALVINGS_ALONE; round < column_bits; round++) {
            bool alone = round == row_bits;
            auto from = reinterpret_cast<const uint2 *>(now + (alone ? count / 2 : 0));
            uint32_t pairs_now = (alone ? count / 2 : count) / 2;
            uint32_t *to = refs[round % 2];
            add_pairs(from, pairs_now, slot, stream);
            refer(job, from, pairs_now, slot, to, stream);
            slot += pairs_now;
            count /= 2;
            now = to;
            if (!alone)
                row_refs = now;
        }
        const uint32_t *column_refs = column_bits > row_bits ? now : now + windows_now * rows;
        Cell<F> *to = cells + size_t(width.first) * cell_stride;
        copy_cells<<<blocks_of(windows_now * rows), 256, 0, stream>>>(
            memory, row_refs, windows_now * rows, rows, cell_stride, to);
        copy_cells<<<blocks_of(windows_now * columns), 256, 0, stream>>>(
            memory, column_refs, windows_now * columns, columns, cell_stride, to + rows);
    }

    /* Planning on the side stream runs one batch ahead of adding. What orders them: `planned`
       events, recorded when a batch's plan is there, and `added` ones, when it is not needed any
       more. With one stream its own order does. */
    void run(const msm_job &job, cudaStream_t stream)
    {
        cudaStream_t side = job.side ? job.side : stream;
        memory.points = static_cast<const unsigned char *>(job.points);
        memory.n_points = job.n_points;
        if (job.side) { /* after what the caller has put into its stream: scalars, the last job */
            cudaEventRecord(job.added[0], stream);
            cudaStreamWaitEvent(side, job.added[0]);
        }
        prepare_digits(side, digits, windows, job.scalars, n);
        set_infinity<F><<<1, 1, 0, stream>>>(memory.scratch_x + infinity_slot,
                                             memory.scratch_y + infinity_slot);
        for (int i = 0; i < n_batches; i++) {
            if (job.side && i >= 2)
                cudaStreamWaitEvent(side, job.added[i % 2]);
            plan_batch(job, batches[i], planned[i % 2], side);
            if (job.side) {
                cudaEventRecord(job.planned[i % 2], side);
                cudaStreamWaitEvent(stream, job.planned[i % 2]);
            }
            fill_batch(batches[i], planned[i % 2], stream);
            reduce_batch(job, batches[i], planned[i % 2], width_of(batches[i]), stream);
            if (job.side)
                cudaEventRecord(job.added[i % 2], stream);
        }
        for (int i = 0; i < n_widths; i++)
            reduce_width(job, widths[i], stream);
        weigh_cells<F><<<2 * windows.count, WEIGH_THREADS<F>, 0, stream>>>(
            cells, cell_stride, windows, static_cast<Affine<F> *>(job.sums));
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
