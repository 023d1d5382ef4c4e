/* SHA-256 blocks of several messages side by side, for the witness driver. Private to
   lib/gadgets. */
#ifndef GADGETS_SHA256_LANES_H
#define GADGETS_SHA256_LANES_H

#include "gadgets/sha256_witness.h"

/* sha256_compress_witness for 1 ≤ n ≤ SHA256_LANES blocks, each with a witness of its own. No
   variable of a message is negated, and the constant bits are at the same places in all messages
   (their values may differ). Either the states are plain words, or all of them are the same
   constants and the first words of the messages have variables. Only the words of the states are
   updated. Call it only where sha256_lanes() is not 1. */
void sha256_compress_avx2(size_t n, struct witness *const witness[],
                          struct word_planes message[][16], struct sha256_words state[]);

#endif
