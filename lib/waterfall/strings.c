#include "waterfall/strings.h"

#include "base/mem.h"

#include <string.h>

static uint64_t hash_bytes(const char *bytes, size_t len)
{
    uint64_t hash = 0xcbf29ce484222325u ^ len;
    for (; len >= 8; bytes += 8, len -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    for (; len; bytes++, len--)
        hash = (hash ^ (unsigned char)*bytes) * 0x100000001b3u;
    hash *= 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

const char *strings_get(const struct waterfall_strings *strings, uint32_t index)
{
    return strings->count ? strings->bytes.data + strings->offsets[index] : "";
}

static size_t length_of(const struct waterfall_strings *strings, size_t index)
{
    size_t end = index + 1 < strings->count ? strings->offsets[index + 1] : strings->bytes.len;
    return end - strings->offsets[index] - 1;
}

/* The slot that holds the string or in which it belongs. */
static uint32_t *find_slot(const struct waterfall_strings *strings, const char *bytes, size_t len)
{
    size_t mask = strings->slot_count - 1;
    for (size_t i = hash_bytes(bytes, len) & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &strings->slots[i];
        if (*slot == 0)
            return slot;
        if (length_of(strings, *slot - 1) == len &&
            memcmp(strings_get(strings, *slot - 1), bytes, len) == 0)
            return slot;
    }
}

static bool grow_slots(struct waterfall_strings *strings)
{
    size_t grown = strings->slot_count ? 2 * strings->slot_count : 64;
    uint32_t *slots = mem_zalloc(grown, sizeof *slots);
    if (!slots)
        return false;
    mem_free(strings->slots);
    strings->slots = slots;
    strings->slot_count = grown;
    for (size_t i = 0; i < strings->count; i++)
        *find_slot(strings, strings_get(strings, (uint32_t)i), length_of(strings, i)) =
            (uint32_t)i + 1;
    return true;
}

static bool append_string(struct waterfall_strings *strings, const char *bytes, size_t len)
{
    if (2 * strings->count >= strings->slot_count && !grow_slots(strings))
        return false;
    if (!MEM_GROW(strings->offsets, strings->capacity, strings->count + 1))
        return false;
    size_t offset = strings->bytes.len;
    text_add_bytes(&strings->bytes, bytes, len);
    text_add_bytes(&strings->bytes, "", 1);
    if (strings->bytes.failed)
        return false;
    uint32_t *slot = find_slot(strings, bytes, len);
    strings->offsets[strings->count++] = offset;
    *slot = (uint32_t)strings->count;
    return true;
}

bool strings_add(struct waterfall_strings *strings, const char *bytes, size_t len, uint32_t *index)
{
    if (strings->count == 0 && !append_string(strings, "", 0))
        return false;
    uint32_t found = *find_slot(strings, bytes, len);
    if (found == 0) {
        if (!append_string(strings, bytes, len))
            return false;
        found = (uint32_t)strings->count;
    }
    *index = found - 1;
    return true;
}

void strings_free(struct waterfall_strings *strings)
{
    text_free(&strings->bytes);
    mem_free(strings->offsets);
    mem_free(strings->slots);
    *strings = (struct waterfall_strings){0};
}
