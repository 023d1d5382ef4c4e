#include "vanilla/post_proof.h"

#include "base/check.h"
#include "circuits/sector.h"

#define SIZES(number, prefix, suffix, winning, api_v1_2)                                           \
    {number + 0, prefix "2KiB" suffix, winning, api_v1_2, 2 * KIB},                                \
        {number + 1, prefix "8MiB" suffix, winning, api_v1_2, 8 * MIB},                            \
        {number + 2, prefix "512MiB" suffix, winning, api_v1_2, 512 * MIB},                        \
        {number + 3, prefix "32GiB" suffix, winning, api_v1_2, 32 * GIB},                          \
    {                                                                                              \
        number + 4, prefix "64GiB" suffix, winning, api_v1_2, 64 * GIB                             \
    }

static const struct post_proof proofs[] = {
    SIZES(0, "StackedDrgWinning", "V1", true, false),
    SIZES(5, "StackedDrgWindow", "V1", false, false),
    SIZES(10, "StackedDrgWindow", "V1_1", false, true),
};

size_t post_proof_count(void)
{
    return ARRAY_LEN(proofs);
}

const struct post_proof *post_proof_by_number(uint64_t number)
{
    return number < ARRAY_LEN(proofs) ? &proofs[number] : NULL;
}
