/* The HTML picture in a real browser (Debian's chromium): no console message, the rules of
   accessibility hold, and zoom, keyboard, hover and themes work (checks.js). Pages and screenshots
   stay in the folder browser/ beside this program. */
#include "support/schedule.h"
#include "support/support.h"

#include "base/file.h"
#include "base/mem.h"
#include "waterfall/analyse.h"
#include "waterfall/render.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHROMIUM "/usr/bin/chromium"

static void need_chromium(void)
{
    if (access(CHROMIUM, X_OK) == 0)
        return;
    print_message("skipped: %s is not there (apt-get install chromium)\n", CHROMIUM);
    skip();
}

/* Path of a file in browser/ beside this program. */
static void output_path(const char *name, char path[PATH_MAX])
{
    char program[PATH_MAX - 64];
    struct cuzk_error err = {0};
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    assert_true(len > 0);
    program[len] = '\0';
    *strrchr(program, '/') = '\0';
    snprintf(path, PATH_MAX, "%s/browser", program);
    assert_ok(file_make_dirs(path, &err), err);
    snprintf(path, PATH_MAX, "%s/browser/%s", program, name);
}

/* Writes the page of a log, as it is and once more with the checks at its end. */
static void write_pages(const struct text *log_text, const char *path, const char *checked_path)
{
    struct waterfall_log log = {0};
    struct waterfall_report report = {0};
    struct waterfall_style style = {.live = true};
    struct text page = {0};
    struct cuzk_error err = {0};
    uint8_t *checks;
    size_t checks_len;
    assert_ok(waterfall_log_read_bytes(&log, log_text->data, log_text->len, &err), err);
    assert_ok(waterfall_analyse(&log, NULL, &report, &err), err);
    waterfall_render_html(&report, &style, &page);
    assert_ok(file_write(path, page.data, page.len, &err), err);
    assert_ok(file_read("tests/browser/checks.js", 1 << 20, &checks, &checks_len, &err), err);
    char *end = strstr(page.data, "</body>");
    assert_non_null(end);
    page.len = (size_t)(end - page.data);
    text_add(&page, "<script>%s</script></body></html>\n", (const char *)checks);
    assert_ok(file_write(checked_path, page.data, page.len, &err), err);
    mem_free(checks);
    text_free(&page);
    waterfall_report_free(&report);
    waterfall_log_free(&log);
}

/* Everything that the browser prints, on both streams. */
static void run_browser(const char *arguments, const char *path, struct text *printed)
{
    char command[2 * PATH_MAX];
    char piece[4096];
    snprintf(command, sizeof command,
             CHROMIUM " --headless --no-sandbox --disable-gpu --hide-scrollbars "
                      "--window-size=1400,1200 --enable-logging=stderr --virtual-time-budget=8000 "
                      "%s 'file://%s' 2>&1",
             arguments, path);
    FILE *browser = popen(command, "r");
    assert_non_null(browser);
    for (size_t n; (n = fread(piece, 1, sizeof piece, browser)) > 0;)
        text_add_bytes(printed, piece, n);
    assert_int_equal(pclose(browser), 0);
    text_add_bytes(printed, "", 0);
}

static void assert_page_is_good(const char *path)
{
    struct text printed = {0};
    run_browser("--dump-dom", path, &printed);
    char *console = strstr(printed.data, "CONSOLE");
    if (console)
        fail_msg("a console message: %.300s", console);
    char *result = strstr(printed.data, "RESULT\n");
    if (!result)
        fail_msg("the checks did not come to their end");
    *strstr(result, "done\n") = '\0';
    print_message("%s", result + strlen("RESULT\n"));
    if (strstr(result, "WRONG"))
        fail_msg("the page is not as it should be");
    text_free(&printed);
}

static void keep_screenshot(const char *path, const char *name, const char *arguments)
{
    struct text printed = {0};
    char picture[PATH_MAX], all[2 * PATH_MAX];
    output_path(name, picture);
    unlink(picture);
    snprintf(all, sizeof all, "%s --screenshot='%s'", arguments, picture);
    run_browser(all, path, &printed);
    assert_int_equal(access(picture, R_OK), 0);
    text_free(&printed);
}

/* 20 proofs of 10 partitions on two devices, with everything that our daemon records. */
static void test_a_large_run(void **state)
{
    (void)state;
    need_chromium();
    struct schedule_options options = schedule_defaults(1);
    struct schedule_truth truth;
    struct text log = {0};
    char path[PATH_MAX], checked[PATH_MAX];
    options.label = "c20j5";
    options.jobs = 20;
    options.concurrency = 5;
    options.partitions = 10;
    options.synth_workers = 6;
    options.devices = 2;
    options.lookahead = 2;
    options.parse = 1500;
    options.synth = 20000;
    options.device = 3000;
    options.verify = 900;
    schedule_run(&options, &log, &truth);
    output_path("large.html", path);
    output_path("large-checked.html", checked);
    write_pages(&log, path, checked);
    assert_page_is_good(checked);
    keep_screenshot(path, "large-light.png", "");
    keep_screenshot(path, "large-dark.png", "--force-dark-mode");
    text_free(&log);
}

/* A classic log with every third line lost, ids that try to be markup, and no label. */
static void test_a_damaged_run(void **state)
{
    (void)state;
    need_chromium();
    struct schedule_options options = schedule_defaults(2);
    struct schedule_truth truth;
    struct text log = {0}, damaged = {0};
    char path[PATH_MAX], checked[PATH_MAX];
    options.classic = true;
    schedule_run(&options, &log, &truth);
    unsigned n = 0;
    for (const char *line = log.data; *line; line = strchr(line, '\n') + 1)
        if (n++ % 7 != 3)
            text_add_bytes(&damaged, line, (size_t)(strchr(line, '\n') - line) + 1);
    text_add(&damaged,
             "TIMELINE,900,SYNTH_START,</script><script>alert(1)</script>\"'&,partition=0\n"
             "TIMELINE,950,SYNTH_START,<img src=x onerror=alert(1)>,partition=0\n"
             "TIMELINE,x\n");
    output_path("damaged.html", path);
    output_path("damaged-checked.html", checked);
    write_pages(&damaged, path, checked);
    assert_page_is_good(checked);
    keep_screenshot(path, "damaged.png", "");
    text_free(&log);
    text_free(&damaged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_large_run),
        cmocka_unit_test(test_a_damaged_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
