/* Memory. All of cuzk allocates through here, so that tests can fail any allocation and the daemon
   can say what it holds. Sizes are overflow-checked; large blocks come from mmap and are given back
   to the system when freed. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* count × size bytes, uninitialised (mem_alloc) or zero (mem_zalloc), 64-byte aligned; NULL when
   there is no memory, the product overflows, or a test made it fail. count == 0 gives a valid
   pointer. Free with mem_free. */
void *mem_alloc(size_t count, size_t size);
void *mem_zalloc(size_t count, size_t size);

/* Grows a block, keeping its content up to the smaller size; the old block stays valid on NULL. */
void *mem_realloc(void *block, size_t count, size_t size);

/* NULL is allowed. */
void mem_free(void *block);

/* A copy of a string or of bytes; NULL on failure. */
char *mem_strdup(const char *text);
void *mem_memdup(const void *bytes, size_t len);

/* Bytes held through this module now and at the highest point since the last reset. */
size_t mem_used_bytes(void);
size_t mem_peak_bytes(void);
void mem_reset_peak(void);

/* Overwrites secrets; is not optimised away. */
void mem_wipe(void *block, size_t bytes);

/* For tests: lets `after` allocations succeed and fails every later one; a negative value switches
   failing off. */
void mem_fail_after(long after);

/* Grows *array (elements of `size` bytes) to hold at least `needed` elements. *capacity is in
   elements. The capacity doubles, so that appending is linear. Returns false, and leaves the array
   as it is, without memory. Use MEM_GROW. */
bool mem_reserve(void **array, size_t *capacity, size_t needed, size_t size);

/* Makes room for `needed` elements in a growing array: a pointer of any object type
   and its capacity, a size_t. False without memory. */
#define MEM_GROW(array, capacity, needed)                                                          \
    mem_reserve((void **)(void *)&(array), &(capacity), (needed), sizeof *(array))

#endif
