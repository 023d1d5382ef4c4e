#include "flag_number.h"

#include "base/number.h"

#include <stdio.h>

bool flag_number(const char *program, const char *flag, const char *text, uint64_t least,
                 uint64_t most, uint64_t *out)
{
    if (number_parse(text, least, most, out))
        return true;
    fprintf(stderr, "%s: --%s '%s': expected a number from %llu to %llu\n", program, flag, text,
            (unsigned long long)least, (unsigned long long)most);
    return false;
}
