/* Merkle inclusion (docs/spec/gadgets.md, part D). */
#ifndef GADGETS_MERKLE_H
#define GADGETS_MERKLE_H

#include "gadgets/num.h"

enum { MERKLE_LEVELS_MAX = 40 };

enum merkle_hash {
    MERKLE_POSEIDON,
    MERKLE_SHA256, /* binary trees only */
};

/* The shape and the values of a path. Levels go from the leaf up; `siblings` holds arity − 1
   elements for each level. The low bits of the index belong to the lowest level. */
struct merkle_path {
    enum merkle_hash hash;
    unsigned levels;
    const uint8_t *arity; /* 2, 4 or 8 */
    uint64_t index;
    const struct fr *siblings;
};

/* log2 of 2, 4 or 8 */
static inline unsigned merkle_level_bits(unsigned arity)
{
    return arity == 2 ? 1 : arity == 4 ? 2 : 3;
}

/* Proves that leaf is at `index` in the tree with this root, and makes the index a public input.
   Allocates the index bits and the siblings level by level (part D.3). */
void merkle_prove(struct cs *cs, const struct merkle_path *path, struct num leaf, struct num root);

/* Computes the root over a leaf from index bits (plain) and siblings that the caller allocated
   before: the form of sector updates. */
struct num merkle_root(struct cs *cs, enum merkle_hash hash, unsigned levels, const uint8_t *arity,
                       struct num leaf, const struct boolean *bits, const struct num *siblings);

#endif
