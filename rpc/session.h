/* One connection in HTTP/2, without its socket: bytes in, bytes out, timers. hub->now_ms is to be
   set before any of these functions is called. Private to rpc. */
#ifndef RPC_SESSION_H
#define RPC_SESSION_H

#include "rpc/hub.h"

#include <nghttp2/nghttp2.h>

enum {
    SESSION_WINDOW_BYTES = 16 << 20,
    GOAWAY_MS = 1000, /* longest time between the two GOAWAYs of a drain */
};

struct session {
    struct rpc_hub *hub;
    nghttp2_session *h2;
    char peer[RPC_PEER_BYTES];
    struct stream *streams;
    unsigned stream_count;
    uint64_t started_ms;
    uint64_t idle_since_ms; /* when the last stream ended */
    bool settings_received;
    bool broken; /* the connection is to be closed without further frames */
    enum {
        DRAIN_NO,
        DRAIN_NOTICE, /* GOAWAY was sent that still allows calls which are on their way */
        DRAIN_FINAL,  /* GOAWAY was sent that names the last call */
    } drain;
    uint64_t drain_ms;     /* when the notice went out; 0: its PING is answered */
    int32_t last_accepted; /* id of the newest stream that is worked on */
};

/* Makes a session for the peer of that name (as rpc_call_peer reports it) and queues the SETTINGS,
   which clients wait for. NULL without memory. */
struct session *session_new(struct rpc_hub *hub, const char *peer);

/* Cancels the running calls. NULL is allowed. */
void session_free(struct session *session);

/* Takes bytes from the peer. */
void session_receive(struct session *session, const uint8_t *data, size_t len);

/* Returns the next bytes for the peer, valid until the next call for this session; 0: there are
   none. */
size_t session_pull(struct session *session, const uint8_t **data);

/* True if nothing more will be sent or received. */
bool session_over(const struct session *session);

/* When the session's earliest timer runs out (UINT64_MAX: never), and what happens then. */
uint64_t session_expiry_ms(const struct session *session);
void session_expire(struct session *session);

/* Announces the end of the connection and lets running calls finish. */
void session_drain(struct session *session);

/* Fails all running calls and announces the end of the connection. */
void session_end(struct session *session);

/* --- For stream.c ----------------------------------------------------------------------------- */

/* Sends what was added to the stream's answer. */
void session_answer(struct stream *stream);

/* Opens the stream's flow-control window to `bytes`. */
void session_open_window(struct stream *stream, size_t bytes);

/* Gives received bytes back to the stream's window. */
void session_consume(struct stream *stream, size_t bytes);

/* Ends the stream with an HTTP/2 error code. */
void session_reset(struct stream *stream, uint32_t http2_error);

#endif
