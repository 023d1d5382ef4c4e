#include "rpc/call.h"

#include "base/check.h"
#include "base/mem.h"
#include "rpc/session.h"
#include "rpc/stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- In the loop ------------------------------------------------------------------------------ */

void call_start(struct stream *stream)
{
    struct rpc_hub *hub = stream->session->hub;
    struct rpc_call *call = mem_zalloc(1, sizeof *call);
    if (!call) {
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "no memory for another call");
        return;
    }
    call->hub = hub;
    call->stream = stream;
    memcpy(call->peer, stream->session->peer, sizeof call->peer);
    call->deadline_ms = stream->deadline_ms;
    call->message = stream->message;
    call->message_len = stream->message_len;
    call->charge = stream->charge;
    stream->message = NULL;
    stream->charge = (struct charge){0};
    stream->call = call;

    pthread_mutex_lock(&hub->mutex);
    hub->stats.calls++;
    hub->stats.calls_total++;
    pthread_mutex_unlock(&hub->mutex);
    stream->method->unary(call, stream->method->user);
}

void call_cancel(struct stream *stream, enum rpc_code reason)
{
    struct rpc_call *call = stream->call;
    if (!call)
        return;
    stream->call = NULL;
    call->stream = NULL;
    hub_count_failure(call->hub);
    if (call->cancelled)
        call->cancelled(call->user, reason);
}

void call_free(struct rpc_call *call)
{
    struct rpc_hub *hub = call->hub;
    if (call->released)
        call->released(call->user);
    hub_refund(hub, &call->charge);
    mem_free(call->message);
    mem_free(call->reply);
    mem_free(call);
    pthread_mutex_lock(&hub->mutex);
    hub->stats.calls--;
    pthread_cond_broadcast(&hub->changed);
    pthread_mutex_unlock(&hub->mutex);
}

/* --- From any thread -------------------------------------------------------------------------- */

const uint8_t *rpc_call_message(const struct rpc_call *call, size_t *len)
{
    *len = call->message_len;
    return call->message;
}

uint8_t *rpc_call_take_message(struct rpc_call *call, size_t *len)
{
    uint8_t *message = call->message;
    *len = call->message_len;
    call->message = NULL;
    rpc_call_drop_message(call);
    return message;
}

void rpc_call_drop_message(struct rpc_call *call)
{
    mem_free(call->message);
    call->message = NULL;
    call->message_len = 0;
    bool room = call->charge.large > 0;
    hub_refund(call->hub, &call->charge);
    if (room)
        call->hub->wake(call->hub->wake_context);
}

const char *rpc_call_peer(const struct rpc_call *call)
{
    return call->peer;
}

uint64_t rpc_call_deadline_ms(const struct rpc_call *call)
{
    return call->deadline_ms;
}

void rpc_call_attach(struct rpc_call *call, void *user,
                     void (*cancelled)(void *user, enum rpc_code reason),
                     void (*released)(void *user))
{
    CHECK(!call->user && !call->cancelled && !call->released);
    call->user = user;
    call->cancelled = cancelled;
    call->released = released;
}

static void queue_answer(struct rpc_call *call)
{
    struct rpc_hub *hub = call->hub;
    pthread_mutex_lock(&hub->mutex);
    call->next = hub->answered;
    hub->answered = call;
    /* The loop is woken under the mutex: as soon as the mutex is free with the call in the list,
       another thread may free the server. */
    hub->wake(hub->wake_context);
    pthread_cond_broadcast(&hub->changed);
    pthread_mutex_unlock(&hub->mutex);
}

void rpc_reply(struct rpc_call *call, uint8_t *message, size_t len)
{
    call->code = RPC_OK;
    call->reply = message;
    call->reply_len = message ? len : 0;
    queue_answer(call);
}

void rpc_fail(struct rpc_call *call, enum rpc_code code, const char *format, ...)
{
    CHECK(code != RPC_OK);
    va_list args;
    va_start(args, format);
    vsnprintf(call->text, sizeof call->text, format, args);
    va_end(args);
    call->code = code;
    queue_answer(call);
}
