/* A label of the graph: the hash that makes a node from its parents (the specification, part E.4).
   */
#ifndef CIRCUITS_LABEL_H
#define CIRCUITS_LABEL_H

#include "gadgets/num.h"
#include "gadgets/sha256.h"

/* Parent slots of a label, filled cyclically with the parents. */
enum { LABEL_PARENT_SLOTS = 37 };

/* A number in byte-string order, from num_to_bits and num_reverse_bits_in_bytes. */
struct label_bits {
    struct boolean bit[SHA256_BITS];
};

/* Decomposes x anew. */
void label_bits_of(struct cs *cs, struct num x, struct label_bits *out);

/* The label of the node with the given bits (least significant first) in a layer ≥ 1. */
struct num label_create(struct cs *cs, const struct label_bits *replica_id,
                        const struct label_bits *parents, size_t n_parents, uint32_t layer,
                        const struct boolean node[64]);

#endif
