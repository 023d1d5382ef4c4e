/* Numbers on the command line. */
#ifndef CUZK_FLAG_NUMBER_H
#define CUZK_FLAG_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* The value of --flag as a number from least to most. Anything else, a number of more than 64 bits
   among it, is said in one line on stderr, and false. */
bool flag_number(const char *program, const char *flag, const char *text, uint64_t least,
                 uint64_t most, uint64_t *out);

#endif
