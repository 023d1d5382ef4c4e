/* Files while they are written: nothing or the whole file, whatever happens meanwhile. */
#include "base/file.h"
#include "base/file_part.h"
#include "base/mem.h"
#include "support/support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/cuzk-part-XXXXXX";
static char path[64], part[64];

static bool exists(const char *name)
{
    return access(name, F_OK) == 0;
}

static void assert_content(const char *name, const char *wanted, size_t wanted_len)
{
    uint8_t *data;
    size_t len;
    struct cuzk_error err;
    assert_ok(file_read(name, 1 << 20, &data, &len, &err), err);
    assert_int_equal(len, wanted_len);
    assert_memory_equal(data, wanted, len);
    mem_free(data);
}

static int clear(void **state)
{
    (void)state;
    unlink(path);
    unlink(part);
    return 0;
}

static void it_appears_whole(void **state)
{
    (void)state;
    struct file_part file;
    struct cuzk_error err;
    assert_ok(file_write(path, "old", 3, &err), err);
    assert_ok(file_part_begin(&file, path, 5, &err), err);
    assert_string_equal(file.part, part);
    assert_content(part, "\0\0\0\0\0", 5);
    assert_ok(file_part_write(&file, 1, "new", 3, &err), err);
    assert_content(path, "old", 3);
    assert_ok(file_part_finish(&file, &err), err);
    assert_content(path, "\0new\0", 5);
    assert_false(exists(part));
}

static void it_can_be_given_up(void **state)
{
    (void)state;
    struct file_part file;
    struct cuzk_error err;
    assert_ok(file_part_begin(&file, path, 5, &err), err);
    file_part_drop(&file);
    assert_false(exists(path));
    assert_false(exists(part));
}

/* The remains of a process that died are neither the file nor an obstacle, and the new file holds
   nothing of them. */
static void the_death_of_its_maker_is_no_obstacle(void **state)
{
    (void)state;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct file_part file;
        if (file_part_begin(&file, path, 100, NULL) == CUZK_OK &&
            pwrite(file.fd, "half a file", 11, 0) == 11)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_true(exists(part));
    assert_false(exists(path));
    struct file_part file;
    struct cuzk_error err;
    assert_ok(file_part_begin(&file, path, 4, &err), err);
    assert_ok(file_part_finish(&file, &err), err);
    assert_content(path, "\0\0\0\0", 4);
    assert_false(exists(part));
}

static void only_one_makes_it(void **state)
{
    (void)state;
    struct file_part first, second;
    struct cuzk_error err;
    assert_ok(file_part_begin(&first, path, 4, &err), err);
    assert_int_equal(pwrite(first.fd, "mine", 4, 0), 4);
    assert_int_equal(file_part_begin(&second, path, 4, &err), CUZK_FAILED_PRECONDITION);
    assert_non_null(strstr(err.text, part));
    assert_ok(file_part_finish(&first, &err), err);
    assert_content(path, "mine", 4);
}

/* Many processes at once, each of which fills the file with a letter of its own and finishes: at
   any time the file is complete and made by one of them. A process that opened the name before
   another one renamed it would empty a finished file. */
static void many_makers_leave_a_whole_file(void **state)
{
    (void)state;
    enum { MAKERS = 4, ROUNDS = 200, BYTES = 4096 };
    pid_t makers[MAKERS];
    fflush(stdout);
    for (int m = 0; m < MAKERS; m++) {
        makers[m] = fork();
        if (makers[m] != 0)
            continue;
        char letters[BYTES];
        memset(letters, 'a' + m, sizeof letters);
        for (int round = 0; round < ROUNDS; round++) {
            struct file_part file;
            struct stat info;
            enum cuzk_status status = file_part_begin(&file, path, BYTES, NULL);
            if (status == CUZK_OK && (pwrite(file.fd, letters, BYTES, 0) != BYTES ||
                                      file_part_finish(&file, NULL) != CUZK_OK))
                _exit(1);
            if (status != CUZK_OK && status != CUZK_FAILED_PRECONDITION)
                _exit(2);
            if (stat(path, &info) == 0 && info.st_size != BYTES)
                _exit(3);
        }
        _exit(0);
    }
    for (int m = 0; m < MAKERS; m++) {
        int status;
        assert_int_equal(waitpid(makers[m], &status, 0), makers[m]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    uint8_t *data;
    size_t len;
    struct cuzk_error err;
    assert_ok(file_read(path, BYTES, &data, &len, &err), err);
    assert_int_equal(len, BYTES);
    for (size_t i = 0; i < len; i++)
        assert_int_equal(data[i], data[0]);
    mem_free(data);
}

static void no_room_is_told_at_the_beginning(void **state)
{
    (void)state;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct file_part file;
        struct cuzk_error err = {0};
        struct rlimit limit = {4096, 4096};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        bool good = file_part_begin(&file, path, 4097, &err) == CUZK_IO && strstr(err.text, part) &&
                    strstr(err.text, "4097 bytes") && !exists(part);
        _exit(!good);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void wrong_places_are_named(void **state)
{
    (void)state;
    struct file_part file;
    struct cuzk_error err;
    assert_int_equal(file_part_begin(&file, "/nonexistent/x", 1, &err), CUZK_IO);
    assert_non_null(strstr(err.text, "/nonexistent/x.part"));
    char *name = mem_alloc(PATH_MAX, 1);
    memset(name, 'x', PATH_MAX - 1);
    name[PATH_MAX - 1] = '\0';
    assert_int_equal(file_part_begin(&file, name, 1, &err), CUZK_INVALID_ARGUMENT);
    mem_free(name);
    /* A folder has its name. */
    assert_int_equal(mkdir(path, 0755), 0);
    assert_ok(file_part_begin(&file, path, 1, &err), err);
    assert_int_equal(file_part_finish(&file, &err), CUZK_IO);
    assert_false(exists(part));
    rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_appears_whole, clear),
        cmocka_unit_test_setup(it_can_be_given_up, clear),
        cmocka_unit_test_setup(the_death_of_its_maker_is_no_obstacle, clear),
        cmocka_unit_test_setup(only_one_makes_it, clear),
        cmocka_unit_test_setup(many_makers_leave_a_whole_file, clear),
        cmocka_unit_test_setup(no_room_is_told_at_the_beginning, clear),
        cmocka_unit_test_setup(wrong_places_are_named, clear),
    };
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(part, sizeof part, "%s/file.part", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    clear(NULL);
    rmdir(folder);
    return failed;
}
