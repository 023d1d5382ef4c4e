/* Storing equal strings once, for the reader. Private to lib/waterfall. */
#ifndef WATERFALL_STRINGS_H
#define WATERFALL_STRINGS_H

#include "waterfall/report.h"

/* The index of the string of len bytes, which must not contain zero bytes; adds it if it is new.
   Index 0 is always the empty string. false without memory. */
bool strings_add(struct waterfall_strings *strings, const char *bytes, size_t len, uint32_t *index);

/* The string of an index; valid until the next addition. */
const char *strings_get(const struct waterfall_strings *strings, uint32_t index);

void strings_free(struct waterfall_strings *strings);

#endif
