/* The scalar field Fr of BLS12-381 (docs/spec/groth16.md, part A.1).

   r = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001, two-adicity 32,
   generator 7. A struct fr holds a canonical residue in Montgomery form (R = 2^256), four 64-bit
   limbs, least significant first: the form that blst, the reference and the GPU use. Outside form:
   32 bytes, little-endian, canonical. Operands may alias results. */
#ifndef MATH_FR_H
#define MATH_FR_H

#include <blst.h>
#include <cuzk/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FR_BYTES = 32, FR_BITS = 255, FR_CAPACITY = 254, FR_TWO_ADICITY = 32 };

struct fr {
    blst_fr v;
};

extern const struct fr fr_zero;
extern const struct fr fr_one;
extern const struct fr fr_minus_one;
extern const struct fr fr_generator;     /* 7 */
extern const struct fr fr_root_of_unity; /* of order 2^32: 7^((r-1)/2^32) */

static inline void fr_add(struct fr *out, const struct fr *a, const struct fr *b)
{
    blst_fr_add(&out->v, &a->v, &b->v);
}

static inline void fr_sub(struct fr *out, const struct fr *a, const struct fr *b)
{
    blst_fr_sub(&out->v, &a->v, &b->v);
}

static inline void fr_neg(struct fr *out, const struct fr *a)
{
    blst_fr_cneg(&out->v, &a->v, true);
}

static inline void fr_double(struct fr *out, const struct fr *a)
{
    blst_fr_add(&out->v, &a->v, &a->v);
}

static inline void fr_mul(struct fr *out, const struct fr *a, const struct fr *b)
{
    blst_fr_mul(&out->v, &a->v, &b->v);
}

static inline void fr_sqr(struct fr *out, const struct fr *a)
{
    blst_fr_sqr(&out->v, &a->v);
}

/* 1/a; 0 for 0. */
static inline void fr_inv(struct fr *out, const struct fr *a)
{
    blst_fr_eucl_inverse(&out->v, &a->v);
}

static inline bool fr_equal(const struct fr *a, const struct fr *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static inline bool fr_is_zero(const struct fr *a)
{
    return (a->v.l[0] | a->v.l[1] | a->v.l[2] | a->v.l[3]) == 0;
}

static inline bool fr_is_one(const struct fr *a)
{
    return fr_equal(a, &fr_one);
}

void fr_from_u64(struct fr *out, uint64_t value);

/* From a 256-bit integer, least significant limb first, reduced modulo r. */
static inline void fr_from_limbs(struct fr *out, const uint64_t limbs[4])
{
    blst_fr_from_uint64(&out->v, limbs);
}

/* base^exponent. */
void fr_pow(struct fr *out, const struct fr *base, uint64_t exponent);

/* 2^exponent, exponent < 256. */
void fr_pow2(struct fr *out, unsigned exponent);

/* From 32 little-endian bytes. False, with *out unchanged, unless they are canonical (< r). All
   field elements from outside pass through this function. */
bool fr_from_bytes(struct fr *out, const uint8_t bytes[FR_BYTES]);

/* Canonical little-endian bytes / 64-bit limbs (not Montgomery). */
void fr_to_bytes(uint8_t bytes[FR_BYTES], const struct fr *a);
void fr_to_limbs(uint64_t limbs[4], const struct fr *a);

/* Inverts n elements in place with one inversion (Montgomery's trick); zeros stay zero. scratch has
   room for n elements. */
void fr_batch_inv(struct fr *elements, size_t n, struct fr *scratch);

/* A root of unity of order 2^log2_order, log2_order ≤ 32. */
void fr_omega(struct fr *out, unsigned log2_order);

/* A uniformly random element from getrandom(2); CUZK_IO if the system has no randomness. */
enum cuzk_status fr_random(struct fr *out, struct cuzk_error *err);

/* FrSafe: clears the two top bits of a little-endian 32-byte string, which makes it canonical. */
static inline void fr_make_safe(uint8_t bytes[FR_BYTES])
{
    bytes[FR_BYTES - 1] &= 0x3f;
}

#endif
