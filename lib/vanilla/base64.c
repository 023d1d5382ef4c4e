#include "vanilla/base64.h"

#include "base/error.h"

#include <stdbool.h>

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static enum cuzk_status refuse(const struct base64 *state, char c, struct cuzk_error *err)
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

/* '=' closes a group of 2 or 3 characters whose unused bits are zero; two of them follow 2
 * characters. */
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
        int value = value_of(text[i]);
        if (text[i] == '=' && padding_fits(state)) {
            if (filled == 3 && state->padding == 0) {
                *out++ = (uint8_t)(state->pending >> 10);
                *out++ = (uint8_t)(state->pending >> 2);
            } else if (filled == 2) {
                *out++ = (uint8_t)(state->pending >> 4);
            }
            state->padding++;
        } else if (value < 0 || state->padding > 0) {
            status = refuse(state, text[i], err);
        } else {
            state->pending = (filled == 0 ? 0 : state->pending << 6) | (uint32_t)value;
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
