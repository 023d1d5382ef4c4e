/* Whole numbers in text: decimal digits and nothing else. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the digits at the start of text. Returns what follows them; NULL if there are none or the
   number is 2^64 or more. No sign, no blank before them. */
const char *number_read(const char *text, uint64_t *out);

/* The whole text as a number from least to most; false (out untouched) if it is anything else. */
bool number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out);

#endif
