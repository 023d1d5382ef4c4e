/* Labels of the graph: the hash that makes a node from its parents (docs/spec/circuits.md, part
   E.4).

   The labels of the parents are given, so labels do not depend on each other, and SHA-256 is faster
   on several messages side by side (gadgets/sha256_witness.h). So the witness driver at first only
   leaves room for a hash. When LABEL_BATCH_MAX hashes are pending, it computes them together. Other
   drivers compute each hash at once. */
#ifndef CIRCUITS_LABEL_H
#define CIRCUITS_LABEL_H

#include "gadgets/num.h"
#include "gadgets/sha256.h"
#include "gadgets/sha256_witness.h"
#include "r1cs/witness.h"

/* Parent slots of a label, filled cyclically with the parents. */
enum { LABEL_PARENT_SLOTS = 37 };

enum { LABEL_MESSAGE_WORDS = 16 + 8 * LABEL_PARENT_SLOTS, LABEL_BATCH_MAX = SHA256_LANES };

/* A pending hash. */
struct pending_label {
    struct witness witness; /* its part of the witness */
    struct word_planes message[LABEL_MESSAGE_WORDS];
    struct num *label;
};

/* The pending hashes of one system. Start with label_batch_start. */
struct label_batch {
    struct cs *cs;
    size_t n;
    struct pending_label labels[LABEL_BATCH_MAX];
};

static inline void label_batch_start(struct label_batch *batch, struct cs *cs)
{
    batch->cs = cs;
    batch->n = 0;
}

/* Computes the label of the node with the given bits (least significant first) in a layer ≥ 1.
   *label is set when label_batch_finish returns, or before; the other arguments are not used after
   the call. */
void label_batch_create(struct label_batch *batch, const struct sha256_number *replica_id,
                        const struct sha256_number *parents, size_t n_parents, uint32_t layer,
                        const struct boolean node[64], struct num *label);

/* Computes all pending hashes. */
void label_batch_finish(struct label_batch *batch);

#endif
