#include "rpc/address.h"

#include "base/clock.h"
#include "base/error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum cuzk_status parse_local(const char *text, const char *path, struct address *address,
                                    struct cuzk_error *err)
{
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof address->path)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "address %s: expected a path of 1 to %zu bytes after unix:", text,
                         sizeof address->path - 1);
    address->local = true;
    memcpy(address->path, path, len + 1);
    return CUZK_OK;
}

static bool port_good(const char *port)
{
    unsigned value = 0;
    size_t digits = strspn(port, "0123456789");
    for (size_t i = 0; i < digits && i < 5; i++)
        value = value * 10 + (unsigned)(port[i] - '0');
    return digits >= 1 && digits <= 5 && port[digits] == '\0' && value <= 65535;
}

enum cuzk_status address_parse(const char *text, struct address *address, struct cuzk_error *err)
{
    *address = (struct address){0};
    if (strncmp(text, "unix://", 7) == 0) {
        if (text[7] != '/')
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "address %s: expected unix:///absolute/path or unix:path", text);
        return parse_local(text, text + 7, address, err);
    }
    if (strncmp(text, "unix:", 5) == 0)
        return parse_local(text, text + 5, address, err);

    const char *host = text;
    const char *host_end;
    if (*text == '[') {
        host++;
        host_end = strchr(text, ']');
    } else {
        host_end = strchr(text, ':');
    }
    const char *port = host_end ? host_end + (*host_end == ']') : NULL;
    if (!port || *port != ':' || !port_good(port + 1) || host_end == host ||
        (size_t)(host_end - host) >= sizeof address->host)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "address %s: expected host:port, [ipv6]:port, unix:///path or unix:path",
                         text);
    memcpy(address->host, host, (size_t)(host_end - host));
    memcpy(address->port, port + 1, strlen(port));
    return CUZK_OK;
}

enum cuzk_status address_resolve(const struct address *address, bool to_listen,
                                 struct addrinfo **list, struct cuzk_error *err)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0)};
    int rv = getaddrinfo(address->host, address->port, &hints, list);
    if (rv != 0)
        return error_set(err, CUZK_UNAVAILABLE, "host %s: %s", address->host, gai_strerror(rv));
    return CUZK_OK;
}

struct sockaddr_un address_of_path(const char *path)
{
    struct sockaddr_un result = {.sun_family = AF_UNIX};
    snprintf(result.sun_path, sizeof result.sun_path, "%s", path);
    return result;
}

void address_format(const struct sockaddr *socket_address, socklen_t len, char *out,
                    size_t out_bytes)
{
    char host[INET6_ADDRSTRLEN];
    char port[8];
    if (socket_address->sa_family == AF_UNIX) {
        struct sockaddr_un local = {0};
        memcpy(&local, socket_address, len < sizeof local ? len : sizeof local);
        snprintf(out, out_bytes, "unix:%.*s", (int)sizeof local.sun_path, local.sun_path);
    } else if (getnameinfo(socket_address, len, host, sizeof host, port, sizeof port,
                           NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        bool v6 = socket_address->sa_family == AF_INET6;
        snprintf(out, out_bytes, v6 ? "[%s]:%s" : "%s:%s", host, port);
    } else {
        snprintf(out, out_bytes, "unknown");
    }
}

enum cuzk_status rpc_address_check(const char *text, bool *private_only, struct cuzk_error *err)
{
    struct address address;
    TRY(address_parse(text, &address, err));
    *private_only = true;
    if (address.local)
        return CUZK_OK;
    struct addrinfo *list;
    TRY(address_resolve(&address, true, &list, err));
    for (struct addrinfo *one = list; one; one = one->ai_next) {
        bool loopback = false;
        if (one->ai_family == AF_INET) {
            struct sockaddr_in v4;
            memcpy(&v4, one->ai_addr, sizeof v4);
            loopback = ntohl(v4.sin_addr.s_addr) >> 24 == 127;
        } else if (one->ai_family == AF_INET6) {
            struct sockaddr_in6 v6;
            memcpy(&v6, one->ai_addr, sizeof v6);
            loopback = IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
        }
        *private_only = *private_only && loopback;
    }
    freeaddrinfo(list);
    return CUZK_OK;
}

/* Waits for a connect that is under way; 0 or an errno. */
static int finish_connect(int fd, uint64_t deadline_ms)
{
    for (;;) {
        uint64_t now_ms = clock_now_ms();
        if (now_ms >= deadline_ms)
            return ETIMEDOUT;
        uint64_t left = deadline_ms - now_ms;
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        int ready = poll(&wait, 1, left < 1000000 ? (int)left : 1000000);
        if (ready < 0 && errno != EINTR)
            return errno;
        if (ready <= 0)
            continue;
        int failure = 0;
        socklen_t len = sizeof failure;
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len);
        return failure;
    }
}

static int connect_one(const struct sockaddr *to, socklen_t len, uint64_t deadline_ms, int *fd)
{
    *fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return errno;
    int failure = connect(*fd, to, len) == 0 ? 0 : errno;
    if (failure == EINPROGRESS)
        failure = finish_connect(*fd, deadline_ms);
    if (failure != 0) {
        close(*fd);
        *fd = -1;
    } else if (to->sa_family != AF_UNIX) {
        int on = 1;
        setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(*fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    return failure;
}

enum cuzk_status address_connect(const struct address *address, uint64_t timeout_ms, int *fd,
                                 struct cuzk_error *err)
{
    uint64_t deadline_ms = clock_now_ms() + timeout_ms;
    char name[300];
    int failure = 0;
    if (address->local) {
        struct sockaddr_un local = address_of_path(address->path);
        failure = connect_one((struct sockaddr *)&local, sizeof local, deadline_ms, fd);
        snprintf(name, sizeof name, "unix:%s", address->path);
    } else {
        struct addrinfo *list;
        TRY(address_resolve(address, false, &list, err));
        *fd = -1;
        for (struct addrinfo *one = list; one && *fd < 0; one = one->ai_next)
            failure = connect_one(one->ai_addr, one->ai_addrlen, deadline_ms, fd);
        freeaddrinfo(list);
        snprintf(name, sizeof name, "%s:%s", address->host, address->port);
    }
    if (*fd >= 0)
        return CUZK_OK;
    return error_errno(err, failure == ETIMEDOUT ? CUZK_DEADLINE_EXCEEDED : CUZK_UNAVAILABLE,
                       failure, "connecting to %s", name);
}
