/* Protobuf messages in handlers and clients: decoding, with the checks that protobuf-c leaves out,
   and encoding into blocks that rpc_reply takes. All memory comes from base/mem. */
#ifndef RPC_MESSAGE_H
#define RPC_MESSAGE_H

#include <cuzk/status.h>
#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one message: `descriptor` is that of its generated type
   (cuzk__v1__prove_request__descriptor), the result has that type; free with message_free. Errors:
   INVALID_ARGUMENT for malformed bytes and for strings that are not UTF-8 or hold a zero byte,
   NO_MEMORY. */
enum cuzk_status message_decode(const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes,
                                size_t len, ProtobufCMessage **message, struct cuzk_error *err);

/* NULL is allowed. */
void message_free(ProtobufCMessage *message);

/* Encodes into a new mem_alloc block. Error: NO_MEMORY. */
enum cuzk_status message_encode(const ProtobufCMessage *message, uint8_t **bytes, size_t *len,
                                struct cuzk_error *err);

#endif
