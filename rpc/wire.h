/* Reading and writing the protobuf wire format field by field: for the few small messages of the
   standard services (health, reflection) and for descriptors, which have no generated code here.
   Source: "Encoding" of the Protocol Buffers documentation. Private to rpc. */
#ifndef RPC_WIRE_H
#define RPC_WIRE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool malformed; /* set when wire_next stopped before the end */
};

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;      /* of integers */
    const uint8_t *data; /* of WIRE_BYTES: points into the message */
    size_t len;
};

struct wire_reader wire_reader_of(const uint8_t *bytes, size_t len);

/* Reads the next field; false at the end of the message or where it is malformed. Groups, which
   proto3 does not have, count as malformed. */
bool wire_next(struct wire_reader *reader, struct wire_field *field);

/* A reader of the first field of that number that has bytes; an empty reader if there is none. For
   messages of which one field matters. */
struct wire_reader wire_find(const uint8_t *bytes, size_t len, uint32_t number);

/* Append a field to a message under construction; message->failed is set when memory is missing. */
void wire_add_varint(struct text *message, uint32_t number, uint64_t value);
void wire_add_bytes(struct text *message, uint32_t number, const void *data, size_t len);

#endif
