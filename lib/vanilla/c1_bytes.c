#include "vanilla/c1_internal.h"

#include "base/bytes.h"

/* A number as text in a little-endian word, its last digit in byte 2. */
#define WRITTEN(n)                                                                                 \
    ((n) > 99 ? '0' + (n) / 100u : 0) | ((n) > 9 ? '0' + (n) / 10u % 10 : 0) << 8 |                \
        ('0' + (n) % 10u) << 16
#define WRITTEN_4(n) WRITTEN(n), WRITTEN((n) + 1), WRITTEN((n) + 2), WRITTEN((n) + 3)
#define WRITTEN_16(n) WRITTEN_4(n), WRITTEN_4((n) + 4), WRITTEN_4((n) + 8), WRITTEN_4((n) + 12)
#define WRITTEN_64(n)                                                                              \
    WRITTEN_16(n), WRITTEN_16((n) + 16), WRITTEN_16((n) + 32), WRITTEN_16((n) + 48)

static const uint32_t written[256] = {WRITTEN_64(0), WRITTEN_64(64), WRITTEN_64(128),
                                      WRITTEN_64(192)};

/* Reads a number and the ',' or ']' behind it. Returns the place that follows; NULL if the text is
   anything else. No branch depends on the number of digits, which no processor could predict. */
static inline const uint8_t *read_number(const uint8_t *text, char end, uint8_t *value)
{
    /* Digits become 0 to 9, a comma 0x1c and a bracket 0x6d: each end has a bit of its own. */
    const uint32_t word = load_u32_le(text);
    const uint32_t ends = (word ^ 0x30303030) & (end == ',' ? 0x10101000 : 0x20202000);
    if (ends == 0)
        return NULL;
    const unsigned n = (unsigned)__builtin_ctz(ends) / 8; /* digits */
    const uint32_t moved = word << (24 - 8 * n);          /* the end is in byte 3 now */
    const uint32_t digits = (word ^ 0x30303030) << (24 - 8 * n);
    *value = (uint8_t)(digits * (100u << 16 | 10u << 8 | 1) >> 16);
    /* A number over 255, or with a leading zero, is not equal to its text in the table. */
    if (moved != (written[*value] | (uint32_t)(uint8_t)end << 24))
        return NULL;
    return text + n + 1;
}

size_t c1_bytes_read(uint8_t bytes[32], const char *text, size_t len)
{
    const uint8_t *const begin = (const uint8_t *)text;
    if (len < C1_BYTES_TEXT_MAX)
        return 0;
    const uint8_t *next = begin;
    for (unsigned i = 0; i < 31; i++) {
        next = read_number(next, ',', &bytes[i]);
        if (!next)
            return 0;
    }
    next = read_number(next, ']', &bytes[31]);
    return next ? (size_t)(next - 1 - begin) : 0;
}
