/* One accepted socket and the session on it: reading, writing, TLS, the connection's own timers. */
#ifndef RPC_CONNECTION_H
#define RPC_CONNECTION_H

#include "rpc/core.h"
#include "rpc/tls.h"

enum { CONNECTION_OUT_BYTES = 32 << 10, CONNECTION_IN_BYTES = 64 << 10 };

struct connection {
    struct connection *next;
    int fd;
    SSL *tls; /* NULL: plain */
    bool handshaking;
    bool closed;      /* the peer is gone or broken: to be freed */
    bool wants_write; /* output waits for the socket */
    bool polls_write; /* epoll was asked so */
    uint64_t started_ms;
    uint64_t write_ms;       /* when the socket last took output */
    struct session *session; /* NULL while handshaking */
    struct rpc_peer peer;
    const uint8_t *pending; /* of the session: not yet in out */
    size_t pending_len;
    size_t out_start;
    size_t out_len;
    uint8_t out[CONNECTION_OUT_BYTES];
};

/* Takes over the socket, on failure (NULL: no memory) too. context NULL: no TLS. */
struct connection *connection_new(struct rpc_core *core, int fd, SSL_CTX *context);

/* Cancels the calls on it, closes the socket. */
void connection_free(struct connection *connection);

/* The socket may be readable or writable. buffer: CONNECTION_IN_BYTES of scratch space. */
void connection_work(struct connection *connection, struct rpc_core *core, uint8_t *buffer);

/* Sends what the session has to say, as far as the socket takes it. */
void connection_flush(struct connection *connection, struct rpc_core *core);

uint64_t connection_expiry_ms(const struct connection *connection, const struct rpc_core *core);
void connection_expire(struct connection *connection, struct rpc_core *core);

/* Since when no call runs on it; UINT64_MAX while one does. */
uint64_t connection_idle_since_ms(const struct connection *connection);

#endif
