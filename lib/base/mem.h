/* Memory. All code of cuzk allocates through this module, so that tests can make any allocation
   fail and the daemon can report how much it holds. Sizes are checked for overflow. Large blocks
   come from mmap and return to the system when freed. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* count × size bytes, 64-byte aligned: uninitialised from mem_alloc, zero from mem_zalloc. NULL
   without memory, if the product overflows, or if a test made the allocation fail. A count of 0
   gives a valid pointer. Free with mem_free. */
void *mem_alloc(size_t count, size_t size);
void *mem_zalloc(size_t count, size_t size);

/* Resizes a block and keeps its content up to the smaller size. On NULL the old block remains
   valid. */
void *mem_realloc(void *block, size_t count, size_t size);

/* NULL is allowed. */
void mem_free(void *block);

/* A copy of a string or of bytes; NULL on failure. */
char *mem_strdup(const char *text);
void *mem_memdup(const void *bytes, size_t len);

/* Bytes held through this module now, and the maximum since the last reset. */
size_t mem_used_bytes(void);
size_t mem_peak_bytes(void);
void mem_reset_peak(void);

/* Overwrites secrets. The compiler does not optimise it away. */
void mem_wipe(void *block, size_t bytes);

/* For tests: the next `after` allocations succeed and every later one fails. A negative value
   switches failing off. */
void mem_fail_after(long after);

/* The function behind MEM_GROW: grows *array, of elements of `size` bytes, to at least `needed`
   elements. *capacity counts elements and at least doubles, so that appending takes linear time.
   Without memory it returns false and leaves the array unchanged. */
bool mem_reserve(void **array, size_t *capacity, size_t needed, size_t size);

/* Makes room for `needed` elements in a growing array. `array` is a pointer of any object type,
   `capacity` its size_t. False without memory; the array is then unchanged. */
#define MEM_GROW(array, capacity, needed)                                                          \
    mem_reserve((void **)(void *)&(array), &(capacity), (needed), sizeof *(array))

#endif
