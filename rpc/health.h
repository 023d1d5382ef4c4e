/* The standard service grpc.health.v1.Health. Private to rpc. */
#ifndef RPC_HEALTH_H
#define RPC_HEALTH_H

#include "rpc/hub.h"

/* Health.Check; user: the struct rpc_hub. */
void health_check(struct rpc_call *call, void *user);

/* Health.Watch: sends the health now and whenever it changes. */
void health_watch(struct stream *stream, const uint8_t *message, size_t len);

/* Ends the stream's watch, if it has one. */
void health_unwatch(struct stream *stream);

/* Sets what Check and Watch report. */
void health_set(struct rpc_hub *hub, bool serving);

#endif
