#include "base/mem.h"

#include "base/check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The header before every block holds its size and is one alignment unit long. Blocks of MMAP_BYTES
   or more have a mapping of their own, so mem_free returns them to the system at once. */
enum { ALIGNMENT = 64 };
#define MMAP_BYTES ((size_t)1 << 20)

struct header {
    size_t bytes; /* without the header */
    bool mapped;
};

static atomic_size_t used;
static atomic_size_t peak;
static atomic_long fail_countdown = -1;

static bool must_fail(void)
{
    long left = atomic_load(&fail_countdown);
    while (left > 0 && !atomic_compare_exchange_weak(&fail_countdown, &left, left - 1))
        ;
    return left == 0;
}

static void add_used(size_t bytes)
{
    size_t now = atomic_fetch_add(&used, bytes) + bytes;
    size_t seen = atomic_load(&peak);
    while (now > seen && !atomic_compare_exchange_weak(&peak, &seen, now))
        ;
}

static struct header *header_of(void *block)
{
    return (struct header *)(void *)((char *)block - ALIGNMENT);
}

static void *allocate(size_t count, size_t size, bool zero)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2 || must_fail())
        return NULL;
    size_t total = (bytes + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    bool mapped = bytes >= MMAP_BYTES;
    char *raw;
    if (mapped) {
        raw = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (raw == MAP_FAILED)
            return NULL;
        madvise(raw, total, MADV_HUGEPAGE); /* only advice: the result does not matter */
    } else {
        raw = aligned_alloc(ALIGNMENT, total);
        if (!raw)
            return NULL;
        if (zero)
            memset(raw, 0, total);
    }
    struct header *header = (struct header *)(void *)raw;
    header->bytes = bytes;
    header->mapped = mapped;
    add_used(bytes);
    return raw + ALIGNMENT;
}

void *mem_alloc(size_t count, size_t size)
{
    return allocate(count, size, false);
}

void *mem_zalloc(size_t count, size_t size)
{
    return allocate(count, size, true);
}

void mem_free(void *block)
{
    if (!block)
        return;
    struct header *header = header_of(block);
    size_t bytes = header->bytes;
    atomic_fetch_sub(&used, bytes);
    if (header->mapped)
        munmap(header, (bytes + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    else
        free(header);
}

void *mem_realloc(void *block, size_t count, size_t size)
{
    if (!block)
        return mem_alloc(count, size);
    void *grown = mem_alloc(count, size);
    if (!grown)
        return NULL;
    size_t old_bytes = header_of(block)->bytes;
    size_t new_bytes = count * size;
    memcpy(grown, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    mem_free(block);
    return grown;
}

char *mem_strdup(const char *text)
{
    return mem_memdup(text, strlen(text) + 1);
}

void *mem_memdup(const void *bytes, size_t len)
{
    void *copy = mem_alloc(len ? len : 1, 1);
    if (copy && len)
        memcpy(copy, bytes, len);
    return copy;
}

size_t mem_used_bytes(void)
{
    return atomic_load(&used);
}

size_t mem_peak_bytes(void)
{
    return atomic_load(&peak);
}

void mem_reset_peak(void)
{
    atomic_store(&peak, atomic_load(&used));
}

void mem_wipe(void *block, size_t bytes)
{
    explicit_bzero(block, bytes);
}

void mem_fail_after(long after)
{
    atomic_store(&fail_countdown, after);
}

bool mem_reserve(void **array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t grown = *capacity ? *capacity : 16;
    while (grown < needed) {
        if (grown > SIZE_MAX / 2)
            return false;
        grown *= 2;
    }
    void *block = mem_realloc(*array, grown, size);
    if (!block)
        return false;
    *array = block;
    *capacity = grown;
    return true;
}
