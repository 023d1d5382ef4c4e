#include "backend/cuda/host/memory_plan.h"

#include "backend/cuda/device/layout.h"

#include "backend/cuda/ntt/ntt.h"
#include "backend/cuda/points/points.h"
#include "backend/cuda/points/points_load.h"
#include "base/bits.h"
#include "base/check.h"
#include "base/error.h"
#include "math/fr.h"
#include "r1cs/witness.h"

#include <stdio.h>
#include <string.h>

/* A section comes in some thirty chunks: at 2^27 rows each is a few million points, enough to fill
   a device, and scratch of 1 GB. So is a sixteenth of h, with scratch of 2 GB. */
enum { CHUNK_MIN = POINTS_ALIGNMENT * 192, CHUNKS = 32 };

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t domain_bytes(const struct circuit_counts *counts)
{
    return ((size_t)1 << counts->log2_domain) * sizeof(struct fr);
}

/* --- Sizes that follow from a plan ------------------------------------------------------------ */

bool plan_is_resident(const struct memory_plan *plan)
{
    for (enum key_vector i = 0; i < KEY_VECTORS; i++) {
        if (!plan->resident[i])
            return false;
    }
    return true;
}

uint32_t plan_h_pieces(const struct circuit_counts *counts, const struct memory_plan *plan)
{
    return (counts->n_points[KEY_H] + plan->h_piece - 1) / plan->h_piece;
}

struct msm_size plan_h_size(const struct circuit_counts *counts, const struct memory_plan *plan,
                            uint32_t piece)
{
    const uint32_t n = counts->n_points[KEY_H], first = piece * plan->h_piece;
    const bool whole = plan->h_piece >= n;
    return (struct msm_size){
        .n = n - first < plan->h_piece ? n - first : plan->h_piece,
        .g1_sets = 1,
        .entries_max = whole ? 0 : plan->h_piece,
    };
}

uint32_t plan_part_points(const struct memory_plan *plan, enum key_vector section)
{
    return plan->resident[section] ? plan->sum_points : plan->chunk_points;
}

uint32_t plan_parts(const struct circuit_counts *counts, const struct memory_plan *plan,
                    enum key_vector section)
{
    const uint32_t most = plan_part_points(plan, section);
    return (counts->n_points[section] + most - 1) / most;
}

struct msm_size plan_bits_size(enum key_vector section, uint32_t n, unsigned n_witnesses)
{
    const bool g2 = section_group(section) == MSM_G2;
    return (struct msm_size){
        .n = n, .g1_sets = g2 ? 0 : 1, .g2_sets = g2 ? 1 : 0, .bitmaps = n_witnesses};
}

static size_t h_work_bytes(const struct circuit_counts *counts, const struct memory_plan *plan)
{
    const struct msm_size first = plan_h_size(counts, plan, 0);
    const struct msm_size last = plan_h_size(counts, plan, plan_h_pieces(counts, plan) - 1);
    return aligned(larger(msm_scratch_bytes(&first), msm_scratch_bytes(&last)));
}

static size_t h_staging_bytes(const struct memory_plan *plan)
{
    return plan->resident[KEY_H] ? 0 : points_staging_bytes(MSM_G1, plan->h_piece);
}

size_t plan_staging_bytes(const struct memory_plan *plan, enum key_vector section)
{
    return aligned(points_staging_bytes(section_group(section), plan->chunk_points));
}

/* The sums of a part of a section, from where it lies or from staging. */
static size_t bits_work_bytes(const struct circuit_counts *counts, const struct memory_plan *plan,
                              enum key_vector section)
{
    const uint32_t n = counts->n_points[section], most = plan_part_points(plan, section);
    const struct msm_size size = plan_bits_size(section, n < most ? n : most, plan->n_batch);
    if (n == 0)
        return 0;
    return (plan->resident[section] ? 0 : plan_staging_bytes(plan, section)) +
           msm_scratch_bytes(&size);
}

static size_t sums_work_bytes(const struct circuit_counts *counts, const struct memory_plan *plan)
{
    size_t most = 0;
    for (enum cuda_tail i = 0; i < TAIL_COUNT; i++) {
        if (counts->n_scalars[i] > 0)
            most = larger(most, msm_scratch_bytes(&plan->tail_size[i]));
    }
    for (enum key_vector i = KEY_L; i < KEY_VECTORS; i++)
        most = larger(most, bits_work_bytes(counts, plan, i));
    return aligned(most);
}

static size_t load_bytes(const struct memory_plan *plan)
{
    size_t most = 0;
    for (enum key_vector i = 0; i < KEY_VECTORS; i++)
        most = larger(most, plan_staging_bytes(plan, i));
    return most;
}

/* --- The block -------------------------------------------------------------------------------- */

static void take_density(struct layout *layout, const struct circuit_counts *counts, bool dense,
                         struct cuda_density *out)
{
    *out = (struct cuda_density){0};
    if (dense)
        return;
    out->bits = take(layout, bit_words(counts->n_aux) * sizeof *out->bits);
    out->ranks = take(layout, bit_words(counts->n_aux) * sizeof *out->ranks);
}

static void take_slot(struct layout *layout, const struct circuit_counts *counts,
                      struct witness_slot *slot)
{
    const size_t start = layout->used;
    *slot = (struct witness_slot){0};
    slot->bits = take(layout, witness_plane_words(counts->n_aux) * sizeof *slot->bits + 64);
    slot->values = take(layout, counts->n_values * sizeof(struct fr));
    slot->selected_a = take(layout, bit_words(counts->n_points[KEY_A]) * sizeof(uint64_t));
    slot->selected_b = take(layout, bit_words(counts->n_points[KEY_B_G1]) * sizeof(uint64_t));
    slot->memory = slot->bits;
    slot->bytes = layout->used - start;
}

static void take_points(struct layout *layout, const struct circuit_counts *counts,
                        const struct memory_plan *plan, struct circuit_block *block)
{
    for (enum key_vector i = 0; i < KEY_VECTORS; i++) {
        const enum msm_group group = section_group(i);
        const uint32_t n = counts->n_points[i];
        block->points[i] = NULL;
        if (plan->resident[i])
            block->points[i] = take(layout, n * msm_slot_bytes(group));
    }
}

static void take_tails(struct layout *layout, const struct circuit_counts *counts,
                       const struct memory_plan *plan, struct circuit_block *block)
{
    for (enum cuda_tail i = 0; i < TAIL_COUNT; i++) {
        block->sources[i] = take(layout, counts->n_scalars[i] * sizeof(uint32_t));
        for (unsigned set = 0; set < 2; set++) {
            const enum msm_group group = section_group(tail_section(i, set));
            const size_t n = counts->n_scalars[i] ? msm_slots(&plan->tail_size[i]) : 0;
            block->tails[i][set] = take(layout, n * msm_slot_bytes(group));
        }
    }
}

/* Room that is used for one thing after another. */
static void take_work(struct layout *layout, const struct circuit_counts *counts,
                      const struct memory_plan *plan, struct circuit_block *block)
{
    const size_t domain = aligned(domain_bytes(counts)), h_work = h_work_bytes(counts, plan);
    const size_t start = layout->used;
    block->work = take(layout, 0);
    block->a_rows = take(layout, domain);
    block->h_work = take(layout, 0);
    block->b_rows = take(layout, domain);
    block->c_rows = take(layout, domain);
    size_t end = start + larger(3 * domain, domain + h_work + h_staging_bytes(plan));
    block->h_staging = layout->base ? (char *)block->h_work + h_work : NULL;
    end = larger(end, start + load_bytes(plan));
    end = larger(end, start + sums_work_bytes(counts, plan));
    layout->used = aligned(end);
}

/* Lays the block out and counts its parts. */
static void lay_out(const struct circuit_counts *counts, struct memory_plan *plan, void *base,
                    struct circuit_block *block)
{
    struct layout layout = {base, 0};
    struct sums_map sums;
    block->image = take(&layout, counts->rows_bytes);
    take_density(&layout, counts, counts->a_is_dense, &block->a_dense);
    take_density(&layout, counts, counts->b_is_dense, &block->b_dense);
    plan->rows_bytes = layout.used;
    size_t before = layout.used;
    block->tables = take(&layout, ntt_table_bytes(counts->log2_domain));
    plan->tables_bytes = layout.used - before;
    before = layout.used;
    take_points(&layout, counts, plan, block);
    plan->points_bytes = layout.used - before;
    before = layout.used;
    take_tails(&layout, counts, plan, block);
    plan->tails_bytes = layout.used - before;
    before = layout.used;
    for (unsigned i = 0; i < plan->n_slots; i++)
        take_slot(&layout, counts, &block->slots[i]);
    plan->witness_bytes = layout.used - before;
    before = layout.used;
    for (enum cuda_tail i = 0; i < TAIL_COUNT; i++)
        block->scalars[i] = take(&layout, counts->n_scalars[i] * sizeof(struct fr));
    plan_sums(counts, plan, &sums);
    block->own_sums = take(&layout, sums.own_bytes);
    block->sums = take(&layout, sums.bytes);
    take_work(&layout, counts, plan, block);
    plan->work_bytes = layout.used - before;
    plan->total_bytes = layout.used;
}

void plan_lay_out(const struct circuit_counts *counts, const struct memory_plan *plan, void *block,
                  struct circuit_block *out)
{
    struct memory_plan copy = *plan;
    memset(out, 0, sizeof *out);
    lay_out(counts, &copy, block, out);
}

void plan_sums(const struct circuit_counts *counts, const struct memory_plan *plan,
               struct sums_map *out)
{
    const uint32_t n_pieces = plan_h_pieces(counts, plan);
    const struct msm_size first = plan_h_size(counts, plan, 0);
    const struct msm_size last = plan_h_size(counts, plan, n_pieces - 1);
    const size_t most = larger(msm_sum_count(&first), msm_sum_count(&last));
    size_t used = 0;
    out->h = used;
    out->h_stride = most * msm_point_bytes(MSM_G1);
    used += aligned(n_pieces * out->h_stride);
    for (enum cuda_tail i = 0; i < TAIL_COUNT; i++) {
        const size_t n = counts->n_scalars[i] ? msm_sum_count(&plan->tail_size[i]) : 0;
        for (unsigned set = 0; set < 2; set++) {
            out->tails[i][set] = used;
            used += aligned(n * msm_point_bytes(section_group(tail_section(i, set))));
        }
    }
    out->own_bytes = used;
    used *= plan->n_batch;
    for (enum key_vector i = 0; i < KEY_VECTORS; i++) {
        out->bits[i] = used;
        if (i == KEY_H)
            continue;
        const struct msm_size size = plan_bits_size(i, 1, plan->n_batch);
        used += aligned((size_t)plan_parts(counts, plan, i) * msm_sum_count(&size) *
                        msm_point_bytes(section_group(i)));
    }
    out->faults = used;
    used += aligned(sizeof(struct points_faults));
    out->bytes = used;
}

/* --- The choice ------------------------------------------------------------------------------- */

static uint32_t rounded_up(uint32_t n)
{
    return (n + POINTS_ALIGNMENT - 1) / POINTS_ALIGNMENT * POINTS_ALIGNMENT;
}

/* A part of the domain, in points. */
static uint32_t part_of(const struct circuit_counts *counts, unsigned parts)
{
    const uint32_t part = rounded_up((uint32_t)(((uint64_t)1 << counts->log2_domain) / parts));
    return part > CHUNK_MIN ? part : CHUNK_MIN;
}

static uint64_t measure_plan(const struct circuit_counts *counts, struct memory_plan *plan)
{
    struct circuit_block block = {0};
    lay_out(counts, plan, NULL, &block);
    return plan->total_bytes;
}

/* What is decided before anything is measured. */
struct trial {
    unsigned h_pieces; /* the fewer, the wider are the windows, and the larger the scratch */
    bool h_resident, tables;
    unsigned n_batch, n_slots;
};

/* The fastest first. h is brought for every partition if it does not stay, other sections once for
   a batch. */
static const struct trial trials[] = {
    {1, true, true, BATCH_MAX, SLOTS_MAX},
    {1, true, false, BATCH_MAX, SLOTS_MAX},
    {2, true, true, BATCH_MAX, SLOTS_MAX},
    {2, true, false, BATCH_MAX, SLOTS_MAX},
    {4, true, true, BATCH_MAX, SLOTS_MAX},
    {4, true, false, BATCH_MAX, SLOTS_MAX},
    {8, true, true, BATCH_MAX, SLOTS_MAX},
    {8, true, false, BATCH_MAX, SLOTS_MAX},
    {H_PIECES_MAX, true, true, BATCH_MAX, SLOTS_MAX},
    {H_PIECES_MAX, true, false, BATCH_MAX, SLOTS_MAX},
    {8, false, true, BATCH_MAX, SLOTS_MAX},
    {8, false, false, BATCH_MAX, SLOTS_MAX},
    {H_PIECES_MAX, false, true, BATCH_MAX, SLOTS_MAX},
    {H_PIECES_MAX, false, false, BATCH_MAX, SLOTS_MAX},
    {H_PIECES_MAX, false, false, 2, 2},
};

static struct memory_plan sketch_plan(const struct circuit_counts *counts,
                                      const struct trial *trial)
{
    const uint32_t n_h = rounded_up(counts->n_points[KEY_H]);
    const uint32_t h_piece = part_of(counts, trial->h_pieces);
    const bool whole = trial->h_pieces == 1;
    struct memory_plan plan = {
        .resident[KEY_H] = trial->h_resident,
        .n_batch = trial->n_batch,
        .n_slots = trial->n_slots,
        .h_piece = n_h < h_piece ? n_h : h_piece,
        .chunk_points = part_of(counts, CHUNKS),
        .sum_points = part_of(counts, whole ? 1 : CHUNKS),
    };
    for (enum cuda_tail i = 0; i < TAIL_COUNT; i++)
        plan.tail_size[i] = (struct msm_size){
            .n = counts->n_scalars[i],
            .g1_sets = i == TAIL_LA ? 2 : 1,
            .g2_sets = i == TAIL_LA ? 0 : 1,
            .tables = trial->tables,
            .entries_max = whole ? 0 : h_piece,
        };
    return plan;
}

/* Plans as tried, and keeps what fits of the other sections, those first that are small for the
   time they take. */
static bool try_plan(const struct circuit_counts *counts, uint64_t limit, const struct trial *trial,
                     struct memory_plan *out)
{
    static const enum key_vector order[] = {KEY_B_G2, KEY_B_G1, KEY_L, KEY_A};
    *out = sketch_plan(counts, trial);
    if (measure_plan(counts, out) > limit)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        out->resident[order[i]] = true;
        if (measure_plan(counts, out) > limit)
            out->resident[order[i]] = false;
    }
    measure_plan(counts, out);
    return true;
}

static unsigned mib(uint64_t bytes)
{
    return (unsigned)((bytes + ((1 << 20) - 1)) >> 20);
}

enum cuzk_status plan_circuit(const struct circuit_counts *counts, uint64_t limit,
                              struct memory_plan *out, struct cuzk_error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(trials); i++) {
        if (try_plan(counts, limit, &trials[i], out))
            return CUZK_OK;
    }
    return error_set(
        err, CUZK_RESOURCE_EXHAUSTED,
        "circuit of 2^%u rows needs at least %u MiB (rows %u, transforms %u, tails %u, "
        "witnesses %u, work %u), available are %u MiB",
        counts->log2_domain, mib(out->total_bytes), mib(out->rows_bytes), mib(out->tables_bytes),
        mib(out->tails_bytes), mib(out->witness_bytes), mib(out->work_bytes), mib(limit));
}

void plan_describe(const struct memory_plan *plan, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (int streamed = 0; streamed < 2; streamed++) {
        const char *comma = "";
        for (enum key_vector i = 0; i < KEY_VECTORS && used < bytes; i++) {
            if (plan->resident[i] == (streamed != 0))
                continue;
            used += (size_t)snprintf(
                text + used, bytes - used, "%s%s%s", *comma == '\0' && used > 0 ? "; " : comma,
                *comma == '\0' && streamed ? "streamed: " : "", key_vector_name(i));
            comma = ", ";
        }
        if (!streamed && used > 0 && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, " on the card");
    }
}
