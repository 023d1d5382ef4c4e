/* The PoRep (StackedDRG) circuit and its checked input (docs/spec/circuits.md, part E). */
#ifndef CIRCUITS_POREP_H
#define CIRCUITS_POREP_H

#include "circuits/tree.h"
#include "r1cs/cs.h"

enum {
    POREP_LAYERS_MAX = 11,
    POREP_CHALLENGES_MAX = 18, /* per partition */
    POREP_DRG_PARENTS = 6,
    POREP_EXP_PARENTS = 8,
    POREP_PARENTS = POREP_DRG_PARENTS + POREP_EXP_PARENTS,
};

/* The parameters of the circuit, which follow from the sector size. */
struct porep_config {
    uint64_t sector_bytes;
    uint64_t nodes;           /* sector_bytes / 32 */
    unsigned layers;          /* 2 or 11 */
    unsigned challenges;      /* per partition */
    unsigned partitions;      /* interactive and synthetic PoRep */
    struct tree_shape tree_d; /* binary SHA-256 */
    struct tree_shape tree_r; /* Poseidon; tree_c has the same shape */
};

/* A node of the graph opened in tree_c: its labels in layers 1 … L and its path. */
struct porep_column {
    struct fr rows[POREP_LAYERS_MAX];
    struct tree_path path;
};

struct porep_challenge {
    uint64_t node;                              /* the challenge */
    struct fr data_leaf;                        /* node of the unsealed data */
    struct tree_path tree_d;                    /* data_leaf up to comm_d */
    struct porep_column parents[POREP_PARENTS]; /* 6 DRG parents, then 8 expander parents */
    struct tree_path tree_r;                    /* replica node up to comm_r_last */
    struct tree_path tree_c;                    /* own column up to comm_c */
};

/* All values that the witness of one partition depends on. lib/vanilla makes it from checked bytes.
   The paths point into `siblings`, one block that is freed with the partition. */
struct porep_partition {
    const struct porep_config *config;
    struct fr replica_id;
    struct fr comm_d;
    struct fr comm_r;
    struct fr comm_c;
    struct fr comm_r_last;
    struct porep_challenge *challenges; /* config->challenges of them */
    struct fr *siblings;
};

/* NULL for a size that has no PoRep circuit: 2, 4, 16, 32 KiB, 8, 16, 512 MiB, 1, 32, 64 GiB. */
const struct porep_config *porep_config(uint64_t sector_bytes);

/* The circuit (part E.4), for struct circuit_program. input is a const struct porep_partition. */
void porep_synthesize(struct cs *cs, const void *input);

/* A partition of zeros of the right shape, to record the shape of the circuit. challenges, unless
   0, overrides config->challenges (the 1-challenge forms of part I.2). NULL without memory. */
struct porep_partition *porep_blank(const struct porep_config *config, unsigned challenges);
void porep_partition_free(struct porep_partition *partition);

#endif
