#include "memory_peer.h"

#include "support/support.h"

#include "base/bytes.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct peer_call *find(struct peer *peer, int32_t id)
{
    for (size_t i = 0; i < peer->call_count; i++) {
        if (peer->calls[i]->id == id)
            return peer->calls[i];
    }
    return NULL;
}

static void copy(char *out, size_t room, const uint8_t *value, size_t len)
{
    len = len < room - 1 ? len : room - 1;
    memcpy(out, value, len);
    out[len] = '\0';
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *user)
{
    (void)h2;
    (void)name_len;
    (void)flags;
    struct peer_call *call = find(user, frame->hd.stream_id);
    char text[16];
    copy(text, sizeof text, value, value_len);
    if (!call)
        return 0;
    if (strcmp((const char *)name, ":status") == 0)
        call->http_status = (int)strtol(text, NULL, 10);
    else if (strcmp((const char *)name, "grpc-status") == 0)
        call->code = (int)strtol(text, NULL, 10);
    else if (strcmp((const char *)name, "grpc-message") == 0)
        grpc_message_decode((const char *)value, value_len, call->text, sizeof call->text);
    else if (strcmp((const char *)name, "grpc-accept-encoding") == 0)
        copy(call->accept, sizeof call->accept, value, value_len);
    return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t id, const uint8_t *data, size_t len,
                   void *user)
{
    (void)flags;
    struct peer *peer = user;
    struct peer_call *call = find(peer, id);
    if (call) {
        assert_true(len <= sizeof call->answer - call->answer_len);
        memcpy(call->answer + call->answer_len, data, len);
        call->answer_len += len;
    }
    if (!peer->stop_reading)
        nghttp2_session_consume(h2, id, len);
    return 0;
}

static int on_close(nghttp2_session *h2, int32_t id, uint32_t error, void *user)
{
    (void)h2;
    struct peer_call *call = find(user, id);
    if (call) {
        call->closed = true;
        call->error = error;
    }
    return 0;
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *user)
{
    (void)h2;
    struct peer *peer = user;
    if (frame->hd.type == NGHTTP2_GOAWAY) {
        peer->goaways++;
        peer->last_stream_id = frame->goaway.last_stream_id;
        peer->goaway_error = frame->goaway.error_code;
    }
    return 0;
}

void peer_open(struct peer *peer, struct rpc_hub *hub)
{
    *peer = (struct peer){.hub = hub};
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
    assert_int_equal(nghttp2_option_new(&option), 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_option_set_no_auto_window_update(option, 1);
    assert_int_equal(nghttp2_session_client_new2(&peer->h2, callbacks, peer, option), 0);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    assert_int_equal(nghttp2_submit_settings(peer->h2, NGHTTP2_FLAG_NONE, NULL, 0), 0);
    peer->session = session_new(hub, "test");
}

void peer_close(struct peer *peer)
{
    session_free(peer->session);
    nghttp2_session_del(peer->h2);
    for (size_t i = 0; i < peer->call_count; i++) {
        free(peer->calls[i]->body);
        free(peer->calls[i]);
    }
    hub_process(peer->hub);
}

void peer_pump(struct peer *peer)
{
    const uint8_t *data;
    for (bool moved = true; moved;) {
        moved = false;
        hub_process(peer->hub);
        ssize_t len = nghttp2_session_mem_send(peer->h2, &data);
        if (len > 0) {
            session_receive(peer->session, data, (size_t)len);
            moved = true;
        }
        hub_process(peer->hub);
        size_t pulled = session_pull(peer->session, &data);
        if (pulled > 0) {
            nghttp2_session_mem_recv(peer->h2, data, pulled);
            moved = true;
        }
    }
}

static ssize_t read_body(nghttp2_session *h2, int32_t id, uint8_t *buffer, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *user)
{
    (void)h2;
    (void)id;
    (void)user;
    struct peer_call *call = source->ptr;
    size_t left = (call->allowed < call->len ? call->allowed : call->len) - call->sent;
    size_t len = left < room ? left : room;
    memcpy(buffer, call->body + call->sent, len);
    call->sent += len;
    if (call->end && call->sent == call->len)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    else if (len == 0)
        return NGHTTP2_ERR_DEFERRED;
    return (ssize_t)len;
}

static nghttp2_nv header(const char *name, const char *value)
{
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                        .value = (uint8_t *)(uintptr_t)value,
                        .namelen = strlen(name),
                        .valuelen = strlen(value)};
}

/* Not from base/mem, so that only the server's allocations can fail. */
static void *zeroed(size_t bytes)
{
    void *block = malloc(bytes);
    assert_non_null(block);
    return memset(block, 0, bytes);
}

struct peer_call *peer_start(struct peer *peer, const char *path, const uint8_t *message,
                             size_t len, size_t allowed, const char *extra_name,
                             const char *extra_value)
{
    struct peer_call *call = zeroed(sizeof *call);
    assert_true(peer->call_count < PEER_CALLS_MAX);
    peer->calls[peer->call_count++] = call;
    call->code = -1;
    call->len = len + GRPC_PREFIX_BYTES;
    call->body = zeroed(call->len);
    store_u32_be(call->body + 1, (uint32_t)len);
    for (size_t i = 0; i < len; i++)
        call->body[GRPC_PREFIX_BYTES + i] = message ? message[i] : (uint8_t)(i * 31 + 7);
    call->allowed = allowed;
    call->end = allowed == SIZE_MAX;
    nghttp2_nv headers[8] = {
        header(":method", "POST"),    header(":scheme", "http"),
        header(":authority", "test"), header(":path", path),
        header("te", "trailers"),     header("content-type", "application/grpc"),
    };
    size_t count = 6;
    if (extra_name)
        headers[count++] = header(extra_name, extra_value);
    nghttp2_data_provider provider = {.source = {.ptr = call}, .read_callback = read_body};
    call->id = nghttp2_submit_request(peer->h2, NULL, headers, count, &provider, NULL);
    assert_true(call->id > 0);
    peer_pump(peer);
    return call;
}

void peer_allow(struct peer *peer, struct peer_call *call, size_t allowed)
{
    call->allowed = allowed;
    call->end = allowed == SIZE_MAX;
    nghttp2_session_resume_data(peer->h2, call->id);
    peer_pump(peer);
}

void peer_reset(struct peer *peer, struct peer_call *call)
{
    nghttp2_submit_rst_stream(peer->h2, NGHTTP2_FLAG_NONE, call->id, NGHTTP2_CANCEL);
    peer_pump(peer);
}

const uint8_t *peer_answer(const struct peer_call *call, size_t i, size_t *len)
{
    for (size_t at = 0; call->answer_len - at >= GRPC_PREFIX_BYTES;) {
        *len = load_u32_be(call->answer + at + 1);
        at += GRPC_PREFIX_BYTES;
        if (call->answer_len - at < *len)
            return NULL;
        if (i-- == 0)
            return call->answer + at;
        at += *len;
    }
    return NULL;
}
