/* Reading and checking the vanilla proofs of an empty sector update, "SnapDeals" (part G).

   A vanilla proof comes from outside as bincode, one for each partition. A struct update is
   well-formed (every length and field element was looked at while reading, and what a partition
   says twice agrees) but not yet true: update_check_partition recomputes commitments, challenges,
   labels and Merkle paths, and only then can the partition be synthesized. Messages name the
   vanilla proof by its place in the request, the challenge and the tree. */
#ifndef VANILLA_UPDATE_H
#define VANILLA_UPDATE_H

#include <cuzk/status.h>

#include "circuits/update.h"

struct pool;
struct update;

/* What a request says of an update besides its vanilla proofs, in stored byte order. */
struct update_public {
    const struct update_config *config; /* of the form with a SHA-256 tree_d */
    uint8_t comm_r_old[32];
    uint8_t comm_r_new[32];
    uint8_t comm_d_new[32];
};

/* The bytes of a vanilla proof. Those behind its end are ignored, as the reference does. */
struct update_vanilla {
    const uint8_t *bytes;
    size_t len;
};

/* The length of a vanilla proof without anything behind it. */
size_t update_vanilla_bytes(const struct update_config *config);

/* Are there as many vanilla proofs as partitions, and is each long enough? Cheap.
   CUZK_INVALID_ARGUMENT. */
enum cuzk_status update_check_sizes(const struct update_config *config,
                                    const struct update_vanilla *proofs, size_t n_proofs,
                                    struct cuzk_error *err);

/* Reads the vanilla proofs of all partitions, in their order. Reading is spread over the pool
   (NULL: the caller alone). CUZK_INVALID_ARGUMENT names what is wrong. Free with update_free. */
enum cuzk_status update_read(const struct update_public *values,
                             const struct update_vanilla *proofs, size_t n_proofs,
                             struct pool *pool, struct update **out, struct cuzk_error *err);
void update_free(struct update *update);

/* Recomputes everything that the partition's vanilla proof claims. The first fault in the order of
   the challenges is reported (CUZK_INVALID_ARGUMENT). Not again once it was found true. */
enum cuzk_status update_check_partition(struct update *update, unsigned partition,
                                        struct pool *pool, struct cuzk_error *err);

/* The circuit's input; belongs to the update. Only after update_check_partition found it true. */
const struct update_partition *update_checked(const struct update *update, unsigned partition);

/* The inputs of a partition, without the constant 1 (part G.4). */
enum { UPDATE_INPUTS = 4 };
void update_inputs(const struct update *update, unsigned partition,
                   struct fr inputs[UPDATE_INPUTS]);

/* rho of a node: its new replica value is the old one + its new data · rho. Nodes that agree in
   their top h bits have the same (part G.1). */
struct fr update_rho(const struct update_config *config, const struct fr *phi, uint64_t node);

/* The challenges of a partition: indices of nodes, config->challenges of them (part G.1). */
void update_challenges(const struct update_config *config, const struct fr *comm_r_new,
                       unsigned partition, uint64_t *challenges);

#endif
