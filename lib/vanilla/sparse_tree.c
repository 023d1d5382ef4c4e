#include "vanilla/sparse_tree.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "math/poseidon.h"

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 16 }; /* hashes taken together */

void sparse_prf(const char *name, const uint8_t *tail, size_t tail_len, uint8_t out[32])
{
    static const char prefix[] = "cuzk-sparse-v1/";
    uint8_t message[64];
    size_t len = sizeof prefix - 1;
    size_t name_len = strlen(name);
    CHECK(len + name_len + tail_len <= sizeof message);
    memcpy(message, prefix, len);
    memcpy(message + len, name, name_len);
    if (tail_len > 0)
        memcpy(message + len + name_len, tail, tail_len);
    sha256(message, len + name_len + tail_len, out);
    fr_make_safe(out);
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

size_t sparse_make_set(uint64_t *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_u64);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (n == 0 || values[n - 1] != values[i])
            values[n++] = values[i];
    }
    return n;
}

const uint64_t *sparse_find(const uint64_t *set, size_t count, uint64_t value)
{
    return bsearch(&value, set, count, sizeof *set, compare_u64);
}

bool sparse_alloc_level(struct sparse_level *level, size_t count)
{
    level->index = mem_alloc(count, sizeof *level->index);
    level->value = mem_alloc(count, sizeof *level->value);
    level->count = count;
    return level->index && level->value;
}

const struct fr *sparse_tree_node(const struct sparse_tree *tree, unsigned level, uint64_t index)
{
    const struct sparse_level *nodes = &tree->level[level];
    const uint64_t *known = sparse_find(nodes->index, nodes->count, index);
    return known ? &nodes->value[known - nodes->index] : &nodes->fill;
}

void sparse_tree_fill(struct sparse_tree *tree, const char *name)
{
    for (unsigned h = 0; h < tree->shape->levels; h++) {
        uint8_t tail[4];
        uint8_t fill[32];
        store_u32_le(tail, h);
        sparse_prf(name, tail, sizeof tail, fill);
        CHECK(fr_from_bytes(&tree->level[h].fill, fill));
    }
}

/* Computes n nodes above level h, from number `first` of the known ones on. */
static void hash_nodes(struct sparse_tree *tree, unsigned h, size_t first, size_t n)
{
    struct sparse_level *above = &tree->level[h + 1];
    unsigned arity = tree->shape->arity[h];
    struct fr children[TOGETHER][8];
    const struct fr *inputs[TOGETHER];
    struct fr *out[TOGETHER];
    for (size_t i = 0; i < n; i++) {
        for (unsigned c = 0; c < arity; c++)
            children[i][c] = *sparse_tree_node(tree, h, above->index[first + i] * arity + c);
        inputs[i] = children[i];
        out[i] = &above->value[first + i];
    }
    poseidon_hashes(NULL, arity, n, inputs, out);
}

bool sparse_tree_grow(struct sparse_tree *tree)
{
    for (unsigned h = 0; h < tree->shape->levels; h++) {
        const struct sparse_level *below = &tree->level[h];
        struct sparse_level *above = &tree->level[h + 1];
        unsigned arity = tree->shape->arity[h];
        if (!sparse_alloc_level(above, below->count))
            return false;
        for (size_t i = 0; i < below->count; i++)
            above->index[i] = below->index[i] / arity;
        above->count = sparse_make_set(above->index, below->count);
        for (size_t i = 0; i < above->count; i += TOGETHER)
            hash_nodes(tree, h, i, above->count - i < TOGETHER ? above->count - i : TOGETHER);
    }
    return true;
}

void sparse_tree_free(struct sparse_tree *tree)
{
    for (unsigned h = 0; h <= TREE_LEVELS_MAX; h++) {
        mem_free(tree->level[h].index);
        mem_free(tree->level[h].value);
    }
}
