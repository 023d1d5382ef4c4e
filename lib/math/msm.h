/* Sums of many points: multi-scalar multiplications and subset sums. */
#ifndef MATH_MSM_H
#define MATH_MSM_H

#include "math/affine.h"

struct pool;

/* The terms of a sum: the points whose bit in `selected` is set, and scalars[i] times the point
   with number index[i]. */
struct msm_terms {
    const char *name;      /* of the points, for messages ("h", "l") */
    const uint8_t *points; /* uncompressed, as in a key's file */
    uint32_t n_points;
    const uint64_t *selected; /* bitmap over the points; NULL: none */
    const uint32_t *index;    /* NULL: scalar i belongs to point i */
    const struct fr *scalars;
    uint32_t n_scalars;
    bool release_pages; /* the points are a read-only map of a file: give pages back to the
                           system as they are done with, they can be read again */
};

/* An upper estimate of the memory that a call holds beyond its arguments, for a few threads. */
enum { MSM_ROOM_BYTES = 192 << 20 };

/* out = the sum, for all values of scalars and points (points of the subgroup; repeated and
   opposite ones included). The result does not depend on pool (NULL: the caller alone) or kernel
   (NULL: the best). CUZK_BAD_PARAMS names the first point found malformed; CUZK_NO_MEMORY. */
enum cuzk_status g1_msm(struct g1 *out, const struct msm_terms *terms,
                        const struct g1_kernel *kernel, struct pool *pool, struct cuzk_error *err);
enum cuzk_status g2_msm(struct g2 *out, const struct msm_terms *terms,
                        const struct g2_kernel *kernel, struct pool *pool, struct cuzk_error *err);

#endif
