/* Reading and writing integers of a given byte order, and hexadecimal text. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t load_u32_be(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint32_t load_u32_le(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline uint64_t load_u64_le(const uint8_t *p)
{
    return (uint64_t)load_u32_le(p + 4) << 32 | load_u32_le(p);
}

static inline uint64_t load_u64_be(const uint8_t *p)
{
    return (uint64_t)load_u32_be(p) << 32 | load_u32_be(p + 4);
}

static inline void store_u32_be(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static inline void store_u32_le(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
}

static inline void store_u64_be(uint8_t *p, uint64_t v)
{
    store_u32_be(p, (uint32_t)(v >> 32));
    store_u32_be(p + 4, (uint32_t)v);
}

static inline void store_u64_le(uint8_t *p, uint64_t v)
{
    store_u32_le(p, (uint32_t)v);
    store_u32_le(p + 4, (uint32_t)(v >> 32));
}

/* Writes 2·len lower-case digits and a terminator to out. */
void hex_encode(const uint8_t *bytes, size_t len, char *out);

/* Reads exactly 2·len digits of either case, followed by the terminator; false otherwise. */
bool hex_decode(const char *text, uint8_t *bytes, size_t len);

#endif
