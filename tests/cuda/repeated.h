/* Sections of a key as large as wanted, of few different points. */
#ifndef TESTS_CUDA_REPEATED_H
#define TESTS_CUDA_REPEATED_H

#include "base/mem.h"
#include "math/group.h"
#include "support/support.h"

#include <sys/mman.h>
#include <unistd.h>

/* Point i of every section is 1 + i mod PERIOD times the generator: the sections are one small
   file, mapped again and again, so it has whole pages. Not a power of two, so that a transform does
   not find the same points at its distances. */
enum { PERIOD = (1 << 16) - 128 };

struct pattern {
    int fd;
    size_t bytes;
};

static inline struct pattern make_pattern(const void *points, size_t bytes)
{
    struct pattern pattern = {memfd_create("points", 0), bytes};
    assert_true(pattern.fd >= 0);
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = write(pattern.fd, (const char *)points + done, bytes - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
    return pattern;
}

static inline struct pattern g1_pattern(void)
{
    uint8_t *bytes = mem_alloc(PERIOD, G1_BYTES);
    struct g1 point;
    g1_from_affine(&point, g1_generator());
    for (size_t i = 0; i < PERIOD; i++) {
        struct g1_affine affine;
        g1_to_affine(&affine, &point);
        g1_encode(bytes + i * G1_BYTES, &affine);
        g1_add_affine(&point, &point, g1_generator());
    }
    struct pattern pattern = make_pattern(bytes, (size_t)PERIOD * G1_BYTES);
    mem_free(bytes);
    return pattern;
}

static inline struct pattern g2_pattern(void)
{
    uint8_t *bytes = mem_alloc(PERIOD, G2_BYTES);
    struct g2 point;
    g2_from_affine(&point, g2_generator());
    for (size_t i = 0; i < PERIOD; i++) {
        struct g2_affine affine;
        g2_to_affine(&affine, &point);
        g2_encode(bytes + i * G2_BYTES, &affine);
        g2_add_affine(&point, &point, g2_generator());
    }
    struct pattern pattern = make_pattern(bytes, (size_t)PERIOD * G2_BYTES);
    mem_free(bytes);
    return pattern;
}

/* n points; never unmapped. */
static inline uint8_t *repeat(const struct pattern *pattern, uint32_t n)
{
    const size_t times = ((size_t)n + PERIOD - 1) / PERIOD;
    uint8_t *all =
        mmap(NULL, (times + 1) * pattern->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED);
    for (size_t i = 0; i < times; i++)
        assert_true(mmap(all + i * pattern->bytes, pattern->bytes, PROT_READ,
                         MAP_SHARED | MAP_FIXED, pattern->fd, 0) != MAP_FAILED);
    return all;
}

#endif
