/* Proofs of inclusion in Poseidon trees, made several at a time.

   The hashes of one path depend on each other, those of different paths do not, and Poseidon is
   faster on several instances side by side (math/poseidon.h). So the witness driver at first only
   leaves room for a proof. When MERKLE_BATCH_MAX proofs are pending, it computes their hashes
   together. Other drivers make each proof at once. */
#ifndef GADGETS_MERKLE_BATCH_H
#define GADGETS_MERKLE_BATCH_H

#include "gadgets/merkle.h"
#include "math/poseidon.h"
#include "r1cs/witness.h"

enum { MERKLE_BATCH_MAX = POSEIDON_LANES };

/* A pending proof. */
struct pending_path {
    struct witness witness; /* its part of the witness */
    struct merkle_path path;
    unsigned arity;                       /* of the next hash; 0 when all hashes are done */
    unsigned level;                       /* the level of the path after that hash */
    struct fr inputs[POSEIDON_ARITY_MAX]; /* inputs of that hash */
};

/* The pending proofs of one system. Start with merkle_batch_start. */
struct merkle_batch {
    struct cs *cs;
    size_t n;
    struct pending_path paths[MERKLE_BATCH_MAX];
};

static inline void merkle_batch_start(struct merkle_batch *batch, struct cs *cs)
{
    batch->cs = cs;
    batch->n = 0;
}

/* Proves that a leaf is in the tree, as poseidon_circuit and merkle_prove do. The leaf is the hash
   of a column of 2, 4, 8 or 11 numbers, or the number itself if there is only one. path->siblings
   must stay valid until merkle_batch_finish. */
void merkle_batch_prove(struct merkle_batch *batch, const struct num *column, unsigned n,
                        const struct merkle_path *path, struct num root);

/* Makes all pending proofs. */
void merkle_batch_finish(struct merkle_batch *batch);

#endif
