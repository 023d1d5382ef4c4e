/* The programs' log: the lines on stderr that operators and their scripts read. */
#include "support/support.h"

#include "base/log.h"
#include "log_stderr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *captured;
static int real_stderr;

static void begin_capture(void)
{
    captured = tmpfile();
    real_stderr = dup(STDERR_FILENO);
    assert_true(captured && real_stderr >= 0 && dup2(fileno(captured), STDERR_FILENO) >= 0);
}

static void end_capture(char *text, size_t size)
{
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    ssize_t len = pread(fileno(captured), text, size - 1, 0);
    text[len > 0 ? len : 0] = '\0';
    fclose(captured);
}

static void lines_of_text(void **state)
{
    (void)state;
    char text[512];
    log_stderr_install();
    begin_capture();
    log_error("engine", "job %s failed", "a-1");
    log_warn("engine", "two\nlines");
    log_info("serve", "listening on %s", "unix:///x");
    log_debug("engine", "left out by default");
    log_stderr_set_level(CUZK_LOG_ERROR);
    log_warn("engine", "left out");
    log_error("rpc", "kept");
    log_stderr_set_level(CUZK_LOG_DEBUG);
    log_debug("rpc", "kept too");
    end_capture(text, sizeof text);
    assert_string_equal(text, "error engine: job a-1 failed\n"
                              "warn engine: two?lines\n"
                              "info serve: listening on unix:///x\n"
                              "error rpc: kept\n"
                              "debug rpc: kept too\n");
}

static void lines_of_json(void **state)
{
    (void)state;
    char text[512];
    unsigned long long time = 0;
    int rest = 0;
    log_stderr_install();
    log_stderr_set_level(CUZK_LOG_INFO);
    log_stderr_set_json(true);
    begin_capture();
    log_info("serve", "a \"quoted\" \\ word");
    end_capture(text, sizeof text);
    log_stderr_set_json(false);
    assert_int_equal(sscanf(text, "{\"time\":%llu,%n", &time, &rest), 1);
    assert_true(time > 1700000000);
    assert_string_equal(text + rest, "\"level\":\"info\",\"component\":\"serve\","
                                     "\"message\":\"a \\\"quoted\\\" \\\\ word\"}\n");
}

static void names_of_levels(void **state)
{
    (void)state;
    static const char *const names[] = {"error", "warn", "info", "debug"};
    enum cuzk_log_level level;
    for (int i = 0; i < 4; i++) {
        assert_true(log_level_parse(names[i], &level));
        assert_int_equal(level, i);
    }
    assert_false(log_level_parse("", &level));
    assert_false(log_level_parse("Info", &level));
    assert_false(log_level_parse("verbose", &level));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_text),
        cmocka_unit_test(lines_of_json),
        cmocka_unit_test(names_of_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
