/* Bitmaps: bit i is bit i % 64 of word i / 64. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words that hold `bits` bits. */
static inline size_t bit_words(size_t bits)
{
    return (bits + 63) / 64;
}

static inline void bit_set(uint64_t *words, size_t i)
{
    words[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline bool bit_get(const uint64_t *words, size_t i)
{
    return (words[i / 64] >> (i % 64) & 1) != 0;
}

/* to[to_at … to_at + count) |= from[from_at … from_at + count). `from` holds n_from bits. */
void bits_or(uint64_t *to, size_t to_at, const uint64_t *from, size_t n_from, size_t from_at,
             size_t count);

/* A bitmap that grows, zero-filled. Zero-initialise; free with bitmap_free. */
struct bitmap {
    uint64_t *words;
    size_t capacity; /* words; all beyond the highest set bit are zero */
};

/* Makes room for `bits` bits; false without memory. */
bool bitmap_reserve(struct bitmap *map, size_t bits);
void bitmap_free(struct bitmap *map);

/* Number of bits that are set. */
size_t bitmap_count(const struct bitmap *map);

#endif
