/* Storing equal strings once, for the reader. Internal to lib/timeline. */
#ifndef TIMELINE_STRINGS_H
#define TIMELINE_STRINGS_H

#include "waterfall/analysis.h"

/* The index of the string of len bytes, which must not contain zero bytes; adds it if it is new.
   Index 0 is always the empty string. false without memory. */
bool strings_add(struct timeline_strings *strings, const char *bytes, size_t len, uint32_t *index);

/* The string of an index; valid until the next addition. */
const char *strings_get(const struct timeline_strings *strings, uint32_t index);

void strings_free(struct timeline_strings *strings);

#endif
