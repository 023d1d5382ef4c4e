/* The SDR graph over the nodes of a sector, and the labels of its nodes (docs/spec/circuits.md,
   part E.3). Node v has 6 DRG parents, smaller nodes of the same layer, and 8 expander parents,
   nodes of the layer before. */
#ifndef VANILLA_GRAPH_H
#define VANILLA_GRAPH_H

#include "circuits/porep.h"

/* Number of parent labels in a label hash: the node's parents, repeated in order. */
enum { GRAPH_LABEL_PARENTS = 37 };

struct graph {
    uint64_t nodes; /* a power of two, 8 … 2^32 */
    bool api_v1_0;  /* the order and the truncation of API 1.0.0 */
    uint8_t drg_seed[28];
    uint64_t feistel_keys[3];
    unsigned feistel_half_bits;
};

void graph_init(struct graph *graph, uint64_t nodes, const uint8_t porep_id[32], bool api_v1_0);

/* The parents of a node < nodes: DRG parents in the order of the label hash, then the expander
   parents. Nodes 0 and 1 have six DRG parents 0. */
void graph_parents(const struct graph *graph, uint64_t node, uint64_t parents[POREP_PARENTS]);

/* The number of different parents in the label hash of a layer (from 1): 6 in layer 1, else 14. */
unsigned graph_label_parents(unsigned layer);

/* The label of a node ≥ 1 in a layer (from 1). labels: the labels of its graph_label_parents(layer)
   parents in the order of graph_parents, those of DRG parents in this layer, those of expander
   parents in the layer before. All are in stored byte order. */
void graph_label(uint8_t label[32], const uint8_t replica_id[32], unsigned layer, uint64_t node,
                 const uint8_t (*labels)[32]);

#endif
