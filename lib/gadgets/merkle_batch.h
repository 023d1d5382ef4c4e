/* Proofs of inclusion in Poseidon trees, made several at a time.

   The hashes of one path depend on each other, those of different paths do not, and Poseidon is
   faster on several instances side by side (math/poseidon.h). So the witness driver only leaves
   room for a proof, and when there are MERKLE_BATCH_MAX of them takes their hashes together.
   Other drivers make each proof where it stands. */
#ifndef GADGETS_MERKLE_BATCH_H
#define GADGETS_MERKLE_BATCH_H

#include "gadgets/merkle.h"
#include "math/poseidon.h"
#include "r1cs/witness.h"

enum { MERKLE_BATCH_MAX = POSEIDON_LANES };

/* A proof that waits. */
struct pending_path {
    struct witness witness; /* the room for it */
    struct merkle_path path;
    unsigned arity;                       /* of the next hash, 0 when all are done */
    unsigned level;                       /* of the path, that comes after that hash */
    struct fr inputs[POSEIDON_ARITY_MAX]; /* of that hash */
};

/* Starts empty, for one system. */
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

/* Proves that the hash of a column of 2, 4, 8 or 11 numbers, or the number itself if it is one, is
   in the tree: as poseidon_circuit and merkle_prove do. path->siblings are used until
   merkle_batch_finish. */
void merkle_batch_prove(struct merkle_batch *batch, const struct num *column, unsigned n,
                        const struct merkle_path *path, struct num root);

/* Makes what still waits. */
void merkle_batch_finish(struct merkle_batch *batch);

#endif
