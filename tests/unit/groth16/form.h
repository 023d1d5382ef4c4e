/* The bytes of a Lagrange form as key/lagrange_file.h documents them, but for the points. */
#ifndef TESTS_UNIT_GROTH16_FORM_H
#define TESTS_UNIT_GROTH16_FORM_H

#include "base/bytes.h"
#include "base/mem.h"
#include "key/params.h"

enum { FORM_HEADER_BYTES = 4096 };

/* Points are 'h', 'l' or 'i' all over, by the part that they are in. Free with mem_free. */
static inline uint8_t *form_bytes(const struct params *params, const struct shape *shape,
                                  size_t *len)
{
    const size_t h = (size_t)G1_BYTES << shape->log2_domain;
    const size_t l = (size_t)G1_BYTES * shape->n_aux;
    const size_t inputs = (size_t)G1_BYTES * shape->n_inputs;
    *len = FORM_HEADER_BYTES + h + l + inputs;
    uint8_t *bytes = mem_zalloc(*len, 1);
    memcpy(bytes, "CUZKLAGR", 8);
    store_u32_le(bytes + 8, 1);
    store_u32_le(bytes + 12, shape->log2_domain);
    store_u32_le(bytes + 16, shape->n_aux);
    store_u32_le(bytes + 20, shape->n_inputs);
    memcpy(bytes + 24, params->vk.digest, 16);
    memset(bytes + FORM_HEADER_BYTES, 'h', h);
    memset(bytes + FORM_HEADER_BYTES + h, 'l', l);
    memset(bytes + FORM_HEADER_BYTES + h + l, 'i', inputs);
    return bytes;
}

#endif
