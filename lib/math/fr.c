#include "math/fr.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <sys/random.h>

const struct fr fr_zero = {{{0, 0, 0, 0}}};
const struct fr fr_one = {
    {{0x00000001fffffffe, 0x5884b7fa00034802, 0x998c4fefecbc4ff5, 0x1824b159acc5056f}}};
const struct fr fr_minus_one = {
    {{0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8}}};
const struct fr fr_generator = {
    {{0x0000000efffffff1, 0x17e363d300189c0f, 0xff9c57876f8457b0, 0x351332208fc5a8c4}}};
const struct fr fr_root_of_unity = {
    {{0xb9b58d8c5f0e466a, 0x5b1b4c801819d7ec, 0x0af53ae352a31e64, 0x5bf3adda19e9b27b}}};

void fr_from_u64(struct fr *out, uint64_t value)
{
    const uint64_t limbs[4] = {value, 0, 0, 0};
    blst_fr_from_uint64(&out->v, limbs);
}

void fr_pow(struct fr *out, const struct fr *base, uint64_t exponent)
{
    struct fr result = fr_one;
    struct fr square = *base;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1)
            fr_mul(&result, &result, &square);
        fr_sqr(&square, &square);
    }
    *out = result;
}

void fr_pow2(struct fr *out, unsigned exponent)
{
    CHECK(exponent < 256);
    uint64_t limbs[4] = {0};
    /* 2^255 exceeds r, so the last doubling is done in the field. */
    const unsigned bit = exponent < 255 ? exponent : 254;
    limbs[bit / 64] = UINT64_C(1) << (bit % 64);
    blst_fr_from_uint64(&out->v, limbs);
    if (bit != exponent)
        fr_double(out, out);
}

bool fr_from_bytes(struct fr *out, const uint8_t bytes[FR_BYTES])
{
    blst_scalar scalar;
    blst_scalar_from_lendian(&scalar, bytes);
    if (!blst_scalar_fr_check(&scalar))
        return false;
    blst_fr_from_scalar(&out->v, &scalar);
    return true;
}

void fr_to_bytes(uint8_t bytes[FR_BYTES], const struct fr *a)
{
    blst_scalar scalar;
    blst_scalar_from_fr(&scalar, &a->v);
    blst_lendian_from_scalar(bytes, &scalar);
}

void fr_to_limbs(uint64_t limbs[4], const struct fr *a)
{
    blst_uint64_from_fr(limbs, &a->v);
}

void fr_batch_inv(struct fr *elements, size_t n, struct fr *scratch)
{
    struct fr product = fr_one;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = product;
        if (!fr_is_zero(&elements[i]))
            fr_mul(&product, &product, &elements[i]);
    }
    fr_inv(&product, &product);
    for (size_t i = n; i-- > 0;) {
        if (fr_is_zero(&elements[i]))
            continue;
        struct fr inverse;
        fr_mul(&inverse, &product, &scratch[i]);
        fr_mul(&product, &product, &elements[i]);
        elements[i] = inverse;
    }
}

void fr_omega(struct fr *out, unsigned log2_order)
{
    CHECK(log2_order <= FR_TWO_ADICITY);
    *out = fr_root_of_unity;
    for (unsigned i = log2_order; i < FR_TWO_ADICITY; i++)
        fr_sqr(out, out);
}

enum cuzk_status fr_random(struct fr *out, struct cuzk_error *err)
{
    uint8_t bytes[FR_BYTES];
    bool canonical = false;
    /* Rejection keeps the distribution uniform: 255 bits are canonical in 91 of 100 draws. */
    while (!canonical) {
        size_t have = 0;
        while (have < sizeof bytes) {
            const ssize_t got = getrandom(bytes + have, sizeof bytes - have, 0);
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                return error_errno(err, CUZK_IO, errno, "random scalar: getrandom");
            have += (size_t)got;
        }
        bytes[FR_BYTES - 1] &= 0x7f;
        canonical = fr_from_bytes(out, bytes);
    }
    mem_wipe(bytes, sizeof bytes);
    return CUZK_OK;
}
