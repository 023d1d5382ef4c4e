/* All values of a partition against the digests of the reference. */
#ifndef TESTS_VECTORS_WITNESS_KNOWN_H
#define TESTS_VECTORS_WITNESS_KNOWN_H

#include "support/support.h"

#include "r1cs/cs.h"

/* Runs the program with the check driver: every row is satisfied, the inputs behind the constant 1
   are the derived ones, and inputs, aux and row values have the digests that stand in the text
   behind the line "[partition <k>]", or anywhere if there is no such line. */
void assert_witness_known(const struct circuit_program *program, const struct fr *derived,
                          size_t n_derived, const char *known, unsigned partition);

/* Compares elements with the lines of a public-inputs.txt that stand behind "# partition <k>". */
void assert_inputs_known(const struct fr *inputs, size_t n, const char *known, unsigned partition);

#endif
