/* Planning of a multi-scalar multiplication (msm_parts.cuh). */
#include "backend/cuda/msm/msm_parts.cuh"

static __global__ void set_count(uint32_t *count, uint32_t value)
{
    *count = value;
}

void Planner::find_sizes()
{
    n_batches = make_batches(size, &windows, batches);
    matrices = make_matrices(size, batches, n_batches, windows);
    entries_max = buckets_max = 0;
    size_t buckets = 0;
    for (int i = 0; i < n_batches; i++) {
        entries_max = max(entries_max, entries_of(batches[i]));
        buckets_max = max(buckets_max, batches[i].buckets());
        buckets += batches[i].buckets();
    }
    /* Filling takes less than an addition an entry, a batch's reduction less than two a bucket.
       Later the same slots serve reducing what is kept of all batches and sets, two references for
       2^HALVINGS_ALONE buckets. */
    size_t kept = 2 * (buckets >> HALVINGS_ALONE) * (size.g1_sets + size.g2_sets);
    size_t working = max(size_t(entries_max) + 2 * size_t(buckets_max), kept);
    size_t points = size_t(size.tables ? windows.count : 1) * size.n;
    n_references = points + working + 1 + kept;
    n_points = uint32_t(points);
    infinity_slot = uint32_t(working);
}

Planner::Planner(const msm_size &job_size, Arena &arena) : size(job_size)
{
    find_sizes();
    uint32_t groups_max = buckets_max + entries_max / PLAN_GROUP_MAX + 1;
    size_t blocks = max(plan_blocks(entries_max, groups_max), plan_blocks(groups_max, buckets_max));
    scan_bytes = plan_scan_bytes(buckets_max);
    digits = DigitMemory::take(arena, size, entries_max, buckets_max);
    group_first = arena.take<uint32_t>(buckets_max + 1);
    group_starts = arena.take<uint32_t>(groups_max + 1);
    group_finals = arena.take<uint32_t>(groups_max + 1);
    next_slot = arena.take<uint32_t>(1);
    bucket_count = arena.take<uint32_t>(1);
    several = arena.take<uint32_t>(1);
    counters = arena.take<uint32_t>(PLAN_ROUNDS_MAX);
    block_groups = arena.take<uint32_t>(blocks + 1);
    block_bases = arena.take<uint32_t>(blocks * PLAN_ROUNDS_MAX);
    scan_temp = arena.take<unsigned char>(scan_bytes);
    for (int i = 0; i < 2 && i < n_batches; i++) {
        planned[i].pairs = arena.take<uint2>(entries_max);
        planned[i].group_ranges = arena.take<RoundRange>(PLAN_ROUNDS_MAX);
        planned[i].bucket_ranges = arena.take<RoundRange>(PLAN_ROUNDS_MAX);
        planned[i].buckets = arena.take<uint32_t>(buckets_max);
    }
}

void Planner::prepare(const msm_job &job, cudaStream_t stream) const
{
    prepare_digits(stream, digits, windows, job);
}

int Planner::bucket_rounds(const Batch &batch) const
{
    size_t most = size.tables ? entries_of(batch) : size.n; /* entries of one bucket */
    int rounds = 0;
    while ((size_t(PLAN_GROUP_MAX) << rounds) < most)
        rounds++;
    return rounds;
}

void Planner::plan(const Batch &batch, const Planned &out, cudaStream_t stream) const
{
    uint32_t entries = entries_of(batch), n_buckets = batch.buckets();
    PlanMemory plan = {};
    plan.entries = sort_digits(stream, digits, windows, batch, size);
    plan_cut_buckets(stream, digits.sort.starts, n_buckets, group_first, group_starts, several,
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
    plan.first_slot_ref = n_points;
    plan.empty_ref = n_points + infinity_slot;
    plan_rounds(stream, plan, PLAN_GROUP_ROUNDS);
    plan_pass_finals(stream, group_first, n_buckets, group_finals, plan.empty_ref, out.buckets);

    plan.needed = several;
    plan.entries = group_finals;
    plan.starts = group_first;
    plan.n_groups = bucket_count;
    plan.entries_max = plan.n_groups_max;
    plan.n_groups_max = n_buckets;
    plan.finals = out.buckets;
    plan.ranges = out.bucket_ranges;
    plan_rounds(stream, plan, bucket_rounds(batch));
}
