/* The values of a SHA-256 block's variables by plain word arithmetic: the fast path of the witness
   driver. */
#ifndef GADGETS_SHA256_WITNESS_H
#define GADGETS_SHA256_WITNESS_H

#include "gadgets/num.h"

struct witness;

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

/* A number of 255 bits and a constant 0 in the order of byte strings: the 8 words that
   num_reverse_bits_in_bytes makes of it. */
void word_planes_of_limbs(struct word_planes words[8], const uint64_t limbs[4]);

/* The state between blocks. The words that a block produces are constant, or 32 consecutive
   variables. */
struct sha256_words {
    struct word_planes word[8];
    uint32_t first[8]; /* aux variable of the least significant bit */
};

/* Appends exactly the variables that the rows of the block would allocate through their Booleans,
   and updates the state. Any mixture of constant and negated bits is allowed. */
void sha256_compress_witness(struct witness *witness, const struct word_planes message[16],
                             struct sha256_words *state);

/* sha256_circuit and sha256_pack_digest of a message of n words. */
struct num sha256_hash_witness(struct witness *witness, const struct word_planes *message,
                               size_t n);

enum { SHA256_LANES = 8 };

/* The number of messages that are fastest together on this machine: SHA256_LANES with AVX2, 1
   without. */
size_t sha256_lanes(void);

/* sha256_hash_witness for `count` messages of n words, each with a witness of its own, `lanes`
   (sha256_lanes() or 1) at a time. With more than one lane, the first word of every message has
   variables, no variable is negated, and the constant bits are at the same places in all messages
   (their values may differ). */
void sha256_hashes_witness(size_t lanes, size_t count, struct witness *const witness[],
                           const struct word_planes *const message[], size_t n,
                           struct num digest[]);

#endif
