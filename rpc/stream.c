#include "rpc/core.h"

#include "base/bytes.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- request head ---- */

static bool name_is(const char *name, size_t len, const char *wanted)
{
    return len == strlen(wanted) && memcmp(name, wanted, len) == 0;
}

void stream_header(struct stream *stream, const char *name, size_t name_len, const char *value,
                   size_t value_len)
{
    /* 32 bytes a field are how HTTP/2 counts a header list (RFC 9113, section 6.5.2). What is not
       looked at here, say custom and binary metadata, is not kept. */
    stream->header_bytes += name_len + value_len + 32;
    if (name_is(name, name_len, ":path")) {
        stream->path_too_long = value_len > PATH_BYTES_MAX;
        if (!stream->path_too_long) {
            memcpy(stream->path, value, value_len);
            stream->path[value_len] = '\0';
        }
    } else if (name_is(name, name_len, ":method")) {
        stream->post = name_is(value, value_len, "POST");
    } else if (name_is(name, name_len, "content-type")) {
        stream->content_type_good = grpc_content_type_good(value, value_len);
    } else if (name_is(name, name_len, "grpc-encoding")) {
        stream->compressed = !name_is(value, value_len, "identity");
    } else if (name_is(name, name_len, "grpc-timeout")) {
        uint64_t ms;
        stream->timeout_bad = !grpc_timeout_parse(value, value_len, &ms);
        if (!stream->timeout_bad)
            stream->deadline_ms = stream->session->core->now_ms + ms;
    }
}

void stream_head_end(struct stream *stream)
{
    const struct rpc_limits *limits = &stream->session->core->limits;
    stream->head_done = true;
    stream->upload_started_ms = stream->progress_ms = stream->session->core->now_ms;
    if (!stream->post || !stream->content_type_good) {
        stream->http_status = stream->post ? "415" : "405";
        stream_finish(stream, RPC_UNKNOWN, "expected a POST of application/grpc");
        return;
    }
    if (stream->header_bytes > limits->header_bytes_max) {
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED,
                      "the header list of %zu bytes is over the limit of %zu bytes",
                      stream->header_bytes, limits->header_bytes_max);
        return;
    }
    if (stream->timeout_bad) {
        stream_finish(stream, RPC_INVALID_ARGUMENT,
                      "grpc-timeout: expected one to eight digits and one of H M S m u n");
        return;
    }
    if (!stream->path_too_long)
        stream->method = core_find_method(stream->session->core, stream->path);
    if (!stream->method)
        stream_finish(stream, RPC_UNIMPLEMENTED, "no method %s",
                      stream->path_too_long ? "has a path as long as this" : stream->path);
}

/* ---- request messages ---- */

/* The prefix is complete: decides about the message before any memory is taken for it. */
static void message_begin(struct stream *stream)
{
    struct rpc_core *core = stream->session->core;
    const struct rpc_limits *limits = &core->limits;
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
    if (!core_charge_small(core, &stream->charge, first)) {
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED,
                      "small requests in flight are at their limit of %zu bytes",
                      limits->small_bytes_max);
        return;
    }
    stream->message = mem_alloc(first, 1);
    if (!stream->message) {
        core_refund(core, &stream->charge);
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "no memory for a request of %zu bytes", len);
        return;
    }
    stream->message_len = len;
    stream->message_got = 0;
    if (len > SMALL_BYTES_MAX) {
        core_hold(core, stream);
        core_admit(core);
    }
}

void stream_admitted(struct stream *stream)
{
    struct rpc_core *core = stream->session->core;
    uint8_t *whole = mem_realloc(stream->message, stream->message_len, 1);
    if (!whole) {
        core_refund(core, &stream->charge);
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "no memory for a request of %zu bytes",
                      stream->message_len);
        return;
    }
    stream->message = whole;
    stream->upload_started_ms = stream->progress_ms = stream->session->core->now_ms;
    size_t window = stream->message_len + GRPC_PREFIX_BYTES;
    session_open_window(stream, window < OPEN_WINDOW_BYTES ? window : OPEN_WINDOW_BYTES);
    session_consume(stream, stream->unconsumed);
    stream->unconsumed = 0;
}

static void drop_message(struct stream *stream)
{
    core_unhold(stream->session->core, stream);
    core_refund(stream->session->core, &stream->charge);
    mem_free(stream->message);
    stream->message = NULL;
}

/* A message is complete. Unary ones wait for the end of the request. */
static void message_end(struct stream *stream)
{
    if (!stream->method->streaming) {
        stream->message_whole = true;
        return;
    }
    stream->method->streaming(stream, stream->message, stream->message_len);
    drop_message(stream);
    stream->prefix_got = 0;
}

void stream_data(struct stream *stream, const uint8_t *data, size_t len)
{
    stream->unconsumed += len;
    stream->progress_ms = stream->session->core->now_ms;
    while (len > 0 && !stream->finished) {
        size_t used;
        if (stream->message_whole) {
            stream_finish(stream, RPC_INTERNAL, "a second request message: expected one");
            break;
        }
        if (stream->prefix_got < GRPC_PREFIX_BYTES) {
            used = GRPC_PREFIX_BYTES - stream->prefix_got;
            used = used < len ? used : len;
            memcpy(stream->prefix + stream->prefix_got, data, used);
            stream->prefix_got += used;
            if (stream->prefix_got == GRPC_PREFIX_BYTES)
                message_begin(stream);
        } else {
            /* Flow control keeps the beginning of a held message within its first block. */
            size_t room = stream->held ? WINDOW_BYTES : stream->message_len;
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
        if (!stream->finished && stream->prefix_got == GRPC_PREFIX_BYTES &&
            stream->message_got == stream->message_len)
            message_end(stream);
    }
    if (!stream->held) {
        session_consume(stream, stream->unconsumed);
        stream->unconsumed = 0;
    }
}

void stream_request_end(struct stream *stream)
{
    stream->request_ended = true;
    if (stream->finished)
        return;
    if (stream->method->streaming) {
        if (stream->prefix_got > 0)
            stream_finish(stream, RPC_INTERNAL, "the request ended inside a message");
        else if (!stream->watching)
            stream_finish(stream, RPC_OK, "%s", "");
    } else if (stream->message_whole) {
        call_start(stream);
    } else if (stream->prefix_got < GRPC_PREFIX_BYTES) {
        stream_finish(stream, RPC_INTERNAL, "the request ended without a message: expected one");
    } else {
        stream_finish(stream, RPC_INTERNAL, "the request ended after %zu of %zu message bytes",
                      stream->message_got, stream->message_len);
    }
}

/* ---- answers ---- */

static void drop_output(struct stream *stream)
{
    while (stream->output_first) {
        struct output *output = stream->output_first;
        stream->output_first = output->next;
        mem_free(output->message);
        mem_free(output);
    }
    stream->output_last = NULL;
    stream->output_bytes = 0;
}

void stream_send(struct stream *stream, uint8_t *message, size_t len)
{
    struct output *output = stream->finished ? NULL : mem_zalloc(1, sizeof *output);
    if (!output || (stream->method->streaming && stream->output_bytes + len > STREAM_OUTPUT_MAX) ||
        len > UINT32_MAX) {
        mem_free(output);
        mem_free(message);
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "no room for an answer of %zu bytes", len);
        return;
    }
    store_u32_be(output->prefix + 1, (uint32_t)len);
    output->message = message;
    output->len = len;
    if (stream->output_last)
        stream->output_last->next = output;
    else
        stream->output_first = output;
    stream->output_last = output;
    stream->output_bytes += len + GRPC_PREFIX_BYTES;
    stream->progress_ms = stream->session->core->now_ms;
    session_answer(stream);
}

void stream_finish(struct stream *stream, enum rpc_code code, const char *format, ...)
{
    if (stream->finished)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(stream->text, sizeof stream->text, format, args);
    va_end(args);
    stream->code = code;
    stream->finished = true;
    stream->progress_ms = stream->session->core->now_ms;
    call_cancel(stream, code);
    drop_message(stream);
    health_unwatch(stream);
    if (code != RPC_OK && !stream->head_sent)
        drop_output(stream);
    session_answer(stream);
}

/* ---- timers ---- */

/* When an upload that has to go on is given up: without progress, or below the lowest rate. */
static uint64_t upload_expiry_ms(const struct stream *stream)
{
    const struct rpc_limits *limits = &stream->session->core->limits;
    bool expected = !stream->request_ended && !stream->held &&
                    (!stream->method->streaming || stream->prefix_got > 0);
    if (!expected)
        return UINT64_MAX;
    uint64_t stalled = stream->progress_ms + limits->stall_ms_max;
    uint64_t slow = stream->upload_started_ms + limits->stall_ms_max +
                    (uint64_t)stream->message_len * 1000 / limits->upload_rate_min;
    return stalled < slow ? stalled : slow;
}

uint64_t stream_expiry_ms(const struct stream *stream)
{
    const struct rpc_limits *limits = &stream->session->core->limits;
    if (stream->finished || !stream->head_done)
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
    uint64_t now_ms = stream->session->core->now_ms;
    if (!stream->head_done) {
        stream->session->broken = true; /* nothing else can come before the rest of the head */
    } else if (stream->finished) {
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
    call_cancel(stream, stream->session->core->draining ? RPC_UNAVAILABLE : RPC_CANCELLED);
    drop_message(stream);
    health_unwatch(stream);
    drop_output(stream);
    mem_free(stream);
}
