/* Strings of a log, equal ones stored once and known by an index. */
#ifndef WATERFALL_STRINGS_H
#define WATERFALL_STRINGS_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; free with strings_free. */
struct waterfall_strings {
    struct text bytes;      /* all strings, each terminated */
    size_t *offsets;        /* of each string in bytes */
    size_t count, capacity; /* of offsets */
    uint32_t *slots;        /* hash table of indices + 1 */
    size_t slot_count;      /* a power of two, or 0 */
};

/* The index of the string of len bytes, which must not contain zero bytes; adds it if it is new.
   Index 0 is always the empty string. false without memory. */
bool strings_add(struct waterfall_strings *strings, const char *bytes, size_t len, uint32_t *index);

/* The string of an index; valid until the next addition. */
const char *strings_get(const struct waterfall_strings *strings, uint32_t index);

void strings_free(struct waterfall_strings *strings);

#endif
