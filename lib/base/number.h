/* Whole numbers in text: decimal digits and nothing else. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the digits at the start of the text, without sign or blanks, and returns the rest of the
   text. NULL if there is no digit or the number is 2^64 or more. */
const char *number_read(const char *text, uint64_t *out);

/* Reads the whole text as a number from `least` to `most`. False, with *out unchanged, for any
   other text. */
bool number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out);

#endif
