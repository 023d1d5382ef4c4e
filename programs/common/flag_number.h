/* Numbers on the command line. */
#ifndef CUZK_FLAG_NUMBER_H
#define CUZK_FLAG_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the value of --flag as a number from least to most. For anything else, a number of more
   than 64 bits included, prints one line to stderr and returns false. */
bool flag_number(const char *program, const char *flag, const char *text, uint64_t least,
                 uint64_t most, uint64_t *out);

#endif
