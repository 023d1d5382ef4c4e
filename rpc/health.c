/* grpc.health.v1.Health: Check and Watch. Source: "GRPC Health Checking Protocol". */
#include "rpc/core.h"

#include "base/mem.h"
#include "rpc/wire.h"

enum { REQUEST_SERVICE = 1, RESPONSE_STATUS = 1 };
enum { SERVING = 1, NOT_SERVING = 2, SERVICE_UNKNOWN = 3 };

static struct text status_message(unsigned status)
{
    struct text message = {0};
    wire_add_varint(&message, RESPONSE_STATUS, status);
    return message;
}

static bool asks_for_known(const struct rpc_core *core, const uint8_t *message, size_t len)
{
    struct wire_reader service = wire_find(message, len, REQUEST_SERVICE);
    return core_has_service(core, (const char *)service.at, (size_t)(service.end - service.at));
}

void health_check(struct rpc_call *call, void *user)
{
    const struct rpc_core *core = user;
    size_t len;
    const uint8_t *message = rpc_call_message(call, &len);
    if (!asks_for_known(core, message, len)) {
        rpc_fail(call, RPC_NOT_FOUND, "no such service");
        return;
    }
    struct text answer = status_message(core->serving ? SERVING : NOT_SERVING);
    if (answer.failed) {
        text_free(&answer);
        rpc_fail(call, RPC_RESOURCE_EXHAUSTED, "no memory");
        return;
    }
    rpc_reply(call, (uint8_t *)answer.data, answer.len);
}

static void tell(struct stream *stream)
{
    unsigned now = stream->session->core->serving ? SERVING : NOT_SERVING;
    struct text answer = status_message(stream->watch_known ? now : SERVICE_UNKNOWN);
    if (answer.failed) {
        text_free(&answer);
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "no memory");
        return;
    }
    stream_send(stream, (uint8_t *)answer.data, answer.len);
}

void health_watch(struct stream *stream, const uint8_t *message, size_t len)
{
    struct rpc_core *core = stream->session->core;
    if (stream->watching) {
        stream_finish(stream, RPC_INTERNAL, "a second request message: expected one");
        return;
    }
    stream->watching = true;
    stream->watch_known = asks_for_known(core, message, len);
    stream->watch_next = core->watchers;
    core->watchers = stream;
    tell(stream);
}

void health_unwatch(struct stream *stream)
{
    if (!stream->watching)
        return;
    struct stream **link = &stream->session->core->watchers;
    while (*link != stream)
        link = &(*link)->watch_next;
    *link = stream->watch_next;
    stream->watching = false;
}

void health_set(struct rpc_core *core, bool serving)
{
    if (core->serving == serving)
        return;
    core->serving = serving;
    struct stream *next;
    for (struct stream *stream = core->watchers; stream; stream = next) {
        next = stream->watch_next; /* telling may end the stream */
        if (stream->watch_known)
            tell(stream);
    }
}
