/* Vanilla proofs of sectors that were never sealed, valid in every respect, for tests and
   benchmarks: what include/cuzk/dev.h offers. The text of a C1 is made by sparse.h. */
#ifndef VANILLA_MADE_UP_H
#define VANILLA_MADE_UP_H

#include "vanilla/post.h"
#include "vanilla/update.h"

/* Writes the vanilla proof of a PoSt's sector: post_vanilla_bytes(values) to `out`. The sector's
   trees have real leaves at the challenged places only. `slot` is its place in the partition. false
   without memory. */
bool made_up_post(const struct post_public *values, uint64_t sector_id, unsigned slot,
                  uint8_t *out);

/* An update of a sector all whose nodes hold one value, old replica and new data alike: then every
   challenge can be answered, although challenges follow from the new replica. */
struct made_up_update {
    struct update_public values;
    struct fr comm_c, comm_r_old, comm_r_new, comm_d_new;
    struct fr root_r_old, root_r_new;
    struct fr label_r_old, label_d_new;
    struct fr level_r_old[TREE_LEVELS_MAX + 1]; /* the value of all nodes of a level */
    struct fr level_d_new[TREE_LEVELS_MAX + 1];
    /* Nodes of tree_r_new by level: at most one for each rho, each standing for a run of nodes. */
    struct fr *level_r_new[TREE_LEVELS_MAX + 1];
    unsigned log2_values[TREE_LEVELS_MAX + 1]; /* of how many values a level has */
    unsigned log2_nodes[TREE_LEVELS_MAX + 1];
};

/* Takes up to some milliseconds. CUZK_NO_MEMORY. Free with made_up_update_free, in failure too. */
enum cuzk_status made_up_update_init(struct made_up_update *update,
                                     const struct update_config *config, struct cuzk_error *err);
void made_up_update_free(struct made_up_update *update);

/* Writes a partition's vanilla proof: update_vanilla_bytes(config) to `out`. */
void made_up_update_partition(const struct made_up_update *update, unsigned partition,
                              uint8_t *out);

#endif
