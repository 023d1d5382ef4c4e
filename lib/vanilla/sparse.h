/* Made-up sectors of which only the opened nodes exist, "cuzk-sparse-v1". vectors/sparse/README.md
   defines them; the code names its step numbers. In interactive PoRep the challenges do not depend
   on comm_r, so they are known before the first label is made, and every value that no opening uses
   can be filler. */
#ifndef VANILLA_SPARSE_H
#define VANILLA_SPARSE_H

#include <cuzk/dev.h>

#include "vanilla/porep_public.h"
#include "vanilla/sparse_tree.h"

struct sparse_sector {
    struct porep_public values;
    struct graph graph;
    uint8_t tree_d[TREE_LEVELS_MAX + 1][32];       /* one value a level: all data nodes are equal */
    uint64_t challenges[16][POREP_CHALLENGES_MAX]; /* by partition */
    uint64_t *nodes;                               /* those with real labels, ascending */
    uint64_t (*parents)[POREP_PARENTS];            /* of each node */
    uint8_t (*labels)[POREP_LAYERS_MAX][32];       /* of each node */
    size_t n_nodes;
    struct sparse_tree tree_c;
    struct sparse_tree tree_r;
};

/* Makes the sector for any interactive proof, or for a synthetic one of 2 KiB, for which all nodes
   are labelled. seed NULL: the seed of the definition, which is for the V1_1 proofs. On failure
   there is nothing to free. */
enum cuzk_status sparse_make(struct sparse_sector *sector, const struct seal_proof *proof,
                             const uint8_t *seed, struct cuzk_error *err);
void sparse_free(struct sparse_sector *sector);

/* The label of any node in a layer (from 1), real or filler. */
void sparse_label(const struct sparse_sector *sector, unsigned layer, uint64_t node,
                  uint8_t label[32]);

/* Writes the sector's C1 (step 8). */
enum cuzk_status sparse_write(const struct sparse_sector *sector, cuzk_write_fn *write,
                              void *context, struct cuzk_error *err);

#endif
