/* Partitions of one C1 checked one by one, in any order and by several threads at once. */
#include "support/sparse.h"
#include "support/support.h"

#include "base/mem.h"
#include "base/pool.h"
#include "c1_memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARTITIONS = 10 };

static struct text right; /* of a 32 GiB sector */
static struct text wrong; /* the same with faults, see add_faults */
static struct pool *pool;

/* Two in partition 3, one in partition 9. */
static void add_faults(struct sparse_sector *sector)
{
    spoil(sector, 3, 16);
    spoil(sector, 3, 5);
    spoil(sector, 9, 17);
}

static int set_up(void **state)
{
    (void)state;
    struct sparse_sector sector;
    struct cuzk_error err;
    assert_ok(sparse_make(&sector, seal_proof_by_number(8), NULL, &err), err);
    assert_ok(sparse_write(&sector, add_text, &right, &err), err);
    add_faults(&sector);
    assert_ok(sparse_write(&sector, add_text, &wrong, &err), err);
    assert_false(right.failed || wrong.failed);
    sparse_free(&sector);
    pool = pool_new(4);
    assert_non_null(pool);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pool_free(pool);
    text_free(&right);
    text_free(&wrong);
    return 0;
}

static struct c1 *parse(const struct text *text)
{
    struct c1 *c1;
    struct cuzk_error err;
    assert_ok(c1_parse(text->data, text->len, &c1, &err), err);
    return c1;
}

/* Asks for a partition in a process of its own; returns the signal that ended it, 0: none. */
static int ask_in_another_process(const struct c1 *c1, unsigned partition)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        signal(SIGABRT, SIG_DFL);
        _exit(c1_partition(c1, partition) == NULL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A partition that was not found true cannot be synthesized, whatever was found of others. */
static void only_what_is_true_is_given_out(void **state)
{
    (void)state;
    struct c1 *c1 = parse(&wrong);
    struct cuzk_error err;
    assert_ok(c1_check_partition(c1, 7, pool, &err), err);
    assert_int_equal(c1_check_partition(c1, 3, pool, &err), CUZK_INVALID_ARGUMENT);
    for (unsigned k = 0; k < PARTITIONS; k++)
        assert_int_equal(ask_in_another_process(c1, k), k == 7 ? 0 : SIGABRT);
    c1_free(c1);
    c1 = parse(&wrong);
    assert_int_equal(c1_check(c1, NULL, pool, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(ask_in_another_process(c1, 0), SIGABRT);
    c1_free(c1);
}

/* In any order of checks, the first fault of a partition is reported, with the text that a check of
   the whole file gives. */
static void the_first_fault_of_the_partition_is_reported(void **state)
{
    (void)state;
    struct cuzk_error whole;
    struct c1 *c1 = parse(&wrong);
    assert_int_equal(c1_check(c1, NULL, pool, &whole), CUZK_INVALID_ARGUMENT);
    for (unsigned i = 0; i < PARTITIONS; i++) {
        unsigned k = PARTITIONS - 1 - i;
        struct cuzk_error err;
        enum cuzk_status status = c1_check_partition(c1, k, i % 2 ? NULL : pool, &err);
        assert_int_equal(status, k == 3 || k == 9 ? CUZK_INVALID_ARGUMENT : CUZK_OK);
        if (k == 3) {
            assert_non_null(strstr(err.text, "C1: partition 3, challenge 5 (node "));
            assert_string_equal(err.text, whole.text);
        }
        if (k == 9)
            assert_non_null(strstr(err.text, "C1: partition 9, challenge 17 (node "));
    }
    c1_free(c1);
}

struct checker {
    pthread_barrier_t *start; /* so that several are the first */
    struct c1 *c1;
    unsigned partition;
    enum cuzk_status status;
    struct cuzk_error error;
    const struct porep_partition *got;
    pthread_t thread;
};

static void *run_checker(void *argument)
{
    struct checker *checker = argument;
    pthread_barrier_wait(checker->start);
    checker->status = c1_check_partition(checker->c1, checker->partition, pool, &checker->error);
    if (checker->status == CUZK_OK)
        checker->got = c1_partition(checker->c1, checker->partition);
    return NULL;
}

/* Each by a thread of its own, each twice: the answers are those of one thread. */
static void several_threads_at_once(void **state)
{
    (void)state;
    const size_t before = mem_used_bytes();
    const struct text *const texts[] = {&right, &wrong};
    for (unsigned t = 0; t < 2; t++) {
        struct checker checkers[2 * PARTITIONS];
        struct c1 *c1 = parse(texts[t]);
        pthread_barrier_t start;
        assert_int_equal(pthread_barrier_init(&start, NULL, 2 * PARTITIONS), 0);
        for (unsigned i = 0; i < 2 * PARTITIONS; i++) {
            checkers[i] = (struct checker){.start = &start, .c1 = c1, .partition = i % PARTITIONS};
            assert_int_equal(pthread_create(&checkers[i].thread, NULL, run_checker, &checkers[i]),
                             0);
        }
        for (unsigned i = 0; i < 2 * PARTITIONS; i++) {
            unsigned k = i % PARTITIONS;
            bool bad = t == 1 && (k == 3 || k == 9);
            pthread_join(checkers[i].thread, NULL);
            assert_int_equal(checkers[i].status, bad ? CUZK_INVALID_ARGUMENT : CUZK_OK);
            if (bad && k == 3)
                assert_non_null(strstr(checkers[i].error.text, "partition 3, challenge 5 "));
            if (!bad)
                assert_ptr_equal(checkers[i].got, c1_partition(c1, k));
        }
        pthread_barrier_destroy(&start);
        assert_true(mem_used_bytes() - before <
                    c1_kept_bytes(c1) + C1_MEMO_BYTES + 65536); /* one memo for all */
        c1_free(c1);
        assert_int_equal(mem_used_bytes(), before);
    }
}

/* Hashes are remembered from the first check on; without memory for them they are computed. */
static void memory(void **state)
{
    (void)state;
    const size_t before = mem_used_bytes();
    struct c1 *c1 = parse(&wrong);
    struct cuzk_error err;
    const size_t parsed = mem_used_bytes();
    assert_true(parsed - before < c1_kept_bytes(c1) + 65536);
    mem_fail_after(0);
    enum cuzk_status good = c1_check_partition(c1, 0, NULL, &err);
    enum cuzk_status bad = c1_check_partition(c1, 3, NULL, &err);
    mem_fail_after(-1);
    assert_int_equal(good, CUZK_OK);
    assert_int_equal(bad, CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "C1: partition 3, challenge 5 (node "));
    assert_int_equal(mem_used_bytes(), parsed);
    assert_ok(c1_check_partition(c1, 1, pool, &err), err);
    const size_t used = mem_used_bytes();
    assert_true(used > parsed && used <= parsed + C1_MEMO_BYTES);
    assert_ok(c1_check_partition(c1, 2, pool, &err), err);
    assert_int_equal(mem_used_bytes(), used);
    c1_free(c1);
    assert_int_equal(mem_used_bytes(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_true_is_given_out),
        cmocka_unit_test(the_first_fault_of_the_partition_is_reported),
        cmocka_unit_test(several_threads_at_once),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
