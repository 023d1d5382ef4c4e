/* The HTTP server for status and metrics. */
#include "support/support.h"

#include "base/error.h"
#include "rpc/address.h"
#include "rpc/http.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct http_server *server;
static bool broken;

static enum cuzk_status metrics(void *user, struct text *out, struct cuzk_error *err)
{
    if (broken)
        return error_set(err, CUZK_UNAVAILABLE, "no figures yet");
    text_add(out, "cuzk_up %s\n", (const char *)user);
    return CUZK_OK;
}

static enum cuzk_status empty(void *user, struct text *out, struct cuzk_error *err)
{
    (void)user;
    (void)out;
    (void)err;
    return CUZK_OK;
}

static int start(void **state)
{
    (void)state;
    static char one[] = "1";
    const struct http_route routes[] = {
        {"/metrics", "text/plain; version=0.0.4; charset=utf-8", metrics, one},
        {"/empty", "application/json", empty, NULL},
    };
    struct cuzk_error err = {0};
    broken = false;
    assert_ok(http_server_start("127.0.0.1:0", routes, 2, &server, &err), err);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    http_server_stop(server);
    return 0;
}

/* Sends a request and reads the whole answer. */
static const char *exchange(const char *request)
{
    static char answer[8192];
    struct address address;
    struct cuzk_error err = {0};
    int fd;
    assert_ok(address_parse(http_server_address(server), &address, &err), err);
    assert_ok(address_connect(&address, 5000, &fd, &err), err);
    assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
    assert_int_equal(write(fd, request, strlen(request)), (ssize_t)strlen(request));
    size_t len = 0;
    ssize_t got;
    while ((got = read(fd, answer + len, sizeof answer - 1 - len)) > 0)
        len += (size_t)got;
    answer[len] = '\0';
    close(fd);
    return answer;
}

static void assert_begins(const char *answer, const char *beginning)
{
    if (strncmp(answer, beginning, strlen(beginning)) != 0)
        fail_msg("expected %s, got %s", beginning, answer);
}

static void get_and_head_give_what_the_route_says(void **state)
{
    (void)state;
    const char *answer =
        exchange("GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_begins(answer, "HTTP/1.1 200 ");
    assert_non_null(
        strstr(answer, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    assert_non_null(strstr(answer, "\r\n\r\ncuzk_up 1\n"));
    answer = exchange("HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_begins(answer, "HTTP/1.1 200 ");
    assert_non_null(strstr(answer, "\r\nContent-Length: 10\r\n"));
    assert_null(strstr(answer, "cuzk_up"));
    answer = exchange("GET /empty HTTP/1.0\r\n\r\n");
    assert_non_null(strstr(answer, "\r\nContent-Length: 0\r\n"));
}

static void everything_else_is_refused(void **state)
{
    (void)state;
    assert_begins(exchange("GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
                  "HTTP/1.1 404 ");
    assert_begins(exchange("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
                  "HTTP/1.1 404 ");
    const char *answer = exchange("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                                  "Connection: close\r\n\r\nabc");
    assert_begins(answer, "HTTP/1.1 405 ");
    assert_non_null(strstr(answer, "\r\nAllow: GET, HEAD\r\n"));
    exchange("nonsense\r\n\r\n");
    assert_begins(exchange("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
                  "HTTP/1.1 200 ");
}

static void a_failing_route_says_why(void **state)
{
    (void)state;
    broken = true;
    const char *answer = exchange("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_begins(answer, "HTTP/1.1 503 ");
    assert_non_null(strstr(answer, "\r\n\r\nno figures yet\n"));
}

static void a_used_port_is_refused(void **state)
{
    (void)state;
    struct http_server *second;
    struct cuzk_error err = {0};
    const struct http_route route = {"/x", "text/plain", empty, NULL};
    assert_int_equal(http_server_start(http_server_address(server), &route, 1, &second, &err),
                     CUZK_FAILED_PRECONDITION);
    assert_null(second);
    assert_int_equal(http_server_start("nonsense", &route, 1, &second, &err),
                     CUZK_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(get_and_head_give_what_the_route_says, start, stop),
        cmocka_unit_test_setup_teardown(everything_else_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(a_failing_route_says_why, start, stop),
        cmocka_unit_test_setup_teardown(a_used_port_is_refused, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
