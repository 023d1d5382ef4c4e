#include "base/text.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool make_room(struct text *text, size_t more)
{
    if (!text->failed && MEM_GROW(text->data, text->capacity, text->len + more + 1))
        return true;
    text->failed = true;
    return false;
}

void text_add_bytes(struct text *text, const char *bytes, size_t len)
{
    if (!make_room(text, len))
        return;
    memcpy(text->data + text->len, bytes, len);
    text->len += len;
    text->data[text->len] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || !make_room(text, (size_t)len))
        return;
    va_start(args, format);
    vsnprintf(text->data + text->len, (size_t)len + 1, format, args);
    va_end(args);
    text->len += (size_t)len;
}

/* Length of the valid UTF-8 sequence at s, 0 if there is none. */
static size_t utf8_len(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf && (s[1] & 0xc0) == 0x80)
        return 2;
    if ((s[0] & 0xf0) == 0xe0 && (s[1] & 0xc0) == 0x80 && (s[2] & 0xc0) == 0x80) {
        unsigned code = (unsigned)(s[0] & 15) << 12 | (unsigned)(s[1] & 63) << 6 | (s[2] & 63u);
        return code >= 0x800 && (code < 0xd800 || code > 0xdfff) ? 3 : 0;
    }
    if (s[0] >= 0xf0 && s[0] <= 0xf4 && (s[1] & 0xc0) == 0x80 && (s[2] & 0xc0) == 0x80 &&
        (s[3] & 0xc0) == 0x80) {
        unsigned code = (unsigned)(s[0] & 7) << 18 | (unsigned)(s[1] & 63) << 12;
        return code >= 0x10000 && code < 0x110000 ? 4 : 0;
    }
    return 0;
}

void text_add_json(struct text *text, const char *string)
{
    text_add_bytes(text, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)string; *s;) {
        size_t len = utf8_len(s);
        if (len == 0) {
            text_add_bytes(text, "\xef\xbf\xbd", 3);
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\')
            text_add(text, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            text_add(text, "\\u%04x", *s);
        else
            text_add_bytes(text, (const char *)s, len);
        s += len;
    }
    text_add_bytes(text, "\"", 1);
}

void text_free(struct text *text)
{
    mem_free(text->data);
    *text = (struct text){0};
}
