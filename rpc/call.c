#include "rpc/core.h"

#include "base/check.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- in the loop ---- */

void call_start(struct stream *stream)
{
    struct rpc_core *core = stream->session->core;
    struct rpc_call *call = mem_zalloc(1, sizeof *call);
    if (!call) {
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "no memory for another call");
        return;
    }
    call->core = core;
    call->stream = stream;
    call->peer = stream->session->peer;
    call->deadline_ms = stream->deadline_ms;
    call->message = stream->message;
    call->message_len = stream->message_len;
    call->charge = stream->charge;
    stream->message = NULL;
    stream->charge = (struct charge){0};
    stream->call = call;

    pthread_mutex_lock(&core->mutex);
    core->stats.calls++;
    core->stats.calls_total++;
    pthread_mutex_unlock(&core->mutex);
    stream->method->unary(call, stream->method->user);
}

void call_cancel(struct stream *stream, enum rpc_code reason)
{
    struct rpc_call *call = stream->call;
    if (!call)
        return;
    stream->call = NULL;
    call->stream = NULL;
    core_count_failure(call->core);
    if (call->cancelled)
        call->cancelled(call->user, reason);
}

void call_free(struct rpc_call *call)
{
    struct rpc_core *core = call->core;
    if (call->released)
        call->released(call->user);
    core_refund(core, &call->charge);
    mem_free(call->message);
    mem_free(call->reply);
    mem_free(call);
    pthread_mutex_lock(&core->mutex);
    core->stats.calls--;
    pthread_cond_broadcast(&core->changed);
    pthread_mutex_unlock(&core->mutex);
}

/* ---- from any thread ---- */

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
    core_refund(call->core, &call->charge);
    if (room)
        call->core->wake(call->core->wake_context);
}

const struct rpc_peer *rpc_call_peer(const struct rpc_call *call)
{
    return &call->peer;
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

static void answer(struct rpc_call *call)
{
    struct rpc_core *core = call->core;
    pthread_mutex_lock(&core->mutex);
    call->next = core->answered;
    core->answered = call;
    /* Waking under the mutex: once the call is in the list and the mutex is free, the server may be
       gone before we get to it. */
    core->wake(core->wake_context);
    pthread_cond_broadcast(&core->changed);
    pthread_mutex_unlock(&core->mutex);
}

void rpc_reply(struct rpc_call *call, uint8_t *message, size_t len)
{
    call->code = RPC_OK;
    call->reply = message;
    call->reply_len = message ? len : 0;
    answer(call);
}

void rpc_fail(struct rpc_call *call, enum rpc_code code, const char *format, ...)
{
    CHECK(code != RPC_OK);
    va_list args;
    va_start(args, format);
    vsnprintf(call->text, sizeof call->text, format, args);
    va_end(args);
    call->code = code;
    answer(call);
}
