/* TLS: certificates of both sides, and replacing them while the server runs. */
#include "support/support.h"

#include "base/mem.h"
#include "rpc/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char who_path[] = "/test.Service/Who";

static char folder[64];

static void who(struct rpc_call *call, void *user)
{
    (void)user;
    rpc_fail(call, RPC_ABORTED, "%s", rpc_call_peer(call));
}

static void run(const char *command)
{
    char line[1024];
    snprintf(line, sizeof line, "cd '%s' && { %s; } 2>&1", folder, command);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    char output[4096];
    size_t len = fread(output, 1, sizeof output - 1, pipe);
    output[len] = '\0';
    if (pclose(pipe) != 0)
        fail_msg("%s: %s", command, output);
}

/* The path of a file in the test's folder; the last four stay valid. */
static const char *file(const char *name)
{
    static char paths[4][128];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* NAME.pem and NAME.key, signed by CA.pem, for the host of that (subject alternative) name. */
static void make_certificate(const char *name, const char *ca, const char *host)
{
    char command[800];
    snprintf(command, sizeof command,
             "openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout %s.key"
             " -subj /CN=%s -out req.pem &&"
             " printf 'subjectAltName=%s' > ext &&"
             " openssl x509 -req -in req.pem -CA %s.pem -CAkey %s.key -CAcreateserial -days 2"
             " -extfile ext -out %s.pem",
             name, name, host, ca, ca, name);
    run(command);
}

static void make_ca(const char *name)
{
    char command[400];
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
             " -keyout %s.key -subj /CN=%s -out %s.pem",
             name, name, name);
    run(command);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cuzk-tls-XXXXXX");
    assert_non_null(mkdtemp(folder));
    make_ca("ca");
    make_ca("other-ca");
    make_certificate("server", "ca", "IP:127.0.0.1");
    make_certificate("elsewhere", "ca", "DNS:elsewhere.example");
    make_certificate("client", "ca", "IP:127.0.0.1");
    make_certificate("stranger", "other-ca", "IP:127.0.0.1");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    run("rm -rf \"$PWD\"");
    return 0;
}

static struct rpc_server *start(struct rpc_tls_files tls, struct cuzk_error *err)
{
    static const char *const listen = "127.0.0.1:0";
    static const struct rpc_method method = {who_path, who, NULL};
    struct rpc_server_config config = {
        .listen = &listen, .listen_count = 1, .methods = &method, .method_count = 1, .tls = tls};
    struct rpc_server *server;
    rpc_server_start(&config, &server, err);
    return server;
}

/* Calls Who; the result's text is how the server names this client. */
static enum cuzk_status call(const struct rpc_server *server, const char *ca, const char *cert,
                             const char *key, struct rpc_result *result)
{
    char address[64];
    snprintf(address, sizeof address, "https://%s", rpc_server_address(server, 0));
    struct rpc_client_config config = {.address = address, .ca = ca, .cert = cert, .key = key};
    struct rpc_client *client;
    *result = (struct rpc_result){0};
    enum cuzk_status status = rpc_client_open(&config, &client, NULL);
    if (status == CUZK_OK)
        status = rpc_client_call(client, who_path, NULL, 0, 10000, result, NULL);
    rpc_client_close(client);
    return status;
}

static void clients_trust_only_their_ca(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct rpc_server *server =
        start((struct rpc_tls_files){.cert = file("server.pem"), .key = file("server.key")}, &err);
    assert_ok(err.status, err);
    struct rpc_result result;
    assert_int_equal(call(server, file("ca.pem"), NULL, NULL, &result), CUZK_OK);
    assert_int_equal(result.code, RPC_ABORTED);
    assert_memory_equal(result.text, "127.0.0.1:", 10);
    assert_int_equal(call(server, file("other-ca.pem"), NULL, NULL, &result), CUZK_UNAVAILABLE);
    assert_int_equal(call(server, NULL, NULL, NULL, &result), CUZK_UNAVAILABLE);

    /* Plain text on the TLS port gets no answer, and the server lives on. */
    struct rpc_client_config plain = {.address = rpc_server_address(server, 0)};
    struct rpc_client *client;
    assert_ok(rpc_client_open(&plain, &client, &err), err);
    assert_int_equal(rpc_client_call(client, who_path, NULL, 0, 10000, &result, NULL),
                     CUZK_UNAVAILABLE);
    rpc_client_close(client);
    assert_int_equal(call(server, file("ca.pem"), NULL, NULL, &result), CUZK_OK);
    rpc_server_free(server);
}

static void a_certificate_for_another_host_is_not_trusted(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct rpc_server *server = start(
        (struct rpc_tls_files){.cert = file("elsewhere.pem"), .key = file("elsewhere.key")}, &err);
    assert_ok(err.status, err);
    struct rpc_result result;
    assert_int_equal(call(server, file("ca.pem"), NULL, NULL, &result), CUZK_UNAVAILABLE);
    rpc_server_free(server);
}

static void with_a_client_ca_only_known_clients_come_in(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct rpc_server *server = start((struct rpc_tls_files){.cert = file("server.pem"),
                                                             .key = file("server.key"),
                                                             .client_ca = file("ca.pem")},
                                      &err);
    assert_ok(err.status, err);
    struct rpc_result result;
    assert_int_equal(call(server, file("ca.pem"), file("client.pem"), file("client.key"), &result),
                     CUZK_OK);
    assert_non_null(strstr(result.text, ",cn=client"));
    assert_int_equal(call(server, file("ca.pem"), NULL, NULL, &result), CUZK_UNAVAILABLE);
    assert_int_equal(
        call(server, file("ca.pem"), file("stranger.pem"), file("stranger.key"), &result),
        CUZK_UNAVAILABLE);
    rpc_server_free(server);
}

static void a_reload_changes_the_certificate_of_new_connections(void **state)
{
    (void)state;
    run("cp server.pem live.pem && cp server.key live.key");
    struct cuzk_error err = {0};
    struct rpc_server *server =
        start((struct rpc_tls_files){.cert = file("live.pem"), .key = file("live.key")}, &err);
    assert_ok(err.status, err);
    char address[64];
    snprintf(address, sizeof address, "https://%s", rpc_server_address(server, 0));
    struct rpc_client_config config = {.address = address, .ca = file("ca.pem")};
    struct rpc_client *old;
    assert_ok(rpc_client_open(&config, &old, &err), err);

    run("echo broken > live.pem");
    assert_int_equal(rpc_server_reload_tls(server, &err), CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "live.pem"));
    struct rpc_result result;
    assert_int_equal(call(server, file("ca.pem"), NULL, NULL, &result), CUZK_OK);

    run("cp stranger.pem live.pem && cp stranger.key live.key");
    assert_ok(rpc_server_reload_tls(server, &err), err);
    assert_int_equal(call(server, file("ca.pem"), NULL, NULL, &result), CUZK_UNAVAILABLE);
    assert_int_equal(call(server, file("other-ca.pem"), NULL, NULL, &result), CUZK_OK);
    assert_ok(rpc_client_call(old, who_path, NULL, 0, 10000, &result, &err), err);
    rpc_client_close(old);
    rpc_server_free(server);
}

static void bad_files_are_named(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    assert_null(
        start((struct rpc_tls_files){.cert = file("none.pem"), .key = file("server.key")}, &err));
    assert_int_equal(err.status, CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "none.pem"));
    assert_null(
        start((struct rpc_tls_files){.cert = file("server.pem"), .key = file("client.key")}, &err));
    assert_non_null(strstr(err.text, "client.key"));
    assert_null(start((struct rpc_tls_files){.cert = file("server.pem")}, &err));
    assert_int_equal(err.status, CUZK_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_trust_only_their_ca),
        cmocka_unit_test(a_certificate_for_another_host_is_not_trusted),
        cmocka_unit_test(with_a_client_ca_only_known_clients_come_in),
        cmocka_unit_test(a_reload_changes_the_certificate_of_new_connections),
        cmocka_unit_test(bad_files_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
