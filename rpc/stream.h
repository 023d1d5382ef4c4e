/* One call in gRPC over an HTTP/2 stream. Source: "gRPC over HTTP2" (PROTOCOL-HTTP2.md of the gRPC
   project). Private to rpc. */
#ifndef RPC_STREAM_H
#define RPC_STREAM_H

#include "rpc/frames.h"
#include "rpc/hub.h"

enum {
    PATH_BYTES_MAX = 255, /* our methods have shorter paths */
    WINDOW_BYTES = 65535, /* HTTP/2's initial window: what a peer may send without being asked */
    SMALL_BYTES_MAX = WINDOW_BYTES - GRPC_PREFIX_BYTES,
    OPEN_WINDOW_BYTES = 8 << 20, /* window of a stream whose message was admitted */
    STREAM_OUTPUT_MAX = 4 << 20, /* unsent answers of one streaming call */
};

/* Where a stream is. stream.c holds the table of legal transitions. */
enum stream_state {
    /* The request head is coming in. */
    STREAM_HEAD,
    /* A request message is expected or coming in. Streaming methods come back here after each
       message. */
    STREAM_MESSAGE,
    /* The message is larger than SMALL_BYTES_MAX and waits in hub->held_first for room in
       request_bytes_max. Flow control keeps the peer from sending more than WINDOW_BYTES of it. */
    STREAM_HELD,
    /* The message of a unary method is whole. The end of the request is expected. */
    STREAM_WHOLE,
    /* The request has ended. The answer is being made: by the handler that has stream->call, or by
       Health.Watch. */
    STREAM_CALL,
    /* The answer is complete: code and text are set, and what is unsent of it goes out. Whatever
       else the peer sends on this stream is ignored. */
    STREAM_ANSWER,
    STREAM_STATES
};

/* A message on its way to the client. */
struct output {
    struct output *next;
    struct frame frame;
    uint8_t *message; /* owned; what the frame reads */
};

struct stream {
    struct session *session;
    struct stream *next; /* of the session */
    struct stream *prev;
    int32_t id;
    enum stream_state state;
    uint64_t progress_ms; /* when bytes last came in or went out */

    /* The request head. */
    char path[PATH_BYTES_MAX + 1]; /* empty if it was longer */
    size_t header_bytes;           /* as HTTP/2 counts the size of a header list */
    int http_status;               /* 405 until POST is seen, then 415 until gRPC's content type */
    const char *header_fault;      /* what is wrong with a header field; NULL: nothing */
    bool compressed;               /* grpc-encoding is not identity */
    const struct service_method *method;
    uint64_t deadline_ms;

    /* The message that is coming in. */
    uint8_t prefix[GRPC_PREFIX_BYTES];
    size_t prefix_got;
    uint8_t *message;
    size_t message_len;
    size_t message_got;
    size_t unconsumed; /* bytes that were not given back to the flow-control window yet */
    struct charge charge;
    struct stream *held_next; /* in hub->held_first */
    uint64_t upload_started_ms;

    struct rpc_call *call; /* in STREAM_CALL, unary */

    /* The answer. */
    struct output *output_first;
    struct output *output_last;
    size_t output_bytes;
    bool head_sent;
    enum rpc_code code;
    char text[GRPC_TEXT_BYTES];

    /* Health.Watch. */
    enum { WATCH_NO, WATCH_SERVICE, WATCH_UNKNOWN_SERVICE } watch;
    struct stream *watch_next; /* in hub->watchers */
};

/* --- The request, in the order in which it comes in ------------------------------------------- */

/* A stream of that session, in STREAM_HEAD. NULL without memory. */
struct stream *stream_new(struct session *session, int32_t id);

void stream_header(struct stream *stream, const char *name, size_t name_len, const char *value,
                   size_t value_len);
void stream_head_end(struct stream *stream);
void stream_data(struct stream *stream, const uint8_t *data, size_t len);
void stream_request_end(struct stream *stream);

/* Room for a held message was found and charged: takes memory for it and opens the window. */
void stream_admit(struct stream *stream);

/* --- The answer ------------------------------------------------------------------------------- */

/* Adds a message (a mem_alloc block, taken over) to the answer. */
void stream_send(struct stream *stream, uint8_t *message, size_t len);

/* Ends the answer; later calls change nothing. An error without a message before it is sent as
   trailers alone. */
void stream_finish(struct stream *stream, enum rpc_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies up to `room` bytes of the answer's messages into the buffer and removes them; returns the
   number copied. */
size_t stream_take_output(struct stream *stream, uint8_t *buffer, size_t room);

/* --- Timers and the end ----------------------------------------------------------------------- */

/* When the stream's earliest timer runs out (UINT64_MAX: never), and what happens then. */
uint64_t stream_expiry_ms(const struct stream *stream);
void stream_expire(struct stream *stream);

/* Cancels the stream's call, if it has one. */
void stream_free(struct stream *stream);

#endif
