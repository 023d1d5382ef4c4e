/* What poseidon_traces needs of an implementation. Private to lib/math. */
#ifndef MATH_POSEIDON_ARITH_H
#define MATH_POSEIDON_ARITH_H

#include "math/poseidon.h"

struct poseidon_arith {
    const char *name;
    size_t lanes; /* most instances of one call */
    /* The traces of 1 ≤ n ≤ lanes instances. */
    void (*trace)(unsigned arity, enum poseidon_domain domain, size_t n,
                  const struct fr *const inputs[], struct fr *const traces[]);
};

#endif
