#include "vanilla/sparse.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "math/poseidon.h"

#include <string.h>

enum { MINER_ID = 1000, SECTOR_NUMBER = 42, SYNTHETIC_NODES_MAX = 1024 };

/* --- Labels (steps 2 to 4) -------------------------------------------------------------------- */

void sparse_label(const struct sparse_sector *sector, unsigned layer, uint64_t node,
                  uint8_t label[32])
{
    const uint64_t *known = sparse_find(sector->nodes, sector->n_nodes, node);
    if (known) {
        memcpy(label, sector->labels[known - sector->nodes][layer - 1], 32);
        return;
    }
    uint8_t tail[12];
    store_u32_le(tail, layer);
    store_u64_le(tail + 4, node);
    sparse_prf("label", tail, sizeof tail, label);
}

static void derive_challenges(struct sparse_sector *sector)
{
    for (unsigned k = 0; k < sector->values.config->partitions; k++)
        porep_challenges(&sector->values, k, sector->challenges[k]);
}

/* Interactive: the set of all challenges. */
static bool choose_challenges(struct sparse_sector *sector)
{
    const struct porep_config *config = sector->values.config;
    size_t count = (size_t)config->partitions * config->challenges;
    sector->nodes = mem_alloc(count, sizeof *sector->nodes);
    if (!sector->nodes)
        return false;
    derive_challenges(sector);
    for (unsigned k = 0; k < config->partitions; k++)
        memcpy(sector->nodes + (size_t)k * config->challenges, sector->challenges[k],
               config->challenges * sizeof *sector->nodes);
    sector->n_nodes = sparse_make_set(sector->nodes, count);
    return true;
}

/* Synthetic: challenges follow from comm_r, so every node that can be one is labelled. */
static bool choose_all_nodes(struct sparse_sector *sector)
{
    sector->n_nodes = (size_t)sector->values.config->nodes - 1;
    sector->nodes = mem_alloc(sector->n_nodes, sizeof *sector->nodes);
    for (size_t i = 0; sector->nodes && i < sector->n_nodes; i++)
        sector->nodes[i] = i + 1;
    return sector->nodes != NULL;
}

static bool choose_nodes(struct sparse_sector *sector)
{
    bool chosen = sector->values.proof->feature == SEAL_SYNTHETIC ? choose_all_nodes(sector)
                                                                  : choose_challenges(sector);
    if (!chosen)
        return false;
    sector->parents = mem_alloc(sector->n_nodes, sizeof *sector->parents);
    sector->labels = mem_zalloc(sector->n_nodes, sizeof *sector->labels);
    if (!sector->parents || !sector->labels)
        return false;
    for (size_t i = 0; i < sector->n_nodes; i++)
        graph_parents(&sector->graph, sector->nodes[i], sector->parents[i]);
    return true;
}

/* Layers ascend, and nodes ascend in each layer, so that all real parent labels exist already. */
static void make_labels(struct sparse_sector *sector)
{
    for (unsigned layer = 1; layer <= sector->values.config->layers; layer++) {
        for (size_t i = 0; i < sector->n_nodes; i++) {
            uint8_t labels[POREP_PARENTS][32];
            for (unsigned p = 0; p < graph_label_parents(layer); p++)
                sparse_label(sector, p < POREP_DRG_PARENTS ? layer : layer - 1,
                             sector->parents[i][p], labels[p]);
            graph_label(sector->labels[i][layer - 1], sector->values.replica_id, layer,
                        sector->nodes[i], (const uint8_t(*)[32])labels);
        }
    }
}

/* --- Leaves (step 5) -------------------------------------------------------------------------- */

/* tree_c: the columns of all challenges and their parents. */
static bool make_tree_c(struct sparse_sector *sector)
{
    const struct porep_config *config = sector->values.config;
    struct sparse_level *leaves = &sector->tree_c.level[0];
    size_t stride = POREP_PARENTS + 1;
    if (!sparse_alloc_level(leaves, sector->n_nodes * stride))
        return false;
    for (size_t i = 0; i < sector->n_nodes; i++) {
        leaves->index[i * stride] = sector->nodes[i];
        memcpy(&leaves->index[i * stride + 1], sector->parents[i], sizeof sector->parents[i]);
    }
    leaves->count = sparse_make_set(leaves->index, leaves->count);
    for (size_t i = 0; i < leaves->count; i++) {
        struct fr rows[POREP_LAYERS_MAX];
        for (unsigned layer = 1; layer <= config->layers; layer++) {
            uint8_t label[32];
            sparse_label(sector, layer, leaves->index[i], label);
            CHECK(fr_from_bytes(&rows[layer - 1], label));
        }
        poseidon_hash(&leaves->value[i], config->layers, rows);
    }
    return sparse_tree_grow(&sector->tree_c);
}

/* tree_r_last: the replica nodes of the challenges, last label + data. */
static bool make_tree_r(struct sparse_sector *sector)
{
    struct sparse_level *leaves = &sector->tree_r.level[0];
    struct fr data;
    if (!sparse_alloc_level(leaves, sector->n_nodes))
        return false;
    CHECK(fr_from_bytes(&data, sector->tree_d[0]));
    for (size_t i = 0; i < sector->n_nodes; i++) {
        leaves->index[i] = sector->nodes[i];
        CHECK(
            fr_from_bytes(&leaves->value[i], sector->labels[i][sector->values.config->layers - 1]));
        fr_add(&leaves->value[i], &leaves->value[i], &data);
    }
    return sparse_tree_grow(&sector->tree_r);
}

/* --- The sector ------------------------------------------------------------------------------- */

/* Steps 1 and 2: what is public and known before sealing. */
static void make_public(struct sparse_sector *sector, const uint8_t *seed)
{
    struct porep_public *values = &sector->values;
    sparse_prf("ticket", NULL, 0, values->ticket);
    sparse_prf("seed", NULL, 0, values->seed);
    if (seed)
        memcpy(values->seed, seed, sizeof values->seed);
    unsigned levels = values->config->tree_d.levels;
    sparse_prf("data", NULL, 0, sector->tree_d[0]);
    for (unsigned h = 0; h < levels; h++) {
        uint8_t pair[64];
        memcpy(pair, sector->tree_d[h], 32);
        memcpy(pair + 32, sector->tree_d[h], 32);
        sha256(pair, sizeof pair, sector->tree_d[h + 1]);
        fr_make_safe(sector->tree_d[h + 1]);
    }
    memcpy(values->comm_d, sector->tree_d[levels], 32);
    uint8_t prover_id[32];
    porep_prover_id(MINER_ID, prover_id);
    porep_replica_id(values, prover_id, SECTOR_NUMBER, values->replica_id);
    porep_graph(values, &sector->graph);
}

enum cuzk_status sparse_make(struct sparse_sector *sector, const struct seal_proof *proof,
                             const uint8_t *seed, struct cuzk_error *err)
{
    static const uint8_t zero[32];
    *sector = (struct sparse_sector){.values.proof = proof};
    const struct porep_config *config = porep_config(proof->sector_bytes);
    if (proof->feature == SEAL_NON_INTERACTIVE ||
        (proof->feature == SEAL_SYNTHETIC && config->nodes > SYNTHETIC_NODES_MAX))
        return error_set(err, CUZK_UNSUPPORTED, "%s: the challenges depend on all labels",
                         proof->name);
    if (seed && memcmp(seed, zero, sizeof zero) == 0)
        return error_set(err, CUZK_INVALID_ARGUMENT, "seed: all zero, expected a value");
    CHECK(config->partitions <= ARRAY_LEN(sector->challenges));
    sector->values.config = config;
    sector->tree_c.shape = &config->tree_r;
    sector->tree_r.shape = &config->tree_r;
    make_public(sector, seed);
    sparse_tree_fill(&sector->tree_c, "tree-c");
    sparse_tree_fill(&sector->tree_r, "tree-r-last");
    if (!choose_nodes(sector))
        goto no_memory;
    make_labels(sector);
    if (!make_tree_c(sector) || !make_tree_r(sector))
        goto no_memory;
    struct fr roots[2] = {sector->tree_c.level[config->tree_r.levels].value[0],
                          sector->tree_r.level[config->tree_r.levels].value[0]};
    poseidon_hash(&roots[0], 2, roots);
    fr_to_bytes(sector->values.comm_r, &roots[0]);
    derive_challenges(sector);
    return CUZK_OK;
no_memory:
    sparse_free(sector);
    return error_set(err, CUZK_NO_MEMORY, "no memory for a sparse sector");
}

void sparse_free(struct sparse_sector *sector)
{
    mem_free(sector->nodes);
    mem_free(sector->parents);
    mem_free(sector->labels);
    sparse_tree_free(&sector->tree_c);
    sparse_tree_free(&sector->tree_r);
    *sector = (struct sparse_sector){0};
}
