/* Registered PoSt proofs: their names, numbers and what follows from them (part F.1). */
#ifndef VANILLA_POST_PROOF_H
#define VANILLA_POST_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct post_proof {
    uint32_t number;  /* in the enumeration of PoSt proofs that storage systems use */
    const char *name; /* "StackedDrgWindow32GiBV1_1", as they call it */
    bool winning;     /* WinningPoSt; else WindowPoSt */
    bool api_v1_2;    /* each sector's challenges are numbered from 0 (part F.3) */
    uint64_t sector_bytes;
};

/* The table has one entry for each number from 0 on. */
size_t post_proof_count(void);

/* NULL if there is none. */
const struct post_proof *post_proof_by_number(uint64_t number);

#endif
