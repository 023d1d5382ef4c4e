/* Shapes of Merkle trees and their inclusion paths (docs/spec/gadgets.md, part D.1). */
#ifndef CIRCUITS_TREE_H
#define CIRCUITS_TREE_H

#include "math/fr.h"

enum { TREE_LEVELS_MAX = 40 };

/* Levels from the leaves up, each with its arity (2, 4 or 8). */
struct tree_shape {
    unsigned base, sub, top; /* arities as in the names, 0 = absent; 2,0,0 for tree_d */
    unsigned levels;
    uint8_t arity[TREE_LEVELS_MAX];
    unsigned siblings; /* of one path: sum of arity − 1 */
};

/* An inclusion path: the index of the leaf, and the siblings of each level in order, without the
   node itself. siblings points to shape->siblings elements that the creator of the path owns. */
struct tree_path {
    uint64_t index;
    struct fr *siblings;
};

/* The Poseidon trees over `leaves` = 2^n leaves. */
void tree_shape_poseidon(struct tree_shape *out, uint64_t leaves, unsigned base, unsigned sub,
                         unsigned top);
/* tree_d: binary over `leaves` = 2^n leaves. */
void tree_shape_binary(struct tree_shape *out, uint64_t leaves);

/* Bits of the index that belong to a level: log2 of its arity. */
unsigned tree_level_bits(const struct tree_shape *shape, unsigned level);

#endif
