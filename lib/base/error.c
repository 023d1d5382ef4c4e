#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *cuzk_status_text(enum cuzk_status status)
{
    static const char *const texts[] = {
#define X(name, text) text,
        CUZK_STATUS_MAP(X)
#undef X
    };
    unsigned index = (unsigned)status;
    return index < CUZK_STATUS_COUNT ? texts[index] : "unknown status";
}

static void make_one_line(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
    }
}

enum cuzk_status error_set(struct cuzk_error *err, enum cuzk_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        make_one_line(err->text);
        err->status = status;
    }
    return status;
}

enum cuzk_status error_prefix(struct cuzk_error *err, const char *format, ...)
{
    if (!err)
        return CUZK_INTERNAL;
    char prefix[CUZK_ERROR_TEXT_BYTES];
    char inner[CUZK_ERROR_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    memcpy(inner, err->text, sizeof inner);
    /* When prefix and text do not both fit, the end of the text is cut. */
    int room = (int)sizeof err->text;
    if (snprintf(err->text, sizeof err->text, "%s: %s", prefix, inner) >= room)
        err->text[room - 1] = '\0';
    make_one_line(err->text);
    return err->status;
}

enum cuzk_status error_errno(struct cuzk_error *err, enum cuzk_status status, int saved_errno,
                             const char *format, ...)
{
    if (err) {
        char what[CUZK_ERROR_TEXT_BYTES];
        char why[128];
        va_list args;
        va_start(args, format);
        vsnprintf(what, sizeof what, format, args);
        va_end(args);
        error_set(err, status, "%s: %s", what, strerror_r(saved_errno, why, sizeof why));
    }
    return status;
}
