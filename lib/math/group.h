/* The groups G1 and G2 of BLS12-381 over blst (docs/spec/groth16.md, parts A.2 and A.3).

   Affine points hold coordinates in Montgomery form; infinity is all zero. Projective points are
   Jacobian; infinity has Z = 0. Every addition below is complete: equal, opposite and infinite
   operands give the right sum. */
#ifndef MATH_GROUP_H
#define MATH_GROUP_H

#include "math/fr.h"

enum {
    G1_BYTES = 96, /* uncompressed, big-endian */
    G2_BYTES = 192,
    G1_COMPRESSED_BYTES = 48,
    G2_COMPRESSED_BYTES = 96,
};

struct g1_affine {
    blst_p1_affine p;
};
struct g2_affine {
    blst_p2_affine p;
};
struct g1 {
    blst_p1 p;
};
struct g2 {
    blst_p2 p;
};

/* How far bytes of a point are trusted. */
enum point_check {
    POINT_CHECK_NONE,     /* flags and canonical coordinates only; infinity is refused */
    POINT_CHECK_CURVE,    /* also: on the curve */
    POINT_CHECK_SUBGROUP, /* also: in the prime-order subgroup */
};

/* Decode one point; false if it is malformed, infinity, or fails the check. */
bool g1_decode(struct g1_affine *out, const uint8_t bytes[G1_BYTES], enum point_check check);
bool g2_decode(struct g2_affine *out, const uint8_t bytes[G2_BYTES], enum point_check check);
/* The coordinates as plain integers, not in Montgomery form; fail as decoding with
   POINT_CHECK_NONE does. For kernels with a form of their own (math/affine.h). */
bool g1_read_integers(struct g1_affine *out, const uint8_t bytes[G1_BYTES]);
bool g2_read_integers(struct g2_affine *out, const uint8_t bytes[G2_BYTES]);
/* The compressed forms are those of proofs and are always checked completely. */
bool g1_decode_compressed(struct g1_affine *out, const uint8_t bytes[G1_COMPRESSED_BYTES]);
bool g2_decode_compressed(struct g2_affine *out, const uint8_t bytes[G2_COMPRESSED_BYTES]);

void g1_encode(uint8_t bytes[G1_BYTES], const struct g1_affine *a);
void g2_encode(uint8_t bytes[G2_BYTES], const struct g2_affine *a);
void g1_compress(uint8_t bytes[G1_COMPRESSED_BYTES], const struct g1_affine *a);
void g2_compress(uint8_t bytes[G2_COMPRESSED_BYTES], const struct g2_affine *a);

const struct g1_affine *g1_generator(void);
const struct g2_affine *g2_generator(void);

void g1_set_infinity(struct g1 *out);
void g2_set_infinity(struct g2 *out);
bool g1_is_infinity(const struct g1 *a);
bool g2_is_infinity(const struct g2 *a);
bool g1_affine_is_infinity(const struct g1_affine *a);
bool g2_affine_is_infinity(const struct g2_affine *a);
void g1_from_affine(struct g1 *out, const struct g1_affine *a);
void g2_from_affine(struct g2 *out, const struct g2_affine *a);
void g1_to_affine(struct g1_affine *out, const struct g1 *a);
void g2_to_affine(struct g2_affine *out, const struct g2 *a);
void g1_add(struct g1 *out, const struct g1 *a, const struct g1 *b);
void g2_add(struct g2 *out, const struct g2 *a, const struct g2 *b);
void g1_add_affine(struct g1 *out, const struct g1 *a, const struct g1_affine *b);
void g2_add_affine(struct g2 *out, const struct g2 *a, const struct g2_affine *b);
void g1_neg(struct g1 *out, const struct g1 *a);
void g1_affine_neg(struct g1_affine *out, const struct g1_affine *a);
bool g1_equal(const struct g1 *a, const struct g1 *b);
bool g2_equal(const struct g2 *a, const struct g2 *b);

/* scalar · a, in constant time with regard to the scalar. */
void g1_mul(struct g1 *out, const struct g1 *a, const struct fr *scalar);
void g2_mul(struct g2 *out, const struct g2 *a, const struct fr *scalar);

/* Σ scalars[i]·points[i] over n ≥ 1 points, meant for some thousands of points (for millions:
   math/msm.h). Scalars have `bits` bits, in (bits + 7) / 8 little-endian bytes each. The running
   time depends on the scalars, so they must be public. CUZK_NO_MEMORY. */
enum cuzk_status g1_sum_multiples(struct g1 *out, const struct g1_affine *points,
                                  const uint8_t *scalars, size_t n, size_t bits,
                                  struct cuzk_error *err);

#endif
