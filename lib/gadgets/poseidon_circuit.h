/* Poseidon as a circuit (docs/spec/gadgets.md, part C.5: the "legacy" circuit of the reference). */
#ifndef GADGETS_POSEIDON_CIRCUIT_H
#define GADGETS_POSEIDON_CIRCUIT_H

#include "gadgets/num.h"
#include "math/poseidon.h"

/* The hash of `arity` numbers held by different variables, in 31·(arity + 1) + 4·R_P − 2 rows. */
struct num poseidon_circuit(struct cs *cs, enum poseidon_domain domain, unsigned arity,
                            const struct num *inputs);

#endif
