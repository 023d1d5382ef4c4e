/* The server's thread: one epoll loop over listening sockets and connections. */
#include "rpc/connection.h"
#include "rpc/health.h"
#include "rpc/listen.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pointer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 64, ACCEPTS_MAX = 64, ACCEPT_PAUSE_MS = 200, STOP_MS = 1000 };

struct rpc_server {
    struct rpc_hub hub;
    struct listeners listeners;
    int epoll;
    int event; /* wakes the loop */
    pthread_t thread;
    bool started;
    bool joined;

    /* Between the loop and other threads, under hub.mutex. */
    bool ask_serving;
    bool ask_drain;
    bool ask_stop;
    bool quiet; /* no call runs and nothing is left to send */

    char (*addresses)[LISTEN_NAME_BYTES]; /* what was listened on at the start */
    size_t address_count;

    /* TLS: files as configured, and the context that new connections get, under hub.mutex. */
    struct rpc_tls_files files;
    SSL_CTX *tls;

    /* Of the loop. */
    struct connection *connections;
    bool listening;
    uint64_t accept_at_ms; /* accepting rests until then; 0: it does not */
    uint8_t buffer[CONNECTION_IN_BYTES];
};

/* --- The loop --------------------------------------------------------------------------------- */

static void wake_loop(void *context)
{
    const struct rpc_server *server = context;
    uint64_t one = 1;
    /* Fails only when the counter is full, and then the loop wakes anyway. */
    ssize_t written = write(server->event, &one, sizeof one);
    (void)written;
}

static void watch_socket(struct rpc_server *server, int operation, int fd, uint32_t events,
                         void *what)
{
    struct epoll_event event = {.events = events, .data = {.ptr = what}};
    if (epoll_ctl(server->epoll, operation, fd, &event) != 0)
        log_error("rpc", "epoll: %s", strerror(errno));
}

static void listen_events(struct rpc_server *server, bool on)
{
    if (server->listening == on)
        return;
    server->listening = on;
    for (size_t i = 0; i < server->listeners.count; i++)
        watch_socket(server, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, server->listeners.items[i].fd,
                     EPOLLIN, &server->listeners.items[i]);
}

static void count_connection(struct rpc_server *server, int change, bool refused)
{
    pthread_mutex_lock(&server->hub.mutex);
    server->hub.stats.connections += (unsigned)change;
    server->hub.stats.connections_total += change > 0;
    server->hub.stats.connections_refused += refused;
    pthread_mutex_unlock(&server->hub.mutex);
}

/* Frees closed connections; true if there were any. */
static bool remove_closed(struct rpc_server *server)
{
    bool any = false;
    struct connection **link = &server->connections;
    while (*link) {
        struct connection *connection = *link;
        if (!connection->closed) {
            link = &connection->next;
            continue;
        }
        *link = connection->next;
        /* close alone would leave it watched if a child that was just forked has the descriptor. */
        watch_socket(server, EPOLL_CTL_DEL, connection->fd, 0, NULL);
        connection_free(connection);
        count_connection(server, -1, false);
        any = true;
    }
    return any;
}

/* At the limit of connections, closes the one that is idle longest; false if none is idle. */
static bool make_room(struct rpc_server *server)
{
    unsigned count = 0;
    struct connection *oldest = NULL;
    uint64_t oldest_ms = UINT64_MAX;
    for (struct connection *c = server->connections; c; c = c->next) {
        count++;
        uint64_t idle_ms = c->closed ? 0 : connection_idle_since_ms(c);
        if (idle_ms < oldest_ms) {
            oldest = c;
            oldest_ms = idle_ms;
        }
    }
    if (count < server->hub.limits.connections_max)
        return true;
    if (!oldest)
        return false;
    if (oldest->session && !oldest->closed) {
        session_end(oldest->session);
        connection_flush(oldest, &server->hub);
    }
    oldest->closed = true;
    return true;
}

static void add_connection(struct rpc_server *server, const struct listener *listener, int fd)
{
    if (!make_room(server)) {
        count_connection(server, 0, true);
        close(fd);
        return;
    }
    pthread_mutex_lock(&server->hub.mutex);
    SSL_CTX *tls = listener->local ? NULL : server->tls;
    struct connection *connection = connection_new(&server->hub, fd, tls);
    pthread_mutex_unlock(&server->hub.mutex);
    if (!connection)
        return;
    connection->next = server->connections;
    server->connections = connection;
    count_connection(server, 1, false);
    watch_socket(server, EPOLL_CTL_ADD, fd, EPOLLIN, connection);
}

static void accept_some(struct rpc_server *server, const struct listener *listener)
{
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            add_connection(server, listener, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* Level-triggered epoll would spin. The peers wait in the backlog meanwhile. */
            log_warn("rpc", "accepting connections rests: %s", strerror(errno));
            listen_events(server, false);
            server->accept_at_ms = server->hub.now_ms + ACCEPT_PAUSE_MS;
        }
        return;
    }
}

static bool is_listener(const struct rpc_server *server, const void *what)
{
    const struct listener *first = server->listeners.items;
    for (size_t i = 0; i < server->listeners.count; i++) {
        if (what == &first[i])
            return true;
    }
    return false;
}

static void handle_event(struct rpc_server *server, const struct epoll_event *event)
{
    void *what = event->data.ptr;
    if (what == server) {
        uint64_t counter;
        ssize_t got = read(server->event, &counter, sizeof counter);
        (void)got; /* hub_process finds what there is to do */
    } else if (is_listener(server, what)) {
        if (server->listening)
            accept_some(server, what);
    } else {
        connection_work(what, &server->hub, server->buffer);
    }
}

static void stop_listening(struct rpc_server *server)
{
    listen_events(server, false);
    server->accept_at_ms = 0;
    listen_close(&server->listeners);
}

static void begin_drain(struct rpc_server *server)
{
    if (server->hub.draining)
        return;
    server->hub.draining = true;
    health_set(&server->hub, false);
    stop_listening(server);
    for (struct connection *c = server->connections; c; c = c->next) {
        if (c->session)
            session_drain(c->session);
        else
            c->closed = true;
    }
}

static void end_sessions(struct rpc_server *server)
{
    begin_drain(server);
    for (struct connection *c = server->connections; c; c = c->next) {
        if (c->session)
            session_end(c->session);
    }
}

static void set_quiet(struct rpc_server *server, bool quiet)
{
    pthread_mutex_lock(&server->hub.mutex);
    server->quiet = quiet;
    pthread_cond_broadcast(&server->hub.changed);
    pthread_mutex_unlock(&server->hub.mutex);
}

/* Runs out timers, flushes and watches every connection; returns when the next timer runs out. */
static uint64_t flush_connections(struct rpc_server *server)
{
    bool quiet = true;
    uint64_t next_ms = server->accept_at_ms > 0 ? server->accept_at_ms : UINT64_MAX;
    do { /* calls that end make room for held messages, whose window updates are to be sent too */
        for (struct connection *c = server->connections; c; c = c->next)
            connection_expire(c, &server->hub);
        hub_admit(&server->hub);
        for (struct connection *c = server->connections; c; c = c->next)
            connection_flush(c, &server->hub);
    } while (remove_closed(server));
    for (struct connection *c = server->connections; c; c = c->next) {
        if (c->wants_write != c->polls_write) {
            watch_socket(server, EPOLL_CTL_MOD, c->fd, c->wants_write ? EPOLLOUT : EPOLLIN, c);
            c->polls_write = c->wants_write;
        }
        uint64_t expiry_ms = connection_expiry_ms(c, &server->hub);
        next_ms = expiry_ms < next_ms ? expiry_ms : next_ms;
        quiet = quiet && !c->wants_write && connection_idle_since_ms(c) != UINT64_MAX;
    }
    set_quiet(server, quiet);
    if (server->accept_at_ms > 0 && server->accept_at_ms <= server->hub.now_ms) {
        server->accept_at_ms = 0;
        listen_events(server, true);
    }
    return next_ms;
}

static int wait_ms(const struct rpc_server *server, uint64_t until_ms)
{
    const int longest = 60 * 1000;
    uint64_t now_ms = server->hub.now_ms;
    if (until_ms <= now_ms)
        return 0;
    return until_ms - now_ms < (uint64_t)longest ? (int)(until_ms - now_ms) : longest;
}

/* Does what other threads asked for; false: to stop. */
static bool follow_requests(struct rpc_server *server)
{
    pthread_mutex_lock(&server->hub.mutex);
    bool serving = server->ask_serving;
    bool drain = server->ask_drain;
    bool stop = server->ask_stop;
    pthread_mutex_unlock(&server->hub.mutex);
    health_set(&server->hub, serving && !server->hub.draining);
    if (drain)
        begin_drain(server);
    return !stop;
}

/* One round: waits for something to happen and deals with it. */
static void run_round(struct rpc_server *server, uint64_t until_ms)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(server->epoll, events, EVENTS, wait_ms(server, until_ms));
    set_quiet(server, false);
    server->hub.now_ms = clock_now_ms();
    for (int i = 0; i < count; i++)
        handle_event(server, &events[i]);
    hub_process(&server->hub);
}

static void *run_loop(void *context)
{
    struct rpc_server *server = context;
    server->hub.now_ms = clock_now_ms();
    listen_events(server, true);
    while (follow_requests(server))
        run_round(server, flush_connections(server));

    /* The last answers and GOAWAYs get STOP_MS to leave. */
    end_sessions(server);
    uint64_t end_ms = server->hub.now_ms + STOP_MS;
    while (server->connections && server->hub.now_ms < end_ms) {
        uint64_t next_ms = flush_connections(server);
        if (server->connections)
            run_round(server, next_ms < end_ms ? next_ms : end_ms);
    }
    for (struct connection *c = server->connections; c; c = c->next)
        c->closed = true;
    remove_closed(server);
    return NULL;
}

/* --- For other threads ------------------------------------------------------------------------ */

static void ask_loop(struct rpc_server *server, bool *what, bool value)
{
    pthread_mutex_lock(&server->hub.mutex);
    *what = value;
    pthread_mutex_unlock(&server->hub.mutex);
    wake_loop(server);
}

void rpc_server_set_serving(struct rpc_server *server, bool serving)
{
    ask_loop(server, &server->ask_serving, serving);
}

void rpc_server_drain(struct rpc_server *server)
{
    ask_loop(server, &server->ask_drain, true);
}

const char *rpc_server_address(const struct rpc_server *server, size_t i)
{
    return i < server->address_count ? server->addresses[i] : NULL;
}

void rpc_server_stats(struct rpc_server *server, struct rpc_server_stats *stats)
{
    pthread_mutex_lock(&server->hub.mutex);
    *stats = server->hub.stats;
    stats->request_bytes = server->hub.large_bytes + server->hub.small_bytes;
    pthread_mutex_unlock(&server->hub.mutex);
}

enum cuzk_status rpc_server_reload_tls(struct rpc_server *server, struct cuzk_error *err)
{
    if (!server->files.cert)
        return CUZK_OK;
    SSL_CTX *fresh;
    TRY(tls_server_context(&server->files, &fresh, err));
    pthread_mutex_lock(&server->hub.mutex);
    SSL_CTX *old = server->tls;
    server->tls = fresh;
    pthread_mutex_unlock(&server->hub.mutex);
    SSL_CTX_free(old);
    return CUZK_OK;
}

bool rpc_server_wait(struct rpc_server *server, uint64_t timeout_ms)
{
    const uint64_t day_ms = 24 * 3600 * 1000;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    timeout_ms = timeout_ms < day_ms ? timeout_ms : day_ms;
    until.tv_sec += (time_t)(timeout_ms / 1000);
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;

    struct rpc_hub *hub = &server->hub;
    pthread_mutex_lock(&hub->mutex);
    bool in_time = true;
    while (in_time && (!server->quiet || hub->stats.calls > 0))
        in_time = pthread_cond_timedwait(&hub->changed, &hub->mutex, &until) != ETIMEDOUT;
    bool quiet = server->quiet && hub->stats.calls == 0;
    pthread_mutex_unlock(&hub->mutex);
    return quiet;
}

void rpc_server_stop(struct rpc_server *server)
{
    if (!server->started || server->joined)
        return;
    ask_loop(server, &server->ask_stop, true);
    pthread_join(server->thread, NULL);
    server->joined = true;
}

/* Does the loop's work, which is over, until the last call is answered. */
static void wait_for_answers(struct rpc_hub *hub)
{
    pthread_mutex_lock(&hub->mutex);
    while (hub->stats.calls > 0) {
        while (!hub->answered)
            pthread_cond_wait(&hub->changed, &hub->mutex);
        pthread_mutex_unlock(&hub->mutex);
        hub_process(hub);
        pthread_mutex_lock(&hub->mutex);
    }
    pthread_mutex_unlock(&hub->mutex);
}

void rpc_server_free(struct rpc_server *server)
{
    if (!server)
        return;
    rpc_server_stop(server);
    if (server->hub.wake) {
        wait_for_answers(&server->hub);
        hub_free(&server->hub);
    }
    listen_close(&server->listeners);
    if (server->epoll >= 0)
        close(server->epoll);
    if (server->event >= 0)
        close(server->event);
    SSL_CTX_free(server->tls);
    const char *texts[] = {server->files.cert, server->files.key, server->files.client_ca};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        mem_free(unconst(texts[i]));
    mem_free(server->addresses);
    mem_free(server);
}

/* --- Start ------------------------------------------------------------------------------------ */

static bool copy_text(const char **copy, const char *text)
{
    *copy = text ? mem_strdup(text) : NULL;
    return *copy || !text;
}

static enum cuzk_status open_tls(struct rpc_server *server, const struct rpc_tls_files *files,
                                 struct cuzk_error *err)
{
    if (!copy_text(&server->files.cert, files->cert) ||
        !copy_text(&server->files.key, files->key) ||
        !copy_text(&server->files.client_ca, files->client_ca))
        return error_set(err, CUZK_NO_MEMORY, "no memory for the names of the TLS files");
    return files->cert ? tls_server_context(&server->files, &server->tls, err) : CUZK_OK;
}

static enum cuzk_status open_sockets(struct rpc_server *server,
                                     const struct rpc_server_config *config, struct cuzk_error *err)
{
    if (config->inherit)
        TRY(listen_inherit(&server->listeners, err));
    mode_t mode = config->unix_mode ? config->unix_mode : 0660;
    for (size_t i = 0; i < config->listen_count; i++)
        TRY(listen_open(&server->listeners, config->listen[i], mode, err));
    size_t count = server->listeners.count;
    if (count == 0)
        return error_set(err, CUZK_INVALID_ARGUMENT, "nothing to listen on: expected an address");
    server->addresses = mem_zalloc(count, sizeof server->addresses[0]);
    if (!server->addresses)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the addresses");
    for (size_t i = 0; i < count; i++)
        memcpy(server->addresses[i], server->listeners.items[i].name, LISTEN_NAME_BYTES);
    server->address_count = count;
    return CUZK_OK;
}

static enum cuzk_status start_thread(struct rpc_server *server, struct cuzk_error *err)
{
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    server->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->epoll < 0 || server->event < 0)
        return error_errno(err, CUZK_IO, errno, "epoll");
    watch_socket(server, EPOLL_CTL_ADD, server->event, EPOLLIN, server);
    /* Signals are for the program's own threads. */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&server->thread, NULL, run_loop, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0)
        return error_errno(err, CUZK_IO, failure, "starting the server's thread");
    server->started = true;
    return CUZK_OK;
}

static enum cuzk_status start_server(struct rpc_server *server,
                                     const struct rpc_server_config *config, struct cuzk_error *err)
{
    TRY(hub_init(&server->hub, config, err));
    server->hub.wake = wake_loop;
    server->hub.wake_context = server;
    TRY(open_tls(server, &config->tls, err));
    TRY(open_sockets(server, config, err));
    return start_thread(server, err);
}

enum cuzk_status rpc_server_start(const struct rpc_server_config *config,
                                  struct rpc_server **server, struct cuzk_error *err)
{
    *server = NULL;
    struct rpc_server *made = mem_zalloc(1, sizeof *made);
    if (!made)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the server");
    made->epoll = made->event = -1;
    made->ask_serving = true;
    enum cuzk_status status = start_server(made, config, err);
    if (status == CUZK_OK)
        *server = made;
    else
        rpc_server_free(made);
    return status;
}
