/* The server on real sockets, with the client of rpc/client.h. */
#include "support/support.h"

#include "base/bytes.h"
#include "base/chan.h"
#include "base/clock.h"
#include "base/mem.h"
#include "rpc/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char echo_path[] = "/test.Service/Echo";
static const char keep_path[] = "/test.Service/Keep";
static const char who_path[] = "/test.Service/Who";

static char folder[64];
static char socket_path[96];
static char address[128];

/* Calls of Keep, and what their hooks reported. */
static struct chan *kept;
static struct chan *cancelled;
static struct chan *workers; /* calls of Echo that worker threads answer; NULL: at once */

static void echo(struct rpc_call *call, void *user)
{
    (void)user;
    if (workers) {
        chan_send(workers, call);
        return;
    }
    size_t len;
    uint8_t *message = rpc_call_take_message(call, &len);
    rpc_reply(call, message, len);
}

static void on_cancelled(void *user, enum rpc_code reason)
{
    (void)reason;
    chan_send(cancelled, user);
}

static void keep(struct rpc_call *call, void *user)
{
    (void)user;
    rpc_call_attach(call, call, on_cancelled, NULL);
    chan_send(kept, call);
}

static void who(struct rpc_call *call, void *user)
{
    (void)user;
    rpc_fail(call, RPC_ABORTED, "%s", rpc_call_peer(call));
}

static const struct rpc_method methods[] = {
    {echo_path, echo, NULL}, {keep_path, keep, NULL}, {who_path, who, NULL}};

static struct rpc_server *try_start(const char *listen, struct rpc_limits limits,
                                    struct rpc_tls_files tls, struct cuzk_error *err)
{
    struct rpc_server_config config = {.listen = &listen,
                                       .listen_count = 1,
                                       .methods = methods,
                                       .method_count = 3,
                                       .limits = limits,
                                       .tls = tls};
    struct rpc_server *server;
    rpc_server_start(&config, &server, err);
    return server;
}

static struct rpc_server *start(const char *listen)
{
    struct cuzk_error err = {0};
    struct rpc_server *server =
        try_start(listen, (struct rpc_limits){0}, (struct rpc_tls_files){0}, &err);
    assert_ok(err.status, err);
    return server;
}

static struct rpc_client *connect_to(const char *where)
{
    struct rpc_client_config config = {.address = where};
    struct rpc_client *client;
    struct cuzk_error err = {0};
    assert_ok(rpc_client_open(&config, &client, &err), err);
    return client;
}

/* One call on a connection of its own; CUZK_OK with the result, or the status. */
static enum cuzk_status call_once(const char *where, const char *path, struct rpc_result *result)
{
    struct rpc_client_config config = {.address = where};
    struct rpc_client *client;
    *result = (struct rpc_result){0};
    enum cuzk_status status = rpc_client_open(&config, &client, NULL);
    if (status != CUZK_OK)
        return status;
    status = rpc_client_call(client, path, (const uint8_t *)"hello", 5, 10000, result, NULL);
    rpc_client_close(client);
    return status;
}

static void assert_serves(const char *where)
{
    struct rpc_result result;
    assert_int_equal(call_once(where, echo_path, &result), CUZK_OK);
    assert_int_equal(result.code, RPC_OK);
    assert_int_equal(result.len, 5);
    assert_memory_equal(result.message, "hello", 5);
    mem_free(result.message);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cuzk-rpc-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(socket_path, sizeof socket_path, "%s/test.sock", folder);
    snprintf(address, sizeof address, "unix://%s", socket_path);
    kept = chan_new(64);
    cancelled = chan_new(64);
    return kept && cancelled ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    chan_free(kept);
    chan_free(cancelled);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    FILE *pipe = popen(command, "r");
    return pipe && pclose(pipe) == 0 ? 0 : -1;
}

/* --- Serving ---------------------------------------------------------------------------------- */

static void unix_and_tcp_sockets_serve_and_tell_the_peer(void **state)
{
    (void)state;
    const char *listen[] = {address, "127.0.0.1:0"};
    struct rpc_server_config config = {
        .listen = listen, .listen_count = 2, .methods = methods, .method_count = 3};
    struct rpc_server *server;
    struct cuzk_error err = {0};
    assert_ok(rpc_server_start(&config, &server, &err), err);
    assert_serves(address);
    const char *tcp = rpc_server_address(server, 1);
    assert_serves(tcp);
    char with_scheme[64];
    snprintf(with_scheme, sizeof with_scheme, "http://%s", tcp);
    assert_serves(with_scheme);
    assert_null(rpc_server_address(server, 2));

    struct rpc_result result;
    char expected[128];
    assert_int_equal(call_once(address, who_path, &result), CUZK_OK);
    snprintf(expected, sizeof expected, "unix:uid=%u,pid=%d", getuid(), getpid());
    assert_int_equal(result.code, RPC_ABORTED);
    assert_string_equal(result.text, expected);
    assert_int_equal(call_once(tcp, who_path, &result), CUZK_OK);
    assert_memory_equal(result.text, "127.0.0.1:", 10);
    assert_int_equal(call_once(tcp, "/no.Service/X", &result), CUZK_OK);
    assert_int_equal(result.code, RPC_UNIMPLEMENTED);

    struct rpc_server_stats stats;
    rpc_server_stats(server, &stats);
    assert_true(stats.connections_total == 6);
    assert_true(stats.calls_total == 5);
    assert_true(stats.calls_failed == 2);
    rpc_server_free(server);
}

static void *answer_loop(void *context)
{
    (void)context;
    struct rpc_call *call;
    while ((call = chan_receive(workers))) {
        size_t len;
        uint8_t *message = rpc_call_take_message(call, &len);
        rpc_reply(call, message, len);
    }
    return NULL;
}

static void *call_loop(void *context)
{
    enum { CALLS = 40, BYTES = 100000 };
    bool *good = context;
    struct rpc_client *client = connect_to(address);
    uint8_t *message = mem_zalloc(BYTES, 1);
    *good = message != NULL;
    for (unsigned i = 0; i < CALLS && *good; i++) {
        struct rpc_result result;
        message[7] = (uint8_t)i;
        *good =
            rpc_client_call(client, echo_path, message, BYTES, 20000, &result, NULL) == CUZK_OK &&
            result.len == BYTES && result.message[7] == (uint8_t)i;
        mem_free(result.message);
    }
    mem_free(message);
    rpc_client_close(client);
    return NULL;
}

static void many_clients_are_answered_from_many_threads(void **state)
{
    (void)state;
    enum { CLIENTS = 6, ANSWERERS = 3 };
    workers = chan_new(64);
    struct rpc_server *server = start(address);
    pthread_t answerers[ANSWERERS];
    pthread_t clients[CLIENTS];
    bool good[CLIENTS] = {false};
    for (size_t i = 0; i < ANSWERERS; i++)
        assert_int_equal(pthread_create(&answerers[i], NULL, answer_loop, NULL), 0);
    for (size_t i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&clients[i], NULL, call_loop, &good[i]), 0);
    for (size_t i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i], NULL);
        assert_true(good[i]);
    }
    chan_close(workers);
    for (size_t i = 0; i < ANSWERERS; i++)
        pthread_join(answerers[i], NULL);
    rpc_server_free(server);
    chan_free(workers);
    workers = NULL;
}

/* --- Socket files ----------------------------------------------------------------------------- */

static void the_socket_has_its_mode_and_is_never_stolen(void **state)
{
    (void)state;
    struct rpc_server *server = start(address);
    struct stat there;
    assert_int_equal(stat(socket_path, &there), 0);
    assert_int_equal(there.st_mode & 07777, 0660);

    struct cuzk_error err = {0};
    assert_null(try_start(address, (struct rpc_limits){0}, (struct rpc_tls_files){0}, &err));
    assert_int_equal(err.status, CUZK_FAILED_PRECONDITION);
    assert_serves(address);
    rpc_server_free(server);
    assert_int_equal(stat(socket_path, &there), -1);

    /* Another process that is just starting holds the lock, though there is no socket yet. */
    char lock_path[128];
    snprintf(lock_path, sizeof lock_path, "%s.lock", socket_path);
    int lock = open(lock_path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
    assert_null(try_start(address, (struct rpc_limits){0}, (struct rpc_tls_files){0}, &err));
    assert_int_equal(err.status, CUZK_FAILED_PRECONDITION);
    close(lock);

    /* A live socket of somebody who knows nothing of our lock. */
    int foreign = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", socket_path);
    assert_int_equal(bind(foreign, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(listen(foreign, 1), 0);
    assert_null(try_start(address, (struct rpc_limits){0}, (struct rpc_tls_files){0}, &err));
    assert_int_equal(err.status, CUZK_FAILED_PRECONDITION);
    /* Once its owner is dead, it is only a file. */
    close(foreign);
    server = start(address);
    assert_serves(address);

    /* Somebody put another file into our place: it is not ours to remove. */
    assert_int_equal(unlink(socket_path), 0);
    int other = open(socket_path, O_CREAT | O_RDWR, 0600);
    assert_true(other >= 0);
    close(other);
    rpc_server_free(server);
    assert_int_equal(stat(socket_path, &there), 0);
    assert_null(try_start(address, (struct rpc_limits){0}, (struct rpc_tls_files){0}, &err));
    assert_int_equal(err.status, CUZK_FAILED_PRECONDITION);
}

static void a_used_port_is_refused(void **state)
{
    (void)state;
    struct rpc_server *server = start("127.0.0.1:0");
    struct cuzk_error err = {0};
    assert_null(try_start(rpc_server_address(server, 0), (struct rpc_limits){0},
                          (struct rpc_tls_files){0}, &err));
    assert_int_equal(err.status, CUZK_FAILED_PRECONDITION);
    assert_serves(rpc_server_address(server, 0));
    rpc_server_free(server);
}

/* In a process of its own: serves on descriptor 3 until the pipe closes. */
static void serve_inherited(int listening, int until)
{
    char pid[16];
    snprintf(pid, sizeof pid, "%d", getpid());
    if (listening != 3)
        dup2(listening, 3);
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "1", 1);
    const char *listen[] = {address};
    struct rpc_server_config config = {.inherit = true,
                                       .listen = listen,
                                       .listen_count = 1,
                                       .methods = methods,
                                       .method_count = 3};
    struct rpc_server *server;
    struct cuzk_error err = {0};
    if (rpc_server_start(&config, &server, &err) != CUZK_OK || rpc_server_address(server, 1) ||
        getenv("LISTEN_FDS"))
        _exit(1);
    char byte;
    ssize_t got = read(until, &byte, 1);
    rpc_server_free(server);
    _exit(got == 0 ? 0 : 2);
}

static void an_inherited_socket_outlives_its_server(void **state)
{
    (void)state;
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", socket_path);
    assert_int_equal(bind(listening, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(listen(listening, 8), 0);
    for (int round = 0; round < 2; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            int until = dup(ends[0]);
            close(ends[1]);
            serve_inherited(listening, until);
        }
        close(ends[0]);
        assert_serves(address); /* in the second round, dialled while nobody may be serving yet */
        close(ends[1]);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    close(listening);
}

static void a_start_without_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    size_t before = mem_used_bytes();
    struct rpc_server *server = NULL;
    for (long n = 0; !server; n++) {
        struct stat there;
        struct cuzk_error err = {0};
        assert_true(n < 100);
        mem_fail_after(n);
        server = try_start(address, (struct rpc_limits){0}, (struct rpc_tls_files){0}, &err);
        mem_fail_after(-1);
        if (server)
            break;
        assert_int_equal(err.status, CUZK_NO_MEMORY);
        assert_int_equal(mem_used_bytes(), before);
        assert_int_equal(stat(socket_path, &there), -1);
    }
    assert_serves(address);
    rpc_server_free(server);
    assert_int_equal(mem_used_bytes(), before);
}

/* --- The end ---------------------------------------------------------------------------------- */

/* A call of Keep in a thread of its own. */
struct keeper {
    pthread_t thread;
    enum cuzk_status status;
    struct rpc_result result;
};

static void *keep_once(void *context)
{
    struct keeper *keeper = context;
    keeper->status = call_once(address, keep_path, &keeper->result);
    return NULL;
}

static struct rpc_call *start_keeper(struct keeper *keeper)
{
    assert_int_equal(pthread_create(&keeper->thread, NULL, keep_once, keeper), 0);
    return chan_receive(kept);
}

static void a_drain_waits_for_running_calls(void **state)
{
    (void)state;
    struct rpc_server *server = start(address);
    struct keeper keeper;
    struct rpc_call *call = start_keeper(&keeper);
    struct rpc_client *idle = connect_to(address);
    rpc_server_drain(server);
    assert_false(rpc_server_wait(server, 50));
    struct rpc_result result;
    assert_int_equal(call_once(address, echo_path, &result), CUZK_UNAVAILABLE);
    enum cuzk_status status =
        rpc_client_call(idle, echo_path, (const uint8_t *)"x", 1, 5000, &result, NULL);
    assert_true(status == CUZK_UNAVAILABLE || result.code == RPC_UNAVAILABLE);
    rpc_client_close(idle);
    rpc_reply(call, NULL, 0);
    assert_true(rpc_server_wait(server, 10000));
    pthread_join(keeper.thread, NULL);
    assert_int_equal(keeper.status, CUZK_OK);
    assert_int_equal(keeper.result.code, RPC_OK);
    mem_free(keeper.result.message);
    rpc_server_free(server);
}

static void *answer_when_cancelled(void *context)
{
    (void)context;
    rpc_fail(chan_receive(cancelled), RPC_CANCELLED, "too late");
    return NULL;
}

static void a_stop_fails_running_calls_and_waits_for_their_answers(void **state)
{
    (void)state;
    struct rpc_server *server = start(address);
    struct keeper keeper;
    start_keeper(&keeper);
    pthread_t answerer;
    assert_int_equal(pthread_create(&answerer, NULL, answer_when_cancelled, NULL), 0);
    rpc_server_stop(server);
    pthread_join(keeper.thread, NULL);
    assert_int_equal(keeper.status, CUZK_OK);
    assert_int_equal(keeper.result.code, RPC_UNAVAILABLE);
    rpc_server_free(server);
    pthread_join(answerer, NULL);
}

static void a_client_that_gives_up_cancels_its_call(void **state)
{
    (void)state;
    struct rpc_server *server = start(address);
    struct rpc_client *client = connect_to(address);
    struct rpc_result result;
    struct cuzk_error err = {0};
    enum cuzk_status status =
        rpc_client_call(client, keep_path, (const uint8_t *)"x", 1, 50, &result, &err);
    assert_true(status == CUZK_DEADLINE_EXCEEDED || result.code == RPC_DEADLINE_EXCEEDED);
    struct rpc_call *call = chan_receive(cancelled);
    rpc_reply(call, NULL, 0);
    /* The connection is as good as before. */
    assert_ok(rpc_client_call(client, echo_path, (const uint8_t *)"y", 1, 5000, &result, &err),
              err);
    assert_int_equal(result.len, 1);
    mem_free(result.message);
    rpc_client_close(client);
    rpc_server_free(server);
}

/* --- Too many, too slow ----------------------------------------------------------------------- */

static int connect_raw(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", socket_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
    return fd;
}

/* Reads until the server closes. */
static void assert_closed_by_server(int fd)
{
    struct timeval patience = {.tv_sec = 10};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char buffer[4096];
    ssize_t got;
    while ((got = read(fd, buffer, sizeof buffer)) > 0)
        ;
    assert_true(got == 0 || errno == ECONNRESET);
    close(fd);
}

static void silent_connections_are_closed(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct rpc_server *server = try_start(address, (struct rpc_limits){.handshake_ms_max = 50},
                                          (struct rpc_tls_files){0}, &err);
    int silent = connect_raw();
    int chatty = connect_raw();
    assert_int_equal(write(chatty, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27), 27);
    assert_closed_by_server(silent);
    assert_closed_by_server(chatty);
    assert_serves(address);
    rpc_server_free(server);
}

static void over_the_limit_idle_connections_make_room_but_busy_ones_do_not(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct rpc_server *server = try_start(address, (struct rpc_limits){.connections_max = 2},
                                          (struct rpc_tls_files){0}, &err);
    int idle = connect_raw();
    struct keeper keepers[2];
    struct rpc_call *first = start_keeper(&keepers[0]);
    struct rpc_call *second = start_keeper(&keepers[1]);
    assert_closed_by_server(idle);
    int refused = connect_raw();
    assert_closed_by_server(refused);
    struct rpc_server_stats stats;
    rpc_server_stats(server, &stats);
    assert_true(stats.connections_refused == 1);
    rpc_reply(first, NULL, 0);
    rpc_reply(second, NULL, 0);
    for (size_t i = 0; i < 2; i++) {
        pthread_join(keepers[i].thread, NULL);
        assert_int_equal(keepers[i].status, CUZK_OK);
        mem_free(keepers[i].result.message);
    }
    assert_serves(address);
    rpc_server_free(server);
}

/* Returns when the clock, which counts milliseconds, has moved. */
static void tick(void)
{
    uint64_t then_ms = clock_now_ms();
    while (clock_now_ms() < then_ms + 2)
        ;
}

/* Of two connections without a call, the one that was used last stays. */
static void the_connection_that_is_idle_longest_makes_room(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct rpc_server *server = try_start(address, (struct rpc_limits){.connections_max = 2},
                                          (struct rpc_tls_files){0}, &err);
    struct rpc_client *used = connect_to(address);
    struct rpc_result result;
    assert_ok(rpc_client_call(used, echo_path, NULL, 0, 10000, &result, &err), err);
    mem_free(result.message);
    tick();
    int idle = connect_raw();
    struct pollfd settings = {.fd = idle, .events = POLLIN};
    assert_int_equal(poll(&settings, 1, 10000), 1);
    tick();
    assert_ok(rpc_client_call(used, echo_path, NULL, 0, 10000, &result, &err), err);
    mem_free(result.message);
    assert_serves(address);
    assert_closed_by_server(idle);
    assert_ok(rpc_client_call(used, echo_path, NULL, 0, 10000, &result, &err), err);
    mem_free(result.message);
    rpc_client_close(used);
    rpc_server_free(server);
}

/* Sends the beginning of an upload of `len` bytes to Keep, as plain bytes of HTTP/2. */
static void begin_upload(int fd, uint32_t len)
{
    static const char *const headers[][2] = {{":method", "POST"},
                                             {":scheme", "http"},
                                             {":authority", "x"},
                                             {":path", keep_path},
                                             {"content-type", "application/grpc"}};
    uint8_t bytes[256] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    size_t at = 24;
    const uint8_t settings[9] = {0, 0, 0, 4};
    memcpy(bytes + at, settings, 9);
    at += 9;
    size_t head_at = at;
    at += 9;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        bytes[at++] = 0; /* HPACK: literal name and value, not indexed */
        for (size_t k = 0; k < 2; k++) {
            size_t part = strlen(headers[i][k]);
            bytes[at++] = (uint8_t)part;
            memcpy(bytes + at, headers[i][k], part);
            at += part;
        }
    }
    const uint8_t head[9] = {0, 0, (uint8_t)(at - head_at - 9), 1, 4, 0, 0, 0, 1};
    memcpy(bytes + head_at, head, 9);
    const uint8_t data[14] = {0, 0, 5, 0, 0, 0, 0, 0, 1, 0};
    memcpy(bytes + at, data, 14);
    store_u32_be(bytes + at + 10, len);
    at += 14;
    assert_int_equal(write(fd, bytes, at), (ssize_t)at);
}

struct uploader {
    pthread_t thread;
    enum cuzk_status status;
};

enum { UPLOAD_BYTES = 900000 };

static void *upload(void *context)
{
    struct uploader *uploader = context;
    struct rpc_client *client = connect_to(address);
    uint8_t *message = mem_zalloc(UPLOAD_BYTES, 1);
    struct rpc_result result;
    uploader->status =
        rpc_client_call(client, keep_path, message, UPLOAD_BYTES, 20000, &result, NULL);
    mem_free(result.message);
    mem_free(message);
    rpc_client_close(client);
    return NULL;
}

static void wait_for_held_upload(struct rpc_server *server)
{
    struct rpc_server_stats stats;
    do
        rpc_server_stats(server, &stats);
    while (stats.held_back == 0);
}

static void held_uploads_go_on_when_a_connection_is_lost_or_a_message_dropped(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct rpc_server *server =
        try_start(address, (struct rpc_limits){.request_bytes_max = 1000000},
                  (struct rpc_tls_files){0}, &err);
    int half = connect_raw();
    begin_upload(half, UPLOAD_BYTES);
    struct rpc_server_stats stats;
    do
        rpc_server_stats(server, &stats);
    while (stats.request_bytes < UPLOAD_BYTES);
    struct uploader uploaders[2];
    assert_int_equal(pthread_create(&uploaders[0].thread, NULL, upload, &uploaders[0]), 0);
    wait_for_held_upload(server);
    close(half);
    struct rpc_call *first = chan_receive(kept);

    assert_int_equal(pthread_create(&uploaders[1].thread, NULL, upload, &uploaders[1]), 0);
    wait_for_held_upload(server);
    rpc_call_drop_message(first);
    struct rpc_call *second = chan_receive(kept);
    rpc_reply(second, NULL, 0);
    rpc_reply(first, NULL, 0);
    for (size_t i = 0; i < 2; i++) {
        pthread_join(uploaders[i].thread, NULL);
        assert_int_equal(uploaders[i].status, CUZK_OK);
    }
    rpc_server_free(server);
}

/* A forked child that has not closed its descriptors yet keeps the server's sockets in epoll. */
static void a_forked_child_does_not_disturb_the_server(void **state)
{
    (void)state;
    struct rpc_server *server = start(address);
    int client = connect_raw();
    struct pollfd settings = {.fd = client, .events = POLLIN};
    assert_int_equal(poll(&settings, 1, 10000), 1);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char byte;
        close(client);
        close(ends[1]);
        ssize_t got = read(ends[0], &byte, 1);
        _exit(got == 0 ? 0 : 1);
    }
    close(ends[0]);
    close(client);
    struct rpc_server_stats stats;
    do
        rpc_server_stats(server, &stats);
    while (stats.connections > 0);
    for (int i = 0; i < 3; i++)
        assert_serves(address);
    close(ends[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    rpc_server_free(server);
}

static void running_out_of_descriptors_is_survived(void **state)
{
    (void)state;
    enum { SOCKETS = 30 };
    struct rpc_server *server = start(address);
    assert_serves(address);
    int sockets[SOCKETS];
    for (size_t i = 0; i < SOCKETS; i++)
        sockets[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit low = before;
    low.rlim_cur = (rlim_t)sockets[SOCKETS - 1] + 4; /* the server gets a few and no more */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", socket_path);
    for (size_t i = 0; i < SOCKETS; i++)
        assert_int_equal(connect(sockets[i], (struct sockaddr *)&name, sizeof name), 0);
    /* The SETTINGS of the server arrive on the accepted ones only. */
    struct pollfd first = {.fd = sockets[0], .events = POLLIN};
    struct pollfd last = {.fd = sockets[SOCKETS - 1], .events = POLLIN};
    assert_int_equal(poll(&first, 1, 10000), 1);
    assert_int_equal(poll(&last, 1, 100), 0);
    for (size_t i = 0; i + 1 < SOCKETS; i++)
        close(sockets[i]);
    assert_int_equal(poll(&last, 1, 10000), 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    close(sockets[SOCKETS - 1]);
    assert_serves(address);
    rpc_server_free(server);
}

/* --- Addresses -------------------------------------------------------------------------------- */

static void addresses_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",    "127.0.0.1", "127.0.0.1:",         "host:99999", "unix://rel.sock", "unix:",
        ":80", "[::1]",     "http://127.0.0.1:1", "[::1]9820",  "127.0.0.1:1x"};
    bool private_only;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct cuzk_error err = {0};
        assert_int_equal(rpc_address_check(bad[i], &private_only, &err), CUZK_INVALID_ARGUMENT);
    }
    static const struct {
        const char *text;
        bool private_only;
    } good[] = {{"unix:///run/x.sock", true}, {"unix:rel.sock", true}, {"127.0.0.1:9820", true},
                {"[::1]:9820", true},         {"0.0.0.0:9820", false}, {"192.0.2.1:1", false},
                {"localhost:9820", true}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct cuzk_error err = {0};
        assert_ok(rpc_address_check(good[i].text, &private_only, &err), err);
        assert_int_equal(private_only, good[i].private_only);
    }
    struct rpc_result result;
    assert_int_equal(call_once("127.0.0.1:1", echo_path, &result), CUZK_UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_inherited_socket_outlives_its_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unix_and_tcp_sockets_serve_and_tell_the_peer, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(many_clients_are_answered_from_many_threads, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_socket_has_its_mode_and_is_never_stolen, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_used_port_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_start_without_memory_leaves_nothing_behind, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_drain_waits_for_running_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stop_fails_running_calls_and_waits_for_their_answers,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_client_that_gives_up_cancels_its_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(silent_connections_are_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            over_the_limit_idle_connections_make_room_but_busy_ones_do_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_connection_that_is_idle_longest_makes_room, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            held_uploads_go_on_when_a_connection_is_lost_or_a_message_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_forked_child_does_not_disturb_the_server, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(running_out_of_descriptors_is_survived, set_up, tear_down),
        cmocka_unit_test_setup_teardown(addresses_are_checked, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
