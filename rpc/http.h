/* The HTTP server for browsers and monitoring: GET and HEAD of a fixed set of paths. It is plain
   HTTP without authentication, so it is for loopback or a trusted network. */
#ifndef RPC_HTTP_H
#define RPC_HTTP_H

#include "base/text.h"

#include <cuzk/status.h>
#include <stddef.h>

struct http_server;

/* A path ("/metrics"), what its content is, and a function that writes the content. `body` runs on
   a thread of the server, one call at a time; a status other than CUZK_OK becomes 503 with err's
   text. */
struct http_route {
    const char *path;
    const char *content_type; /* "text/plain; version=0.0.4; charset=utf-8" */
    enum cuzk_status (*body)(void *user, struct text *out, struct cuzk_error *err);
    void *user;
};

/* Starts a server. address: "127.0.0.1:9821", "[::1]:9821", "host:9821", "unix:///path". The table
   is copied, its strings are not. At most 64 connections, 10 s a request. */
enum cuzk_status http_server_start(const char *address, const struct http_route *routes,
                                   size_t route_count, struct http_server **server,
                                   struct cuzk_error *err);

/* The address that it listens on, with the port that the system chose for port 0. */
const char *http_server_address(const struct http_server *server);

/* Ends the threads and closes the sockets. NULL is allowed. */
void http_server_stop(struct http_server *server);

#endif
