#include "vanilla/base64.h"

#include "base/error.h"

#include <stdbool.h>

/* Set in the table for each of the 64 characters, beside its value. */
enum { IS_VALUE = 0x40 };

#define AT(c, value) [c] = IS_VALUE | (value)
#define AT_4(c, value)                                                                             \
    AT(c, value), AT((c) + 1, (value) + 1), AT((c) + 2, (value) + 2), AT((c) + 3, (value) + 3)
#define AT_8(c, value) AT_4(c, value), AT_4((c) + 4, (value) + 4)
#define AT_26(c, value)                                                                            \
    AT_8(c, value), AT_8((c) + 8, (value) + 8), AT_8((c) + 16, (value) + 16),                      \
        AT((c) + 24, (value) + 24), AT((c) + 25, (value) + 25)

static const uint8_t values[256] = {
    AT_26('A', 0), AT_26('a', 26), AT_8('0', 52), AT('8', 60),
    AT('9', 61),   AT('+', 62),    AT('/', 63),
};

/* Decodes groups of four characters, up to the first group with a character outside the alphabet.
   Returns the number of groups decoded. */
static size_t decode_groups(const char *text, size_t groups, uint8_t *out)
{
    for (size_t i = 0; i < groups; i++) {
        const uint8_t *in = (const uint8_t *)text + 4 * i;
        const uint32_t a = values[in[0]], b = values[in[1]], c = values[in[2]], d = values[in[3]];
        if ((a & b & c & d & IS_VALUE) == 0)
            return i;
        const uint32_t bits = (a & 63) << 18 | (b & 63) << 12 | (c & 63) << 6 | (d & 63);
        out[3 * i] = (uint8_t)(bits >> 16);
        out[3 * i + 1] = (uint8_t)(bits >> 8);
        out[3 * i + 2] = (uint8_t)bits;
    }
    return groups;
}

static enum cuzk_status refuse_character(const struct base64 *state, char c, struct cuzk_error *err)
{
    unsigned long long at = state->read;
    if (state->padding > 0)
        return error_set(err, CUZK_INVALID_ARGUMENT, "text behind the padding, at character %llu",
                         at);
    if (c == '=')
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "padding in the wrong place or of the wrong length, at character %llu",
                         at);
    if (c == '\\')
        return error_set(
            err, CUZK_INVALID_ARGUMENT,
            "an escape sequence (a line break?), expected standard base64, at character "
            "%llu",
            at);
    return error_set(
        err, CUZK_INVALID_ARGUMENT,
        "character 0x%02x is not of the standard base64 alphabet (A-Z a-z 0-9 + /), at "
        "character %llu",
        (unsigned)(unsigned char)c, at);
}

/* '=' may follow a group of 2 or 3 characters whose unused bits are zero; after 2 characters there
   are two of them. */
static bool padding_fits(const struct base64 *state)
{
    unsigned filled = (unsigned)(state->read % 4);
    if (state->padding == 1 && filled == 3)
        return true;
    if (state->padding > 0 || filled < 2)
        return false;
    return (state->pending & (filled == 2 ? 0xfu : 0x3u)) == 0;
}

enum cuzk_status base64_decode(struct base64 *state, const char *text, size_t len, uint8_t *bytes,
                               size_t *out_len, struct cuzk_error *err)
{
    uint8_t *out = bytes;
    enum cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < len && status == CUZK_OK; i++) {
        unsigned filled = (unsigned)(state->read % 4);
        if (filled == 0 && state->padding == 0) {
            size_t groups = decode_groups(text + i, (len - i) / 4, out);
            out += 3 * groups;
            i += 4 * groups;
            state->read += 4 * groups;
            if (i == len)
                break;
        }
        uint8_t value = values[(uint8_t)text[i]];
        if (text[i] == '=' && padding_fits(state)) {
            if (filled == 3 && state->padding == 0) {
                *out++ = (uint8_t)(state->pending >> 10);
                *out++ = (uint8_t)(state->pending >> 2);
            } else if (filled == 2) {
                *out++ = (uint8_t)(state->pending >> 4);
            }
            state->padding++;
        } else if (value == 0 || state->padding > 0) {
            status = refuse_character(state, text[i], err);
        } else {
            state->pending = (filled == 0 ? 0 : state->pending << 6) | (value & 63);
            if (filled == 3) {
                *out++ = (uint8_t)(state->pending >> 16);
                *out++ = (uint8_t)(state->pending >> 8);
                *out++ = (uint8_t)state->pending;
            }
        }
        state->read += status == CUZK_OK;
    }
    *out_len = (size_t)(out - bytes);
    return status;
}

enum cuzk_status base64_end(const struct base64 *state, struct cuzk_error *err)
{
    if (state->read % 4 == 0)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT,
                     "%llu characters, expected a multiple of 4 (is the padding missing?)",
                     (unsigned long long)state->read);
}
