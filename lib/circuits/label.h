/* A label of the graph: the hash that makes a node from its parents (the specification, part E.4).
   */
#ifndef CIRCUITS_LABEL_H
#define CIRCUITS_LABEL_H

#include "gadgets/num.h"
#include "gadgets/sha256.h"

/* Parent slots of a label, filled cyclically with the parents. */
enum { LABEL_PARENT_SLOTS = 37 };

/* The label of the node with the given bits (least significant first) in a layer ≥ 1. */
struct num label_create(struct cs *cs, const struct sha256_number *replica_id,
                        const struct sha256_number *parents, size_t n_parents, uint32_t layer,
                        const struct boolean node[64]);

#endif
