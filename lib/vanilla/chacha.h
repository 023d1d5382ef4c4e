/* ChaCha key stream with a free number of rounds. The graph needs 8 rounds, which crypto libraries
   do not offer. Not used as a cipher. Private to lib/vanilla. */
#ifndef VANILLA_CHACHA_H
#define VANILLA_CHACHA_H

#include <stdint.h>

struct chacha {
    uint32_t state[16];
    unsigned rounds;
};

/* nonce NULL stands for zeros; rounds is even. */
void chacha_init(struct chacha *chacha, const uint8_t key[32], const uint8_t *nonce,
                 unsigned rounds);

/* Block number `counter` of the stream, 64 bytes as 16 words, which are little-endian in the
   stream. */
void chacha_block(const struct chacha *chacha, uint32_t counter, uint32_t words[16]);

#endif
