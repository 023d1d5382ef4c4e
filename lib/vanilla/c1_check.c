#include "vanilla/c1_internal.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/error.h"
#include "math/poseidon.h"
#include "vanilla/first_fault.h"
#include "vanilla/merkle_roots.h"

#include <stdio.h>
#include <string.h>

/* One run over consecutive challenges, numbered over all partitions. */
struct check_run {
    const struct c1 *c1;
    size_t first;
    struct graph graph;
    struct poseidon_memo *memo;
};

/* The challenge that is being checked. */
struct subject {
    const struct c1 *c1;
    const struct porep_config *config;
    const struct porep_challenge *challenge;
    const struct c1_claims *claims;
    unsigned partition;
    unsigned number; /* in the partition */
    uint64_t node;   /* as derived here */
    uint64_t parents[POREP_PARENTS];
    struct poseidon_memo *memo;
    /* What its columns and its paths in Poseidon trees hash to, right or wrong. */
    struct fr column_leaf[C1_COLUMNS];
    struct fr column_root[C1_COLUMNS];
    struct fr tree_r_root;
    struct cuzk_error *err;
};

#define FAULT(subject, ...) error_set((subject)->err, CUZK_INVALID_ARGUMENT, __VA_ARGS__)

/* --- Merkle paths ----------------------------------------------------------------------------- */

static const struct fr *column_rows(const struct subject *s, unsigned column)
{
    return column == C1_OWN_COLUMN ? s->claims->own_rows : s->challenge->parents[column].rows;
}

static const struct tree_path *column_path(const struct subject *s, unsigned column)
{
    return column == C1_OWN_COLUMN ? &s->challenge->tree_c : &s->challenge->parents[column].path;
}

/* Computes all Poseidon hashes of the challenge. Those of different paths are computed together,
   level by level, which is several times as fast as path by path. */
static void hash_columns_and_paths(struct subject *s)
{
    enum { PATHS = C1_COLUMNS + 1 };
    _Static_assert((int)PATHS <= (int)POSEIDON_MEMO_TOGETHER, "all paths in one call");
    const struct fr *leaves[PATHS];
    const struct tree_path *paths[PATHS];
    struct fr *roots[PATHS];
    const struct fr *rows[C1_COLUMNS];
    struct fr *column_leaves[C1_COLUMNS];
    for (unsigned c = 0; c < C1_COLUMNS; c++) {
        rows[c] = column_rows(s, c);
        column_leaves[c] = &s->column_leaf[c];
        leaves[c] = &s->column_leaf[c];
        paths[c] = column_path(s, c);
        roots[c] = &s->column_root[c];
    }
    poseidon_hashes(NULL, s->config->layers, C1_COLUMNS, rows, column_leaves);
    leaves[C1_COLUMNS] = &s->claims->tree_r_leaf;
    paths[C1_COLUMNS] = &s->challenge->tree_r;
    roots[C1_COLUMNS] = &s->tree_r_root;
    merkle_roots_poseidon(s->memo, &s->config->tree_r, PATHS, leaves, paths, roots);
}

/* part: the name of the path's place in the file; computed: the root that leaf and path hash to. */
static enum cuzk_status check_path(const struct subject *s, const char *part,
                                   const struct tree_path *path, uint64_t node,
                                   const struct fr *computed, const struct fr *claimed_root,
                                   const struct fr *root, const char *root_name)
{
    if (path->index != node)
        return FAULT(s, "%s: the path leads to node %llu, expected %llu", part,
                     (unsigned long long)path->index, (unsigned long long)node);
    if (!fr_equal(claimed_root, root))
        return FAULT(s, "%s: the root is not %s", part, root_name);
    if (!fr_equal(computed, root))
        return FAULT(s, "%s: leaf and path do not hash to %s", part, root_name);
    return CUZK_OK;
}

/* --- Columns ---------------------------------------------------------------------------------- */

static enum cuzk_status check_column(const struct subject *s, unsigned column, const char *part)
{
    const struct c1_claims *claims = s->claims;
    if (!fr_equal(&s->column_leaf[column], &claims->column_leaf[column]))
        return FAULT(s, "%s: the leaf is not the hash of the column's rows", part);
    return check_path(
        s, part, column_path(s, column), column == C1_OWN_COLUMN ? s->node : s->parents[column],
        &s->column_root[column], &claims->column_root[column],
        &s->c1->partitions[s->partition]->comm_c, "comm_c (that of c_x in challenge 0)");
}

static enum cuzk_status check_columns(const struct subject *s)
{
    TRY(check_column(s, C1_OWN_COLUMN, "c_x"));
    for (unsigned p = 0; p < POREP_PARENTS; p++) {
        char part[24];
        bool drg = p < POREP_DRG_PARENTS;
        snprintf(part, sizeof part, "%s_parents[%u]", drg ? "drg" : "exp",
                 drg ? p : p - POREP_DRG_PARENTS);
        TRY(check_column(s, p, part));
    }
    return CUZK_OK;
}

/* --- Labels ----------------------------------------------------------------------------------- */

/* The labels that a layer's label hash takes: those of DRG parents in this layer, those of expander
   parents in the layer before. */
static void collect_labels(const struct subject *s, unsigned layer, uint8_t (*labels)[32])
{
    for (unsigned p = 0; p < graph_label_parents(layer); p++) {
        unsigned row = p < POREP_DRG_PARENTS ? layer - 1 : layer - 2;
        fr_to_bytes(labels[p], &s->challenge->parents[p].rows[row]);
    }
}

static enum cuzk_status check_labeling(const struct subject *s, const struct c1_labeling *labeling,
                                       unsigned layer, const char *part,
                                       const uint8_t (*labels)[32])
{
    uint8_t cycle[GRAPH_LABEL_PARENTS][32];
    uint8_t digest[SHA256_BYTES];
    if (labeling->layer != layer)
        return FAULT(s, "%s: layer_index is %llu, expected %u", part,
                     (unsigned long long)labeling->layer, layer);
    if (labeling->node != s->node)
        return FAULT(s, "%s: node is %llu, expected %llu", part, (unsigned long long)labeling->node,
                     (unsigned long long)s->node);
    for (unsigned i = 0; i < GRAPH_LABEL_PARENTS; i++)
        memcpy(cycle[i], labels[i % graph_label_parents(layer)], 32);
    sha256(cycle, sizeof cycle, digest);
    if (memcmp(digest, labeling->parents_sha256, sizeof digest) != 0)
        return FAULT(s, "%s: the parents are not the labels of the opened columns", part);
    return CUZK_OK;
}

static enum cuzk_status check_labels(const struct subject *s)
{
    uint8_t labels[POREP_PARENTS][32];
    uint8_t label[32];
    for (unsigned layer = 1; layer <= s->config->layers; layer++) {
        char part[40];
        snprintf(part, sizeof part, "labeling_proofs[%u]", layer - 1);
        collect_labels(s, layer, labels);
        TRY(check_labeling(s, &s->claims->labeling[layer - 1], layer, part,
                           (const uint8_t(*)[32])labels));
        struct fr value;
        graph_label(label, s->c1->values.replica_id, layer, s->node, (const uint8_t(*)[32])labels);
        CHECK(fr_from_bytes(&value, label));
        if (!fr_equal(&value, &s->claims->own_rows[layer - 1]))
            return FAULT(s, "%s: the label hash differs from row %u of c_x", part, layer - 1);
    }
    TRY(check_labeling(s, &s->claims->labeling[s->config->layers], s->config->layers,
                       "encoding_proof", (const uint8_t(*)[32])labels));
    struct fr encoded;
    fr_add(&encoded, &s->claims->own_rows[s->config->layers - 1], &s->challenge->data_leaf);
    if (!fr_equal(&encoded, &s->claims->tree_r_leaf))
        return FAULT(s, "encoding_proof: label and data do not add up to the leaf of "
                        "comm_r_last_proof");
    return CUZK_OK;
}

/* --- A challenge, partitions ------------------------------------------------------------------ */

static enum cuzk_status check_challenge(const struct subject *s)
{
    const struct porep_partition *partition = s->c1->partitions[s->partition];
    if (s->challenge->node != s->node)
        return FAULT(s,
                     "labeling_proofs[0]: node is %llu, but the challenge that follows from "
                     "replica_id and seed is %llu",
                     (unsigned long long)s->challenge->node, (unsigned long long)s->node);
    const struct fr computed = merkle_root_sha256(0, s->config->tree_d.levels,
                                                  &s->challenge->data_leaf, &s->challenge->tree_d);
    TRY(check_path(s, "comm_d_proofs", &s->challenge->tree_d, s->node, &computed,
                   &s->claims->tree_d_root, &partition->comm_d, "comm_d"));
    TRY(check_path(s, "comm_r_last_proof", &s->challenge->tree_r, s->node, &s->tree_r_root,
                   &s->claims->tree_r_root, &partition->comm_r_last,
                   "comm_r_last (that of challenge 0)"));
    TRY(check_columns(s));
    return check_labels(s);
}

static enum cuzk_status check_comm_r(const struct porep_partition *partition, unsigned number,
                                     struct cuzk_error *err)
{
    struct fr pair[2] = {partition->comm_c, partition->comm_r_last};
    struct fr comm_r;
    poseidon_hash(&comm_r, 2, pair);
    if (fr_equal(&comm_r, &partition->comm_r))
        return CUZK_OK;
    return error_set(
        err, CUZK_INVALID_ARGUMENT,
        "C1: partition %u: comm_r is not the hash of comm_c and comm_r_last, the roots "
        "in challenge 0",
        number);
}

static enum cuzk_status check_one(void *context, size_t number, struct cuzk_error *err)
{
    const struct check_run *run = context;
    const struct c1 *c1 = run->c1;
    const size_t index = run->first + number;
    const struct porep_config *config = c1->values.config;
    unsigned k = (unsigned)(index / config->challenges);
    unsigned i = (unsigned)(index % config->challenges);
    if (i == 0)
        TRY(check_comm_r(c1->partitions[k], k, err));
    uint64_t nodes[POREP_CHALLENGES_MAX];
    porep_challenges(&c1->values, k, nodes);
    struct subject subject = {
        .c1 = c1,
        .config = config,
        .challenge = &c1->partitions[k]->challenges[i],
        .claims = &c1->claims[k][i],
        .partition = k,
        .number = i,
        .node = nodes[i],
        .memo = run->memo,
        .err = err,
    };
    graph_parents(&run->graph, subject.node, subject.parents);
    hash_columns_and_paths(&subject);
    enum cuzk_status status = check_challenge(&subject);
    if (status != CUZK_OK)
        error_prefix(err, "C1: partition %u, challenge %u (node %llu)", k, i,
                     (unsigned long long)subject.node);
    return status;
}

/* The hashes that all checks of the C1 share; NULL without memory: then every hash is computed. */
static struct poseidon_memo *shared_memo(struct c1 *c1)
{
    const struct porep_config *config = c1->values.config;
    size_t paths = (size_t)config->partitions * config->challenges * (2 + POREP_PARENTS);
    struct poseidon_memo *memo = atomic_load(&c1->memo);
    if (memo)
        return memo;
    struct poseidon_memo *made = poseidon_memo_new(paths * config->tree_r.levels);
    if (atomic_compare_exchange_strong(&c1->memo, &memo, made))
        return made;
    poseidon_memo_free(made); /* another check was quicker */
    return memo;
}

/* Checks n partitions from the given one on. */
static enum cuzk_status check_partitions(struct c1 *c1, unsigned partition, unsigned n,
                                         struct pool *pool, struct cuzk_error *err)
{
    const size_t challenges = c1->values.config->challenges;
    struct check_run run = {.c1 = c1, .first = partition * challenges, .memo = shared_memo(c1)};
    porep_graph(&c1->values, &run.graph);
    TRY(first_fault(pool, n * challenges, check_one, &run, err));
    atomic_fetch_or(&c1->checked, ((1u << n) - 1) << partition);
    return CUZK_OK;
}

/* --- Agreement with the request --------------------------------------------------------------- */

static enum cuzk_status check_request(const struct c1 *c1, const struct c1_expect *expect,
                                      struct cuzk_error *err)
{
    const struct porep_public *values = &c1->values;
    if (expect->sector_bytes != 0 && expect->sector_bytes != values->config->sector_bytes)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "sector_size is %llu in the request, but the C1 is %s of %llu bytes",
                         (unsigned long long)expect->sector_bytes, values->proof->name,
                         (unsigned long long)values->config->sector_bytes);
    if (expect->has_registered_proof && expect->registered_proof != values->proof->number)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "registered_proof is %llu in the request, but the C1 is %s, number %u",
                         (unsigned long long)expect->registered_proof, values->proof->name,
                         values->proof->number);
    if (expect->has_sector_number && c1->wrapped && expect->sector_number != c1->sector_number)
        return error_set(
            err, CUZK_INVALID_ARGUMENT,
            "sector_number is %llu in the request, but SectorNum in the wrapper is %llu",
            (unsigned long long)expect->sector_number, (unsigned long long)c1->sector_number);
    return CUZK_OK;
}

static enum cuzk_status check_replica_id(const struct c1 *c1, const struct c1_expect *expect,
                                         struct cuzk_error *err)
{
    if (!expect->has_miner_id || (!expect->has_sector_number && !c1->wrapped))
        return CUZK_OK;
    uint64_t sector = expect->has_sector_number ? expect->sector_number : c1->sector_number;
    uint8_t prover_id[32];
    uint8_t replica_id[32];
    porep_prover_id(expect->miner_id, prover_id);
    porep_replica_id(&c1->values, prover_id, sector, replica_id);
    if (memcmp(replica_id, c1->values.replica_id, sizeof replica_id) == 0)
        return CUZK_OK;
    return error_set(
        err, CUZK_INVALID_ARGUMENT,
        "C1: replica_id is not that of miner %llu, sector %llu, with this ticket, comm_d "
        "and registered_proof %s",
        (unsigned long long)expect->miner_id, (unsigned long long)sector, c1->values.proof->name);
}

/* --- The functions of c1.h -------------------------------------------------------------------- */

enum cuzk_status c1_check_expected(const struct c1 *c1, const struct c1_expect *expect,
                                   struct cuzk_error *err)
{
    TRY(check_request(c1, expect, err));
    return check_replica_id(c1, expect, err);
}

enum cuzk_status c1_check_partition(struct c1 *c1, unsigned partition, struct pool *pool,
                                    struct cuzk_error *err)
{
    CHECK(partition < c1->values.config->partitions);
    if (atomic_load(&c1->checked) >> partition & 1)
        return CUZK_OK;
    return check_partitions(c1, partition, 1, pool, err);
}

enum cuzk_status c1_check(struct c1 *c1, const struct c1_expect *expect, struct pool *pool,
                          struct cuzk_error *err)
{
    if (expect)
        TRY(c1_check_expected(c1, expect, err));
    return check_partitions(c1, 0, c1->values.config->partitions, pool, err);
}
