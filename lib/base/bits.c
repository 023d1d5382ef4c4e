#include "base/bits.h"

#include "base/mem.h"

#include <string.h>

bool bitmap_reserve(struct bitmap *map, size_t bits)
{
    const size_t needed = bit_words(bits), before = map->capacity;
    if (needed <= before)
        return true;
    if (!MEM_GROW(map->words, map->capacity, needed))
        return false;
    memset(map->words + before, 0, (map->capacity - before) * sizeof *map->words);
    return true;
}

void bitmap_free(struct bitmap *map)
{
    mem_free(map->words);
    *map = (struct bitmap){0};
}

size_t bitmap_count(const struct bitmap *map)
{
    size_t count = 0;
    for (size_t i = 0; i < map->capacity; i++)
        count += (size_t)__builtin_popcountll(map->words[i]);
    return count;
}

/* The 64 bits of the map from bit `at` on. Those beyond n_bits are undefined. */
static uint64_t bits_at(const uint64_t *words, size_t n_bits, size_t at)
{
    size_t word = at / 64;
    unsigned shift = at % 64;
    uint64_t value = words[word] >> shift;
    if (shift > 0 && word + 1 < bit_words(n_bits))
        value |= words[word + 1] << (64 - shift);
    return value;
}

void bits_or(uint64_t *to, size_t to_at, const uint64_t *from, size_t n_from, size_t from_at,
             size_t count)
{
    while (count > 0) {
        unsigned shift = to_at % 64;
        size_t step = 64 - shift < count ? 64 - shift : count;
        uint64_t value = bits_at(from, n_from, from_at);
        if (step < 64)
            value &= ((uint64_t)1 << step) - 1;
        to[to_at / 64] |= value << shift;
        to_at += step;
        from_at += step;
        count -= step;
    }
}
