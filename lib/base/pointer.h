/* Two conversions of pointers that C needs a cast for, each in one place. */
#ifndef BASE_POINTER_H
#define BASE_POINTER_H

#include <stddef.h>
#include <stdint.h>

/* The struct of the given type whose `member` lies at `pointer`: the step from the part that a
   generic function knows back to the whole. */
#define CONTAINER_OF(pointer, type, member)                                                        \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Takes const away, for interfaces of other libraries that do not write although their types would
   allow it, and for memory that its owner made writable. */
static inline void *unconst(const void *pointer)
{
    return (void *)(uintptr_t)pointer;
}

#endif
