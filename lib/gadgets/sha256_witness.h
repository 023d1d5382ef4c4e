/* The values of a SHA-256 block's variables by plain word arithmetic: what the witness driver uses
   instead of the gadget's Booleans. */
#ifndef GADGETS_SHA256_WITNESS_H
#define GADGETS_SHA256_WITNESS_H

#include "gadgets/uint32.h"

/* A 32-bit word of Booleans, one bit plane for each property. In constant bits `negated` is the
   value, so that value ^ negated is the value of the underlying variable, and 0 in constants. */
struct word_planes {
    uint32_t value;
    uint32_t constant;
    uint32_t negated;
};

/* From 32 Booleans, least or most significant first. */
struct word_planes word_planes_of_le_bits(const struct boolean bits[32]);
struct word_planes word_planes_of_be_bits(const struct boolean bits[32]);

/* Appends to cs->witness exactly what sha256_compress_circuit would through its Booleans, and
   updates the state. The system is in the witness driver; any mixture of constant and negated bits
   will do. */
void sha256_compress_witness(struct cs *cs, const struct word_planes message[16],
                             struct uint32 state[8]);

#endif
