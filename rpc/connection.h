/* One accepted socket and the session on it: reading, writing, TLS and the timers of the socket.
   Private to rpc. */
#ifndef RPC_CONNECTION_H
#define RPC_CONNECTION_H

#include "rpc/frames.h"
#include "rpc/session.h"
#include "rpc/tls.h"

enum { CONNECTION_IN_BYTES = 64 << 10 };

struct connection {
    struct connection *next;
    int fd;
    SSL *tls; /* NULL: plain */
    bool handshaking;
    bool closed;      /* to be freed */
    bool wants_write; /* output waits for the socket */
    bool polls_write; /* epoll watches for EPOLLOUT */
    uint64_t started_ms;
    uint64_t write_ms;       /* when the socket last took output */
    struct session *session; /* NULL while handshaking */
    char peer[RPC_PEER_BYTES];
    struct send_buffer out;
};

/* Takes the socket over, also when it returns NULL (no memory). context NULL: no TLS. */
struct connection *connection_new(struct rpc_hub *hub, int fd, SSL_CTX *context);

/* Cancels the running calls and closes the socket. */
void connection_free(struct connection *connection);

/* Reads and writes; to be called when the socket is readable or writable. buffer:
   CONNECTION_IN_BYTES of scratch space. */
void connection_work(struct connection *connection, struct rpc_hub *hub, uint8_t *buffer);

/* Sends the session's output, as far as the socket takes it. */
void connection_flush(struct connection *connection, struct rpc_hub *hub);

/* When the earliest timer runs out, and what happens then. */
uint64_t connection_expiry_ms(const struct connection *connection, const struct rpc_hub *hub);
void connection_expire(struct connection *connection, struct rpc_hub *hub);

/* Since when no call runs on this connection; UINT64_MAX while one does. */
uint64_t connection_idle_since_ms(const struct connection *connection);

#endif
