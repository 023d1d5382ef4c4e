/* How much memory a C1 may keep. */
#ifndef TESTS_VANILLA_C1_MEMORY_H
#define TESTS_VANILLA_C1_MEMORY_H

#include "vanilla/c1_internal.h"

/* What the hashes that checks of a 32 GiB C1 share may take. */
enum { C1_MEMO_BYTES = (2 << 20) + 8192 };

/* The bytes of what the circuit and the checks need of a C1, without the hashes that checks
   share. */
static inline size_t c1_kept_bytes(const struct c1 *c1)
{
    const struct porep_config *config = c1->values.config;
    size_t siblings =
        config->tree_d.siblings + (size_t)(2 + POREP_PARENTS) * config->tree_r.siblings;
    size_t challenge =
        sizeof(struct porep_challenge) + sizeof(struct c1_claims) + siblings * sizeof(struct fr);
    return sizeof *c1 +
           config->partitions * (sizeof(struct porep_partition) + config->challenges * challenge);
}

#endif
