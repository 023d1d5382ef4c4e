/* The rows that a made-up kind adds to the tables: to that of circuits with circuit_add, to that of
   kinds with kind_replace. A payload is four bytes for each partition: two factors below 256, and
   their product, little-endian. */
#ifndef TESTS_KIND_MADE_UP_H
#define TESTS_KIND_MADE_UP_H

#include "prover/kind.h"

extern const struct circuit_info made_up_circuit;
extern const struct circuit_program made_up_blank;
extern const struct proof_kind kind_made_up;

#endif
