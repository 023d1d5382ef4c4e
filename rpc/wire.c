#include "rpc/wire.h"

#include "base/bytes.h"

struct wire_reader wire_reader_of(const uint8_t *bytes, size_t len)
{
    /* An empty message may come as NULL, from which no arithmetic is allowed. */
    static const uint8_t nothing[1];
    const uint8_t *start = len > 0 ? bytes : nothing;
    return (struct wire_reader){.at = start, .end = start + len};
}

static bool read_varint(struct wire_reader *reader, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (reader->at == reader->end)
            return false;
        uint8_t byte = *reader->at++;
        if (shift == 63 && byte > 1)
            return false;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool read_value(struct wire_reader *reader, struct wire_field *field)
{
    size_t left = (size_t)(reader->end - reader->at);
    switch (field->type) {
    case WIRE_VARINT:
        return read_varint(reader, &field->value);
    case WIRE_FIXED64:
        if (left < 8)
            return false;
        field->value = load_u64_le(reader->at);
        reader->at += 8;
        return true;
    case WIRE_FIXED32:
        if (left < 4)
            return false;
        field->value = load_u32_le(reader->at);
        reader->at += 4;
        return true;
    case WIRE_BYTES:
        if (!read_varint(reader, &field->value) ||
            field->value > (uint64_t)(reader->end - reader->at))
            return false;
        field->data = reader->at;
        field->len = (size_t)field->value;
        reader->at += field->len;
        return true;
    }
    return false;
}

bool wire_next(struct wire_reader *reader, struct wire_field *field)
{
    if (reader->malformed || reader->at == reader->end)
        return false;
    *field = (struct wire_field){0};
    uint64_t tag;
    bool good = read_varint(reader, &tag) && tag >> 3 >= 1 && tag >> 3 < 1u << 29;
    if (good) {
        field->number = (uint32_t)(tag >> 3);
        field->type = (enum wire_type)(tag & 7);
        good = read_value(reader, field);
    }
    reader->malformed = !good;
    return good;
}

struct wire_reader wire_find(const uint8_t *bytes, size_t len, uint32_t number)
{
    struct wire_reader reader = wire_reader_of(bytes, len);
    struct wire_field field;
    while (wire_next(&reader, &field)) {
        if (field.number == number && field.type == WIRE_BYTES)
            return wire_reader_of(field.data, field.len);
    }
    return wire_reader_of(NULL, 0);
}

static void add_varint(struct text *message, uint64_t value)
{
    char bytes[10];
    size_t len = 0;
    do {
        bytes[len++] = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value > 0);
    text_add_bytes(message, bytes, len);
}

void wire_add_varint(struct text *message, uint32_t number, uint64_t value)
{
    add_varint(message, (uint64_t)number << 3 | WIRE_VARINT);
    add_varint(message, value);
}

void wire_add_bytes(struct text *message, uint32_t number, const void *data, size_t len)
{
    add_varint(message, (uint64_t)number << 3 | WIRE_BYTES);
    add_varint(message, len);
    if (len > 0)
        text_add_bytes(message, data, len);
}
