/* SHA-256 blocks of several messages side by side, for the witness driver. */
#ifndef GADGETS_SHA256_LANES_H
#define GADGETS_SHA256_LANES_H

#include "gadgets/sha256_witness.h"

/* sha256_compress_witness of 1 ≤ n ≤ SHA256_LANES blocks, each to a witness of its own. No variable
   of a message is negated, and the messages' constant bits are at the same places (their values may
   differ). The states are plain words; or they are all the same constants, and the first words of
   the messages have variables. Of the states, the words are updated. Only
   where sha256_lanes() is not 1. */
void sha256_compress_avx2(size_t n, struct witness *const witness[],
                          struct word_planes message[][16], struct sha256_words state[]);

#endif
