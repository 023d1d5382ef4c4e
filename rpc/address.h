/* Addresses as configurations write them, and connecting to them. Shared by the servers and the
   client. Private to rpc. */
#ifndef RPC_ADDRESS_H
#define RPC_ADDRESS_H

#include "rpc/rpc.h"

#include <sys/socket.h>
#include <sys/un.h>

struct address {
    bool local;                                                /* a Unix socket */
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* local */
    char host[256];                                            /* name or number, no brackets */
    char port[16];
};

/* Reads "unix:///path", "unix:path", "host:port" or "[v6]:port". Error: INVALID_ARGUMENT. */
enum cuzk_status address_parse(const char *text, struct address *address, struct cuzk_error *err);

struct addrinfo;

/* Finds all TCP addresses of a name; free *list with freeaddrinfo. Error: UNAVAILABLE. */
enum cuzk_status address_resolve(const struct address *address, bool to_listen,
                                 struct addrinfo **list, struct cuzk_error *err);

/* The sockaddr of a Unix socket's path; its length is that of the whole structure. */
struct sockaddr_un address_of_path(const char *path);

/* Writes "192.0.2.1:5000", "[::1]:5000" or "unix:/path". */
void address_format(const struct sockaddr *socket_address, socklen_t len, char *out,
                    size_t out_bytes);

/* Returns a connected, non-blocking socket in *fd. Errors: UNAVAILABLE, DEADLINE_EXCEEDED, IO. */
enum cuzk_status address_connect(const struct address *address, uint64_t timeout_ms, int *fd,
                                 struct cuzk_error *err);

#endif
