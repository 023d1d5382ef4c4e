/* A client in memory for a server session in memory: no sockets, no threads, and a clock that the
   test moves. */
#ifndef TESTS_RPC_MEMORY_PEER_H
#define TESTS_RPC_MEMORY_PEER_H

#include "rpc/hub.h"
#include "rpc/session.h"
#include "rpc/stream.h"

/* A call as the client sees it. */
struct peer_call {
    int32_t id;
    uint8_t *body; /* with gRPC's prefix; owned */
    size_t len;
    size_t allowed; /* the bytes of the body that may be sent so far */
    bool end;       /* the request ends after these */
    size_t sent;
    int http_status; /* 0: no answer yet */
    int code;        /* grpc-status; -1: none yet */
    char text[256];
    char accept[32]; /* grpc-accept-encoding */
    uint8_t answer[128 << 10];
    size_t answer_len;
    bool closed;
    uint32_t error; /* HTTP/2 error code when closed */
};

enum { PEER_CALLS_MAX = 64 };

struct peer {
    struct rpc_hub *hub;
    struct session *session;
    nghttp2_session *h2;
    struct peer_call *calls[PEER_CALLS_MAX];
    size_t call_count;
    unsigned goaways;
    int32_t last_stream_id; /* of the newest GOAWAY */
    uint32_t goaway_error;
    bool stop_reading; /* flow control: nothing is given back */
};

/* Connects. peer->session is NULL if there was no memory for the server's side. */
void peer_open(struct peer *peer, struct rpc_hub *hub);
void peer_close(struct peer *peer);

/* Moves bytes in both directions until neither side has any, and delivers answers. */
void peer_pump(struct peer *peer);

/* Starts a call of a message of len bytes (filled with a pattern unless message is given), sending
   only `allowed` bytes of prefix and message for now (SIZE_MAX: all of it and the end). `extra` may
   be one more header line, name and value, or NULL. */
struct peer_call *peer_start(struct peer *peer, const char *path, const uint8_t *message,
                             size_t len, size_t allowed, const char *extra_name,
                             const char *extra_value);

/* Lets `allowed` bytes of the body be sent; SIZE_MAX: all of it and the end. */
void peer_allow(struct peer *peer, struct peer_call *call, size_t allowed);

void peer_reset(struct peer *peer, struct peer_call *call);

/* The i-th message of the answer; NULL if there is none. */
const uint8_t *peer_answer(const struct peer_call *call, size_t i, size_t *len);

#endif
