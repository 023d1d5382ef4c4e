/* The public values of a PoRep and the circuit's public inputs that follow from them
   (docs/spec/circuits.md, parts E.1, E.2 and E.5). */
#ifndef VANILLA_POREP_PUBLIC_H
#define VANILLA_POREP_PUBLIC_H

#include <cuzk/status.h>

#include "circuits/porep.h"
#include "vanilla/graph.h"
#include "vanilla/seal_proof.h"

/* Public values of a sealed sector in stored byte order. All are canonical field elements, except
   ticket and seed, which are any bytes. */
struct porep_public {
    const struct seal_proof *proof;
    const struct porep_config *config;
    uint8_t replica_id[32];
    uint8_t comm_d[32];
    uint8_t comm_r[32];
    uint8_t seed[32];
    uint8_t ticket[32];
};

/* The prover id of a miner: the payload of its id address, in LEB128, padded with zeros. */
void porep_prover_id(uint64_t miner_id, uint8_t prover_id[32]);

/* replica_id of the sector with these public values (replica_id itself is not read). */
void porep_replica_id(const struct porep_public *values, const uint8_t prover_id[32],
                      uint64_t sector_number, uint8_t replica_id[32]);

/* The graph of the sector. */
void porep_graph(const struct porep_public *values, struct graph *graph);

/* The config->challenges challenges of a partition, each 1 … nodes − 1. Interactive and synthetic
   proofs only. */
void porep_challenges(const struct porep_public *values, unsigned partition, uint64_t *challenges);

/* Number of public inputs of one partition, without the constant 1. */
size_t porep_inputs_count(const struct porep_config *config);

/* The public inputs of a partition, porep_inputs_count of them. */
void porep_inputs(const struct porep_public *values, unsigned partition, struct fr *inputs);

/* For tests of the derivation: challenge number j out of `nodes` nodes. */
uint64_t porep_challenge_interactive(const uint8_t replica_id[32], const uint8_t seed[32],
                                     uint32_t j, uint64_t nodes);

/* Synthetic proofs have a set of `set` possible challenges: entry number `index` of the set, and
   the index that challenge j selects. */
uint64_t porep_synthetic_entry(const uint8_t replica_id[32], const uint8_t comm_r[32],
                               uint64_t index, uint64_t nodes);
uint64_t porep_synthetic_select(const uint8_t replica_id[32], const uint8_t seed[32], uint32_t j,
                                uint64_t set);

#endif
