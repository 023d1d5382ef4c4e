/* Registered seal proofs: their names, numbers and what follows from them (docs/spec/circuits.md,
   parts E.1 and E.6). */
#ifndef VANILLA_SEAL_PROOF_H
#define VANILLA_SEAL_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum seal_feature {
    SEAL_INTERACTIVE,
    SEAL_SYNTHETIC,       /* challenges are drawn from a fixed subset */
    SEAL_NON_INTERACTIVE, /* challenges follow from comm_r; not supported, known for the message */
};

struct seal_proof {
    uint32_t number;   /* as in Lotus, Curio and porep_id */
    const char *name;  /* "StackedDrg32GiBV1_1" */
    const char *shape; /* key inside vanilla_proofs: "StackedDrg32GiBV1" */
    uint64_t sector_bytes;
    bool api_v1_0; /* graphs of API 1.0.0 */
    enum seal_feature feature;
};

/* The table has one entry for each number from 0 on. */
size_t seal_proof_count(void);

/* Return NULL if there is no such proof. name need not be terminated. */
const struct seal_proof *seal_proof_by_number(uint64_t number);
const struct seal_proof *seal_proof_by_name(const char *name, size_t len);

/* Sector size of a key inside vanilla_proofs; 0 for other texts. */
uint64_t seal_shape_sector_bytes(const char *shape, size_t len);

/* The porep_id, 32 bytes that differ between kinds of proofs: number and a nonce of 0 (part
   E.1). */
void seal_porep_id(const struct seal_proof *proof, uint8_t porep_id[32]);

#endif
