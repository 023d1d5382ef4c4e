#include "waterfall/map.h"

#include "base/mem.h"

static struct map_slot *find_slot(struct map_slot *slots, size_t slot_count, uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
    hash *= 0xc4ceb9fe1a85ec53u;
    hash ^= hash >> 29;
    for (size_t i = hash & (slot_count - 1);; i = (i + 1) & (slot_count - 1))
        if (!slots[i].used || (slots[i].a == a && slots[i].b == b))
            return &slots[i];
}

static bool grow_slots(struct map *map)
{
    size_t grown = map->slot_count ? 2 * map->slot_count : 256;
    struct map_slot *slots = mem_zalloc(grown, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->slots[i].used)
            *find_slot(slots, grown, map->slots[i].a, map->slots[i].b) = map->slots[i];
    mem_free(map->slots);
    map->slots = slots;
    map->slot_count = grown;
    return true;
}

uint32_t *map_at(struct map *map, uint64_t a, uint64_t b)
{
    if (2 * map->count >= map->slot_count && !grow_slots(map))
        return NULL;
    struct map_slot *slot = find_slot(map->slots, map->slot_count, a, b);
    if (!slot->used) {
        *slot = (struct map_slot){a, b, UINT32_MAX, true};
        map->count++;
    }
    return &slot->value;
}

void map_free(struct map *map)
{
    mem_free(map->slots);
    *map = (struct map){0};
}
