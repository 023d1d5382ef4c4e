/* Poseidon trees of which only some leaves exist; every other node is filler (step 6 of the
   definition in vectors/sparse/README.md). Private to lib/vanilla. */
#ifndef VANILLA_SPARSE_TREE_H
#define VANILLA_SPARSE_TREE_H

#include "circuits/tree.h"

#include <stdbool.h>
#include <stddef.h>

/* A tree of which some leaves are known. Level 0 are the leaves. */
struct sparse_level {
    uint64_t *index; /* ascending, of the nodes that are known or computed */
    struct fr *value;
    size_t count;
    struct fr fill; /* every other node of the level */
};

struct sparse_tree {
    const struct tree_shape *shape;
    struct sparse_level level[TREE_LEVELS_MAX + 1];
};

/* PRF(name, tail) of the definition: a canonical field element in stored byte order. */
void sparse_prf(const char *name, const uint8_t *tail, size_t tail_len, uint8_t out[32]);

/* Sorts a set of numbers and drops what is there twice; returns the new count. */
size_t sparse_make_set(uint64_t *values, size_t count);
/* The place of a value in a sorted set; NULL if it is not there. */
const uint64_t *sparse_find(const uint64_t *set, size_t count, uint64_t value);

/* Takes memory for a level's known nodes; false without memory. */
bool sparse_alloc_level(struct sparse_level *level, size_t count);
/* Sets the filler of all levels to PRF(name, level). */
void sparse_tree_fill(struct sparse_tree *tree, const char *name);
/* Computes all levels above the known leaves; false without memory. */
bool sparse_tree_grow(struct sparse_tree *tree);
void sparse_tree_free(struct sparse_tree *tree);

/* Any node of a tree. */
const struct fr *sparse_tree_node(const struct sparse_tree *tree, unsigned level, uint64_t index);

#endif
