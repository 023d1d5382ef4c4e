/* Numbers: field elements held by a variable, their bits, and packing (docs/spec/gadgets.md, part
   B.4). */
#ifndef GADGETS_NUM_H
#define GADGETS_NUM_H

#include "gadgets/boolean.h"

struct num {
    struct var var;
    struct fr value;
};

/* A new private variable; no row. */
struct num num_alloc(struct cs *cs, const struct fr *value);

/* Makes x public: a new input that equals it. */
void num_inputize(struct cs *cs, struct num x);

/* The 255 bits of x, least significant first. A value below 2^255 − r has two decompositions;
   circuits accept either. */
void num_to_bits(struct cs *cs, struct num x, struct boolean bits[FR_BITS]);

/* The form of num_to_bits for the witness driver and gadgets that take the limbs of x instead of
   its bits. */
void num_to_bits_witness(struct cs *cs, struct num x, uint64_t limbs[4]);

/* The n ≤ 255 bits of x, which is below 2^n. The sum in their row is on the A side. */
void num_decompose(struct cs *cs, struct num x, size_t n, struct boolean *bits);

void num_enforce_equal(struct cs *cs, struct num a, struct num b);
struct num num_add(struct cs *cs, struct num a, struct num b);
struct num num_mul(struct cs *cs, struct num a, struct num b);
struct num num_square(struct cs *cs, struct num a);

/* Σ 2^i · bits[i] over the first 254 bits at most, as a new variable. */
struct num num_pack_bits(struct cs *cs, const struct boolean *bits, size_t n);

/* The same in new inputs, 254 bits each. */
void num_pack_into_inputs(struct cs *cs, const struct boolean *bits, size_t n);

/* 64 bit variables, least significant first. */
void num_uint64_bits(struct cs *cs, uint64_t value, struct boolean bits[64]);

/* Pads with constant zeros to whole bytes, then reverses the bits inside each byte. So the bits of
   a number become those of a byte string, most significant first, and back. out has room for n
   rounded up to a multiple of 8, and is not `bits`. */
void num_reverse_bits_in_bytes(const struct boolean *bits, size_t n, struct boolean *out);

#endif
