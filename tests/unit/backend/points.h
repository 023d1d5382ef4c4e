/* Points that are known multiples of the generator, so that a sum is known from the scalars. */
#ifndef TESTS_UNIT_BACKEND_POINTS_H
#define TESTS_UNIT_BACKEND_POINTS_H

#include "base/mem.h"
#include "math/group.h"
#include "support/support.h"

static inline void g1_multiple(struct g1 *out, const struct fr *log)
{
    g1_from_affine(out, g1_generator());
    g1_mul(out, out, log);
}

/* The bytes of log times the generator. */
static inline void encode_multiple(uint8_t bytes[G1_BYTES], const struct fr *log)
{
    struct g1 point;
    struct g1_affine affine;
    g1_multiple(&point, log);
    g1_to_affine(&affine, &point);
    g1_encode(bytes, &affine);
}

/* Point i of a section is (first + i) times the generator. */
static inline uint8_t *make_g1(uint64_t first, uint32_t n)
{
    uint8_t *bytes = mem_alloc(n, G1_BYTES);
    struct g1 point;
    struct fr log;
    fr_from_u64(&log, first);
    g1_multiple(&point, &log);
    for (uint32_t i = 0; i < n; i++) {
        struct g1_affine affine;
        g1_to_affine(&affine, &point);
        g1_encode(bytes + (size_t)i * G1_BYTES, &affine);
        g1_add_affine(&point, &point, g1_generator());
    }
    return bytes;
}

static inline void assert_g1(const char *backend, const char *sum, const struct g1 *found,
                             const struct fr *log)
{
    struct g1 expected;
    g1_multiple(&expected, log);
    if (!g1_equal(found, &expected))
        fail_msg("%s: sum %s is wrong", backend, sum);
}

#endif
