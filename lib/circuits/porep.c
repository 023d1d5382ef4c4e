#include "circuits/porep.h"

#include "base/mem.h"
#include "circuits/label.h"
#include "circuits/sector.h"
#include "gadgets/merkle_batch.h"
#include "gadgets/poseidon_circuit.h"

#include <pthread.h>

/* --- Configurations --------------------------------------------------------------------------- */

static struct porep_config configs[SECTOR_SIZES];
static pthread_once_t configs_once = PTHREAD_ONCE_INIT;

static void make_configs(void)
{
    for (size_t i = 0; i < SECTOR_SIZES; i++) {
        const struct sector_size *size = &sector_sizes[i];
        bool large = size->bytes >= 32 * GIB;
        configs[i] = (struct porep_config){
            .sector_bytes = size->bytes,
            .nodes = size->bytes / SECTOR_NODE_BYTES,
            .layers = large ? 11 : 2,
            .challenges = large ? 18 : 2,
            .partitions = large ? 10 : 1,
        };
        sector_tree_d(&configs[i].tree_d, size);
        sector_tree_r(&configs[i].tree_r, size);
    }
}

const struct porep_config *porep_config(uint64_t sector_bytes)
{
    pthread_once(&configs_once, make_configs);
    if (!sector_is_sealed(sector_bytes))
        return NULL;
    for (size_t i = 0; i < SECTOR_SIZES; i++) {
        if (configs[i].sector_bytes == sector_bytes)
            return &configs[i];
    }
    return NULL;
}

/* --- The circuit ------------------------------------------------------------------------------ */

/* Shared by all challenges of a partition. */
struct common {
    struct cs *cs;
    const struct porep_partition *partition;
    const struct porep_config *config;
    struct sha256_number replica_id;
    struct num comm_d;
    struct num comm_c;
    struct num comm_r_last;
};

static void synthesize_commitments(struct common *s)
{
    struct cs *cs = s->cs;
    const struct porep_partition *partition = s->partition;
    struct num replica_id = num_alloc(cs, &partition->replica_id);
    num_inputize(cs, replica_id);
    sha256_number_of(cs, replica_id, &s->replica_id);
    s->comm_d = num_alloc(cs, &partition->comm_d);
    num_inputize(cs, s->comm_d);
    struct num comm_r = num_alloc(cs, &partition->comm_r);
    num_inputize(cs, comm_r);
    s->comm_r_last = num_alloc(cs, &partition->comm_r_last);
    s->comm_c = num_alloc(cs, &partition->comm_c);

    cs_push(cs, "comm_r");
    const struct num pair[2] = {s->comm_c, s->comm_r_last};
    num_enforce_equal(cs, comm_r, poseidon_circuit(cs, POSEIDON_TREE, 2, pair));
    cs_pop(cs);
}

static void prove_in_tree(struct common *s, struct merkle_batch *proofs, const char *name,
                          const struct tree_path *path, const struct num *column, unsigned n_column,
                          struct num root)
{
    struct merkle_path way = sector_path(MERKLE_POSEIDON, &s->config->tree_r, path);
    cs_push(s->cs, name);
    merkle_batch_prove(proofs, column, n_column, &way, root);
    cs_pop(s->cs);
}

/* Opens the columns of all parents in tree_c. */
static void prove_parents(struct common *s, struct merkle_batch *proofs,
                          const struct porep_challenge *challenge,
                          struct num columns[POREP_PARENTS][POREP_LAYERS_MAX])
{
    unsigned layers = s->config->layers;
    for (size_t p = 0; p < POREP_PARENTS; p++) {
        const struct porep_column *column = &challenge->parents[p];
        for (unsigned layer = 0; layer < layers; layer++)
            columns[p][layer] = num_alloc(s->cs, &column->rows[layer]);
        prove_in_tree(s, proofs, p < POREP_DRG_PARENTS ? "drg parent" : "exp parent", &column->path,
                      columns[p], layers, s->comm_c);
    }
}

/* Computes labels[0 … layers−1] of the challenged node from the labels of its parents: those of the
   same layer in the DRG, and those of the layer before in the expander. Each use decomposes its
   number with new bits. */
static void create_labels(struct common *s, const struct boolean node[64],
                          struct num columns[POREP_PARENTS][POREP_LAYERS_MAX],
                          struct num labels[POREP_LAYERS_MAX])
{
    struct sha256_number *parents = mem_alloc(POREP_PARENTS, sizeof *parents);
    struct label_batch *batch = mem_alloc(1, sizeof *batch);
    if (!parents || !batch) {
        cs_fail(s->cs, CUZK_NO_MEMORY);
        mem_free(parents);
        mem_free(batch);
        return;
    }
    label_batch_start(batch, s->cs);
    for (uint32_t layer = 1; layer <= s->config->layers; layer++) {
        size_t n_parents = layer == 1 ? POREP_DRG_PARENTS : POREP_PARENTS;
        cs_push(s->cs, "label");
        for (size_t p = 0; p < n_parents; p++) {
            uint32_t row = p < POREP_DRG_PARENTS ? layer - 1 : layer - 2;
            sha256_number_of(s->cs, columns[p][row], &parents[p]);
        }
        label_batch_create(batch, &s->replica_id, parents, n_parents, layer, node,
                           &labels[layer - 1]);
        cs_pop(s->cs);
    }
    label_batch_finish(batch);
    mem_free(batch);
    mem_free(parents);
}

static void synthesize_challenge(struct common *s, const struct porep_challenge *challenge)
{
    struct cs *cs = s->cs;
    unsigned layers = s->config->layers;
    struct num columns[POREP_PARENTS][POREP_LAYERS_MAX];
    struct num labels[POREP_LAYERS_MAX] = {{.var = VAR_ONE}};
    struct boolean node[64];
    struct merkle_batch proofs;
    merkle_batch_start(&proofs, cs);

    struct num data = num_alloc(cs, &challenge->data_leaf);
    struct merkle_path way = sector_path(MERKLE_SHA256, &s->config->tree_d, &challenge->tree_d);
    cs_push(cs, "tree_d path");
    merkle_prove(cs, &way, data, s->comm_d);
    cs_pop(cs);

    prove_parents(s, &proofs, challenge, columns);

    num_uint64_bits(cs, challenge->node, node);
    num_pack_into_inputs(cs, node, 64);
    create_labels(s, node, columns, labels);

    struct num replica = num_add(cs, labels[layers - 1], data);
    prove_in_tree(s, &proofs, "tree_r_last path", &challenge->tree_r, &replica, 1, s->comm_r_last);
    prove_in_tree(s, &proofs, "own column", &challenge->tree_c, labels, layers, s->comm_c);
    merkle_batch_finish(&proofs);
}

static void challenge_part(struct cs *cs, void *context, size_t index)
{
    struct common s = *(const struct common *)context;
    s.cs = cs;
    cs_push(cs, "challenge");
    synthesize_challenge(&s, &s.partition->challenges[index]);
    cs_pop(cs);
}

void porep_synthesize(struct cs *cs, const void *input)
{
    const struct porep_partition *partition = input;
    struct common s = {.cs = cs, .partition = partition, .config = partition->config};
    cs_push(cs, "porep");
    synthesize_commitments(&s);
    cs_parts(cs, s.config->challenges, challenge_part, &s);
    cs_pop(cs);
}

/* --- Partitions ------------------------------------------------------------------------------- */

/* A partition together with its configuration, for a configuration that is not one of the fixed
   ones. */
struct owned_partition {
    struct porep_partition partition;
    struct porep_config config;
};

/* Gives a path its siblings from the block at *next. */
static void place_path(struct tree_path *path, const struct tree_shape *shape, struct fr **next)
{
    path->siblings = *next;
    *next += shape->siblings;
}

static void place_paths(struct porep_partition *partition)
{
    const struct porep_config *config = partition->config;
    struct fr *next = partition->siblings;
    for (unsigned i = 0; i < config->challenges; i++) {
        struct porep_challenge *challenge = &partition->challenges[i];
        place_path(&challenge->tree_d, &config->tree_d, &next);
        for (size_t p = 0; p < POREP_PARENTS; p++)
            place_path(&challenge->parents[p].path, &config->tree_r, &next);
        place_path(&challenge->tree_r, &config->tree_r, &next);
        place_path(&challenge->tree_c, &config->tree_r, &next);
    }
}

struct porep_partition *porep_blank(const struct porep_config *config, unsigned challenges)
{
    struct owned_partition *owned = mem_zalloc(1, sizeof *owned);
    if (!owned)
        return NULL;
    struct porep_partition *partition = &owned->partition;
    partition->config = config;
    if (challenges != 0 && challenges != config->challenges) {
        owned->config = *config;
        owned->config.challenges = challenges;
        partition->config = &owned->config;
    }
    size_t n = partition->config->challenges;
    size_t per_challenge =
        config->tree_d.siblings + (POREP_PARENTS + 2) * (size_t)config->tree_r.siblings;
    partition->challenges = mem_zalloc(n, sizeof *partition->challenges);
    partition->siblings = mem_zalloc(n * per_challenge, sizeof *partition->siblings);
    if (!partition->challenges || !partition->siblings) {
        porep_partition_free(partition);
        return NULL;
    }
    place_paths(partition);
    return partition;
}

void porep_partition_free(struct porep_partition *partition)
{
    if (!partition)
        return;
    mem_free(partition->challenges);
    mem_free(partition->siblings);
    mem_free(partition);
}
