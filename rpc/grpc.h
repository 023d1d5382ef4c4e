/* The text forms that gRPC puts into HTTP/2 headers, as pure functions. Source: "gRPC over HTTP2"
   (PROTOCOL-HTTP2.md of the gRPC project). */
#ifndef RPC_GRPC_H
#define RPC_GRPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before each message: one byte (1: compressed) and the length, big endian. */
enum { GRPC_PREFIX_BYTES = 5, GRPC_TEXT_BYTES = 1024, GRPC_ENCODED_BYTES = 3 * GRPC_TEXT_BYTES };

/* grpc-timeout: one to eight digits and a unit of H M S m u n. Milliseconds, rounded up. False for
   anything else. */
bool grpc_timeout_parse(const char *text, size_t len, uint64_t *ms);

/* The other direction, exact up to eight digits: writes at most 16 bytes with the terminator. */
void grpc_timeout_format(uint64_t ms, char out[16]);

/* content-type of a gRPC request with protobuf messages: application/grpc, application/grpc+proto,
   either with parameters after ';'. */
bool grpc_content_type_good(const char *text, size_t len);

/* grpc-message: every byte but printable ASCII without '%' becomes %XX. Returns the length. */
size_t grpc_message_encode(const char *text, char out[GRPC_ENCODED_BYTES]);

/* Undoes the encoding, leaving what is not %XX as it is, cut to out_bytes with the terminator. */
void grpc_message_decode(const char *text, size_t len, char *out, size_t out_bytes);

#endif
