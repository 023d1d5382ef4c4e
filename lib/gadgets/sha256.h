/* SHA-256 over Booleans (docs/spec/gadgets.md, part B.3).

   The five kinds of blocks in the circuits (docs/spec/porep-breakdown.md, part J.2) are templates.
   The kind of a block follows from which of its bits are constant, and from their values:

     "sha256-k0"  constant state; 255-bit number, layer (the variant), 64 bits: label's first block
     "sha256-k1"  two 255-bit numbers: a label's middle blocks
     "sha256-k2"  255-bit number, padding of 9984 bits: a label's last block
     "sha256-k3"  constant state; two 255-bit numbers: the first block of a tree node
     "sha256-k4"  only the padding of 512 bits: the second block of a tree node

   Blocks of other kinds are ordinary rows. */
#ifndef GADGETS_SHA256_H
#define GADGETS_SHA256_H

#include "gadgets/num.h"
#include "gadgets/sha256_witness.h"
#include "gadgets/uint32.h"

enum { SHA256_BLOCK_BITS = 512, SHA256_BITS = 256 };

/* The initial state. */
void sha256_initial_state(struct uint32 state[8]);

/* Compresses one block, whose words are big-endian, into the state. */
void sha256_compress_circuit(struct cs *cs, const struct boolean message[SHA256_BLOCK_BITS],
                             struct uint32 state[8]);

/* The digest of n bits (a multiple of 8) in the order of byte strings, the most significant bit of
   each byte first. */
void sha256_circuit(struct cs *cs, const struct boolean *bits, size_t n,
                    struct boolean digest[SHA256_BITS]);

/* The digest as a number: its bits in the order of numbers, without the last two. */
struct num sha256_pack_digest(struct cs *cs, const struct boolean digest[SHA256_BITS]);

/* A number as input of SHA-256: its 255 bits and a constant 0, in the order of byte strings. */
struct sha256_number {
    struct boolean bit[SHA256_BITS];
    struct word_planes word[8]; /* used instead in the witness driver */
};

/* Decomposes x, with new bit variables at every call. */
void sha256_number_of(struct cs *cs, struct num x, struct sha256_number *out);

/* A node of a SHA-256 tree (part D.2): the packed digest of the bits of left and right. */
struct num sha256_hash_nodes(struct cs *cs, struct num left, struct num right);

#endif
