/* Two pointer conversions for which C needs a cast, each in one place. */
#ifndef BASE_POINTER_H
#define BASE_POINTER_H

#include <stddef.h>
#include <stdint.h>

/* The struct of type `type` whose member `member` is at `pointer`: from the part that a generic
   function knows back to the whole. */
#define CONTAINER_OF(pointer, type, member)                                                        \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Removes const, for interfaces of other libraries that take a non-const pointer but do not write,
   and for memory that its owner may write. */
static inline void *unconst(const void *pointer)
{
    return (void *)(uintptr_t)pointer;
}

#endif
