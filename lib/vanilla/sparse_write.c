#include "base/error.h"
#include "vanilla/c1_write.h"
#include "vanilla/sparse.h"

/* Step 8 of the definition: the C1 of a sparse sector, keys in the order of the reference. */

struct job {
    const struct sparse_sector *sector;
    struct c1_writer *writer;
};

static void put_text(const struct job *job, const char *text)
{
    c1_write_text(job->writer, text);
}

static void put_comma(const struct job *job, unsigned index)
{
    if (index > 0)
        put_text(job, ",");
}

static void put_level_index(const struct job *job, uint64_t index)
{
    put_text(job, "],\"index\":");
    c1_write_number(job->writer, index);
    put_text(job, "}");
}

/* --- Merkle proofs ---------------------------------------------------------------------------- */

static void put_tree_d(const struct job *job, uint64_t node)
{
    const struct sparse_sector *sector = job->sector;
    unsigned levels = sector->values.config->tree_d.levels;
    put_text(job, "{\"data\":{\"Single\":{\"root\":");
    c1_write_bytes(job->writer, sector->tree_d[levels]);
    put_text(job, ",\"leaf\":");
    c1_write_bytes(job->writer, sector->tree_d[0]);
    put_text(job, ",\"path\":{\"path\":[");
    for (unsigned h = 0; h < levels; h++) {
        put_comma(job, h);
        put_text(job, "{\"hashes\":[");
        c1_write_bytes(job->writer, sector->tree_d[h]);
        put_level_index(job, node >> h & 1);
    }
    put_text(job, "]}}}}");
}

/* Levels first … end − 1 of a path; *index is the node's in level `first`, and then in level
   `end`. */
static void put_path(const struct job *job, const struct sparse_tree *tree, unsigned first,
                     unsigned end, uint64_t *index)
{
    put_text(job, "{\"path\":[");
    for (unsigned h = first; h < end; h++) {
        unsigned arity = tree->shape->arity[h];
        unsigned own = (unsigned)(*index % arity);
        put_comma(job, h - first);
        put_text(job, "{\"hashes\":[");
        for (unsigned i = 0, written = 0; i < arity; i++) {
            if (i == own)
                continue;
            put_comma(job, written++);
            c1_write_fr(job->writer, sparse_tree_node(tree, h, *index - own + i));
        }
        put_level_index(job, own);
        *index /= arity;
    }
    put_text(job, "]}");
}

static void put_root_and_leaf(const struct job *job, const struct sparse_tree *tree, uint64_t node)
{
    put_text(job, "\"root\":");
    c1_write_fr(job->writer, sparse_tree_node(tree, tree->shape->levels, 0));
    put_text(job, ",\"leaf\":");
    c1_write_fr(job->writer, sparse_tree_node(tree, 0, node));
}

static void put_merkle(const struct job *job, const struct sparse_tree *tree, uint64_t node)
{
    const struct tree_shape *shape = tree->shape;
    unsigned levels = shape->levels;
    unsigned base = levels - (shape->sub > 0) - (shape->top > 0);
    uint64_t index = node;
    if (shape->sub == 0) {
        put_text(job, "{\"data\":{\"Single\":{");
        put_root_and_leaf(job, tree, node);
        put_text(job, ",\"path\":");
        put_path(job, tree, 0, levels, &index);
        put_text(job, "}}}");
        return;
    }
    put_text(job, shape->top > 0 ? "{\"data\":{\"Top\":{" : "{\"data\":{\"Sub\":{");
    put_text(job, "\"base_proof\":");
    put_path(job, tree, 0, base, &index);
    put_text(job, ",\"sub_proof\":");
    put_path(job, tree, base, base + 1, &index);
    if (shape->top > 0) {
        put_text(job, ",\"top_proof\":");
        put_path(job, tree, base + 1, base + 2, &index);
    }
    put_text(job, ",");
    put_root_and_leaf(job, tree, node);
    put_text(job, "}}}");
}

/* --- Columns and labels ----------------------------------------------------------------------- */

static void put_column(const struct job *job, uint64_t node)
{
    put_text(job, "{\"column\":{\"index\":");
    c1_write_number(job->writer, node);
    put_text(job, ",\"rows\":[");
    for (unsigned layer = 1; layer <= job->sector->values.config->layers; layer++) {
        uint8_t label[32];
        put_comma(job, layer - 1);
        sparse_label(job->sector, layer, node, label);
        c1_write_bytes(job->writer, label);
    }
    put_text(job, "],\"_h\":null},\"inclusion_proof\":");
    put_merkle(job, &job->sector->tree_c, node);
    put_text(job, "}");
}

static void put_columns(const struct job *job, const uint64_t *nodes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        put_comma(job, i);
        put_column(job, nodes[i]);
    }
}

static void put_labeling(const struct job *job, unsigned layer, uint64_t node,
                         const uint64_t *parents)
{
    put_text(job, "{\"parents\":[");
    for (unsigned i = 0; i < GRAPH_LABEL_PARENTS; i++) {
        unsigned p = i % graph_label_parents(layer);
        uint8_t label[32];
        put_comma(job, i);
        sparse_label(job->sector, p < POREP_DRG_PARENTS ? layer : layer - 1, parents[p], label);
        c1_write_bytes(job->writer, label);
    }
    put_text(job, "],\"layer_index\":");
    c1_write_number(job->writer, layer);
    put_text(job, ",\"node\":");
    c1_write_number(job->writer, node);
    put_text(job, "}");
}

/* --- The whole -------------------------------------------------------------------------------- */

static void put_challenge(const struct job *job, uint64_t node)
{
    unsigned layers = job->sector->values.config->layers;
    uint64_t parents[POREP_PARENTS];
    graph_parents(&job->sector->graph, node, parents);
    put_text(job, "{\"comm_d_proofs\":");
    put_tree_d(job, node);
    put_text(job, ",\"comm_r_last_proof\":");
    put_merkle(job, &job->sector->tree_r, node);
    put_text(job, ",\"replica_column_proofs\":{\"c_x\":");
    put_column(job, node);
    put_text(job, ",\"drg_parents\":[");
    put_columns(job, parents, POREP_DRG_PARENTS);
    put_text(job, "],\"exp_parents\":[");
    put_columns(job, parents + POREP_DRG_PARENTS, POREP_EXP_PARENTS);
    put_text(job, "]},\"labeling_proofs\":[");
    for (unsigned layer = 1; layer <= layers; layer++) {
        put_comma(job, layer - 1);
        put_labeling(job, layer, node, parents);
    }
    put_text(job, "],\"encoding_proof\":");
    put_labeling(job, layers, node, parents);
    put_text(job, "}");
}

static void put_public(const struct job *job)
{
    const struct porep_public *values = &job->sector->values;
    const struct {
        const char *key;
        const uint8_t *value;
    } members[] = {
        {",\"comm_r\":", values->comm_r},         {",\"comm_d\":", values->comm_d},
        {",\"replica_id\":", values->replica_id}, {",\"seed\":", values->seed},
        {",\"ticket\":", values->ticket},
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        put_text(job, members[i].key);
        c1_write_bytes(job->writer, members[i].value);
    }
}

static void put_c1(const struct job *job)
{
    const struct porep_public *values = &job->sector->values;
    put_text(job, "{\"registered_proof\":\"");
    put_text(job, values->proof->name);
    put_text(job, "\",\"vanilla_proofs\":{\"");
    put_text(job, values->proof->shape);
    put_text(job, "\":[");
    for (unsigned k = 0; k < values->config->partitions; k++) {
        put_comma(job, k);
        put_text(job, "[");
        for (unsigned i = 0; i < values->config->challenges; i++) {
            put_comma(job, i);
            put_challenge(job, job->sector->challenges[k][i]);
        }
        put_text(job, "]");
    }
    put_text(job, "]}");
    put_public(job);
    put_text(job, "}");
}

enum cuzk_status sparse_write(const struct sparse_sector *sector, cuzk_write_fn *write,
                              void *context, struct cuzk_error *err)
{
    struct c1_writer writer;
    struct job job = {.sector = sector, .writer = &writer};
    c1_writer_init(&writer, write, context, err);
    put_c1(&job);
    return c1_writer_end(&writer);
}

static const struct seal_proof *find_proof(uint64_t sector_bytes)
{
    for (size_t i = 0; i < seal_proof_count(); i++) {
        const struct seal_proof *proof = seal_proof_by_number(i);
        if (proof->sector_bytes == sector_bytes && !proof->api_v1_0 &&
            proof->feature == SEAL_INTERACTIVE)
            return proof;
    }
    return NULL;
}

enum cuzk_status cuzk_gen_c1(uint64_t sector_bytes, const uint8_t *seed, cuzk_write_fn *write,
                             void *context, struct cuzk_error *err)
{
    const struct seal_proof *proof = find_proof(sector_bytes);
    if (!proof)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "sector size %llu, expected that of 2KiB, 8MiB, 512MiB, 32GiB or 64GiB",
                         (unsigned long long)sector_bytes);
    struct sparse_sector sector;
    TRY(sparse_make(&sector, proof, seed, err));
    enum cuzk_status status = sparse_write(&sector, write, context, err);
    sparse_free(&sector);
    return status;
}
