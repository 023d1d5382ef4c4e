#include "rpc/connection.h"

#include "base/mem.h"
#include "rpc/address.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How much one connection may read before the others have their turn. */
enum { READS_MAX = 16 };

static void identify(struct connection *connection)
{
    struct rpc_peer *peer = &connection->peer;
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    if (getpeername(connection->fd, (struct sockaddr *)&address, &len) != 0)
        address.ss_family = AF_UNSPEC;
    peer->local = address.ss_family == AF_UNIX;
    if (!peer->local) {
        address_format((struct sockaddr *)&address, len, peer->text, sizeof peer->text);
        return;
    }
    struct ucred credentials = {.uid = (uid_t)-1, .gid = (gid_t)-1};
    len = sizeof credentials;
    getsockopt(connection->fd, SOL_SOCKET, SO_PEERCRED, &credentials, &len);
    peer->uid = credentials.uid;
    peer->gid = credentials.gid;
    peer->pid = credentials.pid;
    snprintf(peer->text, sizeof peer->text, "unix:uid=%u,pid=%d", credentials.uid, credentials.pid);
}

static void tune(int fd)
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

struct connection *connection_new(struct rpc_core *core, int fd, SSL_CTX *context)
{
    struct connection *connection = mem_zalloc(1, sizeof *connection);
    if (!connection) {
        close(fd);
        return NULL;
    }
    connection->fd = fd;
    connection->started_ms = connection->write_ms = core->now_ms;
    tune(fd);
    identify(connection);
    if (context) {
        connection->handshaking = true;
        connection->tls = tls_connection(context, fd, NULL);
    } else {
        connection->session = session_new(core, &connection->peer);
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

static void finish_handshake(struct connection *connection, struct rpc_core *core)
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
    size_t len = strlen(connection->peer.text);
    if (name[0])
        snprintf(connection->peer.text + len, sizeof connection->peer.text - len, ",cn=%s", name);
    connection->handshaking = false;
    connection->wants_write = false;
    connection->session = session_new(core, &connection->peer);
    connection->closed = !connection->session;
}

static void read_some(struct connection *connection, uint8_t *buffer)
{
    for (int reads = 0; !connection->closed; reads++) {
        /* OpenSSL may hold bytes that epoll knows nothing of: those are read to the end. */
        bool held = connection->tls && SSL_has_pending(connection->tls);
        if (reads >= READS_MAX && !held)
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

/* Small frames are gathered, so that they share a packet and a TLS record. */
static void gather(struct connection *connection)
{
    if (connection->out_start == connection->out_len)
        connection->out_start = connection->out_len = 0;
    while (connection->out_len < sizeof connection->out) {
        if (connection->pending_len == 0)
            connection->pending_len = session_pull(connection->session, &connection->pending);
        if (connection->pending_len == 0)
            return;
        size_t room = sizeof connection->out - connection->out_len;
        size_t len = connection->pending_len < room ? connection->pending_len : room;
        memcpy(connection->out + connection->out_len, connection->pending, len);
        connection->out_len += len;
        connection->pending += len;
        connection->pending_len -= len;
    }
}

void connection_flush(struct connection *connection, struct rpc_core *core)
{
    if (connection->handshaking || connection->closed)
        return;
    if (!connection->wants_write)
        connection->write_ms = core->now_ms; /* of the first byte that will have to wait */
    for (;;) {
        gather(connection);
        size_t left = connection->out_len - connection->out_start;
        connection->wants_write = left > 0;
        if (left == 0)
            break;
        ssize_t sent = tls_write(connection->tls, connection->fd,
                                 connection->out + connection->out_start, left);
        if (sent == TLS_AGAIN)
            break;
        if (sent <= 0) {
            connection->closed = true;
            return;
        }
        connection->out_start += (size_t)sent;
        connection->write_ms = core->now_ms;
    }
    connection->closed = !connection->wants_write && session_over(connection->session);
}

void connection_work(struct connection *connection, struct rpc_core *core, uint8_t *buffer)
{
    if (connection->handshaking && !connection->closed)
        finish_handshake(connection, core);
    if (connection->handshaking || connection->closed)
        return;
    connection_flush(connection, core);
    /* A peer that does not take our frames is not listened to: else it could make us pile them up.
     */
    if (!connection->wants_write)
        read_some(connection, buffer);
}

uint64_t connection_expiry_ms(const struct connection *connection, const struct rpc_core *core)
{
    if (connection->handshaking)
        return connection->started_ms + core->limits.handshake_ms_max;
    uint64_t expiry = session_expiry_ms(connection->session);
    uint64_t stalled = connection->write_ms + core->limits.stall_ms_max;
    return connection->wants_write && stalled < expiry ? stalled : expiry;
}

void connection_expire(struct connection *connection, struct rpc_core *core)
{
    if (connection_expiry_ms(connection, core) > core->now_ms)
        return;
    if (connection->handshaking ||
        (connection->wants_write &&
         connection->write_ms + core->limits.stall_ms_max <= core->now_ms))
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
