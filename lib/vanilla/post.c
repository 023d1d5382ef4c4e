#include "vanilla/post.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "math/poseidon.h"
#include "vanilla/bincode.h"
#include "vanilla/first_fault.h"
#include "vanilla/merkle_roots.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

/* A WinningPoSt's single sector fills all slots, with another challenge in each; a vanilla proof of
   a WindowPoSt fills one slot. */
struct post {
    struct post_public values;
    unsigned n_given;    /* slots that vanilla proofs fill; the others repeat the last one */
    uint64_t *sector_id; /* of each given slot */
    struct post_partition *partition;
    atomic_bool checked;
};

enum cuzk_status post_check_randomness(const uint8_t randomness[32], struct cuzk_error *err)
{
    struct fr value;
    if (fr_from_bytes(&value, randomness))
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT,
                     "randomness: not a canonical field element; its two highest bits, of byte 31, "
                     "must be clear");
}

uint64_t post_challenge_leaf(const struct post_public *values, uint64_t sector_id, unsigned slot,
                             unsigned n)
{
    const struct post_config *config = values->config;
    uint64_t first = values->winning ? 0 : (uint64_t)values->partition * config->sectors;
    uint64_t index = values->api_v1_2 ? n : (first + slot) * config->challenges + n;
    uint8_t message[48];
    uint8_t digest[SHA256_BYTES];
    memcpy(message, values->randomness, 32);
    store_u64_le(message + 32, sector_id);
    store_u64_le(message + 40, index);
    sha256(message, sizeof message, digest);
    return load_u64_le(digest) % (config->sector_bytes / 32);
}

/* Challenges that a vanilla proof opens. */
static unsigned openings(const struct post_public *values)
{
    return values->winning ? values->config->sectors : values->config->challenges;
}

size_t post_vanilla_bytes(const struct post_public *values)
{
    size_t proof = bincode_merkle_bytes(&values->config->tree_r);
    return 8 + FR_BYTES + 8 + 8 + openings(values) * proof + 2 * FR_BYTES;
}

/* --- Reading ---------------------------------------------------------------------------------- */

struct reading {
    struct post *post;
    const struct post_vanilla *proofs;
};

/* The place of a vanilla proof's opening in the partition. */
static struct post_sector *sector_at(const struct post *post, size_t proof, unsigned opening)
{
    return &post->partition->sectors[post->values.winning ? opening : proof];
}

static struct post_challenge *challenge_at(const struct post *post, size_t proof, unsigned opening)
{
    return &sector_at(post, proof, opening)->challenges[post->values.winning ? 0 : opening];
}

/* Reads the openings. The root that they agree on is set in *root. */
static enum cuzk_status read_openings(struct bincode *text, struct post *post, size_t proof,
                                      struct fr *root, struct cuzk_error *err)
{
    unsigned n = openings(&post->values);
    TRY(bincode_length(text, "inclusion_proofs", n, err));
    for (unsigned i = 0; i < n; i++) {
        struct post_challenge *challenge = challenge_at(post, proof, i);
        struct merkle_proof opening = {.path = challenge->path};
        if (bincode_merkle_proof(text, &post->values.config->tree_r, &opening, err) != CUZK_OK)
            return error_prefix(err, "challenge %u", i);
        challenge->path = opening.path;
        challenge->leaf = opening.leaf;
        if (i == 0)
            *root = opening.root;
        if (!fr_equal(root, &opening.root))
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "challenge %u: the root is not that of challenge 0", i);
    }
    return CUZK_OK;
}

static enum cuzk_status read_commitments(struct bincode *text, struct post *post, size_t proof,
                                         const struct fr *comm_r, const struct fr *root,
                                         struct cuzk_error *err)
{
    struct post_sector *sector = sector_at(post, proof, 0);
    sector->comm_r = *comm_r;
    TRY(bincode_fr(text, "comm_c", &sector->comm_c, err));
    TRY(bincode_fr(text, "comm_r_last", &sector->comm_r_last, err));
    if (!fr_equal(root, &sector->comm_r_last))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "the root of the inclusion proofs is not comm_r_last");
    for (unsigned i = 1; post->values.winning && i < post->n_given; i++) {
        struct post_sector *slot = sector_at(post, proof, i);
        slot->comm_r = sector->comm_r;
        slot->comm_c = sector->comm_c;
        slot->comm_r_last = sector->comm_r_last;
    }
    return CUZK_OK;
}

static enum cuzk_status read_sector(struct bincode *text, struct post *post, size_t proof,
                                    const struct fr *comm_r, struct cuzk_error *err)
{
    struct fr root;
    TRY(bincode_length(text, "sectors", 1, err));
    TRY(read_openings(text, post, proof, &root, err));
    return read_commitments(text, post, proof, comm_r, &root, err);
}

static enum cuzk_status read_one(void *context, size_t proof, struct cuzk_error *err)
{
    const struct reading *reading = context;
    struct post *post = reading->post;
    struct bincode text = {reading->proofs[proof].bytes, reading->proofs[proof].len, 0};
    uint64_t sector_id;
    struct fr comm_r;
    enum cuzk_status status = bincode_u64(&text, "sector_id", &sector_id, err);
    if (status == CUZK_OK)
        status = bincode_fr(&text, "comm_r", &comm_r, err);
    if (status != CUZK_OK)
        return error_prefix(err, "vanilla_proofs[%zu]", proof);
    if (post->values.winning) {
        for (unsigned i = 0; i < post->n_given; i++)
            post->sector_id[i] = sector_id;
    } else {
        post->sector_id[proof] = sector_id;
    }
    if (read_sector(&text, post, proof, &comm_r, err) != CUZK_OK)
        return error_prefix(err, "vanilla_proofs[%zu]: sector %" PRIu64, proof, sector_id);
    return CUZK_OK;
}

static enum cuzk_status check_count(const struct post_public *values, size_t n_proofs,
                                    struct cuzk_error *err)
{
    unsigned sectors = values->config->sectors;
    if (values->winning && n_proofs != 1)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "vanilla_proofs: %zu given, a WinningPoSt has 1 (one sector)", n_proofs);
    if (n_proofs == 0 || n_proofs > sectors)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "vanilla_proofs: %zu given, a WindowPoSt partition has 1 to %u (one a "
                         "sector)",
                         n_proofs, sectors);
    return CUZK_OK;
}

/* No memory is taken before the texts are long enough to fill it. */
static enum cuzk_status check_lengths(const struct post_public *values,
                                      const struct post_vanilla *proofs, size_t n_proofs,
                                      struct cuzk_error *err)
{
    const size_t wanted = post_vanilla_bytes(values);
    for (size_t i = 0; i < n_proofs; i++) {
        if (proofs[i].len < wanted)
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "vanilla_proofs[%zu]: %zu bytes, the proof of a sector of this size "
                             "has %zu",
                             i, proofs[i].len, wanted);
    }
    return CUZK_OK;
}

enum cuzk_status post_check_sizes(const struct post_public *values,
                                  const struct post_vanilla *proofs, size_t n_proofs,
                                  struct cuzk_error *err)
{
    TRY(check_count(values, n_proofs, err));
    return check_lengths(values, proofs, n_proofs, err);
}

enum cuzk_status post_read(const struct post_public *values, const struct post_vanilla *proofs,
                           size_t n_proofs, struct pool *pool, struct post **out,
                           struct cuzk_error *err)
{
    TRY(post_check_sizes(values, proofs, n_proofs, err));
    struct post *post = mem_zalloc(1, sizeof *post);
    if (!post)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a PoSt");
    post->values = *values;
    post->n_given = values->winning ? values->config->sectors : (unsigned)n_proofs;
    post->sector_id = mem_alloc(post->n_given, sizeof *post->sector_id);
    post->partition = post_blank_padded(values->config, post->n_given);
    atomic_init(&post->checked, false);
    enum cuzk_status status = CUZK_OK;
    if (!post->sector_id || !post->partition)
        status =
            error_set(err, CUZK_NO_MEMORY, "no memory for a PoSt of %zu vanilla proofs", n_proofs);
    struct reading reading = {post, proofs};
    if (status == CUZK_OK)
        status = first_fault(pool, n_proofs, read_one, &reading, err);
    if (status != CUZK_OK) {
        post_free(post);
        return status;
    }
    post_pad(post->partition, post->n_given);
    *out = post;
    return CUZK_OK;
}

void post_free(struct post *post)
{
    if (!post)
        return;
    mem_free(post->sector_id);
    post_partition_free(post->partition);
    mem_free(post);
}

/* --- Checking --------------------------------------------------------------------------------- */

/* All challenges of a slot, n ≤ POSEIDON_MEMO_TOGETHER of them. Those of a WinningPoSt are one a
   slot and are taken together over slots. */
static enum cuzk_status check_paths(const struct post *post, unsigned first_slot, unsigned n,
                                    struct cuzk_error *err)
{
    const struct post_config *config = post->values.config;
    const struct fr *leaves[POSEIDON_MEMO_TOGETHER];
    const struct tree_path *paths[POSEIDON_MEMO_TOGETHER];
    struct fr values[POSEIDON_MEMO_TOGETHER];
    struct fr *roots[POSEIDON_MEMO_TOGETHER];
    const struct post_sector *sector = &post->partition->sectors[first_slot];
    for (unsigned i = 0; i < n; i++) {
        unsigned slot = first_slot + i / config->challenges;
        unsigned opening = i % config->challenges;
        const struct post_challenge *challenge =
            &post->partition->sectors[slot].challenges[opening];
        uint64_t leaf = post_challenge_leaf(&post->values, post->sector_id[slot], slot, opening);
        if (challenge->path.index != leaf)
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "challenge %u: the path leads to leaf %" PRIu64
                             ", but the challenge that follows from the randomness is %" PRIu64,
                             post->values.winning ? slot : opening, challenge->path.index, leaf);
        leaves[i] = &challenge->leaf;
        paths[i] = &challenge->path;
        roots[i] = &values[i];
    }
    merkle_roots_poseidon(NULL, &config->tree_r, n, leaves, paths, roots);
    for (unsigned i = 0; i < n; i++) {
        if (!fr_equal(&values[i], &sector->comm_r_last))
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "challenge %u: leaf and path do not hash to comm_r_last",
                             post->values.winning ? first_slot + i : i);
    }
    return CUZK_OK;
}

/* Slots that are checked together: one of a WindowPoSt, some of a WinningPoSt. */
static unsigned slots_together(const struct post *post)
{
    return POSEIDON_MEMO_TOGETHER / post->values.config->challenges;
}

static enum cuzk_status check_slots(void *context, size_t index, struct cuzk_error *err)
{
    const struct post *post = context;
    unsigned together = slots_together(post);
    unsigned first = (unsigned)index * together;
    unsigned n = post->n_given - first < together ? post->n_given - first : together;
    const struct post_sector *sector = &post->partition->sectors[first];
    const struct fr pair[2] = {sector->comm_c, sector->comm_r_last};
    struct fr comm_r;
    poseidon_hash(&comm_r, 2, pair);
    enum cuzk_status status = CUZK_OK;
    if (!fr_equal(&comm_r, &sector->comm_r))
        status = error_set(err, CUZK_INVALID_ARGUMENT,
                           "comm_r is not the hash of comm_c and comm_r_last");
    if (status == CUZK_OK)
        status = check_paths(post, first, n * post->values.config->challenges, err);
    if (status != CUZK_OK)
        error_prefix(err, "vanilla_proofs[%u]: sector %" PRIu64, post->values.winning ? 0 : first,
                     post->sector_id[first]);
    return status;
}

enum cuzk_status post_check(struct post *post, struct pool *pool, struct cuzk_error *err)
{
    if (atomic_load(&post->checked))
        return CUZK_OK;
    unsigned together = slots_together(post);
    TRY(first_fault(pool, (post->n_given + together - 1) / together, check_slots, post, err));
    atomic_store(&post->checked, true);
    return CUZK_OK;
}

const struct post_partition *post_checked(const struct post *post)
{
    CHECK(atomic_load(&post->checked));
    return post->partition;
}

/* --- Public inputs (part F.3) ----------------------------------------------------------------- */

size_t post_inputs_count(const struct post_config *config)
{
    return (size_t)config->sectors * (1 + config->challenges);
}

void post_inputs(const struct post *post, struct fr *inputs)
{
    const struct post_config *config = post->values.config;
    for (unsigned i = 0; i < config->sectors; i++) {
        unsigned slot = i < post->n_given ? i : post->n_given - 1;
        *inputs++ = post->partition->sectors[slot].comm_r;
        for (unsigned n = 0; n < config->challenges; n++)
            fr_from_u64(inputs++,
                        post_challenge_leaf(&post->values, post->sector_id[slot], slot, n));
    }
}
