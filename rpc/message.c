#include "rpc/message.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

static void *allocate(void *context, size_t bytes)
{
    bool *failed = context;
    void *block = mem_alloc(1, bytes);
    if (!block && failed)
        *failed = true;
    return block;
}

static void release(void *context, void *block)
{
    (void)context;
    mem_free(block);
}

/* Length of a valid UTF-8 sequence at s, which ends with a zero byte; 0 if there is none. */
static size_t sequence_len(const unsigned char *s)
{
    static const struct {
        unsigned char mask, lead, low, high; /* of the first byte; bounds of the second */
        size_t len;
    } forms[] = {
        {0x80, 0x00, 0x00, 0xff, 1},
        {0xe0, 0xc0, 0x80, 0xbf, 2},
        {0xf0, 0xe0, 0x80, 0xbf, 3},
        {0xf8, 0xf0, 0x80, 0xbf, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if ((s[0] & forms[i].mask) != forms[i].lead)
            continue;
        size_t len = forms[i].len;
        for (size_t k = 1; k < len; k++) {
            if ((s[k] & 0xc0) != 0x80)
                return 0;
        }
        /* Overlong forms, surrogates and what lies above U+10FFFF. */
        if ((s[0] >= 0xc0 && s[0] < 0xc2) || (s[0] == 0xe0 && s[1] < 0xa0) ||
            (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
            (s[0] == 0xf4 && s[1] > 0x8f) || s[0] > 0xf4)
            return 0;
        return len;
    }
    return 0;
}

static bool utf8_valid(const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    while (*s) {
        size_t len = sequence_len(s);
        if (len == 0)
            return false;
        s += len;
    }
    return true;
}

/* protobuf-c takes any bytes as a string. Returns the name of the first field, in this message or
   one inside, whose text is not UTF-8; NULL if all is well. The depth is that of the schema, which
   has no recursive types. */
static const char *bad_string(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        const char *member = (const char *)message + field->offset;
        bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
        size_t count = 1;
        if (repeated)
            memcpy(&count, (const char *)message + field->quantifier_offset, sizeof count);
        if (count == 0 ||
            (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_MESSAGE))
            continue;
        void *const *items = (void *const *)(const void *)member;
        if (repeated)
            memcpy(&items, member, sizeof items);
        for (size_t k = 0; k < count; k++) {
            if (!items[k])
                continue;
            if (field->type == PROTOBUF_C_TYPE_STRING) {
                if (!utf8_valid(items[k]))
                    return field->name;
                continue;
            }
            const char *inner = bad_string(items[k]);
            if (inner)
                return inner;
        }
    }
    return NULL;
}

enum cuzk_status message_decode(const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes,
                                size_t len, ProtobufCMessage **message, struct cuzk_error *err)
{
    static const uint8_t nothing[1];
    bool no_memory = false;
    ProtobufCAllocator allocator = {
        .alloc = allocate, .free = release, .allocator_data = &no_memory};
    *message = protobuf_c_message_unpack(descriptor, &allocator, len, len > 0 ? bytes : nothing);
    if (!*message && no_memory)
        return error_set(err, CUZK_NO_MEMORY, "no memory to decode a %s of %zu bytes",
                         descriptor->short_name, len);
    if (!*message)
        return error_set(err, CUZK_INVALID_ARGUMENT, "these %zu bytes are not a protobuf %s", len,
                         descriptor->name);
    const char *name = bad_string(*message);
    if (name) {
        message_free(*message);
        *message = NULL;
        return error_set(err, CUZK_INVALID_ARGUMENT, "%s: expected UTF-8 text", name);
    }
    return CUZK_OK;
}

void message_free(ProtobufCMessage *message)
{
    ProtobufCAllocator allocator = {.alloc = allocate, .free = release};
    if (message)
        protobuf_c_message_free_unpacked(message, &allocator);
}

enum cuzk_status message_encode(const ProtobufCMessage *message, uint8_t **bytes, size_t *len,
                                struct cuzk_error *err)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    *bytes = mem_alloc(size, 1);
    if (!*bytes)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a %s of %zu bytes",
                         message->descriptor->short_name, size);
    *len = protobuf_c_message_pack(message, *bytes);
    return CUZK_OK;
}
