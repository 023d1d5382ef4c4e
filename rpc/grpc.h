/* The text forms that gRPC puts into HTTP/2 headers, as pure functions. Source: "gRPC over HTTP2"
   (PROTOCOL-HTTP2.md of the gRPC project). Private to rpc. */
#ifndef RPC_GRPC_H
#define RPC_GRPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before each message: one byte (1: compressed) and the length, big endian. */
enum { GRPC_PREFIX_BYTES = 5, GRPC_TEXT_BYTES = 1024, GRPC_ENCODED_BYTES = 3 * GRPC_TEXT_BYTES };

/* Reads a grpc-timeout, one to eight digits and a unit of H M S m u n, as milliseconds, rounded up.
   False for anything else. */
bool grpc_timeout_parse(const char *text, size_t len, uint64_t *ms);

/* Writes a grpc-timeout with its terminator; exact below 10^8 ms. */
void grpc_timeout_format(uint64_t ms, char out[16]);

/* True for the content-type of a gRPC request with protobuf messages: application/grpc or
   application/grpc+proto, either with parameters after ';'. */
bool grpc_content_type_good(const char *text, size_t len);

/* Writes a grpc-message: every byte except printable ASCII other than '%' becomes %XX. Returns the
   length. */
size_t grpc_message_encode(const char *text, char out[GRPC_ENCODED_BYTES]);

/* Reads a grpc-message. What is not %XX stays as it is; the result is cut to out_bytes, with the
   terminator. */
void grpc_message_decode(const char *text, size_t len, char *out, size_t out_bytes);

#endif
