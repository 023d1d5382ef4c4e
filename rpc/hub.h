/* What all connections of a gRPC server share: the table of methods, the budgets of request bytes,
   the queue of held requests and the queue of answered calls.

   The server without sockets is made of these files. Bytes go into a session and come out of it, so
   that all of it can be tested and fuzzed in memory; server.c connects sessions with sockets.

     session.c                HTTP/2: one nghttp2 session of one connection, its streams and timers
     stream.c                 gRPC on one stream: request head, messages, answer, trailers
     call.c                   one call as its handler sees it: the functions of rpc.h
     hub.c                    what the sessions share
     health.c, reflection.c   the standard services

   One thread, "the loop", runs all of it except the functions of rpc.h in call.c, which may be
   called from any thread. What those functions touch is under hub->mutex.

   Private to rpc. */
#ifndef RPC_HUB_H
#define RPC_HUB_H

#include "rpc/rpc.h"

#include <pthread.h>

struct stream;

/* How a stream's messages are handled. Messages of a unary method go to a handler, as a struct
   rpc_call. The standard streaming methods (Watch, ServerReflectionInfo) work directly on the
   stream, in the loop. */
struct service_method {
    char *path;
    void (*unary)(struct rpc_call *call, void *user);
    void *user;
    void (*streaming)(struct stream *stream, const uint8_t *message, size_t len);
};

struct rpc_hub {
    struct rpc_limits limits; /* with the defaults filled in */
    struct service_method *methods;
    size_t method_count;
    const uint8_t *descriptors;
    size_t descriptors_len;

    /* Touched by the loop only. */
    uint64_t now_ms; /* clock_now_ms of the event that is being handled */
    bool serving;
    bool draining;
    struct stream *watchers;   /* streams in Health.Watch */
    struct stream *held_first; /* large messages that wait for request_bytes_max, oldest first */
    struct stream *held_last;

    /* Makes the loop run hub_process; may be called from any thread. */
    void (*wake)(void *context);
    void *wake_context;

    /* Touched by all threads, under the mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;        /* stats.calls reached 0, or an answer was queued */
    struct rpc_call *answered;     /* newest first */
    size_t large_bytes;            /* charged to request_bytes_max */
    size_t small_bytes;            /* charged to small_bytes_max */
    struct rpc_server_stats stats; /* server.c counts the connections */
};

/* Message bytes that were counted against the budgets. */
struct charge {
    size_t large;
    size_t small;
};

/* Copies the method table and adds health and, if the configuration has descriptors, reflection.
   Error: NO_MEMORY. */
enum cuzk_status hub_init(struct rpc_hub *hub, const struct rpc_server_config *config,
                          struct cuzk_error *err);

/* To be called when all sessions are freed and all calls are answered. */
void hub_free(struct rpc_hub *hub);

/* NULL if there is no such method. */
const struct service_method *hub_find_method(const struct rpc_hub *hub, const char *path);

/* True if a method of that service ("cuzk.v1.ProvingEngine") exists. The empty name, which means
   the server itself, exists always. */
bool hub_has_service(const struct rpc_hub *hub, const char *service, size_t len);

/* Counts another call in stats.calls_failed. */
void hub_count_failure(struct rpc_hub *hub);

/* Sends queued answers on their streams and admits held messages. */
void hub_process(struct rpc_hub *hub);

/* Counts bytes against small_bytes_max; false if they do not fit now. */
bool hub_charge_small(struct rpc_hub *hub, struct charge *charge, size_t bytes);

/* Gives all charged bytes back. */
void hub_refund(struct rpc_hub *hub, struct charge *charge);

/* The queue of held messages: hub_hold appends a stream, hub_unhold takes it out. hub_admit charges
   the oldest messages that fit now to request_bytes_max and calls stream_admit for each. It is to
   be called when streams may have ended: after session_expire and session_free. */
void hub_hold(struct rpc_hub *hub, struct stream *stream);
void hub_unhold(struct rpc_hub *hub, struct stream *stream);
void hub_admit(struct rpc_hub *hub);

#endif
