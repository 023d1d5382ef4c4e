/* The inside of the gRPC server without sockets. Bytes go in and come out of a session (one
   connection), so that everything here can be tested and fuzzed in memory; server.c connects
   sessions with sockets.

     session.c  HTTP/2: one nghttp2 session, its streams and timers
     stream.c   gRPC on one stream: request head, message framing, admission, answer, trailers
     call.c     the handlers' side of a call: the functions of rpc.h, callable from any thread
     core.c     what sessions share: methods, budgets, the queues of held and of answered calls
     health.c, reflection.c   the standard services

   One thread, "the loop", runs everything but the functions of call.c. What those touch is under
   core->mutex. */
#ifndef RPC_CORE_H
#define RPC_CORE_H

#include "rpc/grpc.h"
#include "rpc/rpc.h"

#include <nghttp2/nghttp2.h>
#include <pthread.h>

enum {
    PATH_BYTES_MAX = 255, /* longer paths name no method of ours */
    WINDOW_BYTES = 65535, /* HTTP/2's initial window: what a stream may send unasked */
    SMALL_BYTES_MAX = WINDOW_BYTES - GRPC_PREFIX_BYTES,
    OPEN_WINDOW_BYTES = 8 << 20, /* window of a stream that was let in */
    SESSION_WINDOW_BYTES = 16 << 20,
    STREAM_OUTPUT_MAX = 4 << 20, /* unsent answers of one streaming call */
    GOAWAY_MS = 1000,            /* longest time between the two GOAWAYs of a drain */
};

struct stream;

/* How a stream's messages are handled: unary methods go to handlers through struct rpc_call, the
   standard streaming ones (Watch, ServerReflectionInfo) work directly on the stream, in the loop.
 */
struct service_method {
    char *path;
    void (*unary)(struct rpc_call *call, void *user);
    void *user;
    void (*streaming)(struct stream *stream, const uint8_t *message, size_t len);
};

struct rpc_core {
    struct rpc_limits limits; /* all filled in */
    struct service_method *methods;
    size_t method_count;
    const uint8_t *descriptors;
    size_t descriptors_len;

    /* Of the loop. */
    uint64_t now_ms; /* clock_now_ms of the event that is worked on */
    bool serving;
    bool draining;
    struct stream *watchers;   /* streams in Health.Watch */
    struct stream *held_first; /* large messages that wait for request_bytes_max, oldest first */
    struct stream *held_last;

    /* Makes the loop run core_process; from any thread. */
    void (*wake)(void *context);
    void *wake_context;

    /* Of all threads. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;        /* calls reached 0, or an answer was queued */
    struct rpc_call *answered;     /* newest first */
    size_t large_bytes;            /* charged to request_bytes_max … */
    size_t small_bytes;            /* … and to small_bytes_max */
    struct rpc_server_stats stats; /* connections are the server's part */
};

/* Message bytes that were counted against the budgets. */
struct charge {
    size_t large;
    size_t small;
};

struct rpc_call {
    struct rpc_core *core;
    struct stream *stream; /* of the loop; NULL once nobody waits for the answer */
    struct rpc_peer peer;
    uint64_t deadline_ms;
    uint8_t *message;
    size_t message_len;
    struct charge charge;
    void *user;
    void (*cancelled)(void *user, enum rpc_code reason);
    void (*released)(void *user);
    struct rpc_call *next; /* in core->answered */
    enum rpc_code code;
    uint8_t *reply;
    size_t reply_len;
    char text[GRPC_TEXT_BYTES];
};

/* A message on its way to the client, with its prefix. */
struct output {
    struct output *next;
    uint8_t prefix[GRPC_PREFIX_BYTES];
    uint8_t *message;
    size_t len;
    size_t sent; /* of prefix and message together */
};

struct stream {
    struct session *session;
    struct stream *next; /* of the session */
    struct stream *prev;
    int32_t id;

    /* The request head. */
    char path[PATH_BYTES_MAX + 1];
    size_t header_bytes;
    bool path_too_long;
    bool post;
    bool content_type_good;
    const char *http_status; /* 200 but for what is not gRPC at all */
    bool compressed;         /* grpc-encoding is not identity */
    bool timeout_bad;
    bool head_done;
    bool request_ended;
    const struct service_method *method;
    uint64_t deadline_ms;

    /* The message that is coming in. */
    uint8_t prefix[GRPC_PREFIX_BYTES];
    size_t prefix_got;
    uint8_t *message;
    size_t message_len;
    size_t message_got;
    bool message_whole;
    size_t unconsumed; /* bytes whose flow-control window was not given back yet */
    struct charge charge;
    bool held; /* in core->held_… */
    struct stream *held_next;
    uint64_t upload_started_ms;
    uint64_t progress_ms; /* when bytes last came in or went out */

    struct rpc_call *call; /* running */

    /* The answer. */
    struct output *output_first;
    struct output *output_last;
    size_t output_bytes;
    bool head_sent;
    bool finished; /* code and text are set, nothing more will be added */
    bool response_ended;
    enum rpc_code code;
    char text[GRPC_TEXT_BYTES];

    /* Health.Watch. */
    bool watching;
    bool watch_known; /* a service that we have */
    struct stream *watch_next;
};

/* One connection. */
struct session {
    struct rpc_core *core;
    nghttp2_session *h2;
    struct rpc_peer peer;
    struct stream *streams;
    unsigned stream_count;
    uint64_t started_ms;
    uint64_t idle_since_ms; /* when the last stream ended */
    bool settings_received;
    bool broken; /* close without further ado */
    enum { DRAIN_NO, DRAIN_NOTICE, DRAIN_FINAL } drain;
    uint64_t drain_ms;     /* when the notice went out */
    int32_t last_accepted; /* id of the newest stream that is worked on */
};

/* ---- core.c ---- */

/* Copies the method table; adds health and, with descriptors, reflection. */
enum cuzk_status core_init(struct rpc_core *core, const struct rpc_server_config *config,
                           struct cuzk_error *err);

/* All sessions are gone and all calls answered. */
void core_free(struct rpc_core *core);

const struct service_method *core_find_method(const struct rpc_core *core, const char *path);

/* True if a method of that service ("cuzk.v1.ProvingEngine") exists; "" is the server itself. */
bool core_has_service(const struct rpc_core *core, const char *service, size_t len);

/* Another call in stats.calls_failed. */
void core_count_failure(struct rpc_core *core);

/* Sends queued answers on their streams and lets held messages in. */
void core_process(struct rpc_core *core);

/* Counts bytes against a budget; false when they do not fit now. */
bool core_charge_small(struct rpc_core *core, struct charge *charge, size_t bytes);
void core_refund(struct rpc_core *core, struct charge *charge);

/* The queue of held messages. core_admit lets in what fits now; to be called when streams may have
   ended, after session_expire and session_free (core_process does it too). */
void core_hold(struct rpc_core *core, struct stream *stream);
void core_unhold(struct rpc_core *core, struct stream *stream);
void core_admit(struct rpc_core *core);

/* health.c, reflection.c */
void health_check(struct rpc_call *call, void *user);
void health_watch(struct stream *stream, const uint8_t *message, size_t len);
void health_unwatch(struct stream *stream);
void health_set(struct rpc_core *core, bool serving);
void reflection_info(struct stream *stream, const uint8_t *message, size_t len);

/* ---- call.c ---- */

/* Hands the stream's complete message to its handler. */
void call_start(struct stream *stream);

/* Nobody waits any more. */
void call_cancel(struct stream *stream, enum rpc_code reason);

/* After the answer was dealt with: the hooks, the bytes, the call. */
void call_free(struct rpc_call *call);

/* ---- stream.c ---- */

void stream_header(struct stream *stream, const char *name, size_t name_len, const char *value,
                   size_t value_len);
void stream_head_end(struct stream *stream);
void stream_data(struct stream *stream, const uint8_t *data, size_t len);
void stream_request_end(struct stream *stream);

/* Adds a message (a mem_alloc block, taken over) to the answer. */
void stream_send(struct stream *stream, uint8_t *message, size_t len);

/* Ends the answer; only the first call counts. An error without any message before it is sent as
   trailers alone. */
void stream_finish(struct stream *stream, enum rpc_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Room for the whole message was found: takes memory for it and opens the window. */
void stream_admitted(struct stream *stream);

/* When the stream's earliest timer runs out, UINT64_MAX: never; and what happens then. */
uint64_t stream_expiry_ms(const struct stream *stream);
void stream_expire(struct stream *stream);

void stream_free(struct stream *stream);

/* ---- session.c: core->now_ms is to be set before any of these ---- */

/* SETTINGS are queued at once: clients wait for them. NULL without memory. */
struct session *session_new(struct rpc_core *core, const struct rpc_peer *peer);

/* Cancels the calls that run. */
void session_free(struct session *session);

/* Bytes from the peer. */
void session_receive(struct session *session, const uint8_t *data, size_t len);

/* The next bytes for the peer, valid until the next call for this session; 0: nothing to send. */
size_t session_pull(struct session *session, const uint8_t **data);

/* Nothing more will be sent or received. */
bool session_over(const struct session *session);

uint64_t session_expiry_ms(const struct session *session);
void session_expire(struct session *session);

/* Announces the end of the connection, lets running calls finish. */
void session_drain(struct session *session);

/* Fails all running calls and says goodbye. */
void session_end(struct session *session);

/* For stream.c: the stream's answer grew or was finished. */
void session_answer(struct stream *stream);
void session_open_window(struct stream *stream, size_t bytes);
void session_consume(struct stream *stream, size_t bytes);
void session_reset(struct stream *stream, uint32_t http2_error);

#endif
