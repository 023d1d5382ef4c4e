/* The log's emitting side: what a sink receives, and when. */
#include "support/support.h"

#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct entry {
    unsigned count;
    enum cuzk_log_level level;
    char area[32];
    char text[4096];
};

static void keep_entry(void *context, enum cuzk_log_level level, const char *area, const char *text)
{
    struct entry *entry = context;
    entry->count++;
    entry->level = level;
    snprintf(entry->area, sizeof entry->area, "%s", area);
    snprintf(entry->text, sizeof entry->text, "%s", text);
}

static void a_sink_gets_every_entry_as_one_line(void **state)
{
    (void)state;
    struct entry entry = {0};
    cuzk_log_set_sink(keep_entry, &entry);
    log_warn("engine", "%s:\n%d\tparts\x7f", "porep", 7);
    assert_int_equal(entry.level, CUZK_LOG_WARN);
    assert_string_equal(entry.area, "engine");
    assert_string_equal(entry.text, "porep:?7?parts?");
    log_debug("cuda", "all levels come");
    assert_int_equal(entry.level, CUZK_LOG_DEBUG);
    assert_int_equal(entry.count, 2);
    log_info("engine", "%4000d", 1);
    assert_int_equal(strlen(entry.text), 2047);
    cuzk_log_set_sink(NULL, NULL);
    log_error("engine", "nobody listens");
    assert_int_equal(entry.count, 3);
}

static void without_a_sink_nothing_is_written(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    assert_true(file && saved >= 0);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    log_error("engine", "not to be seen");
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), 0);
    fclose(file);
}

/* Two sinks; at most one of them may be in use, and none when the other has been set. */
enum { SPEAKERS = 3, ENTRIES = 20000 };

struct listener {
    atomic_bool retired;
    atomic_uint heard;
    atomic_uint heard_late;
};

static void count_entry(void *context, enum cuzk_log_level level, const char *area,
                        const char *text)
{
    struct listener *listener = context;
    (void)level;
    atomic_fetch_add(&listener->heard, 1);
    if (atomic_load(&listener->retired) || strcmp(area, "test") != 0 || strcmp(text, "entry") != 0)
        atomic_fetch_add(&listener->heard_late, 1);
}

static void *speak(void *unused)
{
    for (unsigned i = 0; i < ENTRIES; i++)
        log_info("test", "%s", "entry");
    return unused;
}

static void a_sink_that_was_replaced_is_not_called(void **state)
{
    (void)state;
    struct listener listeners[2] = {0};
    pthread_t speakers[SPEAKERS];
    unsigned now = 0;
    cuzk_log_set_sink(count_entry, &listeners[now]);
    for (unsigned i = 0; i < SPEAKERS; i++)
        assert_int_equal(pthread_create(&speakers[i], NULL, speak, NULL), 0);
    while (atomic_load(&listeners[0].heard) + atomic_load(&listeners[1].heard) <
           SPEAKERS * ENTRIES / 2) {
        atomic_store(&listeners[!now].retired, false);
        cuzk_log_set_sink(count_entry, &listeners[!now]);
        atomic_store(&listeners[now].retired, true);
        now = !now;
    }
    for (unsigned i = 0; i < SPEAKERS; i++)
        pthread_join(speakers[i], NULL);
    cuzk_log_set_sink(NULL, NULL);
    assert_int_equal(listeners[0].heard + listeners[1].heard, SPEAKERS * ENTRIES);
    assert_int_equal(listeners[0].heard_late + listeners[1].heard_late, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sink_gets_every_entry_as_one_line),
        cmocka_unit_test(without_a_sink_nothing_is_written),
        cmocka_unit_test(a_sink_that_was_replaced_is_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
