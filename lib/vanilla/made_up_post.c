#include "vanilla/made_up.h"

#include "base/bytes.h"
#include "base/check.h"
#include "math/poseidon.h"
#include "vanilla/bincode_write.h"
#include "vanilla/sparse_tree.h"

/* A field element that depends on a name and two numbers only. */
static struct fr made_up_value(const char *name, uint64_t a, uint64_t b)
{
    uint8_t tail[16];
    uint8_t bytes[FR_BYTES];
    struct fr value;
    store_u64_le(tail, a);
    store_u64_le(tail + 8, b);
    sparse_prf(name, tail, sizeof tail, bytes);
    CHECK(fr_from_bytes(&value, bytes));
    return value;
}

/* The leaves that are opened: all of a WinningPoSt's slots, or those of one slot. */
static unsigned opened_leaves(const struct post_public *values, uint64_t sector_id, unsigned slot,
                              uint64_t *leaves)
{
    const struct post_config *config = values->config;
    unsigned n = values->winning ? config->sectors : config->challenges;
    for (unsigned i = 0; i < n; i++)
        leaves[i] = values->winning ? post_challenge_leaf(values, sector_id, i, 0)
                                    : post_challenge_leaf(values, sector_id, slot, i);
    return n;
}

static bool make_tree(struct sparse_tree *tree, uint64_t sector_id, const uint64_t *opened,
                      unsigned n)
{
    struct sparse_level *leaves = &tree->level[0];
    sparse_tree_fill(tree, "tree-r-last");
    if (!sparse_alloc_level(leaves, n))
        return false;
    for (unsigned i = 0; i < n; i++)
        leaves->index[i] = opened[i];
    leaves->count = sparse_make_set(leaves->index, n);
    for (size_t i = 0; i < leaves->count; i++)
        leaves->value[i] = made_up_value("replica", sector_id, leaves->index[i]);
    return sparse_tree_grow(tree);
}

static void write_opening(struct bincode_writer *writer, const struct sparse_tree *tree,
                          uint64_t leaf)
{
    const struct tree_shape *shape = tree->shape;
    struct fr siblings[TREE_LEVELS_MAX * 7];
    struct tree_path path = {leaf, siblings};
    struct fr *next = siblings;
    uint64_t node = leaf;
    for (unsigned h = 0; h < shape->levels; h++) {
        uint64_t first = node - node % shape->arity[h];
        for (unsigned c = 0; c < shape->arity[h]; c++) {
            if (first + c != node)
                *next++ = *sparse_tree_node(tree, h, first + c);
        }
        node /= shape->arity[h];
    }
    bincode_write_merkle_proof(writer, shape, sparse_tree_node(tree, shape->levels, 0),
                               sparse_tree_node(tree, 0, leaf), &path);
}

bool made_up_post(const struct post_public *values, uint64_t sector_id, unsigned slot, uint8_t *out)
{
    enum { OPENED_MAX = 128 };
    uint64_t opened[OPENED_MAX];
    struct sparse_tree tree = {.shape = &values->config->tree_r};
    struct bincode_writer writer = {out};
    CHECK(values->config->sectors <= OPENED_MAX || !values->winning);
    unsigned n = opened_leaves(values, sector_id, slot, opened);
    bool made = make_tree(&tree, sector_id, opened, n);
    if (made) {
        struct fr pair[2] = {made_up_value("comm-c", sector_id, 0),
                             *sparse_tree_node(&tree, tree.shape->levels, 0)};
        struct fr comm_r;
        poseidon_hash(&comm_r, 2, pair);
        bincode_write_u64(&writer, sector_id);
        bincode_write_fr(&writer, &comm_r);
        bincode_write_u64(&writer, 1);
        bincode_write_u64(&writer, n);
        for (unsigned i = 0; i < n; i++)
            write_opening(&writer, &tree, opened[i]);
        bincode_write_fr(&writer, &pair[0]);
        bincode_write_fr(&writer, &pair[1]);
        CHECK((size_t)(writer.at - out) == post_vanilla_bytes(values));
    }
    sparse_tree_free(&tree);
    return made;
}
