#include "vanilla/made_up.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "math/poseidon.h"
#include "vanilla/bincode_write.h"
#include "vanilla/merkle_roots.h"
#include "vanilla/sparse_tree.h"

#include <string.h>

static struct fr made_up_value(const char *name)
{
    uint8_t bytes[FR_BYTES];
    struct fr value;
    sparse_prf(name, NULL, 0, bytes);
    CHECK(fr_from_bytes(&value, bytes));
    return value;
}

/* A node of tree_r_new. */
static const struct fr *node_r_new(const struct made_up_update *update, unsigned level,
                                   uint64_t index)
{
    unsigned shift = update->log2_nodes[level] - update->log2_values[level];
    return &update->level_r_new[level][index >> shift];
}

static void fill_uniform_levels(struct made_up_update *update)
{
    const struct update_config *config = update->values.config;
    update->level_r_old[0] = update->label_r_old;
    for (unsigned h = 0; h < config->tree_r.levels; h++) {
        struct fr children[8];
        for (unsigned c = 0; c < config->tree_r.arity[h]; c++)
            children[c] = update->level_r_old[h];
        poseidon_hash(&update->level_r_old[h + 1], config->tree_r.arity[h], children);
    }
    update->root_r_old = update->level_r_old[config->tree_r.levels];
    update->level_d_new[0] = update->label_d_new;
    for (unsigned h = 0; h < config->node_bits; h++)
        merkle_hash_sha256(&update->level_d_new[h + 1], &update->level_d_new[h],
                           &update->level_d_new[h]);
    update->comm_d_new = update->level_d_new[config->node_bits];
}

/* The level above `level`: one hash for each value that can differ. */
static void hash_level(struct made_up_update *update, unsigned level, unsigned arity)
{
    unsigned shift = update->log2_nodes[level + 1] - update->log2_values[level + 1];
    for (uint64_t i = 0; i < (uint64_t)1 << update->log2_values[level + 1]; i++) {
        struct fr children[8];
        for (unsigned c = 0; c < arity; c++)
            children[c] = *node_r_new(update, level, (i << shift) * arity + c);
        poseidon_hash(&update->level_r_new[level + 1][i], arity, children);
    }
}

/* The tree over the new replica: its leaves differ only where rho does. */
static bool fill_new_replica(struct made_up_update *update)
{
    const struct update_config *config = update->values.config;
    const struct fr pair[2] = {update->comm_d_new, update->comm_r_old};
    struct fr phi;
    poseidon_hash_randomness(&phi, pair);
    unsigned h = config->hs[__builtin_ctz(config->h_select)];
    unsigned log2_nodes = config->node_bits;
    for (unsigned level = 0; level <= config->tree_r.levels; level++) {
        update->log2_nodes[level] = log2_nodes;
        update->log2_values[level] = log2_nodes < h ? log2_nodes : h;
        update->level_r_new[level] =
            mem_alloc((size_t)1 << update->log2_values[level], sizeof(struct fr));
        if (!update->level_r_new[level])
            return false;
        if (level < config->tree_r.levels)
            log2_nodes -= tree_level_bits(&config->tree_r, level);
    }
    for (uint64_t i = 0; i < (uint64_t)1 << h; i++) {
        struct fr rho = update_rho(config, &phi, i << (config->node_bits - h));
        fr_mul(&rho, &rho, &update->label_d_new);
        fr_add(&update->level_r_new[0][i], &rho, &update->label_r_old);
    }
    for (unsigned level = 0; level < config->tree_r.levels; level++)
        hash_level(update, level, config->tree_r.arity[level]);
    update->root_r_new = update->level_r_new[config->tree_r.levels][0];
    return true;
}

enum cuzk_status made_up_update_init(struct made_up_update *update,
                                     const struct update_config *config, struct cuzk_error *err)
{
    *update = (struct made_up_update){.values.config = config};
    update->comm_c = made_up_value("comm-c");
    update->label_r_old = made_up_value("replica");
    update->label_d_new = made_up_value("data");
    fill_uniform_levels(update);
    struct fr pair[2] = {update->comm_c, update->root_r_old};
    poseidon_hash(&update->comm_r_old, 2, pair);
    if (!fill_new_replica(update))
        return error_set(err, CUZK_NO_MEMORY, "no memory for a made-up sector update");
    pair[1] = update->root_r_new;
    poseidon_hash(&update->comm_r_new, 2, pair);
    fr_to_bytes(update->values.comm_r_old, &update->comm_r_old);
    fr_to_bytes(update->values.comm_r_new, &update->comm_r_new);
    fr_to_bytes(update->values.comm_d_new, &update->comm_d_new);
    return CUZK_OK;
}

void made_up_update_free(struct made_up_update *update)
{
    for (unsigned level = 0; level <= TREE_LEVELS_MAX; level++)
        mem_free(update->level_r_new[level]);
    *update = (struct made_up_update){0};
}

/* --- Vanilla proofs --------------------------------------------------------------------------- */

/* levels: one value for all nodes of each level. */
static void write_uniform(struct bincode_writer *writer, const struct tree_shape *shape,
                          const struct fr *levels, uint64_t node)
{
    struct fr siblings[TREE_LEVELS_MAX * 7];
    struct fr *next = siblings;
    for (unsigned h = 0; h < shape->levels; h++) {
        for (unsigned i = 0; i + 1 < shape->arity[h]; i++)
            *next++ = levels[h];
    }
    const struct tree_path path = {node, siblings};
    bincode_write_merkle_proof(writer, shape, &levels[shape->levels], &levels[0], &path);
}

static void write_new_replica(struct bincode_writer *writer, const struct made_up_update *update,
                              uint64_t node)
{
    const struct tree_shape *shape = &update->values.config->tree_r;
    struct fr siblings[TREE_LEVELS_MAX * 7];
    struct fr *next = siblings;
    uint64_t at = node;
    for (unsigned h = 0; h < shape->levels; h++) {
        uint64_t first = at - at % shape->arity[h];
        for (unsigned c = 0; c < shape->arity[h]; c++) {
            if (first + c != at)
                *next++ = *node_r_new(update, h, first + c);
        }
        at /= shape->arity[h];
    }
    const struct tree_path path = {node, siblings};
    bincode_write_merkle_proof(writer, shape, &update->root_r_new, node_r_new(update, 0, node),
                               &path);
}

void made_up_update_partition(const struct made_up_update *update, unsigned partition, uint8_t *out)
{
    enum { CHALLENGES_MAX = 128 };
    const struct update_config *config = update->values.config;
    struct bincode_writer writer = {out};
    uint64_t challenges[CHALLENGES_MAX];
    struct tree_shape tree_d;
    CHECK(config->challenges <= CHALLENGES_MAX);
    tree_shape_binary(&tree_d, (uint64_t)1 << config->node_bits);
    update_challenges(config, &update->comm_r_new, partition, challenges);
    bincode_write_fr(&writer, &update->comm_c);
    bincode_write_u64(&writer, config->apex_leaves);
    for (unsigned i = 0; i < config->apex_leaves; i++)
        bincode_write_fr(&writer, &update->level_d_new[config->path_d.levels]);
    bincode_write_u64(&writer, config->challenges);
    for (unsigned i = 0; i < config->challenges; i++) {
        write_uniform(&writer, &config->tree_r, update->level_r_old, challenges[i]);
        write_uniform(&writer, &tree_d, update->level_d_new, challenges[i]);
        write_new_replica(&writer, update, challenges[i]);
    }
    CHECK((size_t)(writer.at - out) == update_vanilla_bytes(config));
}
