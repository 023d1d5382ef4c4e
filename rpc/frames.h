/* What the server's and the client's way of sending have in common: a message with gRPC's prefix,
   read piece by piece, and HTTP/2 frames gathered into full blocks for the socket.
   Private to rpc. */
#ifndef RPC_FRAMES_H
#define RPC_FRAMES_H

#include "rpc/grpc.h"

/* A message on its way out. */
struct frame {
    uint8_t prefix[GRPC_PREFIX_BYTES];
    const uint8_t *message;
    size_t len;  /* of the message */
    size_t sent; /* of prefix and message together */
};

/* A frame of a message of less than 4 GiB, which has to stay until it is sent. */
struct frame frame_of(const uint8_t *message, size_t len);

/* Copies up to `room` bytes of what is unsent; returns the number copied. */
size_t frame_copy(struct frame *frame, uint8_t *buffer, size_t room);

/* True if all of it was copied. */
bool frame_is_sent(const struct frame *frame);

enum { SEND_BUFFER_BYTES = 32 << 10 };

/* Bytes for the socket. Small HTTP/2 frames are gathered, so that they share a packet and a TLS
   record. */
struct send_buffer {
    const uint8_t *pending; /* returned by pull and not yet copied */
    size_t pending_len;
    size_t start; /* bytes[start .. len) are unsent */
    size_t len;
    uint8_t bytes[SEND_BUFFER_BYTES];
};

/* Fills the buffer from `pull`, which returns the number of bytes it has at *data (0: none), valid
   until its next call. Returns the number of unsent bytes. */
size_t send_buffer_fill(struct send_buffer *buffer,
                        size_t (*pull)(void *source, const uint8_t **data), void *source);

#endif
