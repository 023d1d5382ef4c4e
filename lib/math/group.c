#include "math/group.h"

#include "base/error.h"
#include "base/mem.h"

#include <endian.h>

enum { FP_BYTES = 48 };

/* Flags in the first byte of a compressed point (part A.3). */
enum { FLAG_COMPRESSED = 0x80, FLAG_INFINITY = 0x40 };

/* q, big-endian. */
static const uint8_t modulus_bytes[FP_BYTES] = {
    0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7,
    0x64, 0x77, 0x4b, 0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24,
    0x1e, 0xab, 0xff, 0xfe, 0xb1, 0x53, 0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab,
};

/* False unless the bytes are canonical (< q), which also means that no flag is set. */
static bool fp_decode(blst_fp *out, const uint8_t bytes[FP_BYTES])
{
    if (memcmp(bytes, modulus_bytes, FP_BYTES) >= 0)
        return false;
    blst_fp_from_bendian(out, bytes);
    return true;
}

/* Neither coordinate has a flag set here: fp_decode refuses bytes with flags. */
bool g1_decode(struct g1_affine *out, const uint8_t bytes[G1_BYTES], enum point_check check)
{
    struct g1_affine point;
    if (!fp_decode(&point.p.x, bytes) || !fp_decode(&point.p.y, bytes + FP_BYTES))
        return false;
    /* (0, 0) is not on the curve, but would be taken for infinity. */
    if (g1_affine_is_infinity(&point))
        return false;
    if (check >= POINT_CHECK_CURVE && !blst_p1_affine_on_curve(&point.p))
        return false;
    if (check >= POINT_CHECK_SUBGROUP && !blst_p1_affine_in_g1(&point.p))
        return false;
    *out = point;
    return true;
}

bool g2_decode(struct g2_affine *out, const uint8_t bytes[G2_BYTES], enum point_check check)
{
    struct g2_affine point;
    blst_fp2 *x = &point.p.x;
    blst_fp2 *y = &point.p.y;
    if (!fp_decode(&x->fp[1], bytes) || !fp_decode(&x->fp[0], bytes + FP_BYTES) ||
        !fp_decode(&y->fp[1], bytes + 2 * FP_BYTES) || !fp_decode(&y->fp[0], bytes + 3 * FP_BYTES))
        return false;
    if (g2_affine_is_infinity(&point))
        return false;
    if (check >= POINT_CHECK_CURVE && !blst_p2_affine_on_curve(&point.p))
        return false;
    if (check >= POINT_CHECK_SUBGROUP && !blst_p2_affine_in_g2(&point.p))
        return false;
    *out = point;
    return true;
}

static void read_integer(blst_fp *out, const uint8_t bytes[FP_BYTES])
{
    for (unsigned i = 0; i < FP_BYTES / 8; i++) {
        uint64_t word;
        memcpy(&word, bytes + FP_BYTES - 8 * (i + 1), sizeof word);
        out->l[i] = be64toh(word);
    }
}

bool g1_read_integers(struct g1_affine *out, const uint8_t bytes[G1_BYTES])
{
    if (memcmp(bytes, modulus_bytes, FP_BYTES) >= 0 ||
        memcmp(bytes + FP_BYTES, modulus_bytes, FP_BYTES) >= 0)
        return false;
    read_integer(&out->p.x, bytes);
    read_integer(&out->p.y, bytes + FP_BYTES);
    return !g1_affine_is_infinity(out);
}

bool g2_read_integers(struct g2_affine *out, const uint8_t bytes[G2_BYTES])
{
    for (unsigned i = 0; i < 4; i++) {
        if (memcmp(bytes + i * FP_BYTES, modulus_bytes, FP_BYTES) >= 0)
            return false;
    }
    read_integer(&out->p.x.fp[1], bytes);
    read_integer(&out->p.x.fp[0], bytes + FP_BYTES);
    read_integer(&out->p.y.fp[1], bytes + 2 * FP_BYTES);
    read_integer(&out->p.y.fp[0], bytes + 3 * FP_BYTES);
    return !g2_affine_is_infinity(out);
}

bool g1_decode_compressed(struct g1_affine *out, const uint8_t bytes[G1_COMPRESSED_BYTES])
{
    if ((bytes[0] & (FLAG_COMPRESSED | FLAG_INFINITY)) != FLAG_COMPRESSED)
        return false;
    struct g1_affine point;
    if (blst_p1_uncompress(&point.p, bytes) != BLST_SUCCESS || !blst_p1_affine_in_g1(&point.p))
        return false;
    *out = point;
    return true;
}

bool g2_decode_compressed(struct g2_affine *out, const uint8_t bytes[G2_COMPRESSED_BYTES])
{
    if ((bytes[0] & (FLAG_COMPRESSED | FLAG_INFINITY)) != FLAG_COMPRESSED)
        return false;
    struct g2_affine point;
    if (blst_p2_uncompress(&point.p, bytes) != BLST_SUCCESS || !blst_p2_affine_in_g2(&point.p))
        return false;
    *out = point;
    return true;
}

void g1_encode(uint8_t bytes[G1_BYTES], const struct g1_affine *a)
{
    blst_p1_affine_serialize(bytes, &a->p);
}

void g2_encode(uint8_t bytes[G2_BYTES], const struct g2_affine *a)
{
    blst_p2_affine_serialize(bytes, &a->p);
}

void g1_compress(uint8_t bytes[G1_COMPRESSED_BYTES], const struct g1_affine *a)
{
    blst_p1_affine_compress(bytes, &a->p);
}

void g2_compress(uint8_t bytes[G2_COMPRESSED_BYTES], const struct g2_affine *a)
{
    blst_p2_affine_compress(bytes, &a->p);
}

const struct g1_affine *g1_generator(void)
{
    return (const struct g1_affine *)blst_p1_affine_generator();
}

const struct g2_affine *g2_generator(void)
{
    return (const struct g2_affine *)blst_p2_affine_generator();
}

void g1_set_infinity(struct g1 *out)
{
    memset(out, 0, sizeof *out);
}

void g2_set_infinity(struct g2 *out)
{
    memset(out, 0, sizeof *out);
}

bool g1_is_infinity(const struct g1 *a)
{
    return blst_p1_is_inf(&a->p);
}

bool g2_is_infinity(const struct g2 *a)
{
    return blst_p2_is_inf(&a->p);
}

bool g1_affine_is_infinity(const struct g1_affine *a)
{
    return blst_p1_affine_is_inf(&a->p);
}

bool g2_affine_is_infinity(const struct g2_affine *a)
{
    return blst_p2_affine_is_inf(&a->p);
}

void g1_from_affine(struct g1 *out, const struct g1_affine *a)
{
    blst_p1_from_affine(&out->p, &a->p);
}

void g2_from_affine(struct g2 *out, const struct g2_affine *a)
{
    blst_p2_from_affine(&out->p, &a->p);
}

void g1_to_affine(struct g1_affine *out, const struct g1 *a)
{
    blst_p1_to_affine(&out->p, &a->p);
}

void g2_to_affine(struct g2_affine *out, const struct g2 *a)
{
    blst_p2_to_affine(&out->p, &a->p);
}

void g1_add(struct g1 *out, const struct g1 *a, const struct g1 *b)
{
    blst_p1_add_or_double(&out->p, &a->p, &b->p);
}

void g2_add(struct g2 *out, const struct g2 *a, const struct g2 *b)
{
    blst_p2_add_or_double(&out->p, &a->p, &b->p);
}

void g1_add_affine(struct g1 *out, const struct g1 *a, const struct g1_affine *b)
{
    blst_p1_add_or_double_affine(&out->p, &a->p, &b->p);
}

void g2_add_affine(struct g2 *out, const struct g2 *a, const struct g2_affine *b)
{
    blst_p2_add_or_double_affine(&out->p, &a->p, &b->p);
}

void g1_neg(struct g1 *out, const struct g1 *a)
{
    *out = *a;
    blst_p1_cneg(&out->p, true);
}

void g1_affine_neg(struct g1_affine *out, const struct g1_affine *a)
{
    *out = *a;
    blst_fp_cneg(&out->p.y, &out->p.y, true);
}

bool g1_equal(const struct g1 *a, const struct g1 *b)
{
    return blst_p1_is_equal(&a->p, &b->p);
}

bool g2_equal(const struct g2 *a, const struct g2 *b)
{
    return blst_p2_is_equal(&a->p, &b->p);
}

void g1_mul(struct g1 *out, const struct g1 *a, const struct fr *scalar)
{
    uint8_t bytes[FR_BYTES];
    fr_to_bytes(bytes, scalar);
    blst_p1_mult(&out->p, &a->p, bytes, FR_BITS);
    mem_wipe(bytes, sizeof bytes);
}

void g2_mul(struct g2 *out, const struct g2 *a, const struct fr *scalar)
{
    uint8_t bytes[FR_BYTES];
    fr_to_bytes(bytes, scalar);
    blst_p2_mult(&out->p, &a->p, bytes, FR_BITS);
    mem_wipe(bytes, sizeof bytes);
}

enum cuzk_status g1_sum_multiples(struct g1 *out, const struct g1_affine *points,
                                  const uint8_t *scalars, size_t n, size_t bits,
                                  struct cuzk_error *err)
{
    if (n == 1) { /* blst's sums are for two points and more */
        struct g1 point;
        g1_from_affine(&point, points);
        blst_p1_mult(&out->p, &point.p, scalars, bits);
        return CUZK_OK;
    }
    void *scratch = mem_alloc(blst_p1s_mult_pippenger_scratch_sizeof(n), 1);
    if (!scratch)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a sum of %zu points", n);
    /* One pointer and NULL: the rest follows in memory. */
    const blst_p1_affine *const point_list[] = {&points[0].p, NULL};
    const uint8_t *const scalar_list[] = {scalars, NULL};
    blst_p1s_mult_pippenger(&out->p, point_list, n, scalar_list, bits, scratch);
    mem_free(scratch);
    return CUZK_OK;
}
