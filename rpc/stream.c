#include "rpc/stream.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "rpc/call.h"
#include "rpc/health.h"
#include "rpc/session.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- States ----------------------------------------------------------------------------------- */

#define TO(state) (1u << STREAM_##state)

static const unsigned legal[STREAM_STATES] = {
    [STREAM_HEAD] = TO(MESSAGE) | TO(ANSWER),
    [STREAM_MESSAGE] = TO(HELD) | TO(WHOLE) | TO(CALL) | TO(ANSWER),
    [STREAM_HELD] = TO(MESSAGE) | TO(ANSWER),
    [STREAM_WHOLE] = TO(CALL) | TO(ANSWER),
    [STREAM_CALL] = TO(ANSWER),
    [STREAM_ANSWER] = 0,
};

static void set_state(struct stream *stream, enum stream_state to)
{
    CHECK(legal[stream->state] >> to & 1);
    stream->state = to;
}

struct stream *stream_new(struct session *session, int32_t id)
{
    struct stream *stream = mem_zalloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->session = session;
    stream->id = id;
    stream->deadline_ms = UINT64_MAX;
    stream->http_status = 405;
    stream->progress_ms = session->hub->now_ms;
    return stream;
}

/* --- The request head ------------------------------------------------------------------------- */

static bool name_is(const char *name, size_t len, const char *wanted)
{
    return len == strlen(wanted) && memcmp(name, wanted, len) == 0;
}

static void read_timeout(struct stream *stream, const char *value, size_t len)
{
    uint64_t ms;
    stream->header_fault = NULL;
    if (grpc_timeout_parse(value, len, &ms))
        stream->deadline_ms = stream->session->hub->now_ms + ms;
    else
        stream->header_fault = "grpc-timeout: expected one to eight digits and one of H M S m u n";
}

/* Fields that are not looked at here, for example custom metadata, are not kept. */
void stream_header(struct stream *stream, const char *name, size_t name_len, const char *value,
                   size_t value_len)
{
    /* HTTP/2 adds 32 bytes a field to the size of a header list (RFC 9113, section 6.5.2). */
    stream->header_bytes += name_len + value_len + 32;
    if (name_is(name, name_len, ":path")) {
        if (value_len <= PATH_BYTES_MAX)
            memcpy(stream->path, value, value_len);
    } else if (name_is(name, name_len, ":method")) {
        if (name_is(value, value_len, "POST"))
            stream->http_status = 415;
    } else if (name_is(name, name_len, "content-type")) {
        if (stream->http_status != 405)
            stream->http_status = grpc_content_type_good(value, value_len) ? 200 : 415;
    } else if (name_is(name, name_len, "grpc-encoding")) {
        stream->compressed = !name_is(value, value_len, "identity");
    } else if (name_is(name, name_len, "grpc-timeout")) {
        read_timeout(stream, value, value_len);
    }
}

void stream_head_end(struct stream *stream)
{
    struct rpc_hub *hub = stream->session->hub;
    size_t bytes_max = hub->limits.header_bytes_max;
    stream->upload_started_ms = stream->progress_ms = hub->now_ms;
    stream->method = hub_find_method(hub, stream->path);
    if (stream->http_status != 200)
        stream_finish(stream, RPC_UNKNOWN, "expected a POST of application/grpc");
    else if (stream->header_bytes > bytes_max)
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED,
                      "the header list of %zu bytes is over the limit of %zu bytes",
                      stream->header_bytes, bytes_max);
    else if (stream->header_fault)
        stream_finish(stream, RPC_INVALID_ARGUMENT, "%s", stream->header_fault);
    else if (!stream->method)
        stream_finish(stream, RPC_UNIMPLEMENTED, "no method %s",
                      stream->path[0] ? stream->path : "has a path as long as this");
    else
        set_state(stream, STREAM_MESSAGE);
}

/* --- Request messages ------------------------------------------------------------------------- */

/* The prefix is complete: decides about the message before any memory is taken for it. */
static void begin_message(struct stream *stream)
{
    struct rpc_hub *hub = stream->session->hub;
    const struct rpc_limits *limits = &hub->limits;
    uint8_t flag = stream->prefix[0];
    size_t len = load_u32_be(stream->prefix + 1);
    if (flag == 1 && stream->compressed) {
        stream_finish(stream, RPC_UNIMPLEMENTED,
                      "this server takes no compressed messages (grpc-encoding: identity)");
        return;
    }
    if (flag != 0) {
        stream_finish(stream, RPC_INTERNAL,
                      "message flag %u: expected 0, or 1 together with a grpc-encoding", flag);
        return;
    }
    size_t max = stream->method->streaming && limits->message_bytes_max > SMALL_BYTES_MAX
                     ? SMALL_BYTES_MAX
                     : limits->message_bytes_max;
    if (max > limits->request_bytes_max)
        max = limits->request_bytes_max;
    if (len > max) {
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED,
                      "a request message of %zu bytes is over the limit of %zu bytes", len, max);
        return;
    }
    size_t first = len > SMALL_BYTES_MAX ? WINDOW_BYTES : len;
    if (!hub_charge_small(hub, &stream->charge, first)) {
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED,
                      "small requests in flight are at their limit of %zu bytes",
                      limits->small_bytes_max);
        return;
    }
    stream->message = mem_alloc(first, 1);
    if (!stream->message) {
        hub_refund(hub, &stream->charge);
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "no memory for a request of %zu bytes", len);
        return;
    }
    stream->message_len = len;
    stream->message_got = 0;
    if (len > SMALL_BYTES_MAX) {
        set_state(stream, STREAM_HELD);
        hub_hold(hub, stream);
        hub_admit(hub);
    }
}

void stream_admit(struct stream *stream)
{
    struct rpc_hub *hub = stream->session->hub;
    set_state(stream, STREAM_MESSAGE);
    uint8_t *whole = mem_realloc(stream->message, stream->message_len, 1);
    if (!whole) {
        hub_refund(hub, &stream->charge);
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "no memory for a request of %zu bytes",
                      stream->message_len);
        return;
    }
    stream->message = whole;
    stream->upload_started_ms = stream->progress_ms = hub->now_ms;
    size_t window = stream->message_len + GRPC_PREFIX_BYTES;
    session_open_window(stream, window < OPEN_WINDOW_BYTES ? window : OPEN_WINDOW_BYTES);
    session_consume(stream, stream->unconsumed);
    stream->unconsumed = 0;
}

static void drop_message(struct stream *stream)
{
    if (stream->state == STREAM_HELD)
        hub_unhold(stream->session->hub, stream);
    hub_refund(stream->session->hub, &stream->charge);
    mem_free(stream->message);
    stream->message = NULL;
}

/* The message is whole. That of a unary method waits for the end of the request. */
static void end_message(struct stream *stream)
{
    if (!stream->method->streaming) {
        set_state(stream, STREAM_WHOLE);
        return;
    }
    stream->method->streaming(stream, stream->message, stream->message_len);
    drop_message(stream);
    stream->prefix_got = 0;
}

void stream_data(struct stream *stream, const uint8_t *data, size_t len)
{
    stream->unconsumed += len;
    stream->progress_ms = stream->session->hub->now_ms;
    while (len > 0 && stream->state != STREAM_ANSWER) {
        size_t used;
        if (stream->state == STREAM_WHOLE) {
            stream_finish(stream, RPC_INTERNAL, "a second request message: expected one");
            break;
        }
        if (stream->prefix_got < GRPC_PREFIX_BYTES) {
            used = GRPC_PREFIX_BYTES - stream->prefix_got;
            used = used < len ? used : len;
            memcpy(stream->prefix + stream->prefix_got, data, used);
            stream->prefix_got += used;
            if (stream->prefix_got == GRPC_PREFIX_BYTES)
                begin_message(stream);
        } else {
            /* A held message has memory for its first block only, where flow control stops the
               peer. */
            size_t room = stream->state == STREAM_HELD ? WINDOW_BYTES : stream->message_len;
            used = room - stream->message_got;
            used = used < len ? used : len;
            if (used == 0) {
                stream_finish(stream, RPC_INTERNAL, "more bytes than the window allows");
                break;
            }
            memcpy(stream->message + stream->message_got, data, used);
            stream->message_got += used;
        }
        data += used;
        len -= used;
        if (stream->state == STREAM_MESSAGE && stream->prefix_got == GRPC_PREFIX_BYTES &&
            stream->message_got == stream->message_len)
            end_message(stream);
    }
    if (stream->state != STREAM_HELD) {
        session_consume(stream, stream->unconsumed);
        stream->unconsumed = 0;
    }
}

void stream_request_end(struct stream *stream)
{
    if (stream->state == STREAM_ANSWER)
        return;
    if (stream->method->streaming) {
        if (stream->prefix_got > 0)
            stream_finish(stream, RPC_INTERNAL, "the request ended inside a message");
        else if (stream->watch == WATCH_NO)
            stream_finish(stream, RPC_OK, "%s", "");
        else
            set_state(stream, STREAM_CALL);
    } else if (stream->state == STREAM_WHOLE) {
        set_state(stream, STREAM_CALL);
        call_start(stream);
    } else if (stream->prefix_got < GRPC_PREFIX_BYTES) {
        stream_finish(stream, RPC_INTERNAL, "the request ended without a message: expected one");
    } else {
        stream_finish(stream, RPC_INTERNAL, "the request ended after %zu of %zu message bytes",
                      stream->message_got, stream->message_len);
    }
}

/* --- The answer ------------------------------------------------------------------------------- */

/* Removes the first message from the answer. */
static void drop_output(struct stream *stream)
{
    struct output *output = stream->output_first;
    stream->output_first = output->next;
    if (!stream->output_first)
        stream->output_last = NULL;
    mem_free(output->message);
    mem_free(output);
}

void stream_send(struct stream *stream, uint8_t *message, size_t len)
{
    struct output *output = stream->state == STREAM_ANSWER ? NULL : mem_zalloc(1, sizeof *output);
    if (!output || (stream->method->streaming && stream->output_bytes + len > STREAM_OUTPUT_MAX) ||
        len > UINT32_MAX) {
        mem_free(output);
        mem_free(message);
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "no room for an answer of %zu bytes", len);
        return;
    }
    output->message = message;
    output->frame = frame_of(message, len);
    if (stream->output_last)
        stream->output_last->next = output;
    else
        stream->output_first = output;
    stream->output_last = output;
    stream->output_bytes += len + GRPC_PREFIX_BYTES;
    stream->progress_ms = stream->session->hub->now_ms;
    session_answer(stream);
}

size_t stream_take_output(struct stream *stream, uint8_t *buffer, size_t room)
{
    size_t used = 0;
    while (stream->output_first && used < room) {
        struct frame *frame = &stream->output_first->frame;
        used += frame_copy(frame, buffer + used, room - used);
        if (frame_is_sent(frame))
            drop_output(stream);
    }
    stream->output_bytes -= used;
    stream->progress_ms = stream->session->hub->now_ms;
    return used;
}

void stream_finish(struct stream *stream, enum rpc_code code, const char *format, ...)
{
    if (stream->state == STREAM_ANSWER)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(stream->text, sizeof stream->text, format, args);
    va_end(args);
    stream->code = code;
    stream->progress_ms = stream->session->hub->now_ms;
    drop_message(stream);
    set_state(stream, STREAM_ANSWER);
    call_cancel(stream, code);
    health_unwatch(stream);
    session_answer(stream);
}

/* --- Timers and the end ----------------------------------------------------------------------- */

/* When an upload that has to go on is given up: without progress, or below the lowest rate.
   UINT64_MAX: nothing has to come in. A streaming client may pause between its messages. */
static uint64_t upload_expiry_ms(const struct stream *stream)
{
    const struct rpc_limits *limits = &stream->session->hub->limits;
    bool expected =
        stream->state == STREAM_WHOLE ||
        (stream->state == STREAM_MESSAGE && (!stream->method->streaming || stream->prefix_got > 0));
    if (!expected)
        return UINT64_MAX;
    uint64_t stalled = stream->progress_ms + limits->stall_ms_max;
    uint64_t slow = stream->upload_started_ms + limits->stall_ms_max +
                    (uint64_t)stream->message_len * 1000 / limits->upload_rate_min;
    return stalled < slow ? stalled : slow;
}

uint64_t stream_expiry_ms(const struct stream *stream)
{
    const struct rpc_limits *limits = &stream->session->hub->limits;
    if (stream->state == STREAM_HEAD || stream->state == STREAM_ANSWER)
        return stream->progress_ms + limits->stall_ms_max;
    uint64_t expiry = stream->deadline_ms;
    uint64_t upload = upload_expiry_ms(stream);
    expiry = upload < expiry ? upload : expiry;
    if (stream->output_first && stream->progress_ms + limits->stall_ms_max < expiry)
        expiry = stream->progress_ms + limits->stall_ms_max;
    return expiry;
}

void stream_expire(struct stream *stream)
{
    uint64_t now_ms = stream->session->hub->now_ms;
    if (stream->state == STREAM_HEAD) {
        stream->session->broken = true; /* nothing else can come before the rest of the head */
    } else if (stream->state == STREAM_ANSWER) {
        session_reset(stream, NGHTTP2_CANCEL); /* the peer does not take our answer */
    } else if (stream->deadline_ms <= now_ms) {
        stream_finish(stream, RPC_DEADLINE_EXCEEDED, "the deadline of the call has passed");
    } else if (upload_expiry_ms(stream) <= now_ms) {
        stream_finish(stream, RPC_DEADLINE_EXCEEDED,
                      "the upload was too slow: %zu of %zu bytes in %" PRIu64 " ms",
                      stream->message_got, stream->message_len, now_ms - stream->upload_started_ms);
    } else {
        session_reset(stream, NGHTTP2_CANCEL);
    }
}

void stream_free(struct stream *stream)
{
    call_cancel(stream, stream->session->hub->draining ? RPC_UNAVAILABLE : RPC_CANCELLED);
    drop_message(stream);
    health_unwatch(stream);
    while (stream->output_first)
        drop_output(stream);
    mem_free(stream);
}
