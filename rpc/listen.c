#include "rpc/listen.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Connections that wait to be accepted; the kernel cuts the number to its own limit. */
enum { BACKLOG = 512 };

static bool listens_on(const struct listeners *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, name) == 0)
            return true;
    }
    return false;
}

static void close_one(struct listener *listener)
{
    struct stat now;
    if (listener->path && stat(listener->path, &now) == 0 && now.st_dev == listener->device &&
        now.st_ino == listener->inode)
        unlink(listener->path);
    if (listener->fd >= 0)
        close(listener->fd);
    if (listener->lock_fd >= 0)
        close(listener->lock_fd);
    mem_free(listener->path);
}

void listen_close(struct listeners *list)
{
    for (size_t i = 0; i < list->count; i++)
        close_one(&list->items[i]);
    mem_free(list->items);
    *list = (struct listeners){0};
}

/* Takes the listener over, also on failure. */
static enum cuzk_status add_listener(struct listeners *list, struct listener *listener,
                                     struct cuzk_error *err)
{
    if (!MEM_GROW(list->items, list->capacity, list->count + 1)) {
        close_one(listener);
        return error_set(err, CUZK_NO_MEMORY, "no memory for another listening socket");
    }
    list->items[list->count++] = *listener;
    return CUZK_OK;
}

/* --- Unix sockets ----------------------------------------------------------------------------- */

/* The lock decides between two processes that start at the same time; looking at the socket cannot.
   The lock file is never removed: another process could lock the removed file and a third one a new
   file of the same name. */
static enum cuzk_status take_lock(const char *path, int *lock_fd, struct cuzk_error *err)
{
    char name[sizeof(struct sockaddr_un) + 8];
    snprintf(name, sizeof name, "%s.lock", path);
    *lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*lock_fd < 0)
        return error_errno(err, CUZK_IO, errno, "lock file %s", name);
    if (flock(*lock_fd, LOCK_EX | LOCK_NB) == 0)
        return CUZK_OK;
    int failure = errno;
    close(*lock_fd);
    *lock_fd = -1;
    if (failure == EWOULDBLOCK)
        return error_set(err, CUZK_FAILED_PRECONDITION,
                         "unix:%s is served by another process (%s is locked)", path, name);
    return error_errno(err, CUZK_IO, failure, "lock file %s", name);
}

/* Is the path free, or a socket that nobody serves? */
static enum cuzk_status check_path(const char *path, struct cuzk_error *err)
{
    struct stat there;
    if (lstat(path, &there) != 0)
        return errno == ENOENT ? CUZK_OK : error_errno(err, CUZK_IO, errno, "socket path %s", path);
    if (!S_ISSOCK(there.st_mode))
        return error_set(err, CUZK_FAILED_PRECONDITION,
                         "%s exists and is not a socket: expected a free path", path);
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0)
        return error_errno(err, CUZK_IO, errno, "socket");
    struct sockaddr_un address = address_of_path(path);
    int failure = connect(probe, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    close(probe);
    if (failure == ECONNREFUSED)
        return CUZK_OK;
    return error_set(err, CUZK_FAILED_PRECONDITION, "unix:%s is served by another process", path);
}

/* Binds under another name, sets the mode, and only then moves the socket to its path. So no client
   sees the socket with the wrong mode, and a dead socket is replaced in one step. */
static enum cuzk_status bind_path(struct listener *listener, const char *path, mode_t mode,
                                  struct cuzk_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int len = snprintf(address.sun_path, sizeof address.sun_path, "%s.new", path);
    if (len < 0 || (size_t)len >= sizeof address.sun_path)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "unix:%s: expected a path of at most %zu bytes", path,
                         sizeof address.sun_path - sizeof ".new");
    listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener->fd < 0)
        return error_errno(err, CUZK_IO, errno, "socket");
    unlink(address.sun_path);
    if (bind(listener->fd, (struct sockaddr *)&address, sizeof address) != 0)
        return error_errno(err, CUZK_IO, errno, "unix:%s: bind", path);
    struct stat made;
    if (chmod(address.sun_path, mode) != 0 || listen(listener->fd, BACKLOG) != 0 ||
        stat(address.sun_path, &made) != 0 || rename(address.sun_path, path) != 0) {
        int failure = errno;
        unlink(address.sun_path);
        return error_errno(err, CUZK_IO, failure, "unix:%s", path);
    }
    listener->device = made.st_dev;
    listener->inode = made.st_ino;
    listener->path = mem_strdup(path);
    if (listener->path)
        return CUZK_OK;
    unlink(path);
    return error_set(err, CUZK_NO_MEMORY, "no memory for a socket's path");
}

static enum cuzk_status open_path(struct listeners *list, const char *path, mode_t mode,
                                  struct cuzk_error *err)
{
    struct listener listener = {.fd = -1, .lock_fd = -1, .local = true};
    snprintf(listener.name, sizeof listener.name, "unix:%s", path);
    if (listens_on(list, listener.name))
        return CUZK_OK;
    enum cuzk_status status = take_lock(path, &listener.lock_fd, err);
    if (status == CUZK_OK)
        status = check_path(path, err);
    if (status == CUZK_OK)
        status = bind_path(&listener, path, mode, err);
    if (status != CUZK_OK) {
        close_one(&listener);
        return status;
    }
    return add_listener(list, &listener, err);
}

/* --- TCP -------------------------------------------------------------------------------------- */

/* *absent: this machine has no such address (a name may have others). */
static enum cuzk_status open_tcp(struct listeners *list, const struct addrinfo *where, bool *absent,
                                 struct cuzk_error *err)
{
    *absent = false;
    struct listener listener = {.fd = -1, .lock_fd = -1};
    address_format(where->ai_addr, where->ai_addrlen, listener.name, sizeof listener.name);
    if (listens_on(list, listener.name))
        return CUZK_OK;
    int on = 1;
    listener.fd = socket(where->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener.fd < 0) {
        *absent = errno == EAFNOSUPPORT;
        return error_errno(err, CUZK_IO, errno, "socket for %s", listener.name);
    }
    /* SO_REUSEADDR skips the wait for old connections to time out. It does not let two processes
       listen on one port; SO_REUSEPORT, which would, stays off. */
    setsockopt(listener.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (where->ai_family == AF_INET6)
        setsockopt(listener.fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(listener.fd, where->ai_addr, where->ai_addrlen) != 0 ||
        listen(listener.fd, BACKLOG) != 0) {
        int failure = errno;
        close_one(&listener);
        *absent = failure == EADDRNOTAVAIL;
        if (failure == EADDRINUSE)
            return error_set(err, CUZK_FAILED_PRECONDITION, "%s is served by another process",
                             listener.name);
        return error_errno(err, CUZK_IO, failure, "listening on %s", listener.name);
    }
    struct sockaddr_storage bound;
    socklen_t len = sizeof bound;
    if (getsockname(listener.fd, (struct sockaddr *)&bound, &len) == 0)
        address_format((struct sockaddr *)&bound, len, listener.name, sizeof listener.name);
    return add_listener(list, &listener, err);
}

enum cuzk_status listen_open(struct listeners *list, const char *text, mode_t mode,
                             struct cuzk_error *err)
{
    struct address address;
    TRY(address_parse(text, &address, err));
    if (address.local)
        return open_path(list, address.path, mode, err);
    struct addrinfo *all;
    TRY(address_resolve(&address, true, &all, err));
    size_t before = list->count;
    enum cuzk_status status = CUZK_OK;
    for (struct addrinfo *one = all; one && status == CUZK_OK; one = one->ai_next) {
        bool absent;
        status = open_tcp(list, one, &absent, err);
        if (absent && (one->ai_next || list->count > before))
            status = CUZK_OK;
    }
    freeaddrinfo(all);
    while (status != CUZK_OK && list->count > before)
        close_one(&list->items[--list->count]);
    return status;
}

/* --- Socket activation ------------------------------------------------------------------------ */

static uint64_t read_variable(const char *name)
{
    const char *text = getenv(name);
    uint64_t number = 0;
    return text && number_parse(text, 0, UINT64_MAX, &number) ? number : 0;
}

static enum cuzk_status add_inherited(struct listeners *list, int fd, struct cuzk_error *err)
{
    struct sockaddr_storage bound;
    socklen_t len = sizeof bound;
    int listening = 0;
    socklen_t option_len = sizeof listening;
    struct listener listener = {.fd = fd, .lock_fd = -1};
    if (getsockname(fd, (struct sockaddr *)&bound, &len) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &option_len) != 0 || !listening)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "inherited descriptor %d: expected a listening stream socket", fd);
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return error_errno(err, CUZK_IO, errno, "inherited descriptor %d", fd);
    listener.local = bound.ss_family == AF_UNIX;
    address_format((struct sockaddr *)&bound, len, listener.name, sizeof listener.name);
    return add_listener(list, &listener, err);
}

enum cuzk_status listen_inherit(struct listeners *list, struct cuzk_error *err)
{
    const int first = 3; /* SD_LISTEN_FDS_START */
    uint64_t count = read_variable("LISTEN_FDS");
    if (read_variable("LISTEN_PID") != (uint64_t)getpid() || count == 0 || count > 64)
        return CUZK_OK;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    for (int i = 0; i < (int)count; i++)
        TRY(add_inherited(list, first + i, err));
    return CUZK_OK;
}
