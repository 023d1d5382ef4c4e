/* Additions of affine points in batches: the inner loop of every group sum.

   An affine addition needs the inverse of x_b - x_a. Many independent additions share one inversion
   (Montgomery's trick), which leaves 5 products and 1 square for each: fewer than any projective
   form.

   A kernel is one implementation of that loop. Its points are two canonical coordinates (infinity
   is all zero) in the kernel's own Montgomery form, so points of different kernels must not be
   mixed: they come in by decode and leave by to_standard. Negating y is the same in every form. */
#ifndef MATH_AFFINE_H
#define MATH_AFFINE_H

#include "math/group.h"

/* out = a + b, or a - b; out may be a or b, but no other pair's operand. */
struct g1_pair {
    const struct g1_affine *a, *b;
    struct g1_affine *out;
    bool negate_b;
};
struct g2_pair {
    const struct g2_affine *a, *b;
    struct g2_affine *out;
    bool negate_b;
};

/* Bytes of scratch that n pairs need, and the alignment that it must have. */
enum { AFFINE_SCRATCH_BYTES = 128, AFFINE_SCRATCH_EXTRA = 1024, AFFINE_SCRATCH_ALIGN = 64 };
static inline size_t affine_scratch_bytes(size_t n)
{
    return n * AFFINE_SCRATCH_BYTES + AFFINE_SCRATCH_EXTRA;
}

/* Points of a later batch: points[refs[i] >> 1], i < n. They are scattered over more memory than
   the near caches of a core hold, so a kernel prefetches them while it computes the batch
   before. */
struct affine_ahead {
    const void *points;
    const uint32_t *refs;
    size_t n;
};

/* Prefetches up to `count` of them; point_bytes is the size of one. */
static inline void affine_fetch(struct affine_ahead *ahead, size_t count, size_t point_bytes)
{
    for (; ahead && count > 0 && ahead->n > 0; count--, ahead->n--) {
        const char *point = (const char *)ahead->points + (*ahead->refs++ >> 1) * point_bytes;
        for (size_t offset = 0; offset < point_bytes; offset += 64)
            __builtin_prefetch(point + offset);
        __builtin_prefetch(point + point_bytes - 1);
    }
}

struct g1_kernel {
    const char *name;
    /* Decodes n uncompressed points, number index[i] of `points` (i itself if index is NULL), as
       POINT_CHECK_NONE does. Returns n, or the first i whose point is malformed. */
    size_t (*decode)(struct g1_affine *out, const uint8_t *points, const uint32_t *index, size_t n);
    /* Computes all pairs; equal, opposite and infinite operands are allowed. Prefetches from *ahead
       on the way, two points a pair; NULL: nothing to prefetch. */
    void (*add_pairs)(const struct g1_pair *pairs, size_t n, void *scratch,
                      struct affine_ahead *ahead);
    /* Converts to the form of math/group.h. */
    void (*to_standard)(struct g1_affine *out, const struct g1_affine *a);
};

struct g2_kernel {
    const char *name;
    size_t (*decode)(struct g2_affine *out, const uint8_t *points, const uint32_t *index, size_t n);
    void (*add_pairs)(const struct g2_pair *pairs, size_t n, void *scratch,
                      struct affine_ahead *ahead);
    void (*to_standard)(struct g2_affine *out, const struct g2_affine *a);
};

extern const struct g1_kernel g1_kernel_portable;
extern const struct g2_kernel g2_kernel_portable;
extern const struct g1_kernel g1_kernel_avx2; /* x86-64 with AVX2 and FMA */
extern const struct g1_kernel g1_kernel_ifma; /* x86-64 with AVX-512 IFMA */
extern const struct g2_kernel g2_kernel_ifma;

/* The kernels that run on this machine, the fastest first; NULL follows the last one. */
const struct g1_kernel *const *g1_kernels(void);
const struct g2_kernel *const *g2_kernels(void);

#endif
