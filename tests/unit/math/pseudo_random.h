/* Numbers that are the same in every run (xorshift64*). */
#ifndef TESTS_MATH_PSEUDO_RANDOM_H
#define TESTS_MATH_PSEUDO_RANDOM_H

#include "math/fr.h"

static uint64_t pseudo_random_state = 0x9e3779b97f4a7c15;

static inline uint64_t pseudo_random(void)
{
    pseudo_random_state ^= pseudo_random_state >> 12;
    pseudo_random_state ^= pseudo_random_state << 25;
    pseudo_random_state ^= pseudo_random_state >> 27;
    return pseudo_random_state * 0x2545f4914f6cdd1d;
}

static inline void pseudo_random_fr(struct fr *out)
{
    uint64_t limbs[4];
    for (size_t i = 0; i < 4; i++)
        limbs[i] = pseudo_random();
    fr_from_limbs(out, limbs);
}

#endif
