#include "vanilla/chacha.h"

#include "base/bytes.h"

void chacha_init(struct chacha *chacha, const uint8_t key[32], const uint8_t *nonce,
                 unsigned rounds)
{
    static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    memcpy(chacha->state, constants, sizeof constants);
    for (unsigned i = 0; i < 8; i++)
        chacha->state[4 + i] = load_u32_le(key + 4 * i);
    chacha->state[12] = 0;
    for (unsigned i = 0; i < 3; i++)
        chacha->state[13 + i] = nonce ? load_u32_le(nonce + 4 * i) : 0;
    chacha->rounds = rounds;
}

static inline uint32_t rotate(uint32_t v, unsigned n)
{
    return v << n | v >> (32 - n);
}

static inline void quarter_round(uint32_t *x, unsigned a, unsigned b, unsigned c, unsigned d)
{
    x[a] += x[b];
    x[d] = rotate(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = rotate(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = rotate(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = rotate(x[b] ^ x[c], 7);
}

void chacha_block(const struct chacha *chacha, uint32_t counter, uint32_t words[16])
{
    uint32_t start[16];
    memcpy(start, chacha->state, sizeof start);
    start[12] = counter;
    memcpy(words, start, sizeof start);
    for (unsigned round = 0; round < chacha->rounds; round += 2) {
        for (unsigned i = 0; i < 4; i++)
            quarter_round(words, i, 4 + i, 8 + i, 12 + i);
        for (unsigned i = 0; i < 4; i++)
            quarter_round(words, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
    for (unsigned i = 0; i < 16; i++)
        words[i] += start[i];
}
