#include "vanilla/seal_proof.h"

#include "base/bytes.h"
#include "base/check.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* Five sizes of one version, in the order of their numbers. */
#define VERSION(first, suffix, v1_0, feature)                                                      \
    SIZE(first, "2KiB", 2 * KIB, suffix, v1_0, feature),                                           \
        SIZE(first + 1, "8MiB", 8 * MIB, suffix, v1_0, feature),                                   \
        SIZE(first + 2, "512MiB", 512 * MIB, suffix, v1_0, feature),                               \
        SIZE(first + 3, "32GiB", 32 * GIB, suffix, v1_0, feature),                                 \
        SIZE(first + 4, "64GiB", 64 * GIB, suffix, v1_0, feature)
#define SIZE(number, size, bytes, suffix, v1_0, feature)                                           \
    {                                                                                              \
        number, "StackedDrg" size suffix, "StackedDrg" size "V1", bytes, v1_0, feature             \
    }

static const struct seal_proof proofs[] = {
    VERSION(0, "V1", true, SEAL_INTERACTIVE),
    VERSION(5, "V1_1", false, SEAL_INTERACTIVE),
    VERSION(10, "V1_1_Feat_SyntheticPoRep", false, SEAL_SYNTHETIC),
    VERSION(15, "V1_2_Feat_NonInteractivePoRep", false, SEAL_NON_INTERACTIVE),
};

size_t seal_proof_count(void)
{
    return ARRAY_LEN(proofs);
}

const struct seal_proof *seal_proof_by_number(uint64_t number)
{
    return number < ARRAY_LEN(proofs) ? &proofs[number] : NULL;
}

static bool text_equals(const char *text, const char *other, size_t len)
{
    return strlen(text) == len && memcmp(text, other, len) == 0;
}

const struct seal_proof *seal_proof_by_name(const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(proofs); i++) {
        if (text_equals(proofs[i].name, name, len))
            return &proofs[i];
    }
    return NULL;
}

uint64_t seal_shape_sector_bytes(const char *shape, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(proofs); i++) {
        if (text_equals(proofs[i].shape, shape, len))
            return proofs[i].sector_bytes;
    }
    return 0;
}

void seal_porep_id(const struct seal_proof *proof, uint8_t porep_id[32])
{
    memset(porep_id, 0, 32);
    store_u64_le(porep_id, proof->number);
}
