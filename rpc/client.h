/* A gRPC client for programs and tests: one connection, one blocking unary call at a time. */
#ifndef RPC_CLIENT_H
#define RPC_CLIENT_H

#include "rpc/rpc.h"

struct rpc_client;

struct rpc_client_config {
    const char *address; /* "http://host:port", "https://host:port", "host:port", "[::1]:port",
                            "unix:///path", "unix:path" */
    const char *ca;      /* https: PEM of the CA that signed the server; NULL: the system's */
    const char *cert;    /* https: certificate and key for servers that ask for them; NULL: none */
    const char *key;
    size_t reply_bytes_max;  /* 0: 256 MiB */
    uint64_t connect_ms_max; /* 0: 10 s */
};

/* The answer of a call. */
struct rpc_result {
    enum rpc_code code;
    char text[1024];  /* the server's error text, decoded; empty for RPC_OK */
    uint8_t *message; /* RPC_OK: the reply; free with mem_free */
    size_t len;
};

/* Connects. Errors: INVALID_ARGUMENT for the address, UNAVAILABLE when nothing answers there,
   DEADLINE_EXCEEDED, IO, NO_MEMORY. */
enum cuzk_status rpc_client_open(const struct rpc_client_config *config, struct rpc_client **client,
                                 struct cuzk_error *err);

/* Calls `path` ("/cuzk.v1.ProvingEngine/GetStatus") and waits for the answer, at most timeout_ms
   (UINT64_MAX: forever; sent as grpc-timeout too). CUZK_OK means that the server answered;
   result->code says what. Errors: UNAVAILABLE (connection lost or refused), DEADLINE_EXCEEDED,
   NO_MEMORY. After UNAVAILABLE the client has to be opened anew. */
enum cuzk_status rpc_client_call(struct rpc_client *client, const char *path,
                                 const uint8_t *message, size_t len, uint64_t timeout_ms,
                                 struct rpc_result *result, struct cuzk_error *err);

/* NULL is allowed. */
void rpc_client_close(struct rpc_client *client);

#endif
