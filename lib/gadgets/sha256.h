/* SHA-256 over Booleans (docs/spec/gadgets.md, part B.3).

   The five kinds of blocks that the circuits are made of (part J.2) are templates. Which kind a
   block is follows from which of its bits are constant, and to what value:
   "sha256-k0"  constant state; 255-bit number, layer (the variant), 64 bits: a label's first block
   "sha256-k1"  two 255-bit numbers: a label's middle blocks
   "sha256-k2"  255-bit number, padding of 9984 bits: a label's last block
   "sha256-k3"  constant state; two 255-bit numbers: the first block of a tree node
   "sha256-k4"  the padding of 512 bits alone: the second block of a tree node
   Blocks of other kinds are ordinary rows. */
#ifndef GADGETS_SHA256_H
#define GADGETS_SHA256_H

#include "gadgets/num.h"
#include "gadgets/sha256_witness.h"
#include "gadgets/uint32.h"

enum { SHA256_BLOCK_BITS = 512, SHA256_BITS = 256 };

/* The initial state. */
void sha256_initial_state(struct uint32 state[8]);

/* state = compression of the state with one block, whose words are big-endian. */
void sha256_compress_circuit(struct cs *cs, const struct boolean message[SHA256_BLOCK_BITS],
                             struct uint32 state[8]);

/* The digest of n bits (a multiple of 8), in the order of byte strings: most significant bit of
   each byte first. */
void sha256_circuit(struct cs *cs, const struct boolean *bits, size_t n,
                    struct boolean digest[SHA256_BITS]);

/* Digest as a number: its bits in number order, without the last two. */
struct num sha256_pack_digest(struct cs *cs, const struct boolean digest[SHA256_BITS]);

/* A number as SHA-256 reads it: its 255 bits and a constant 0, in the order of byte strings. */
struct sha256_number {
    struct boolean bit[SHA256_BITS];
    struct word_planes word[8]; /* instead, in the witness driver */
};

/* Decomposes x anew. */
void sha256_number_of(struct cs *cs, struct num x, struct sha256_number *out);

/* A node of a SHA-256 tree (part D.2): packed digest of the bits of left and right. */
struct num sha256_hash_nodes(struct cs *cs, struct num left, struct num right);

#endif
