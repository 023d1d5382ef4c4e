/* The EmptySectorUpdate circuit ("snap") and its checked input (docs/spec/circuits.md, parts G.1 to
   G.4): the production form with a SHA-256 tree_d, and the Poseidon form, which is published but
   not used by the network. */
#ifndef CIRCUITS_UPDATE_H
#define CIRCUITS_UPDATE_H

#include "circuits/tree.h"
#include "r1cs/cs.h"

enum {
    UPDATE_HS = 6, /* choices of h, the number of high challenge bits that select a rho */
    UPDATE_APEX_LEAVES_MAX = 128,
    UPDATE_PARTITION_BITS_MAX = 4,
};

/* The parameters of the circuit. */
struct update_config {
    uint64_t sector_bytes;
    bool poseidon; /* the Poseidon form; it has one partition with all challenges */
    unsigned partitions;
    unsigned challenges;     /* of each partition */
    unsigned node_bits;      /* log2 of the number of nodes: bits of a challenge */
    unsigned partition_bits; /* log2 partitions: a challenge's top bits */
    unsigned apex_leaves;    /* of each partition; 0 in the Poseidon form */
    unsigned apex_bits;      /* log2 apex_leaves */
    unsigned random_bits;    /* of a challenge: node_bits − partition_bits */
    unsigned challenges_per_digest;
    unsigned digests;
    unsigned hs[UPDATE_HS];
    unsigned h_select;        /* 2^i of the h = hs[i] in use */
    struct tree_shape tree_r; /* Poseidon: replicas old and new */
    struct tree_shape path_d; /* of tree_d_new, from a leaf up to its apex leaf; in the Poseidon
                                   form up to the root, with tree_r's shape */
};

/* A challenged node. The circuit derives its index and its new replica label itself, so the indices
   of the paths are not used. */
struct update_challenge {
    struct fr label_r_old;
    struct fr label_d_new;
    struct tree_path path_r_old; /* tree_r's shape */
    struct tree_path path_r_new;
    struct tree_path path_d_new; /* path_d's shape */
};

struct update_partition {
    const struct update_config *config;
    unsigned index; /* of the partition: k */
    struct fr comm_r_old;
    struct fr comm_d_new;
    struct fr comm_r_new;
    struct fr comm_c; /* the same before and after */
    struct fr root_r_old;
    struct fr root_r_new;
    struct fr apex_leaves[UPDATE_APEX_LEAVES_MAX];
    struct fr partition_path[UPDATE_PARTITION_BITS_MAX]; /* from the apex root to comm_d_new */
    struct update_challenge *challenges;
    struct fr *siblings;
};

/* NULL for a size without such a circuit. All sizes of sector.h but 1 GiB have one. */
const struct update_config *update_config(uint64_t sector_bytes, bool poseidon);

/* The circuit, for struct circuit_program. input is a const struct update_partition. */
void update_synthesize(struct cs *cs, const void *input);

/* A partition of zeros with all its places, for recording the shape or for filling in. NULL without
   memory. */
struct update_partition *update_blank(const struct update_config *config);
void update_partition_free(struct update_partition *partition);

#endif
