/* The gRPC server: unary calls over HTTP/2 on Unix and TCP sockets, with health checks, reflection
   and TLS. It knows nothing of proofs: a table maps method paths to handlers, which get the bytes
   of one request message and answer later, from any thread, exactly once.

   One thread of the server does all the input and output. Handlers and hooks run on it and must not
   block: they hand the work to other threads.

   Sources: "gRPC over HTTP2" of the gRPC project (PROTOCOL-HTTP2.md), RFC 9113. */
#ifndef RPC_RPC_H
#define RPC_RPC_H

#include <cuzk/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* gRPC status codes, numbered as on the wire. */
#define RPC_CODE_MAP(X)                                                                            \
    X(OK, 0)                                                                                       \
    X(CANCELLED, 1)                                                                                \
    X(UNKNOWN, 2)                                                                                  \
    X(INVALID_ARGUMENT, 3)                                                                         \
    X(DEADLINE_EXCEEDED, 4)                                                                        \
    X(NOT_FOUND, 5)                                                                                \
    X(ALREADY_EXISTS, 6)                                                                           \
    X(PERMISSION_DENIED, 7)                                                                        \
    X(RESOURCE_EXHAUSTED, 8)                                                                       \
    X(FAILED_PRECONDITION, 9)                                                                      \
    X(ABORTED, 10)                                                                                 \
    X(OUT_OF_RANGE, 11)                                                                            \
    X(UNIMPLEMENTED, 12)                                                                           \
    X(INTERNAL, 13)                                                                                \
    X(UNAVAILABLE, 14)                                                                             \
    X(DATA_LOSS, 15)                                                                               \
    X(UNAUTHENTICATED, 16)

enum rpc_code {
#define X(name, number) RPC_##name = number,
    RPC_CODE_MAP(X)
#undef X
};

/* Returns "NOT_FOUND" and the like; "UNKNOWN" for numbers that gRPC does not have. Never NULL. */
const char *rpc_code_name(int code);

/* The gRPC code that reports a status to a client. */
enum rpc_code rpc_code_of_status(enum cuzk_status status);

/* --- Calls ------------------------------------------------------------------------------------ */

/* One call of a method by a client. A handler gets it with the whole request message and owns it
   until it has answered with rpc_reply or rpc_fail; after that it must not be touched. */
struct rpc_call;

/* The request message without gRPC's five-byte prefix. Valid until the message is dropped or taken
   or the call is answered. */
const uint8_t *rpc_call_message(const struct rpc_call *call, size_t *len);

/* Makes the message the caller's, to be freed with mem_free. It no longer counts against
   request_bytes_max: the new owner accounts for it. */
uint8_t *rpc_call_take_message(struct rpc_call *call, size_t *len);

/* Frees the message before the call is answered, which makes room for other requests. */
void rpc_call_drop_message(struct rpc_call *call);

/* Who is calling, for logs: "unix:uid=1000,pid=42" (the process that connected), "192.0.2.1:5000",
   "[::1]:5000"; with a client certificate its common name is appended: "192.0.2.1:5000,cn=curio".
   Valid until the call is answered. */
enum { RPC_PEER_BYTES = 160 };
const char *rpc_call_peer(const struct rpc_call *call);

/* When the client stops waiting, in milliseconds of clock_now_ms; UINT64_MAX: it waits forever.
   The server itself ends the call then. */
uint64_t rpc_call_deadline_ms(const struct rpc_call *call);

/* Ties `user` to the call. To be called from inside the handler, at most once, before any answer.
   cancelled (may be NULL) runs on the server's thread, at most once, when the client no longer
   waits: RPC_CANCELLED (it gave up or is gone), RPC_DEADLINE_EXCEEDED, or RPC_UNAVAILABLE (the
   server stops). The call still has to be answered; the answer is thrown away. cancelled may race
   with an answer from another thread, so it must rely on `user` alone. released (may be NULL) runs
   exactly once, after the answer, when the server will not use `user` again: free it there. */
void rpc_call_attach(struct rpc_call *call, void *user,
                     void (*cancelled)(void *user, enum rpc_code reason),
                     void (*released)(void *user));

/* Answer a call, from any thread. rpc_reply sends a message, a mem_alloc block that becomes the
   server's, or NULL for an empty message. rpc_fail sends an error: a code other than RPC_OK and a
   UTF-8 text, which is copied and cut to 1 kB. Neither can fail. */
void rpc_reply(struct rpc_call *call, uint8_t *message, size_t len);
void rpc_fail(struct rpc_call *call, enum rpc_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks an address as rpc_server_config takes it. *private_only: only this machine can reach it
   (it is a Unix socket, or a name with loopback addresses only). Errors: INVALID_ARGUMENT,
   UNAVAILABLE for a name that cannot be resolved. */
enum cuzk_status rpc_address_check(const char *address, bool *private_only, struct cuzk_error *err);

/* --- Server ----------------------------------------------------------------------------------- */

/* A method, by its path: "/cuzk.v1.ProvingEngine/Prove". */
struct rpc_method {
    const char *path;
    void (*handler)(struct rpc_call *call, void *user);
    void *user;
};

/* Zero means the default given here. */
struct rpc_limits {
    size_t message_bytes_max;  /* one request message; 256 MiB, the most that Curio sends */
    size_t request_bytes_max;  /* all request messages over 64 KiB together; 1 GiB. A sender whose
                                  message does not fit now is held back by flow control */
    size_t small_bytes_max;    /* all smaller ones, and the beginnings of held-back ones; 64 MiB */
    size_t header_bytes_max;   /* header list of one request; 64 KiB */
    unsigned connections_max;  /* 256; one more closes the longest idle one, or is refused */
    unsigned streams_max;      /* calls at once on one connection; 128 */
    uint64_t handshake_ms_max; /* from connecting to the client's SETTINGS; 10 s */
    uint64_t idle_ms_max;      /* connection without a call; 1 hour */
    uint64_t stall_ms_max;     /* no progress while the peer has to send or to read; 30 s */
    size_t upload_rate_min;    /* bytes a second below which, after stall_ms_max, an upload is
                                  given up; 64 KiB */
};

/* TLS for TCP sockets; Unix sockets never use it. Files are PEM. */
struct rpc_tls_files {
    const char *cert; /* certificate chain; NULL: no TLS */
    const char *key;
    const char *client_ca; /* not NULL: clients must show a certificate that this CA signed */
};

/* The server's configuration. Strings and tables are copied, except the descriptors. */
struct rpc_server_config {
    const char *const *listen; /* "unix:///run/cuzk/cuzk.sock", "unix:rel.sock", "127.0.0.1:9820",
                                  "[::1]:9820", "host:9820" (all its addresses) */
    size_t listen_count;
    mode_t unix_mode; /* of the socket file; 0: 0660 */
    bool inherit;     /* also serve the sockets that a service manager passed (LISTEN_FDS); an
                         address of `listen` that one of them has is not opened again */
    struct rpc_tls_files tls;
    const struct rpc_method *methods;
    size_t method_count;
    const uint8_t *descriptors; /* serialised FileDescriptorSet for reflection, valid as long as the
                                   server; NULL: no reflection */
    size_t descriptors_len;
    struct rpc_limits limits;
};

struct rpc_server;

/* Opens the sockets and starts serving. Errors: FAILED_PRECONDITION when another process serves an
   address; INVALID_ARGUMENT for an address or a certificate; IO. A Unix socket that a dead
   process left behind is replaced, but never a live one: PATH.lock is locked while this process
   serves PATH. */
enum cuzk_status rpc_server_start(const struct rpc_server_config *config,
                                  struct rpc_server **server, struct cuzk_error *err);

/* The i-th address listened on: "unix:/run/…", or "127.0.0.1:9820" with the port that the system
   chose for port 0. NULL after the last one. */
const char *rpc_server_address(const struct rpc_server *server, size_t i);

/* Sets what grpc.health.v1 reports; it is SERVING from the start. */
void rpc_server_set_serving(struct rpc_server *server, bool serving);

/* Reads the TLS files again. Later connections use them. On failure the old ones stay in use. */
enum cuzk_status rpc_server_reload_tls(struct rpc_server *server, struct cuzk_error *err);

/* Stops accepting connections and calls, reports it to clients (GOAWAY with the last call that is
   still worked on), and lets running calls end. Returns at once. */
void rpc_server_drain(struct rpc_server *server);

/* Waits until no call is left and every answer is sent, at most timeout_ms; false on timeout. */
bool rpc_server_wait(struct rpc_server *server, uint64_t timeout_ms);

/* Ends running calls with UNAVAILABLE, closes all connections, ends the thread and removes the
   server's socket files. Unanswered calls must still be answered. */
void rpc_server_stop(struct rpc_server *server);

/* Stops the server if it runs, waits until the last call is answered, and frees it. NULL is
   allowed. */
void rpc_server_free(struct rpc_server *server);

/* Figures for metrics and logs. */
struct rpc_server_stats {
    unsigned connections;
    unsigned calls;       /* given to handlers and not answered yet */
    size_t request_bytes; /* memory of request messages */
    unsigned held_back;   /* uploads that wait for request_bytes_max */
    uint64_t connections_total;
    uint64_t connections_refused; /* over connections_max */
    uint64_t calls_total;
    uint64_t calls_failed; /* answered with another code than OK, cancelled ones included */
};

/* May be called from any thread. */
void rpc_server_stats(struct rpc_server *server, struct rpc_server_stats *stats);

#endif
