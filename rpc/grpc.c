#include "rpc/grpc.h"

#include "base/bytes.h"
#include "rpc/rpc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *rpc_code_name(int code)
{
    switch (code) {
#define X(name, number)                                                                            \
    case number:                                                                                   \
        return #name;
        RPC_CODE_MAP(X)
#undef X
    default:
        return "UNKNOWN";
    }
}

enum rpc_code rpc_code_of_status(enum cuzk_status status)
{
    switch (status) {
    case CUZK_OK:
        return RPC_OK;
    case CUZK_INVALID_ARGUMENT:
        return RPC_INVALID_ARGUMENT;
    case CUZK_NOT_FOUND:
        return RPC_NOT_FOUND;
    case CUZK_RESOURCE_EXHAUSTED:
    case CUZK_NO_MEMORY:
        return RPC_RESOURCE_EXHAUSTED;
    case CUZK_FAILED_PRECONDITION:
    case CUZK_BAD_PARAMS:
    case CUZK_NO_DEVICE:
        return RPC_FAILED_PRECONDITION;
    case CUZK_UNAVAILABLE:
        return RPC_UNAVAILABLE;
    case CUZK_CANCELLED:
        return RPC_CANCELLED;
    case CUZK_DEADLINE_EXCEEDED:
        return RPC_DEADLINE_EXCEEDED;
    case CUZK_UNSUPPORTED:
        return RPC_UNIMPLEMENTED;
    default:
        return RPC_INTERNAL;
    }
}

bool grpc_timeout_parse(const char *text, size_t len, uint64_t *ms)
{
    static const struct {
        char unit;
        uint32_t ns_scale; /* nanoseconds a unit, for units below a millisecond */
        uint32_t ms_scale; /* milliseconds a unit, for the others */
    } units[] = {{'H', 0, 3600000}, {'M', 0, 60000}, {'S', 0, 1000},
                 {'m', 0, 1},       {'u', 1000, 0},  {'n', 1, 0}};
    if (len < 2 || len > 9)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i + 1 < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (units[i].unit != text[len - 1])
            continue;
        *ms = units[i].ms_scale > 0 ? value * units[i].ms_scale
                                    : (value * units[i].ns_scale + 999999) / 1000000;
        return true;
    }
    return false;
}

void grpc_timeout_format(uint64_t ms, char out[16])
{
    if (ms <= 99999999)
        snprintf(out, 16, "%" PRIu64 "m", ms);
    else
        snprintf(out, 16, "%" PRIu64 "S", ms / 1000 <= 99999999 ? ms / 1000 : 99999999);
}

bool grpc_content_type_good(const char *text, size_t len)
{
    static const char base[] = "application/grpc";
    static const char proto[] = "+proto";
    size_t at = sizeof base - 1;
    if (len < at || strncasecmp(text, base, at) != 0)
        return false;
    if (len - at >= sizeof proto - 1 && strncasecmp(text + at, proto, sizeof proto - 1) == 0)
        at += sizeof proto - 1;
    return at == len || text[at] == ';' || text[at] == ' ';
}

size_t grpc_message_encode(const char *text, char out[GRPC_ENCODED_BYTES])
{
    static const char digits[] = "0123456789ABCDEF";
    size_t len = 0;
    for (size_t i = 0; text[i] && i < GRPC_TEXT_BYTES; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c <= 0x7e && c != '%') {
            out[len++] = (char)c;
        } else {
            out[len++] = '%';
            out[len++] = digits[c >> 4];
            out[len++] = digits[c & 15];
        }
    }
    return len;
}

void grpc_message_decode(const char *text, size_t len, char *out, size_t out_bytes)
{
    size_t used = 0;
    for (size_t i = 0; i < len && used + 1 < out_bytes; i++) {
        char digits[3] = {0};
        uint8_t byte;
        if (text[i] == '%' && len - i >= 3) {
            memcpy(digits, text + i + 1, 2);
            if (hex_decode(digits, &byte, 1)) {
                out[used++] = (char)byte;
                i += 2;
                continue;
            }
        }
        out[used++] = text[i];
    }
    out[used] = '\0';
}
