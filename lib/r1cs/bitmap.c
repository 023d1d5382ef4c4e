#include "r1cs/driver.h"

#include "base/mem.h"

bool bitmap_reserve(struct bitmap *map, size_t bits)
{
    size_t needed = bit_words(bits);
    size_t before = map->capacity;
    if (needed <= before)
        return true;
    void *block = map->words;
    if (!mem_reserve(&block, &map->capacity, needed, sizeof *map->words))
        return false;
    map->words = block;
    memset(map->words + before, 0, (map->capacity - before) * sizeof *map->words);
    return true;
}

void bitmap_free(struct bitmap *map)
{
    mem_free(map->words);
    *map = (struct bitmap){ 0 };
}

size_t bitmap_count(const struct bitmap *map)
{
    size_t count = 0;
    for (size_t i = 0; i < map->capacity; i++)
        count += (size_t)__builtin_popcountll(map->words[i]);
    return count;
}
