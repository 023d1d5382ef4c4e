#include "vanilla/update.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "circuits/sector.h"
#include "math/poseidon.h"
#include "vanilla/bincode.h"
#include "vanilla/first_fault.h"
#include "vanilla/merkle_roots.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { PARTITIONS_MAX = 1 << UPDATE_PARTITION_BITS_MAX, CHALLENGES_MAX = 128 };

/* What a challenge claims beyond the circuit's input. */
struct claims {
    struct fr label_r_new;
    uint64_t index_d_new;  /* of the whole path in tree_d_new */
    struct fr *upper_path; /* its siblings above path_d, apex_bits + partition_bits of them */
};

struct update {
    struct update_public values;
    struct fr comm_r_old, comm_r_new, comm_d_new;
    struct fr phi;
    struct tree_shape tree_d;
    struct update_partition *partition[PARTITIONS_MAX];
    struct claims *claims[PARTITIONS_MAX]; /* of each challenge */
    struct fr *upper_paths[PARTITIONS_MAX];
    atomic_uint checked; /* bit k: partition k was found true */
};

size_t update_vanilla_bytes(const struct update_config *config)
{
    struct tree_shape tree_d;
    tree_shape_binary(&tree_d, (uint64_t)1 << config->node_bits);
    return FR_BYTES + 8 + config->apex_leaves * (size_t)FR_BYTES + 8 +
           config->challenges *
               (2 * bincode_merkle_bytes(&config->tree_r) + bincode_merkle_bytes(&tree_d));
}

/* --- Challenges ------------------------------------------------------------------------------- */

/* `count` bits of a field element's canonical value, from bit `first` on; count ≤ 57. */
static uint64_t bits_of(const uint8_t bytes[FR_BYTES], unsigned first, unsigned count)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned bit = first + i;
        value |= (uint64_t)(bytes[bit / 8] >> bit % 8 & 1) << i;
    }
    return value;
}

void update_challenges(const struct update_config *config, const struct fr *comm_r_new,
                       unsigned partition, uint64_t *challenges)
{
    uint8_t digest[FR_BYTES];
    for (unsigned i = 0; i < config->challenges; i++) {
        unsigned place = i % config->challenges_per_digest;
        if (place == 0) {
            struct fr pair[2] = {*comm_r_new};
            fr_from_u64(&pair[1], partition * config->digests + i / config->challenges_per_digest);
            poseidon_hash_randomness(&pair[0], pair);
            fr_to_bytes(digest, &pair[0]);
        }
        challenges[i] = bits_of(digest, place * config->random_bits, config->random_bits) |
                        (uint64_t)partition << config->random_bits;
    }
}

struct fr update_rho(const struct update_config *config, const struct fr *phi, uint64_t node)
{
    unsigned h = config->hs[__builtin_ctz(config->h_select)];
    struct fr pair[2] = {*phi};
    fr_from_u64(&pair[1], node >> (config->node_bits - h));
    poseidon_hash_randomness(&pair[0], pair);
    return pair[0];
}

/* --- Reading ---------------------------------------------------------------------------------- */

struct reading {
    struct update *update;
    const struct update_vanilla *proofs;
};

/* The three inclusion proofs of a challenge. */
static enum cuzk_status read_challenge(struct bincode *text, const struct update *update,
                                       struct update_challenge *challenge, struct claims *claims,
                                       struct fr roots[2], struct cuzk_error *err)
{
    const struct update_config *config = update->values.config;
    struct fr siblings_d[TREE_LEVELS_MAX];
    struct merkle_proof old = {.path = challenge->path_r_old};
    struct merkle_proof data = {.path.siblings = siblings_d};
    struct merkle_proof new = {.path = challenge->path_r_new};
    unsigned levels = config->path_d.levels;
    if (bincode_merkle_proof(text, &config->tree_r, &old, err) != CUZK_OK)
        return error_prefix(err, "proof_r_old");
    if (bincode_merkle_proof(text, &update->tree_d, &data, err) != CUZK_OK)
        return error_prefix(err, "proof_d_new");
    if (bincode_merkle_proof(text, &config->tree_r, &new, err) != CUZK_OK)
        return error_prefix(err, "proof_r_new");
    if (!fr_equal(&data.root, &update->comm_d_new))
        return error_set(err, CUZK_INVALID_ARGUMENT, "proof_d_new: the root is not comm_d_new");
    challenge->path_r_old = old.path;
    challenge->path_r_new = new.path;
    challenge->label_r_old = old.leaf;
    challenge->label_d_new = data.leaf;
    challenge->path_d_new.index = data.path.index & (((uint64_t)1 << levels) - 1);
    memcpy(challenge->path_d_new.siblings, siblings_d, levels * sizeof *siblings_d);
    memcpy(claims->upper_path, siblings_d + levels,
           (config->node_bits - levels) * sizeof *siblings_d);
    claims->label_r_new = new.leaf;
    claims->index_d_new = data.path.index;
    roots[0] = old.root;
    roots[1] = new.root;
    return CUZK_OK;
}

static enum cuzk_status read_challenges(struct bincode *text, const struct update *update,
                                        unsigned k, struct cuzk_error *err)
{
    struct update_partition *partition = update->partition[k];
    for (unsigned i = 0; i < update->values.config->challenges; i++) {
        struct fr roots[2];
        if (read_challenge(text, update, &partition->challenges[i], &update->claims[k][i], roots,
                           err) != CUZK_OK)
            return error_prefix(err, "challenge %u", i);
        if (i == 0) {
            partition->root_r_old = roots[0];
            partition->root_r_new = roots[1];
        }
        bool old_agrees = fr_equal(&roots[0], &partition->root_r_old);
        if (!old_agrees || !fr_equal(&roots[1], &partition->root_r_new))
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "challenge %u: %s: the root is not that of challenge 0", i,
                             old_agrees ? "proof_r_new" : "proof_r_old");
    }
    return CUZK_OK;
}

static enum cuzk_status read_partition(struct bincode *text, const struct update *update,
                                       unsigned k, struct cuzk_error *err)
{
    const struct update_config *config = update->values.config;
    struct update_partition *partition = update->partition[k];
    TRY(bincode_fr(text, "comm_c", &partition->comm_c, err));
    TRY(bincode_length(text, "apex_leafs", config->apex_leaves, err));
    for (unsigned i = 0; i < config->apex_leaves; i++)
        TRY(bincode_fr(text, "apex_leafs", &partition->apex_leaves[i], err));
    TRY(bincode_length(text, "challenge_proofs", config->challenges, err));
    TRY(read_challenges(text, update, k, err));
    memcpy(partition->partition_path, update->claims[k][0].upper_path + config->apex_bits,
           config->partition_bits * sizeof *partition->partition_path);
    return CUZK_OK;
}

static enum cuzk_status read_one(void *context, size_t k, struct cuzk_error *err)
{
    const struct reading *reading = context;
    struct bincode text = {reading->proofs[k].bytes, reading->proofs[k].len, 0};
    if (read_partition(&text, reading->update, (unsigned)k, err) != CUZK_OK)
        return error_prefix(err, "vanilla_proofs[%zu]", k);
    return CUZK_OK;
}

/* Places for a partition; false without memory. */
static bool take_partition(struct update *update, unsigned k)
{
    const struct update_config *config = update->values.config;
    size_t upper = config->apex_bits + config->partition_bits;
    struct update_partition *partition = update_blank(config);
    update->partition[k] = partition;
    update->claims[k] = mem_zalloc(config->challenges, sizeof *update->claims[k]);
    update->upper_paths[k] =
        mem_zalloc(config->challenges * upper + 1, sizeof *update->upper_paths[k]);
    if (!partition || !update->claims[k] || !update->upper_paths[k])
        return false;
    partition->index = k;
    partition->comm_r_old = update->comm_r_old;
    partition->comm_r_new = update->comm_r_new;
    partition->comm_d_new = update->comm_d_new;
    for (unsigned i = 0; i < config->challenges; i++)
        update->claims[k][i].upper_path = update->upper_paths[k] + i * upper;
    return true;
}

static enum cuzk_status read_commitment(const char *name, const uint8_t bytes[32], struct fr *out,
                                        struct cuzk_error *err)
{
    if (!fr_from_bytes(out, bytes))
        return error_set(err, CUZK_INVALID_ARGUMENT, "%s: not a canonical field element", name);
    return CUZK_OK;
}

static enum cuzk_status read_public(struct update *update, struct cuzk_error *err)
{
    const struct update_public *values = &update->values;
    TRY(read_commitment("comm_r_old", values->comm_r_old, &update->comm_r_old, err));
    TRY(read_commitment("comm_r_new", values->comm_r_new, &update->comm_r_new, err));
    TRY(read_commitment("comm_d_new", values->comm_d_new, &update->comm_d_new, err));
    const struct fr pair[2] = {update->comm_d_new, update->comm_r_old};
    poseidon_hash_randomness(&update->phi, pair);
    tree_shape_binary(&update->tree_d, (uint64_t)1 << values->config->node_bits);
    return CUZK_OK;
}

/* No memory is taken before the texts are long enough to fill it. */
enum cuzk_status update_check_sizes(const struct update_config *config,
                                    const struct update_vanilla *proofs, size_t n_proofs,
                                    struct cuzk_error *err)
{
    size_t wanted = update_vanilla_bytes(config);
    if (n_proofs != config->partitions)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "vanilla_proofs: %zu given, an update of this sector size has %u (one a "
                         "partition)",
                         n_proofs, config->partitions);
    for (size_t i = 0; i < n_proofs; i++) {
        if (proofs[i].len < wanted)
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "vanilla_proofs[%zu]: %zu bytes, the proof of a partition of this "
                             "sector size has %zu",
                             i, proofs[i].len, wanted);
    }
    return CUZK_OK;
}

enum cuzk_status update_read(const struct update_public *values,
                             const struct update_vanilla *proofs, size_t n_proofs,
                             struct pool *pool, struct update **out, struct cuzk_error *err)
{
    TRY(update_check_sizes(values->config, proofs, n_proofs, err));
    struct update *update = mem_zalloc(1, sizeof *update);
    if (!update)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a sector update");
    update->values = *values;
    atomic_init(&update->checked, 0);
    struct reading reading = {update, proofs};
    enum cuzk_status status = read_public(update, err);
    for (unsigned k = 0; k < n_proofs && status == CUZK_OK; k++) {
        if (!take_partition(update, k))
            status = error_set(err, CUZK_NO_MEMORY, "no memory for partition %u of an update", k);
    }
    if (status == CUZK_OK)
        status = first_fault(pool, n_proofs, read_one, &reading, err);
    if (status != CUZK_OK) {
        update_free(update);
        return status;
    }
    *out = update;
    return CUZK_OK;
}

void update_free(struct update *update)
{
    if (!update)
        return;
    for (unsigned k = 0; k < PARTITIONS_MAX; k++) {
        update_partition_free(update->partition[k]);
        mem_free(update->claims[k]);
        mem_free(update->upper_paths[k]);
    }
    mem_free(update);
}

/* --- Checking --------------------------------------------------------------------------------- */

struct check_run {
    const struct update *update;
    unsigned k;
    struct fr apex_tree[2 * UPDATE_APEX_LEAVES_MAX]; /* root at 1, children of i at 2i and 2i + 1 */
    uint64_t challenges[CHALLENGES_MAX];
};

static enum cuzk_status check_commitment(const struct fr *comm_c, const struct fr *root,
                                         const struct fr *comm_r, const char *name,
                                         struct cuzk_error *err)
{
    const struct fr pair[2] = {*comm_c, *root};
    struct fr computed;
    poseidon_hash(&computed, 2, pair);
    if (!fr_equal(&computed, comm_r))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "comm_r_%s is not the hash of comm_c and the root of proof_r_%s", name,
                         name);
    return CUZK_OK;
}

/* The tree over the apex leaves, and the way from its root to comm_d_new. */
static enum cuzk_status check_apex(struct check_run *run, struct cuzk_error *err)
{
    const struct update *update = run->update;
    const struct update_config *config = update->values.config;
    const struct update_partition *partition = update->partition[run->k];
    struct fr *tree = run->apex_tree;
    memcpy(tree + config->apex_leaves, partition->apex_leaves, config->apex_leaves * sizeof *tree);
    for (unsigned i = config->apex_leaves - 1; i > 0; i--)
        merkle_hash_sha256(&tree[i], &tree[2 * i], &tree[2 * i + 1]);
    struct fr path[UPDATE_PARTITION_BITS_MAX];
    memcpy(path, partition->partition_path, sizeof path);
    const struct tree_path up = {run->k, path};
    struct fr root = merkle_root_sha256(0, config->partition_bits, &tree[1], &up);
    if (!fr_equal(&root, &update->comm_d_new))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "apex_leafs: they and the path of challenge 0 do not hash to comm_d_new");
    return CUZK_OK;
}

static enum cuzk_status check_index(const char *part, uint64_t index, uint64_t node,
                                    struct cuzk_error *err)
{
    if (index != node)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "%s: the path leads to node %" PRIu64
                         ", but the challenge that follows from comm_r_new is %" PRIu64,
                         part, index, node);
    return CUZK_OK;
}

/* The new data's path: up to its apex leaf by hashing, above that as the apex tree says. */
static enum cuzk_status check_data_path(const struct check_run *run,
                                        const struct update_challenge *challenge,
                                        const struct claims *claims, uint64_t node,
                                        struct cuzk_error *err)
{
    const struct update_config *config = run->update->values.config;
    unsigned levels = config->path_d.levels;
    struct fr apex = merkle_root_sha256(0, levels, &challenge->label_d_new, &challenge->path_d_new);
    unsigned at = config->apex_leaves + (unsigned)(node >> levels & (config->apex_leaves - 1));
    if (!fr_equal(&apex, &run->apex_tree[at]))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "proof_d_new: leaf and path do not hash to apex leaf %u",
                         at - config->apex_leaves);
    for (unsigned i = 0; i < config->apex_bits; i++, at /= 2) {
        if (!fr_equal(&claims->upper_path[i], &run->apex_tree[at ^ 1]))
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "proof_d_new: level %u of the path is not of the apex leaves' tree",
                             levels + i);
    }
    const struct fr *partition_path = run->update->partition[run->k]->partition_path;
    for (unsigned i = 0; i < config->partition_bits; i++) {
        if (!fr_equal(&claims->upper_path[config->apex_bits + i], &partition_path[i]))
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "proof_d_new: level %u of the path is not that of challenge 0",
                             levels + config->apex_bits + i);
    }
    return CUZK_OK;
}

/* new replica node = old replica node + new data · rho (part G.1). */
static enum cuzk_status check_label(const struct update *update,
                                    const struct update_challenge *challenge,
                                    const struct claims *claims, uint64_t node,
                                    struct cuzk_error *err)
{
    struct fr label = update_rho(update->values.config, &update->phi, node);
    fr_mul(&label, &label, &challenge->label_d_new);
    fr_add(&label, &label, &challenge->label_r_old);
    if (!fr_equal(&label, &claims->label_r_new))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "proof_r_new: the leaf is not the old replica's with the new data");
    return CUZK_OK;
}

static enum cuzk_status check_paths(const struct check_run *run,
                                    const struct update_challenge *challenge,
                                    const struct claims *claims, uint64_t node,
                                    struct cuzk_error *err)
{
    const struct update *update = run->update;
    const struct update_partition *partition = update->partition[run->k];
    TRY(check_index("proof_r_old", challenge->path_r_old.index, node, err));
    TRY(check_index("proof_d_new", claims->index_d_new, node, err));
    TRY(check_index("proof_r_new", challenge->path_r_new.index, node, err));
    struct fr roots[2];
    const struct fr *leaves[2] = {&challenge->label_r_old, &claims->label_r_new};
    const struct tree_path *paths[2] = {&challenge->path_r_old, &challenge->path_r_new};
    struct fr *out[2] = {&roots[0], &roots[1]};
    merkle_roots_poseidon(NULL, &update->values.config->tree_r, 2, leaves, paths, out);
    if (!fr_equal(&roots[0], &partition->root_r_old))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "proof_r_old: leaf and path do not hash to the root");
    TRY(check_data_path(run, challenge, claims, node, err));
    TRY(check_label(update, challenge, claims, node, err));
    if (!fr_equal(&roots[1], &partition->root_r_new))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "proof_r_new: leaf and path do not hash to the root");
    return CUZK_OK;
}

static enum cuzk_status check_one(void *context, size_t i, struct cuzk_error *err)
{
    const struct check_run *run = context;
    const struct update_partition *partition = run->update->partition[run->k];
    uint64_t node = run->challenges[i];
    if (check_paths(run, &partition->challenges[i], &run->update->claims[run->k][i], node, err) !=
        CUZK_OK)
        return error_prefix(err, "challenge %zu (node %" PRIu64 ")", i, node);
    return CUZK_OK;
}

static enum cuzk_status check_partition(struct check_run *run, struct pool *pool,
                                        struct cuzk_error *err)
{
    const struct update *update = run->update;
    const struct update_config *config = update->values.config;
    const struct update_partition *partition = update->partition[run->k];
    TRY(check_commitment(&partition->comm_c, &partition->root_r_old, &update->comm_r_old, "old",
                         err));
    TRY(check_commitment(&partition->comm_c, &partition->root_r_new, &update->comm_r_new, "new",
                         err));
    TRY(check_apex(run, err));
    update_challenges(config, &update->comm_r_new, run->k, run->challenges);
    return first_fault(pool, config->challenges, check_one, run, err);
}

enum cuzk_status update_check_partition(struct update *update, unsigned k, struct pool *pool,
                                        struct cuzk_error *err)
{
    CHECK(k < update->values.config->partitions);
    CHECK(update->values.config->challenges <= CHALLENGES_MAX);
    if (atomic_load(&update->checked) >> k & 1)
        return CUZK_OK;
    struct check_run run = {.update = update, .k = k};
    enum cuzk_status status = check_partition(&run, pool, err);
    if (status != CUZK_OK) {
        error_prefix(err, "vanilla_proofs[%u]", k);
        return status;
    }
    atomic_fetch_or(&update->checked, 1u << k);
    return CUZK_OK;
}

const struct update_partition *update_checked(const struct update *update, unsigned k)
{
    CHECK(atomic_load(&update->checked) >> k & 1);
    return update->partition[k];
}

void update_inputs(const struct update *update, unsigned k, struct fr inputs[UPDATE_INPUTS])
{
    const struct update_config *config = update->values.config;
    fr_from_u64(&inputs[0], k | (uint64_t)config->h_select << config->partition_bits);
    inputs[1] = update->comm_r_old;
    inputs[2] = update->comm_d_new;
    inputs[3] = update->comm_r_new;
}
