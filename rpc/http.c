#include "rpc/http.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "rpc/listen.h"

#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    CONNECTIONS_MAX = 64,
    CONNECTIONS_PER_PEER_MAX = 32,
    REQUEST_S_MAX = 10,
    REQUEST_BYTES_MAX = 16 << 10,
    SOCKETS_MAX = 8
};

struct http_server {
    struct listeners listeners; /* a name may have several addresses */
    struct MHD_Daemon *daemons[SOCKETS_MAX];
    pthread_mutex_t one_at_a_time;
    struct http_route *routes;
    size_t route_count;
};

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned status,
                               const char *content_type, struct text *body)
{
    void *data = body->data ? body->data : unconst("");
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback(
        body->len, data, body->data ? mem_free : NULL);
    if (!response) {
        text_free(body);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result respond_error(struct MHD_Connection *connection, unsigned status,
                                     const char *why)
{
    struct text body = {0};
    text_add(&body, "%s\n", why);
    return respond(connection, status, "text/plain; charset=utf-8", &body);
}

static enum MHD_Result respond_route(struct http_server *server, struct MHD_Connection *connection,
                                     const struct http_route *route)
{
    struct text body = {0};
    struct cuzk_error err = {0};
    pthread_mutex_lock(&server->one_at_a_time);
    enum cuzk_status status = route->body(route->user, &body, &err);
    pthread_mutex_unlock(&server->one_at_a_time);
    if (status == CUZK_OK && !body.failed)
        return respond(connection, MHD_HTTP_OK, route->content_type, &body);
    text_free(&body);
    return respond_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                         status == CUZK_OK ? "out of memory" : err.text);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_len, void **state)
{
    (void)version;
    (void)upload;
    struct http_server *server = context;
    static char seen;
    if (!*state) { /* the first call, for the head; the last one is for the end */
        *state = &seen;
        return MHD_YES;
    }
    if (*upload_len > 0) { /* a body, which is ignored */
        *upload_len = 0;
        return MHD_YES;
    }
    const struct http_route *route = NULL;
    for (size_t i = 0; i < server->route_count; i++) {
        if (strcmp(server->routes[i].path, url) == 0)
            route = &server->routes[i];
    }
    if (!route)
        return respond_error(connection, MHD_HTTP_NOT_FOUND, "not found");
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return respond_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "expected GET or HEAD");
    return respond_route(server, connection, route);
}

/* What microhttpd reports about bad requests of peers is not logged. */
static void ignore_message(void *context, const char *format, va_list args)
{
    (void)context;
    (void)format;
    (void)args;
}

static struct MHD_Daemon *start_daemon(struct http_server *server, int fd)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, server,
        MHD_OPTION_EXTERNAL_LOGGER, ignore_message, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_PER_PEER_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)REQUEST_S_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES_MAX, MHD_OPTION_END);
}

static enum cuzk_status start_daemons(struct http_server *server, const char *address,
                                      const struct http_route *routes, size_t route_count,
                                      struct cuzk_error *err)
{
    server->routes = mem_memdup(routes, route_count * sizeof *routes);
    if (!server->routes)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the HTTP server");
    server->route_count = route_count;
    TRY(listen_open(&server->listeners, address, 0660, err));
    if (server->listeners.count > SOCKETS_MAX)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "%s: expected a name with at most %d addresses", address, SOCKETS_MAX);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all,
                    &before); /* inherited by the threads, which take no signals */
    bool good = true;
    for (size_t i = 0; good && i < server->listeners.count; i++) {
        server->daemons[i] = start_daemon(server, server->listeners.items[i].fd);
        good = server->daemons[i] != NULL;
        if (good)
            server->listeners.items[i].fd = -1; /* the daemon closes its socket itself */
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good ? CUZK_OK
                : error_set(err, CUZK_IO, "the HTTP server does not start on %s", address);
}

enum cuzk_status http_server_start(const char *address, const struct http_route *routes,
                                   size_t route_count, struct http_server **server,
                                   struct cuzk_error *err)
{
    *server = mem_zalloc(1, sizeof **server);
    if (!*server)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the HTTP server");
    pthread_mutex_init(&(*server)->one_at_a_time, NULL);
    enum cuzk_status status = start_daemons(*server, address, routes, route_count, err);
    if (status != CUZK_OK) {
        http_server_stop(*server);
        *server = NULL;
    }
    return status;
}

const char *http_server_address(const struct http_server *server)
{
    return server->listeners.items[0].name;
}

void http_server_stop(struct http_server *server)
{
    if (!server)
        return;
    for (size_t i = 0; i < SOCKETS_MAX; i++) {
        if (server->daemons[i])
            MHD_stop_daemon(server->daemons[i]);
    }
    listen_close(&server->listeners);
    pthread_mutex_destroy(&server->one_at_a_time);
    mem_free(server->routes);
    mem_free(server);
}
