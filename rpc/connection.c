#include "rpc/connection.h"

#include "base/mem.h"
#include "rpc/address.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads of one connection before the others have their turn. */
enum { READS_MAX = 16 };

/* Writes who the peer is, as rpc_call_peer reports it. */
static void identify_peer(int fd, char text[RPC_PEER_BYTES])
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &len) != 0)
        address.ss_family = AF_UNSPEC;
    if (address.ss_family != AF_UNIX) {
        address_format((struct sockaddr *)&address, len, text, RPC_PEER_BYTES);
        return;
    }
    struct ucred credentials = {.uid = (uid_t)-1};
    len = sizeof credentials;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &len);
    snprintf(text, RPC_PEER_BYTES, "unix:uid=%u,pid=%d", credentials.uid, credentials.pid);
}

static void set_socket_options(int fd)
{
    /* Proofs take minutes in silence. Keepalive finds out when the client's machine is gone; on
       Unix sockets these fail, which does no harm. */
    int on = 1;
    int idle_s = 60;
    int interval_s = 15;
    int probes = 4;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

struct connection *connection_new(struct rpc_hub *hub, int fd, SSL_CTX *context)
{
    struct connection *connection = mem_zalloc(1, sizeof *connection);
    if (!connection) {
        close(fd);
        return NULL;
    }
    connection->fd = fd;
    connection->started_ms = connection->write_ms = hub->now_ms;
    set_socket_options(fd);
    identify_peer(fd, connection->peer);
    if (context) {
        connection->handshaking = true;
        connection->tls = tls_connection(context, fd, NULL);
    } else {
        connection->session = session_new(hub, connection->peer);
    }
    if (connection->tls || connection->session)
        return connection;
    connection_free(connection);
    return NULL;
}

void connection_free(struct connection *connection)
{
    session_free(connection->session);
    SSL_free(connection->tls);
    close(connection->fd);
    mem_free(connection);
}

static void finish_handshake(struct connection *connection, struct rpc_hub *hub)
{
    ssize_t rv = tls_handshake(connection->tls);
    if (rv == TLS_AGAIN) {
        connection->wants_write = SSL_want_write(connection->tls);
        return;
    }
    if (rv != 1) {
        connection->closed = true;
        return;
    }
    char name[64];
    tls_peer_name(connection->tls, name, sizeof name);
    size_t len = strlen(connection->peer);
    if (name[0])
        snprintf(connection->peer + len, sizeof connection->peer - len, ",cn=%s", name);
    connection->handshaking = false;
    connection->wants_write = false;
    connection->session = session_new(hub, connection->peer);
    connection->closed = !connection->session;
}

static void read_some(struct connection *connection, uint8_t *buffer)
{
    for (int reads = 0; !connection->closed; reads++) {
        /* Bytes that OpenSSL has buffered are read to the end: epoll does not report them. */
        bool buffered = connection->tls && SSL_has_pending(connection->tls);
        if (reads >= READS_MAX && !buffered)
            return;
        ssize_t got = tls_read(connection->tls, connection->fd, buffer, CONNECTION_IN_BYTES);
        if (got == TLS_AGAIN)
            return;
        if (got <= 0)
            connection->closed = true;
        else
            session_receive(connection->session, buffer, (size_t)got);
    }
}

static size_t pull_session(void *source, const uint8_t **data)
{
    return session_pull(source, data);
}

void connection_flush(struct connection *connection, struct rpc_hub *hub)
{
    if (connection->handshaking || connection->closed)
        return;
    if (!connection->wants_write)
        connection->write_ms = hub->now_ms; /* of the first byte that will have to wait */
    struct send_buffer *out = &connection->out;
    for (;;) {
        size_t left = send_buffer_fill(out, pull_session, connection->session);
        connection->wants_write = left > 0;
        if (left == 0)
            break;
        ssize_t sent = tls_write(connection->tls, connection->fd, out->bytes + out->start, left);
        if (sent == TLS_AGAIN)
            break;
        if (sent <= 0) {
            connection->closed = true;
            return;
        }
        out->start += (size_t)sent;
        connection->write_ms = hub->now_ms;
    }
    connection->closed = !connection->wants_write && session_over(connection->session);
}

void connection_work(struct connection *connection, struct rpc_hub *hub, uint8_t *buffer)
{
    if (connection->handshaking && !connection->closed)
        finish_handshake(connection, hub);
    if (connection->handshaking || connection->closed)
        return;
    connection_flush(connection, hub);
    /* Nothing is read from a peer that does not take our frames: its requests would make us queue
       ever more of them. */
    if (!connection->wants_write)
        read_some(connection, buffer);
}

uint64_t connection_expiry_ms(const struct connection *connection, const struct rpc_hub *hub)
{
    if (connection->handshaking)
        return connection->started_ms + hub->limits.handshake_ms_max;
    uint64_t expiry = session_expiry_ms(connection->session);
    uint64_t stalled = connection->write_ms + hub->limits.stall_ms_max;
    return connection->wants_write && stalled < expiry ? stalled : expiry;
}

void connection_expire(struct connection *connection, struct rpc_hub *hub)
{
    if (connection_expiry_ms(connection, hub) > hub->now_ms)
        return;
    if (connection->handshaking ||
        (connection->wants_write && connection->write_ms + hub->limits.stall_ms_max <= hub->now_ms))
        connection->closed = true;
    else
        session_expire(connection->session);
}

uint64_t connection_idle_since_ms(const struct connection *connection)
{
    if (connection->handshaking)
        return connection->started_ms;
    return connection->session->stream_count > 0 ? UINT64_MAX : connection->session->idle_since_ms;
}
