/* The roots that leaves and inclusion paths lead to. Private to lib/vanilla. */
#ifndef VANILLA_MERKLE_ROOTS_H
#define VANILLA_MERKLE_ROOTS_H

#include "circuits/tree.h"
#include "vanilla/poseidon_memo.h"

/* Paths of one Poseidon tree shape, n ≤ POSEIDON_MEMO_TOGETHER, taken together level by level,
   which is several times as fast as path by path. memo may be NULL. */
void merkle_roots_poseidon(struct poseidon_memo *memo, const struct tree_shape *shape, size_t n,
                           const struct fr *const leaves[], const struct tree_path *const paths[],
                           struct fr *const roots[]);

/* The node above two nodes of a SHA-256 tree (part D.1). */
void merkle_hash_sha256(struct fr *out, const struct fr *left, const struct fr *right);

/* One path of a binary SHA-256 tree: `levels` levels from the given one on, whose node is
   `node`. */
struct fr merkle_root_sha256(unsigned first, unsigned levels, const struct fr *node,
                             const struct tree_path *path);

#endif
