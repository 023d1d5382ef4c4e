/* Pippenger's method with signed digits; buckets are filled by rounds of affine additions
   (spec/gpu-msm.md, sections 1 to 5). */
#include "arena.cuh"
#include "msm.h"
#include "plan.h"

#include <cub/device/device_radix_sort.cuh>

namespace
{

constexpr int WINDOWS_MAX = 32;
constexpr uint32_t BATCH_ENTRIES = 1u << 26;

struct Windows {
    int count;
    int position[WINDOWS_MAX];
    int width[WINDOWS_MAX]; /* all windows of one width are neighbours; they sum up to 256 */
};

Windows make_windows(uint32_t n)
{
    int log2 = 0;
    while (log2 < 31 && (1u << log2) < n)
        log2++;
    Windows windows = {};
    windows.count = log2 >= 26   ? 11
                    : log2 >= 24 ? 12
                    : log2 >= 22 ? 13
                    : log2 >= 20 ? 15
                    : log2 >= 18 ? 16
                    : log2 >= 16 ? 18
                    : log2 >= 14 ? 20
                    : log2 >= 12 ? 24
                                 : 32;
    int narrow = 256 / windows.count, wide = 256 % windows.count;
    for (int w = 0, position = 0; w < windows.count; w++) {
        windows.position[w] = position;
        windows.width[w] = narrow + (w < wide);
        position += windows.width[w];
    }
    return windows;
}

/* Consecutive windows of one width that are worked on together. */
struct Batch {
    int first, count, width;
};

int make_batches(const Windows &windows, uint32_t n, Batch batches[WINDOWS_MAX])
{
    int count = 0;
    for (int w = 0; w < windows.count;) {
        Batch batch = { w, 1, windows.width[w] };
        while (w + batch.count < windows.count &&
               windows.width[w + batch.count] == batch.width &&
               size_t(batch.count + 1) * n <= BATCH_ENTRIES)
            batch.count++;
        batches[count++] = batch;
        w += batch.count;
    }
    return count;
}

int row_bits_of(int width)
{
    return (width - 1) / 2;
}

/* --- digits ------------------------------------------------------------------------------------- */

struct Offset {
    uint32_t word[8]; /* Σ 2^(top bit of each window but the last): makes digits unsigned */
};

/* Canonical scalars plus the offset, as eight planes of words. */
__global__ void prepare_scalars(const Fr *scalars, uint32_t n, Offset offset, uint32_t *planes)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Fr one = Fr::zero();
    one.limb[0] = 1;
    Fr value = load_element<Fr>(scalars + i) * one; /* out of Montgomery form */
    uint64_t carry = 0;
#pragma unroll
    for (int w = 0; w < 8; w++) {
        carry += uint64_t(value.limb[w]) + offset.word[w];
        planes[size_t(w) * n + i] = uint32_t(carry);
        carry >>= 32;
    }
}

/* Entry (window, scalar): its bucket in the batch, or n_buckets for digit 0; its reference. */
__global__ void make_digits(const uint32_t *planes, const uint32_t *indices, uint32_t n,
                            int position, int width, bool top, uint32_t first_bucket,
                            uint32_t n_buckets, uint32_t *keys, uint32_t *values)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int word = position / 32, shift = position % 32;
    uint64_t bits = planes[size_t(word) * n + i];
    if (shift + width > 32)
        bits |= uint64_t(planes[size_t(word + 1) * n + i]) << 32;
    uint32_t raw = uint32_t(bits >> shift) & ((1u << width) - 1);
    int digit = top ? int(raw) : int(raw) - (1 << (width - 1));
    uint32_t sign = digit < 0 ? REF_SIGN : 0;
    uint32_t magnitude = uint32_t(digit < 0 ? -digit : digit);
    keys[i] = magnitude ? first_bucket + magnitude - 1 : n_buckets;
    values[i] = (indices ? indices[i] : i) | sign;
}

/* starts[b] = first entry of bucket b, b ≤ n_buckets, from the sorted keys. */
__global__ void find_buckets(const uint32_t *keys, uint32_t n, uint32_t n_buckets, uint32_t *starts)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n)
        return;
    uint32_t from = i == 0 ? 0 : keys[i - 1] + 1;
    uint32_t to = i == n ? n_buckets : min(keys[i], n_buckets);
    for (uint32_t b = from; b <= to; b++)
        starts[b] = i;
}

/* --- reduction: bucket b = row·L + column (from 0) weighs b + 1 = row·L + (column + 1) --------------- */

__global__ void transpose_refs(const uint32_t *rows, uint32_t n, int row_bits, int width,
                               uint32_t *columns)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t window = i >> (width - 1), b = i & ((1u << (width - 1)) - 1);
    uint32_t row = b >> row_bits, column = b & ((1u << row_bits) - 1);
    int column_shift = width - 1 - row_bits;
    columns[(window << (width - 1)) + (column << column_shift) + row] = rows[i];
}

__global__ void set_range(RoundRange *range, uint32_t first_slot, uint32_t count)
{
    *range = { 0, first_slot, count };
}

__global__ void number_refs(uint32_t *refs, uint32_t n, uint32_t first)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        refs[i] = first + i;
}

__global__ void set_infinity(unsigned char *slot, int bytes)
{
    if (threadIdx.x < bytes)
        slot[threadIdx.x] = 0;
}

template <class F> constexpr int WEIGH_THREADS = sizeof(F) > 48 ? 32 : 64;

/* sums[2·window + kind] of a batch: kind 0 Σ row·R_row, kind 1 Σ (column + 1)·C_column. Each thread sums
   a stretch with running sums, then the block adds up. */
template <class F>
__global__ void __launch_bounds__(WEIGH_THREADS<F>)
    weigh_sums(RoundMemory<F> memory, const uint32_t *rows, const uint32_t *columns, int row_count,
               int column_count, F *sums)
{
    __shared__ Xyzz<F> shared[WEIGH_THREADS<F>];
    int window = blockIdx.x / 2, kind = blockIdx.x % 2;
    const uint32_t *refs = kind ? columns + window * column_count : rows + window * row_count;
    int count = kind ? column_count : row_count;
    int stretch = (count + WEIGH_THREADS<F> - 1) / WEIGH_THREADS<F>;
    int low = threadIdx.x * stretch, high = min(low + stretch, count);
    Xyzz<F> plain = Xyzz<F>::infinity(), weighted = Xyzz<F>::infinity();
    for (int i = high - 1; i >= low; i--) {
        const unsigned char *slot = slot_of(memory, refs[i]);
        Affine<F> point = { slot_x<F>(slot), slot_y<F>(slot) };
        point.y = point.y.negated_if(refs[i] & REF_SIGN);
        weighted.add(plain);
        plain.add(Xyzz<F>::from(point));
    }
    if (low < high)
        weighted.add(plain.times(uint32_t(low + kind)));
    shared[threadIdx.x] = weighted;
    __syncthreads();
    for (int half = WEIGH_THREADS<F> / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            shared[threadIdx.x].add(shared[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        Affine<F> sum = shared[0].to_affine();
        store_element(&sums[2 * blockIdx.x], sum.x);
        store_element(&sums[2 * blockIdx.x + 1], sum.y);
    }
}

/* --- one multiplication -------------------------------------------------------------------------- */

template <class F> struct Msm {
    Windows windows;
    Batch batches[WINDOWS_MAX];
    int n_batches;
    uint32_t n, entries_max, buckets_max, groups_max, slots;

    uint32_t *planes, *keys[2], *values[2], *bucket_starts, *group_first, *group_starts;
    uint32_t *group_finals, *refs[2], *next_slot, *counters, *block_bases, *bucket_count;
    uint2 *pairs;
    RoundRange *ranges;
    unsigned char *slot_memory;
    uint4 *prefix;
    F *totals;
    void *sort_temp, *scan_temp;
    size_t sort_bytes, scan_bytes;

    Msm(uint32_t count, void *scratch, size_t *bytes)
    {
        n = count;
        windows = make_windows(n);
        n_batches = make_batches(windows, n, batches);
        entries_max = buckets_max = 0;
        size_t bases = 0;
        for (int i = 0; i < n_batches; i++) {
            uint32_t entries = uint32_t(batches[i].count) * n;
            uint32_t buckets = uint32_t(batches[i].count) << (batches[i].width - 1);
            entries_max = max(entries_max, entries);
            buckets_max = max(buckets_max, buckets);
            uint32_t groups = buckets + entries / PLAN_GROUP_MAX + 1;
            bases = max(bases, plan_block_bases(groups, plan_groups_a_block(double(entries) / buckets)));
            bases = max(bases, plan_block_bases(buckets, plan_groups_a_block(1)));
        }
        groups_max = buckets_max + entries_max / PLAN_GROUP_MAX + 1;
        /* Filling takes less than an addition an entry, the reduction two a bucket; and infinity. */
        slots = entries_max + 2 * buckets_max + 1;
        cub::DoubleBuffer<uint32_t> none;
        sort_bytes = 0;
        cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, none, none, int(entries_max));
        scan_bytes = plan_scan_bytes(buckets_max);

        Arena arena(scratch);
        planes = arena.take<uint32_t>(size_t(8) * n);
        for (int i = 0; i < 2; i++) {
            keys[i] = arena.take<uint32_t>(entries_max);
            values[i] = arena.take<uint32_t>(entries_max);
            refs[i] = arena.take<uint32_t>(size_t(2) * buckets_max);
        }
        bucket_starts = arena.take<uint32_t>(buckets_max + 1);
        group_first = arena.take<uint32_t>(buckets_max + 1);
        group_starts = arena.take<uint32_t>(groups_max + 1);
        group_finals = arena.take<uint32_t>(groups_max + 1);
        next_slot = arena.take<uint32_t>(1);
        bucket_count = arena.take<uint32_t>(1);
        counters = arena.take<uint32_t>(PLAN_ROUNDS_MAX);
        block_bases = arena.take<uint32_t>(bases);
        pairs = arena.take<uint2>(entries_max);
        ranges = arena.take<RoundRange>(PLAN_ROUNDS_MAX);
        slot_memory = arena.take<unsigned char>(size_t(slots) * Slot<F>::BYTES);
        prefix = arena.take<uint4>(size_t(entries_max / 2 + buckets_max) * (sizeof(F) / 16));
        totals = arena.take<F>(ROUND_TOTALS);
        sort_temp = arena.take<unsigned char>(sort_bytes);
        scan_temp = arena.take<unsigned char>(scan_bytes);
        *bytes = arena.used();
    }

    RoundMemory<F> memory(const msm_job &job) const
    {
        return { static_cast<const unsigned char *>(job.points), job.n_points, slot_memory, prefix,
                 size_t(entries_max / 2 + buckets_max), totals };
    }

    /* Fills the batch's buckets; refs[0][b] then refers to bucket b's sum. */
    void fill_buckets(const msm_job &job, const Batch &batch, cudaStream_t stream)
    {
        uint32_t entries = uint32_t(batch.count) * n;
        uint32_t n_buckets = uint32_t(batch.count) << (batch.width - 1);
        for (int i = 0; i < batch.count; i++) {
            int w = batch.first + i;
            make_digits<<<(n + 255) / 256, 256, 0, stream>>>(
                planes, job.indices, n, windows.position[w], batch.width, w == windows.count - 1,
                uint32_t(i) << (batch.width - 1), n_buckets, keys[0] + size_t(i) * n,
                values[0] + size_t(i) * n);
        }
        int key_bits = 1;
        while (n_buckets >> key_bits)
            key_bits++;
        cub::DoubleBuffer<uint32_t> key_buffer(keys[0], keys[1]), value_buffer(values[0], values[1]);
        cub::DeviceRadixSort::SortPairs(sort_temp, sort_bytes, key_buffer, value_buffer,
                                        int(entries), 0, key_bits, stream);
        find_buckets<<<entries / 256 + 1, 256, 0, stream>>>(key_buffer.Current(), entries, n_buckets,
                                                            bucket_starts);
        plan_cut_buckets(stream, bucket_starts, n_buckets, group_first, group_starts, scan_temp,
                         scan_bytes);
        cudaMemsetAsync(next_slot, 0, sizeof *next_slot, stream);
        number_refs<<<1, 1, 0, stream>>>(bucket_count, 1, n_buckets);

        PlanMemory plan = {};
        plan.entries = value_buffer.Current();
        plan.starts = group_starts;
        plan.n_groups = group_first + n_buckets;
        plan.n_groups_max = n_buckets + entries / PLAN_GROUP_MAX + 1;
        plan.finals = group_finals;
        plan.pairs = pairs;
        plan.ranges = ranges;
        plan.next_slot = next_slot;
        plan.counters = counters;
        plan.block_bases = block_bases;
        plan.first_slot_ref = job.n_points;
        plan.empty_ref = job.n_points + slots - 1;
        uint32_t a_block = plan_groups_a_block(double(entries) / n_buckets);
        run_plan(job, plan, a_block, PLAN_GROUP_ROUNDS, entries, plan.n_groups_max, stream);

        /* Second level: a bucket's groups. Nearly always there is one and this adds nothing. */
        int rounds = 0;
        while ((size_t(PLAN_GROUP_MAX) << rounds) < n)
            rounds++;
        plan.entries = group_finals;
        plan.starts = group_first;
        plan.n_groups = bucket_count;
        plan.n_groups_max = n_buckets;
        plan.finals = refs[0];
        run_plan(job, plan, plan_groups_a_block(1), rounds, entries / PLAN_GROUP_MAX, 0, stream);
    }

    void run_plan(const msm_job &job, const PlanMemory &plan, uint32_t a_block, int rounds,
                  uint32_t entries, uint32_t groups, cudaStream_t stream)
    {
        plan_rounds(stream, plan, a_block, rounds);
        for (int round = 0; round < rounds; round++)
            run_round(stream, memory(job), pairs, ranges + round,
                      (size_t(entries) >> (round + 1)) + groups / 2);
    }

    /* Row and column sums of the batch's buckets, then their weighted sums. */
    void reduce_buckets(const msm_job &job, const Batch &batch, F *sums, cudaStream_t stream)
    {
        uint32_t n_buckets = uint32_t(batch.count) << (batch.width - 1);
        int row_bits = row_bits_of(batch.width), column_bits = batch.width - 1 - row_bits;
        transpose_refs<<<(n_buckets + 255) / 256, 256, 0, stream>>>(
            refs[0], n_buckets, row_bits, batch.width, refs[0] + n_buckets);
        /* Rows take row_bits halvings, columns column_bits, which is the same or one more: the first
           ones are done together. */
        uint32_t slot = entries_max, count = 2 * n_buckets;
        int current = 0;
        const uint32_t *row_refs = refs[0];
        for (int round = 0; round < column_bits; round++) {
            bool last_columns = round == row_bits;
            uint32_t *from = refs[current] + (last_columns ? count / 2 : 0);
            uint32_t pairs_now = (last_columns ? count / 2 : count) / 2;
            set_range<<<1, 1, 0, stream>>>(ranges, slot, pairs_now);
            run_round(stream, memory(job), reinterpret_cast<uint2 *>(from), ranges, pairs_now);
            if (last_columns)
                row_refs = refs[current]; /* stay where they are */
            current ^= 1;
            number_refs<<<(pairs_now + 255) / 256, 256, 0, stream>>>(refs[current], pairs_now,
                                                                     job.n_points + slot);
            slot += pairs_now;
            count /= 2;
            if (!last_columns)
                row_refs = refs[current];
        }
        uint32_t row_count = 1u << column_bits, column_count = 1u << row_bits;
        const uint32_t *column_refs =
            column_bits > row_bits ? refs[current] : refs[current] + batch.count * row_count;
        weigh_sums<F><<<2 * batch.count, WEIGH_THREADS<F>, 0, stream>>>(
            memory(job), row_refs, column_refs, int(row_count), int(column_count),
            sums + size_t(4) * batch.first);
    }

    void run(const msm_job &job, cudaStream_t stream)
    {
        Offset offset = {};
        for (int w = 0; w + 1 < windows.count; w++) {
            int bit = windows.position[w + 1] - 1;
            offset.word[bit / 32] |= 1u << (bit % 32);
        }
        prepare_scalars<<<(n + 255) / 256, 256, 0, stream>>>(static_cast<const Fr *>(job.scalars),
                                                             n, offset, planes);
        set_infinity<<<1, Slot<F>::BYTES, 0, stream>>>(
            slot_memory + size_t(slots - 1) * Slot<F>::BYTES, Slot<F>::BYTES);
        for (int i = 0; i < n_batches; i++) {
            fill_buckets(job, batches[i], stream);
            reduce_buckets(job, batches[i], static_cast<F *>(job.sums), stream);
        }
    }
};

template <class F> int enqueue(const msm_job &job, cudaStream_t stream)
{
    size_t needed;
    Msm<F> msm(job.n, job.scratch, &needed);
    if (needed > job.scratch_bytes)
        return cudaErrorInvalidValue;
    msm.run(job, stream);
    return cudaGetLastError();
}

} // namespace

extern "C" size_t msm_slot_bytes(enum msm_group group)
{
    return group == MSM_G1 ? Slot<Fp>::BYTES : Slot<Fp2>::BYTES;
}

extern "C" size_t msm_point_bytes(enum msm_group group)
{
    return group == MSM_G1 ? 2 * sizeof(Fp) : 2 * sizeof(Fp2);
}

extern "C" size_t msm_scratch_bytes(enum msm_group group, uint32_t n)
{
    size_t bytes;
    if (group == MSM_G1)
        Msm<Fp>(n, nullptr, &bytes);
    else
        Msm<Fp2>(n, nullptr, &bytes);
    return bytes;
}

extern "C" uint32_t msm_sum_count(uint32_t n)
{
    return 2 * uint32_t(make_windows(n).count);
}

extern "C" unsigned msm_windows(uint32_t n, struct msm_window out[32])
{
    Windows windows = make_windows(n);
    for (int w = 0; w < windows.count; w++)
        out[w] = { unsigned(windows.position[w]), unsigned(row_bits_of(windows.width[w])) };
    return unsigned(windows.count);
}

extern "C" int msm_enqueue(const struct msm_job *job, struct CUstream_st *stream)
{
    return job->group == MSM_G1 ? enqueue<Fp>(*job, stream) : enqueue<Fp2>(*job, stream);
}
