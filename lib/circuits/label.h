/* Labels of the graph: the hash that makes a node from its parents (docs/spec/circuits.md, part
   E.4).

   The parents' labels are given, so that labels do not depend on each other, and SHA-256 is faster
   on several messages side by side (gadgets/sha256_witness.h). So the witness driver only leaves
   room for a hash, and when there are LABEL_BATCH_MAX of them makes them together. Other drivers
   make each hash where it stands. */
#ifndef CIRCUITS_LABEL_H
#define CIRCUITS_LABEL_H

#include "gadgets/num.h"
#include "gadgets/sha256.h"
#include "gadgets/sha256_witness.h"
#include "r1cs/witness.h"

/* Parent slots of a label, filled cyclically with the parents. */
enum { LABEL_PARENT_SLOTS = 37 };

enum { LABEL_MESSAGE_WORDS = 16 + 8 * LABEL_PARENT_SLOTS, LABEL_BATCH_MAX = SHA256_LANES };

/* A hash that waits. */
struct label_job {
    struct witness witness; /* the room for it */
    struct word_planes message[LABEL_MESSAGE_WORDS];
    struct num *label;
};

/* Starts empty, for one system. */
struct label_batch {
    struct cs *cs;
    size_t n;
    struct label_job jobs[LABEL_BATCH_MAX];
};

static inline void label_batch_start(struct label_batch *batch, struct cs *cs)
{
    batch->cs = cs;
    batch->n = 0;
}

/* The label of the node with the given bits (least significant first) in a layer ≥ 1. It is there
   after label_batch_finish at the latest; of the arguments, only `label` is used after the call. */
void label_batch_create(struct label_batch *batch, const struct sha256_number *replica_id,
                        const struct sha256_number *parents, size_t n_parents, uint32_t layer,
                        const struct boolean node[64], struct num *label);

/* Makes what still waits. */
void label_batch_finish(struct label_batch *batch);

#endif
