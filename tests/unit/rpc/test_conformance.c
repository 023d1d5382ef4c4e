/* wire-check, a client of the stack that Curio uses, against the transport with an engine that
   proves nothing. Its list of checks is in vectors/clients/README.md of the shared collection. */
#include "support/support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static char unix_address[96];
static char tcp_address[64];
static pid_t engine = -1;

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/cuzk-wire-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(unix_address, sizeof unix_address, "unix://%s/engine.sock", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    FILE *pipe = popen(command, "r");
    return pipe && pclose(pipe) == 0 ? 0 : -1;
}

/* Runs FAKE_ENGINE and learns its TCP port. */
static void start_engine(void)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    engine = fork();
    assert_true(engine >= 0);
    if (engine == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(FAKE_ENGINE, "fake-engine", "--listen", unix_address, "--listen", "127.0.0.1:0",
              (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *lines = fdopen(ends[0], "r");
    assert_non_null(lines);
    char line[256];
    assert_non_null(fgets(line, sizeof line, lines));
    assert_non_null(fgets(line, sizeof line, lines));
    assert_int_equal(sscanf(line, "ready %63s", tcp_address), 1);
    fclose(lines);
}

static void stop_engine(void)
{
    int status;
    assert_int_equal(kill(engine, SIGTERM), 0);
    assert_int_equal(waitpid(engine, &status, 0), engine);
    assert_int_equal(status, 0);
}

/* Runs all checks on an address and prints the lines of those that failed. */
static void check(const char *archive, const char *options, const char *address)
{
    char command[1024];
    snprintf(
        command, sizeof command,
        "cd '%s' && xz -dkc '%s' > wire-check && chmod +x wire-check && ./wire-check conformance"
        " --fast --strict --block-id slow-1 %s '%s' 2>&1",
        folder, archive, options, address);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char line[1024];
    char last[1024] = "";
    while (fgets(line, sizeof line, pipe)) {
        if (strncmp(line, "FAIL", 4) == 0)
            print_error("%s", line);
        memcpy(last, line, sizeof last);
    }
    assert_int_equal(pclose(pipe), 0);
    print_message("%s: %s", address, last);
    assert_non_null(strstr(last, " 0 failed"));
}

static void the_transport_is_what_grpc_go_expects(void **state)
{
    (void)state;
    char archive[4096];
    assert_non_null(realpath(vector_path_or_skip("clients/wire-check.xz"), archive));
    start_engine();
    char also[128];
    snprintf(also, sizeof also, "--also '%s'", unix_address);
    check(archive, also, tcp_address);
    check(archive, "--skip 'size.*,compress.gzip-bomb'", unix_address);
    stop_engine();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_transport_is_what_grpc_go_expects, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
