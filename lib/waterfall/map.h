/* A hash map from pairs of 64-bit keys to 32-bit values, for pairing. Private to lib/waterfall. */
#ifndef WATERFALL_MAP_H
#define WATERFALL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t a, b;
    uint32_t value;
    bool used;
};

/* Zero-initialise; free with map_free. */
struct map {
    struct map_slot *slots;
    size_t count, slot_count;
};

/* The value of a key, UINT32_MAX when the key is new; NULL without memory. Valid until the next
   call. */
uint32_t *map_at(struct map *map, uint64_t a, uint64_t b);

void map_free(struct map *map);

#endif
