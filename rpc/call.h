/* One unary call between its stream (in the loop) and its handler (any thread). The handler's side
   is in rpc.h. Private to rpc. */
#ifndef RPC_CALL_H
#define RPC_CALL_H

#include "rpc/grpc.h"
#include "rpc/hub.h"

struct rpc_call {
    struct rpc_hub *hub;
    struct stream *stream; /* touched by the loop only; NULL once nobody waits for the answer */
    char peer[RPC_PEER_BYTES];
    uint64_t deadline_ms;
    uint8_t *message;
    size_t message_len;
    struct charge charge;
    void *user;
    void (*cancelled)(void *user, enum rpc_code reason);
    void (*released)(void *user);
    struct rpc_call *next; /* in hub->answered */
    enum rpc_code code;
    uint8_t *reply;
    size_t reply_len;
    char text[GRPC_TEXT_BYTES];
};

/* Hands the stream's whole message to its handler. */
void call_start(struct stream *stream);

/* Detaches the stream's call, if it has one, and reports the reason to the handler. */
void call_cancel(struct stream *stream, enum rpc_code reason);

/* Runs the `released` hook, refunds the bytes and frees the call, whose answer was dealt with. */
void call_free(struct rpc_call *call);

#endif
