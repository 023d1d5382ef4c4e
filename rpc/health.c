/* grpc.health.v1.Health: Check and Watch. Source: "GRPC Health Checking Protocol". */
#include "rpc/health.h"

#include "base/mem.h"
#include "rpc/session.h"
#include "rpc/stream.h"
#include "rpc/wire.h"

enum { REQUEST_SERVICE = 1, RESPONSE_STATUS = 1 };
enum { SERVING = 1, NOT_SERVING = 2, SERVICE_UNKNOWN = 3 };

static struct text status_message(unsigned status)
{
    struct text message = {0};
    wire_add_varint(&message, RESPONSE_STATUS, status);
    return message;
}

static bool asks_for_known(const struct rpc_hub *hub, const uint8_t *message, size_t len)
{
    struct wire_reader service = wire_find(message, len, REQUEST_SERVICE);
    return hub_has_service(hub, (const char *)service.at, (size_t)(service.end - service.at));
}

void health_check(struct rpc_call *call, void *user)
{
    const struct rpc_hub *hub = user;
    size_t len;
    const uint8_t *message = rpc_call_message(call, &len);
    if (!asks_for_known(hub, message, len)) {
        rpc_fail(call, RPC_NOT_FOUND, "no such service");
        return;
    }
    struct text answer = status_message(hub->serving ? SERVING : NOT_SERVING);
    if (answer.failed) {
        text_free(&answer);
        rpc_fail(call, RPC_RESOURCE_EXHAUSTED, "no memory");
        return;
    }
    rpc_reply(call, (uint8_t *)answer.data, answer.len);
}

static void send_status(struct stream *stream)
{
    unsigned now = stream->session->hub->serving ? SERVING : NOT_SERVING;
    struct text answer = status_message(stream->watch == WATCH_SERVICE ? now : SERVICE_UNKNOWN);
    if (answer.failed) {
        text_free(&answer);
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "no memory");
        return;
    }
    stream_send(stream, (uint8_t *)answer.data, answer.len);
}

void health_watch(struct stream *stream, const uint8_t *message, size_t len)
{
    struct rpc_hub *hub = stream->session->hub;
    if (stream->watch != WATCH_NO) {
        stream_finish(stream, RPC_INTERNAL, "a second request message: expected one");
        return;
    }
    stream->watch = asks_for_known(hub, message, len) ? WATCH_SERVICE : WATCH_UNKNOWN_SERVICE;
    stream->watch_next = hub->watchers;
    hub->watchers = stream;
    send_status(stream);
}

void health_unwatch(struct stream *stream)
{
    if (stream->watch == WATCH_NO)
        return;
    struct stream **link = &stream->session->hub->watchers;
    while (*link != stream)
        link = &(*link)->watch_next;
    *link = stream->watch_next;
    stream->watch = WATCH_NO;
}

void health_set(struct rpc_hub *hub, bool serving)
{
    if (hub->serving == serving)
        return;
    hub->serving = serving;
    struct stream *next;
    for (struct stream *stream = hub->watchers; stream; stream = next) {
        next = stream->watch_next; /* send_status may end the stream */
        if (stream->watch == WATCH_SERVICE)
            send_status(stream);
    }
}
