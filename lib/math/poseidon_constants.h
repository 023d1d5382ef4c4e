/* The generation of Poseidon's constants (docs/spec/gadgets.md, parts C.2 and C.3), for
   math/poseidon.c. */
#ifndef MATH_POSEIDON_CONSTANTS_H
#define MATH_POSEIDON_CONSTANTS_H

#include "math/poseidon.h"

void poseidon_constants_compute(struct poseidon_constants *out, unsigned arity,
                                unsigned partial_rounds);

#endif
