/* Parts of one block of device memory on the host's side, handed out in the same order when sizing
   and when using (arena.cuh does it in kernels' files). */
#ifndef CUDA_LAYOUT_H
#define CUDA_LAYOUT_H

#include <stddef.h>

/* base NULL: it only counts. */
struct layout {
    char *base;
    size_t used;
};

static inline size_t aligned(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static inline void *take(struct layout *layout, size_t bytes)
{
    const size_t at = layout->used;
    layout->used += aligned(bytes);
    return layout->base ? layout->base + at : NULL;
}

#endif
