/* The interface of an implementation of poseidon_traces. Private to lib/math. */
#ifndef MATH_POSEIDON_ARITH_H
#define MATH_POSEIDON_ARITH_H

#include "math/poseidon.h"

struct poseidon_arith {
    const char *name;
    size_t lanes; /* most instances of one call */
    /* Runs 1 ≤ n ≤ lanes instances. Each writes its whole trace, or only the digest, the last
       element of the trace. */
    void (*permute)(unsigned arity, enum poseidon_domain domain, size_t n,
                    const struct fr *const inputs[], struct fr *const out[], bool trace);
};

#endif
