/* The FallbackPoSt circuit: WinningPoSt and WindowPoSt, and its checked input
   (docs/spec/circuits.md, parts F.1 and F.2). */
#ifndef CIRCUITS_POST_H
#define CIRCUITS_POST_H

#include "circuits/tree.h"
#include "r1cs/cs.h"

/* The parameters of the circuit. */
struct post_config {
    uint64_t sector_bytes;
    unsigned sectors;    /* slots of a partition: 66 in winning, 2, 2349 or 2300 in window */
    unsigned challenges; /* of each sector: 1 in winning, 10 in window */
    struct tree_shape tree_r;
};

/* A challenged leaf of tree_r_last. */
struct post_challenge {
    struct fr leaf;
    struct tree_path path;
};

/* One slot. Slots beyond the last sector repeat it; in winning all slots are the same sector with
   another challenge each (part F.3). */
struct post_sector {
    struct fr comm_r;
    struct fr comm_c;
    struct fr comm_r_last;
    struct post_challenge *challenges; /* config->challenges of them; part of a block */
};

struct post_partition {
    const struct post_config *config;
    struct post_sector *sectors; /* config->sectors of them */
    struct post_challenge *challenges;
    struct fr *siblings;
};

/* NULL for a size without such a circuit: those of porep_config exist. */
const struct post_config *post_winning_config(uint64_t sector_bytes);
const struct post_config *post_window_config(uint64_t sector_bytes);

/* The circuit, for struct circuit_program. input is a const struct post_partition. */
void post_synthesize(struct cs *cs, const void *input);

/* A partition of zeros with all its places, for recording the shape or for filling in. `sectors`
   overrides config->sectors when not 0. NULL without memory. */
struct post_partition *post_blank(const struct post_config *config, unsigned sectors);
/* A partition of zeros with places for `n_given` sectors, at least 1 and at most config->sectors.
   The slots behind them share the places of the last one; post_pad fills in what they do not
   share. */
struct post_partition *post_blank_padded(const struct post_config *config, unsigned n_given);
/* Makes the slots from n_given on copies of the one before (part F.3). */
void post_pad(struct post_partition *partition, unsigned n_given);
void post_partition_free(struct post_partition *partition);

#endif
