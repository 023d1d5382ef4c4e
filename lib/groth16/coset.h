/* A coset g·w^j of the roots of unity of order n, seen from a point τ outside it. Lagrange
   polynomials at τ, and all that a setup multiplies its generators with, are made of the two
   numbers that this gives for each of its elements p = g·w^j: p itself, and p / (τ - p). For
   instance L_j(τ) = (τ^n - 1) / n · p / (τ - p) with g = 1. */
#ifndef GROTH16_COSET_H
#define GROTH16_COSET_H

#include "math/fr.h"

#include <cuzk/status.h>

struct coset {
    struct fr tau, shift; /* τ, g */
    struct fr omega;      /* w */
    struct fr power;      /* (τ / g)^n, not 1 */
};

/* n = 2^log2_n. CUZK_INVALID_ARGUMENT if τ is in the coset. */
enum cuzk_status coset_init(struct coset *out, unsigned log2_n, const struct fr *shift,
                            const struct fr *tau, struct cuzk_error *err);

/* Number of elements that are made at a time: they share an inversion. */
enum { COSET_BLOCK = 4096 };

struct coset_block {
    struct fr elements[COSET_BLOCK]; /* p */
    struct fr ratios[COSET_BLOCK];   /* p / (τ - p) */
    struct fr scratch[COSET_BLOCK];
};

/* Elements first ≤ j < first + COSET_BLOCK; element n is element 0 again. */
void coset_make_block(const struct coset *coset, uint64_t first, struct coset_block *out);

#endif
