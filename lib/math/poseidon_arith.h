/* What poseidon_traces needs of an implementation. Private to lib/math. */
#ifndef MATH_POSEIDON_ARITH_H
#define MATH_POSEIDON_ARITH_H

#include "math/poseidon.h"

struct poseidon_arith {
    const char *name;
    size_t lanes; /* most instances of one call */
    /* 1 ≤ n ≤ lanes instances: each one's trace, or just the digest, which is the last of it. */
    void (*permute)(unsigned arity, enum poseidon_domain domain, size_t n,
                    const struct fr *const inputs[], struct fr *const out[], bool trace);
};

#endif
