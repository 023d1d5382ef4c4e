#include "base/number.h"

#include <stddef.h>

const char *number_read(const char *text, uint64_t *out)
{
    uint64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
            return NULL;
    }
    if (at == text)
        return NULL;
    *out = number;
    return at;
}

bool number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    uint64_t number;
    const char *end = number_read(text, &number);
    if (!end || *end || number < least || number > most)
        return false;
    *out = number;
    return true;
}
