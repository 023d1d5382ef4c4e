#include "rpc/session.h"

#include "base/check.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "rpc/stream.h"

#include <stdio.h>
#include <string.h>

/* --- Nghttp2 calls us ------------------------------------------------------------------------- */

static struct stream *stream_of(nghttp2_session *h2, int32_t id)
{
    return nghttp2_session_get_stream_user_data(h2, id);
}

static struct stream *add_stream(struct session *session, int32_t id)
{
    struct stream *stream = stream_new(session, id);
    if (!stream)
        return NULL;
    stream->next = session->streams;
    if (session->streams)
        session->streams->prev = stream;
    session->streams = stream;
    session->stream_count++;
    return stream;
}

static void remove_stream(struct stream *stream)
{
    struct session *session = stream->session;
    if (stream->prev)
        stream->prev->next = stream->next;
    else
        session->streams = stream->next;
    if (stream->next)
        stream->next->prev = stream->prev;
    session->stream_count--;
    session->idle_since_ms = session->hub->now_ms;
    stream_free(stream);
}

static bool opens_request(const nghttp2_frame *frame)
{
    return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

static int on_begin_headers(nghttp2_session *h2, const nghttp2_frame *frame, void *user)
{
    struct session *session = user;
    int32_t id = frame->hd.stream_id;
    if (!opens_request(frame))
        return 0;
    if (session->drain != DRAIN_NO) {
        /* REFUSED_STREAM promises that nothing was done, so clients send the call elsewhere. */
        return nghttp2_submit_rst_stream(h2, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    }
    struct stream *stream = add_stream(session, id);
    if (!stream)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    session->last_accepted = id;
    return nghttp2_session_set_stream_user_data(h2, id, stream);
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *user)
{
    (void)flags;
    (void)user;
    struct stream *stream = stream_of(h2, frame->hd.stream_id);
    if (stream && opens_request(frame))
        stream_header(stream, (const char *)name, name_len, (const char *)value, value_len);
    return 0;
}

static void on_ping_ack(struct session *session)
{
    if (session->drain == DRAIN_NOTICE)
        session->drain_ms = 0; /* all frames that the peer sent before it saw the notice are here */
}

static int on_frame_recv(nghttp2_session *h2, const nghttp2_frame *frame, void *user)
{
    struct session *session = user;
    if (frame->hd.type == NGHTTP2_SETTINGS)
        session->settings_received = true;
    else if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK))
        on_ping_ack(session);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
        return 0;
    struct stream *stream = stream_of(h2, frame->hd.stream_id);
    if (!stream)
        return 0;
    if (opens_request(frame))
        stream_head_end(stream);
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        stream_request_end(stream);
    return 0;
}

static int on_data_chunk(nghttp2_session *h2, uint8_t flags, int32_t id, const uint8_t *data,
                         size_t len, void *user)
{
    (void)flags;
    (void)user;
    /* The connection's window is given back at once; only the streams' windows hold senders
       back. */
    int rv = nghttp2_session_consume_connection(h2, len);
    if (rv != 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    struct stream *stream = stream_of(h2, id);
    if (stream)
        stream_data(stream, data, len);
    return 0;
}

static int on_stream_close(nghttp2_session *h2, int32_t id, uint32_t error, void *user)
{
    (void)error;
    (void)user;
    struct stream *stream = stream_of(h2, id);
    if (stream)
        remove_stream(stream);
    return 0;
}

/* After the answer, the client need not send the rest of its request: RST_STREAM stops it, and its
   code NO_ERROR says that the answer is valid (RFC 9113, section 8.1). */
static int on_frame_send(nghttp2_session *h2, const nghttp2_frame *frame, void *user)
{
    struct session *session = user;
    if (frame->hd.type == NGHTTP2_GOAWAY && session->drain == DRAIN_NOTICE)
        return nghttp2_submit_ping(h2, NGHTTP2_FLAG_NONE, NULL); /* its answer: on_ping_ack */
    if (frame->hd.type != NGHTTP2_HEADERS || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    struct stream *stream = stream_of(h2, frame->hd.stream_id);
    if (!stream || nghttp2_session_get_stream_remote_close(h2, stream->id) != 0)
        return 0;
    return nghttp2_submit_rst_stream(h2, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
}

/* --- Answers ---------------------------------------------------------------------------------- */

#define HEADER(name_text, value_text, value_bytes)                                                 \
    {                                                                                              \
        .name = unconst(name_text), .namelen = sizeof(name_text) - 1,                              \
        .value = unconst(value_text), .valuelen = (value_bytes),                                   \
        .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME                                                      \
    }

/* Submits the trailers; with `alone`, the whole answer of a call that failed. */
static int submit_end(struct stream *stream, bool alone)
{
    char http_status[4];
    snprintf(http_status, sizeof http_status, "%u", (unsigned)stream->http_status % 1000);
    char status[4];
    char message[GRPC_ENCODED_BYTES];
    int status_len = snprintf(status, sizeof status, "%d", (int)stream->code);
    size_t message_len = grpc_message_encode(stream->text, message);
    const nghttp2_nv headers[] = {
        HEADER(":status", http_status, 3),
        HEADER("content-type", "application/grpc", 16),
        HEADER("grpc-accept-encoding", "identity", 8),
        HEADER("grpc-status", status, (size_t)status_len),
        HEADER("grpc-message", message, message_len),
    };
    size_t count = message_len > 0 ? 5 : 4;
    nghttp2_session *h2 = stream->session->h2;
    if (alone)
        return nghttp2_submit_response(h2, stream->id, headers, count, NULL);
    return nghttp2_submit_trailer(h2, stream->id, headers + 3, count - 3);
}

static ssize_t read_output(nghttp2_session *h2, int32_t id, uint8_t *buffer, size_t room,
                           uint32_t *flags, nghttp2_data_source *source, void *user)
{
    (void)h2;
    (void)id;
    struct stream *stream = source->ptr;
    struct session *session = user;
    size_t used = stream_take_output(stream, buffer, room);
    if (stream->output_first)
        return (ssize_t)used;
    if (stream->state != STREAM_ANSWER)
        return used > 0 ? (ssize_t)used : NGHTTP2_ERR_DEFERRED;
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    if (submit_end(stream, false) != 0)
        session->broken = true;
    return (ssize_t)used;
}

static int submit_begin(struct stream *stream)
{
    const nghttp2_nv headers[] = {
        HEADER(":status", "200", 3),
        HEADER("content-type", "application/grpc", 16),
        HEADER("grpc-accept-encoding", "identity", 8),
    };
    nghttp2_data_provider provider = {.source = {.ptr = stream}, .read_callback = read_output};
    return nghttp2_submit_response(stream->session->h2, stream->id, headers, 3, &provider);
}

void session_answer(struct stream *stream)
{
    int rv = 0;
    if (!stream->head_sent) {
        bool alone = stream->state == STREAM_ANSWER && !stream->output_first;
        rv = alone ? submit_end(stream, true) : submit_begin(stream);
        stream->head_sent = true;
    } else {
        rv = nghttp2_session_resume_data(stream->session->h2, stream->id);
        if (rv == NGHTTP2_ERR_INVALID_ARGUMENT)
            rv = 0; /* read_output was not deferred */
    }
    if (rv != 0)
        stream->session->broken = true; /* out of memory: no frame can be sent any more */
}

void session_open_window(struct stream *stream, size_t bytes)
{
    if (nghttp2_session_set_local_window_size(stream->session->h2, NGHTTP2_FLAG_NONE, stream->id,
                                              (int32_t)bytes) != 0)
        stream->session->broken = true;
}

void session_consume(struct stream *stream, size_t bytes)
{
    if (bytes > 0 && nghttp2_session_consume_stream(stream->session->h2, stream->id, bytes) != 0)
        stream->session->broken = true;
}

void session_reset(struct stream *stream, uint32_t http2_error)
{
    if (nghttp2_submit_rst_stream(stream->session->h2, NGHTTP2_FLAG_NONE, stream->id,
                                  http2_error) != 0)
        stream->session->broken = true;
    stream->progress_ms = stream->session->hub->now_ms;
}

/* --- Life ------------------------------------------------------------------------------------- */

static void *h2_malloc(size_t size, void *user)
{
    (void)user;
    return mem_alloc(size, 1);
}

static void h2_free(void *block, void *user)
{
    (void)user;
    mem_free(block);
}

static void *h2_calloc(size_t count, size_t size, void *user)
{
    (void)user;
    return mem_zalloc(count, size);
}

static void *h2_realloc(void *block, size_t size, void *user)
{
    (void)user;
    return block ? mem_realloc(block, size, 1) : mem_alloc(size, 1);
}

static int create_h2(struct session *session, nghttp2_session_callbacks *callbacks,
                     nghttp2_option *option)
{
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    /* Some clients cut their header block into many frames; the limit stops endless ones. */
    nghttp2_option_set_max_continuations(option, 128);
    nghttp2_mem memory = {
        .malloc = h2_malloc, .free = h2_free, .calloc = h2_calloc, .realloc = h2_realloc};
    return nghttp2_session_server_new3(&session->h2, callbacks, session, option, &memory);
}

static bool start_h2(struct session *session)
{
    const struct rpc_limits *limits = &session->hub->limits;
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    bool good = nghttp2_session_callbacks_new(&callbacks) == 0 &&
                nghttp2_option_new(&option) == 0 && create_h2(session, callbacks, option) == 0;
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    /* Without SETTINGS_NO_RFC7540_PRIORITIES: nghttp2 1.52 frees an item twice in that mode when
       memory runs out. */
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits->streams_max},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_BYTES},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)limits->header_bytes_max},
    };
    return good &&
           nghttp2_submit_settings(session->h2, NGHTTP2_FLAG_NONE, settings, ARRAY_LEN(settings)) ==
               0 &&
           nghttp2_session_set_local_window_size(session->h2, NGHTTP2_FLAG_NONE, 0,
                                                 SESSION_WINDOW_BYTES) == 0;
}

struct session *session_new(struct rpc_hub *hub, const char *peer)
{
    struct session *session = mem_zalloc(1, sizeof *session);
    if (!session)
        return NULL;
    session->hub = hub;
    snprintf(session->peer, sizeof session->peer, "%s", peer);
    session->started_ms = session->idle_since_ms = hub->now_ms;
    if (start_h2(session))
        return session;
    session_free(session);
    return NULL;
}

void session_free(struct session *session)
{
    if (!session)
        return;
    while (session->streams)
        remove_stream(session->streams);
    nghttp2_session_del(session->h2);
    mem_free(session);
}

/* --- Bytes ------------------------------------------------------------------------------------ */

void session_receive(struct session *session, const uint8_t *data, size_t len)
{
    if (session->broken)
        return;
    ssize_t used = nghttp2_session_mem_recv(session->h2, data, len);
    if (used < 0)
        session->broken = true;
}

size_t session_pull(struct session *session, const uint8_t **data)
{
    if (session->broken)
        return 0;
    ssize_t len = nghttp2_session_mem_send(session->h2, data);
    if (len < 0)
        session->broken = true;
    return len > 0 ? (size_t)len : 0;
}

bool session_over(const struct session *session)
{
    return session->broken ||
           (!nghttp2_session_want_read(session->h2) && !nghttp2_session_want_write(session->h2));
}

/* --- Timers and the end ----------------------------------------------------------------------- */

uint64_t session_expiry_ms(const struct session *session)
{
    const struct rpc_limits *limits = &session->hub->limits;
    uint64_t expiry = UINT64_MAX;
    if (!session->settings_received)
        expiry = session->started_ms + limits->handshake_ms_max;
    else if (session->drain == DRAIN_NOTICE)
        expiry = session->drain_ms > 0 ? session->drain_ms + GOAWAY_MS : 0;
    else if (session->drain == DRAIN_NO && session->stream_count == 0)
        expiry = session->idle_since_ms + limits->idle_ms_max;
    for (const struct stream *s = session->streams; s; s = s->next) {
        uint64_t stream_expiry = stream_expiry_ms(s);
        expiry = stream_expiry < expiry ? stream_expiry : expiry;
    }
    return expiry;
}

void session_expire(struct session *session)
{
    const struct rpc_limits *limits = &session->hub->limits;
    uint64_t now_ms = session->hub->now_ms;
    for (struct stream *s = session->streams; s; s = s->next) {
        if (stream_expiry_ms(s) <= now_ms)
            stream_expire(s);
    }
    if (!session->settings_received) {
        session->broken |= session->started_ms + limits->handshake_ms_max <= now_ms;
    } else if (session->drain == DRAIN_NOTICE) {
        if (session->drain_ms + GOAWAY_MS > now_ms && session->drain_ms > 0)
            return;
        session->drain = DRAIN_FINAL;
        if (nghttp2_submit_goaway(session->h2, NGHTTP2_FLAG_NONE, session->last_accepted,
                                  NGHTTP2_NO_ERROR, NULL, 0) != 0)
            session->broken = true;
    } else if (session->drain == DRAIN_NO && session->stream_count == 0 &&
               session->idle_since_ms + limits->idle_ms_max <= now_ms) {
        session_drain(session);
    }
}

void session_drain(struct session *session)
{
    if (session->drain != DRAIN_NO || session->broken)
        return;
    /* First the notice that no new call is taken; then, when all calls that were on their way have
       arrived, the GOAWAY with the id of the last one. */
    session->drain = DRAIN_NOTICE;
    session->drain_ms = session->hub->now_ms;
    if (!session->settings_received)
        session->broken = true;
    else if (nghttp2_submit_shutdown_notice(session->h2) != 0)
        session->broken = true;
    /* Streaming calls do not end by themselves: a watcher would keep the server running for
       ever. */
    for (struct stream *s = session->streams; s; s = s->next) {
        if (s->method && s->method->streaming)
            stream_finish(s, RPC_UNAVAILABLE, "the server is stopping");
    }
}

void session_end(struct session *session)
{
    for (struct stream *s = session->streams; s; s = s->next) {
        if (s->state != STREAM_HEAD)
            stream_finish(s, RPC_UNAVAILABLE, "the server is stopping");
    }
    session->drain = DRAIN_FINAL;
    if (!session->broken &&
        nghttp2_submit_goaway(session->h2, NGHTTP2_FLAG_NONE, session->last_accepted,
                              NGHTTP2_NO_ERROR, NULL, 0) != 0)
        session->broken = true;
}
