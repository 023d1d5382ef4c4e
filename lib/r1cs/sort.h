/* Sorting of 64-bit keys. Private to lib/r1cs. */
#ifndef R1CS_SORT_H
#define R1CS_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts ascending by merging the runs that are already there: long combinations consist of few runs
   of consecutive variables. scratch has room for n keys. */
void sort_keys(uint64_t *keys, size_t n, uint64_t *scratch);

#endif
