#include "rpc/client.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "rpc/address.h"
#include "rpc/frames.h"
#include "rpc/tls.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { IN_BYTES = 64 << 10, REPLY_WINDOW = 16 << 20 };

/* The call that is running. */
struct exchange {
    struct rpc_client *client;
    int32_t id;
    struct frame request;
    struct rpc_result *result;
    uint8_t reply_prefix[GRPC_PREFIX_BYTES];
    size_t prefix_got;
    size_t reply_got;
    bool status_seen;
    int http_status;
    bool too_large;
    bool no_memory;
    bool ended; /* the whole answer is here */
    bool over;  /* the stream is closed */
};

struct rpc_client {
    int fd;
    SSL *tls;
    SSL_CTX *context;
    nghttp2_session *h2;
    char authority[300];
    size_t reply_bytes_max;
    struct exchange *exchange;
    bool lost;
    char why_lost[200];
    struct send_buffer out;
    uint8_t in[IN_BYTES];
};

/* --- Nghttp2 calls us ------------------------------------------------------------------------- */

static struct exchange *exchange_of(const struct rpc_client *client, int32_t id)
{
    return client->exchange && client->exchange->id == id ? client->exchange : NULL;
}

static int read_number(const uint8_t *value, size_t len)
{
    int number = 0;
    for (size_t i = 0; i < len && i < 4; i++) {
        if (value[i] < '0' || value[i] > '9')
            return -1;
        number = number * 10 + (value[i] - '0');
    }
    return number;
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *user)
{
    (void)h2;
    (void)flags;
    struct exchange *exchange = exchange_of(user, frame->hd.stream_id);
    if (!exchange)
        return 0;
    struct rpc_result *result = exchange->result;
    if (name_len == 7 && memcmp(name, ":status", 7) == 0) {
        exchange->http_status = read_number(value, value_len);
    } else if (name_len == 11 && memcmp(name, "grpc-status", 11) == 0) {
        int code = read_number(value, value_len);
        exchange->status_seen = true;
        result->code = code >= 0 && code <= RPC_UNAUTHENTICATED ? (enum rpc_code)code : RPC_UNKNOWN;
    } else if (name_len == 12 && memcmp(name, "grpc-message", 12) == 0) {
        grpc_message_decode((const char *)value, value_len, result->text, sizeof result->text);
    }
    return 0;
}

static void take_reply(struct exchange *exchange, const uint8_t *data, size_t len)
{
    struct rpc_result *result = exchange->result;
    while (len > 0 && !exchange->too_large && !exchange->no_memory) {
        size_t used;
        if (exchange->prefix_got < GRPC_PREFIX_BYTES) {
            exchange->reply_prefix[exchange->prefix_got++] = *data;
            used = 1;
            if (exchange->prefix_got == GRPC_PREFIX_BYTES) {
                result->len = load_u32_be(exchange->reply_prefix + 1);
                exchange->too_large = result->len > exchange->client->reply_bytes_max ||
                                      exchange->reply_prefix[0] != 0;
                result->message = exchange->too_large ? NULL : mem_alloc(result->len, 1);
                exchange->no_memory = !exchange->too_large && !result->message;
            }
        } else {
            used = result->len - exchange->reply_got;
            used = used < len ? used : len;
            exchange->too_large = used == 0; /* a second message */
            memcpy(result->message + exchange->reply_got, data, used);
            exchange->reply_got += used;
        }
        data += used;
        len -= used;
    }
}

static int on_data_chunk(nghttp2_session *h2, uint8_t flags, int32_t id, const uint8_t *data,
                         size_t len, void *user)
{
    (void)h2;
    (void)flags;
    struct exchange *exchange = exchange_of(user, id);
    if (exchange)
        take_reply(exchange, data, len);
    return 0;
}

static int on_frame_recv(nghttp2_session *h2, const nghttp2_frame *frame, void *user)
{
    (void)h2;
    struct exchange *exchange = exchange_of(user, frame->hd.stream_id);
    bool ends = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                (frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
    if (exchange && ends)
        exchange->ended = true;
    return 0;
}

static void set_refused(struct exchange *exchange)
{
    exchange->over = exchange->ended = exchange->status_seen = true;
    exchange->result->code = RPC_UNAVAILABLE;
    snprintf(exchange->result->text, sizeof exchange->result->text,
             "the server takes no more calls on this connection");
}

static int on_frame_not_send(nghttp2_session *h2, const nghttp2_frame *frame, int error, void *user)
{
    (void)h2;
    (void)error;
    struct exchange *exchange = exchange_of(user, frame->hd.stream_id);
    if (exchange && frame->hd.type == NGHTTP2_HEADERS)
        set_refused(exchange);
    return 0;
}

static int on_stream_close(nghttp2_session *h2, int32_t id, uint32_t error, void *user)
{
    (void)h2;
    struct exchange *exchange = exchange_of(user, id);
    if (!exchange)
        return 0;
    exchange->over = true;
    if (!exchange->status_seen && error == NGHTTP2_REFUSED_STREAM)
        set_refused(exchange);
    return 0;
}

static ssize_t read_request(nghttp2_session *h2, int32_t id, uint8_t *buffer, size_t room,
                            uint32_t *flags, nghttp2_data_source *source, void *user)
{
    (void)h2;
    (void)id;
    (void)source;
    struct exchange *exchange = ((struct rpc_client *)user)->exchange;
    /* A request that is being cancelled must not be read: its bytes are the caller's again. */
    if (!exchange || exchange->id != id)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    size_t used = frame_copy(&exchange->request, buffer, room);
    if (frame_is_sent(&exchange->request))
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)used;
}

/* --- Connection ------------------------------------------------------------------------------- */

static void set_lost(struct rpc_client *client, const char *why)
{
    if (!client->lost)
        snprintf(client->why_lost, sizeof client->why_lost, "%s", why);
    client->lost = true;
}

static void set_lost_by(struct rpc_client *client, ssize_t rv)
{
    char why[160];
    if (rv == 0) {
        set_lost(client, "the server closed the connection");
    } else if (client->tls && errno == 0) {
        tls_error_text(why, sizeof why);
        set_lost(client, why);
    } else {
        set_lost(client, strerror(errno));
    }
}

static size_t pull_frames(void *source, const uint8_t **data)
{
    struct rpc_client *client = source;
    if (client->lost)
        return 0;
    ssize_t len = nghttp2_session_mem_send(client->h2, data);
    if (len < 0)
        set_lost(client, nghttp2_strerror((int)len));
    return len > 0 ? (size_t)len : 0;
}

/* Writes until the socket is full or nothing is left. */
static void write_some(struct rpc_client *client)
{
    struct send_buffer *out = &client->out;
    for (;;) {
        size_t left = send_buffer_fill(out, pull_frames, client);
        if (left == 0 || client->lost)
            return;
        errno = 0;
        ssize_t sent = tls_write(client->tls, client->fd, out->bytes + out->start, left);
        if (sent == TLS_AGAIN)
            return;
        if (sent <= 0)
            set_lost_by(client, sent);
        else
            out->start += (size_t)sent;
    }
}

static void read_some(struct rpc_client *client)
{
    while (!client->lost) {
        errno = 0;
        ssize_t got = tls_read(client->tls, client->fd, client->in, sizeof client->in);
        if (got == TLS_AGAIN)
            return;
        if (got <= 0) {
            set_lost_by(client, got);
            return;
        }
        ssize_t used = nghttp2_session_mem_recv(client->h2, client->in, (size_t)got);
        if (used < 0)
            set_lost(client, nghttp2_strerror((int)used));
    }
}

/* Waits for the socket; false at the deadline. */
static bool wait_socket(struct rpc_client *client, short events, uint64_t deadline_ms)
{
    uint64_t now_ms = clock_now_ms();
    if (now_ms >= deadline_ms)
        return false;
    uint64_t left_ms = deadline_ms - now_ms;
    struct pollfd wait = {.fd = client->fd, .events = events};
    poll(&wait, 1, left_ms < 1000000 ? (int)left_ms : 1000000);
    return true;
}

static enum cuzk_status start_tls(struct rpc_client *client, const struct rpc_client_config *config,
                                  const char *host, uint64_t deadline_ms, struct cuzk_error *err)
{
    TRY(tls_client_context(config->ca, config->cert, config->key, &client->context, err));
    client->tls = tls_connection(client->context, client->fd, host);
    if (!client->tls)
        return error_set(err, CUZK_NO_MEMORY, "no memory for TLS");
    ssize_t rv;
    while ((rv = tls_handshake(client->tls)) == TLS_AGAIN) {
        short events = SSL_want_write(client->tls) ? POLLOUT : POLLIN;
        if (!wait_socket(client, events, deadline_ms))
            return error_set(err, CUZK_DEADLINE_EXCEEDED, "TLS handshake with %s: no answer",
                             client->authority);
    }
    if (rv == 1)
        return CUZK_OK;
    char why[160];
    tls_error_text(why, sizeof why);
    return error_set(err, CUZK_UNAVAILABLE, "TLS handshake with %s: %s", client->authority, why);
}

static enum cuzk_status start_h2(struct rpc_client *client, struct cuzk_error *err)
{
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return error_set(err, CUZK_NO_MEMORY, "no memory for HTTP/2");
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_frame_not_send);
    int rv = nghttp2_session_client_new(&client->h2, callbacks, client);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, REPLY_WINDOW},
    };
    if (rv != 0 ||
        nghttp2_submit_settings(client->h2, NGHTTP2_FLAG_NONE, settings, ARRAY_LEN(settings)) !=
            0 ||
        nghttp2_session_set_local_window_size(client->h2, NGHTTP2_FLAG_NONE, 0, REPLY_WINDOW) != 0)
        return error_set(err, CUZK_NO_MEMORY, "no memory for HTTP/2");
    return CUZK_OK;
}

static enum cuzk_status open_client(struct rpc_client *client,
                                    const struct rpc_client_config *config, struct cuzk_error *err)
{
    const char *text = config->address;
    bool secure = strncmp(text, "https://", 8) == 0;
    if (secure)
        text += 8;
    else if (strncmp(text, "http://", 7) == 0)
        text += 7;
    struct address address;
    TRY(address_parse(text, &address, err));
    if (secure && address.local)
        return error_set(err, CUZK_INVALID_ARGUMENT, "address %s: expected https://host:port",
                         config->address);
    snprintf(client->authority, sizeof client->authority, "%s", address.local ? "localhost" : text);
    client->reply_bytes_max = config->reply_bytes_max ? config->reply_bytes_max : (size_t)256 << 20;
    uint64_t connect_ms = config->connect_ms_max ? config->connect_ms_max : 10 * 1000;
    uint64_t deadline_ms = clock_now_ms() + connect_ms;
    TRY(address_connect(&address, connect_ms, &client->fd, err));
    if (secure)
        TRY(start_tls(client, config, address.host, deadline_ms, err));
    return start_h2(client, err);
}

enum cuzk_status rpc_client_open(const struct rpc_client_config *config, struct rpc_client **client,
                                 struct cuzk_error *err)
{
    *client = NULL;
    struct rpc_client *made = mem_zalloc(1, sizeof *made);
    if (!made)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a client");
    made->fd = -1;
    enum cuzk_status status = open_client(made, config, err);
    if (status == CUZK_OK)
        *client = made;
    else
        rpc_client_close(made);
    return status;
}

void rpc_client_close(struct rpc_client *client)
{
    if (!client)
        return;
    nghttp2_session_del(client->h2);
    SSL_free(client->tls);
    SSL_CTX_free(client->context);
    if (client->fd >= 0)
        close(client->fd);
    mem_free(client);
}

/* --- A call ----------------------------------------------------------------------------------- */

static nghttp2_nv header(const char *name, const char *value)
{
    return (nghttp2_nv){.name = unconst(name),
                        .value = unconst(value),
                        .namelen = strlen(name),
                        .valuelen = strlen(value)};
}

static bool submit_request(struct rpc_client *client, struct exchange *exchange, const char *path,
                           uint64_t timeout_ms)
{
    char timeout[16];
    grpc_timeout_format(timeout_ms, timeout);
    const nghttp2_nv headers[] = {
        header(":method", "POST"),
        header(":scheme", client->tls ? "https" : "http"),
        header(":authority", client->authority),
        header(":path", path),
        header("content-type", "application/grpc"),
        header("te", "trailers"),
        header("user-agent", "cuzk"),
        header("grpc-timeout", timeout),
    };
    size_t count = timeout_ms == UINT64_MAX ? 7 : 8;
    nghttp2_data_provider provider = {.read_callback = read_request};
    exchange->id = nghttp2_submit_request(client->h2, NULL, headers, count, &provider, NULL);
    return exchange->id > 0;
}

/* Moves bytes until the call is over; false at the deadline. */
static bool run_exchange(struct rpc_client *client, const struct exchange *exchange,
                         uint64_t deadline_ms)
{
    for (;;) {
        write_some(client);
        read_some(client);
        if (!client->lost && !exchange->over)
            write_some(client); /* window updates and acknowledgements */
        if (!nghttp2_session_want_read(client->h2))
            set_lost(client, "the server ended the connection");
        if (exchange->ended || exchange->over || exchange->too_large || exchange->no_memory ||
            client->lost)
            return true;
        short events = client->out.len > client->out.start ? POLLIN | POLLOUT : POLLIN;
        if (!wait_socket(client, events, deadline_ms))
            return false;
    }
}

static void reset_exchange(struct rpc_client *client, const struct exchange *exchange)
{
    if (exchange->over || client->lost)
        return;
    nghttp2_submit_rst_stream(client->h2, NGHTTP2_FLAG_NONE, exchange->id, NGHTTP2_CANCEL);
    write_some(client);
}

static enum cuzk_status judge_exchange(struct rpc_client *client, const struct exchange *exchange,
                                       bool in_time, uint64_t timeout_ms, struct cuzk_error *err)
{
    const struct rpc_result *result = exchange->result;
    if (exchange->status_seen && (result->code != RPC_OK || exchange->ended)) {
        bool whole =
            exchange->prefix_got == GRPC_PREFIX_BYTES && exchange->reply_got == result->len;
        if (result->code != RPC_OK || (whole && !exchange->too_large))
            return CUZK_OK;
        return error_set(err, CUZK_UNAVAILABLE, "%s: OK without a whole reply", client->authority);
    }
    if (!in_time)
        return error_set(err, CUZK_DEADLINE_EXCEEDED, "%s: no answer within %llu ms",
                         client->authority, (unsigned long long)timeout_ms);
    if (exchange->too_large)
        return error_set(err, CUZK_RESOURCE_EXHAUSTED,
                         "%s: expected one uncompressed reply of at most %zu bytes",
                         client->authority, client->reply_bytes_max);
    if (exchange->no_memory)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a reply of %zu bytes", result->len);
    if (client->lost)
        return error_set(err, CUZK_UNAVAILABLE, "%s: %s", client->authority, client->why_lost);
    return error_set(err, CUZK_UNAVAILABLE, "%s: not a gRPC answer (HTTP status %d)",
                     client->authority, exchange->http_status);
}

enum cuzk_status rpc_client_call(struct rpc_client *client, const char *path,
                                 const uint8_t *message, size_t len, uint64_t timeout_ms,
                                 struct rpc_result *result, struct cuzk_error *err)
{
    *result = (struct rpc_result){.code = RPC_OK};
    if (len > UINT32_MAX)
        return error_set(err, CUZK_INVALID_ARGUMENT, "a message of %zu bytes: expected < 4 GiB",
                         len);
    if (client->lost)
        return error_set(err, CUZK_UNAVAILABLE, "%s: %s", client->authority, client->why_lost);
    uint64_t now_ms = clock_now_ms();
    uint64_t deadline_ms = timeout_ms < UINT64_MAX - now_ms ? now_ms + timeout_ms : UINT64_MAX;
    struct exchange exchange = {
        .client = client, .request = frame_of(message, len), .result = result};
    if (!submit_request(client, &exchange, path, timeout_ms))
        return error_set(err, CUZK_UNAVAILABLE, "%s: no further call fits on this connection",
                         client->authority);
    client->exchange = &exchange;
    bool in_time = run_exchange(client, &exchange, deadline_ms);
    client->exchange = NULL;
    reset_exchange(client, &exchange);
    enum cuzk_status status = judge_exchange(client, &exchange, in_time, timeout_ms, err);
    if (status != CUZK_OK || result->code != RPC_OK) {
        mem_free(result->message);
        result->message = NULL;
        result->len = 0;
    }
    return status;
}
