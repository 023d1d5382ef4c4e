/* The budget of memory, and what this process may use. */
#include "support/support.h"

#include "engine/budget.h"

#include "base/error.h"
#include "base/file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t mib = 1 << 20;

static void edges_of_the_numbers_do_no_harm(void **state)
{
    (void)state;
    struct budget budget;
    struct budget_hold hold = {0};
    budget_init(&budget, 1024 * mib);
    assert_true(budget_take(&budget, BUDGET_PARTITIONS, 0, false, &hold));
    budget_release(&budget, &hold, 0);
    assert_false(budget_take(&budget, BUDGET_PARTITIONS, UINT64_MAX, true, &hold));
    assert_false(budget_take_circuit(&budget, UINT64_MAX, UINT64_MAX, &hold));
    assert_false(budget_take_circuit(&budget, 1, UINT64_MAX, &hold));
    assert_int_equal(budget_used(&budget), 0);
    assert_true(budget_take(&budget, BUDGET_PARTITIONS, 100, false, &hold));
    budget_release(&budget, &hold, 40);
    assert_int_equal(budget_used(&budget), 40);
    budget_release(&budget, &hold, 40); /* the same again */
    budget_release(&budget, &hold, 0);
    budget_release(&budget, &hold, 0); /* twice */
    assert_int_equal(budget_used(&budget), 0);
    budget_init(&budget, 0);
    assert_false(budget_take(&budget, BUDGET_REQUESTS, 1, true, &hold));
}

static void what_can_never_fit_is_refused_with_numbers(void **state)
{
    (void)state;
    struct budget budget;
    struct cuzk_error err;
    budget_init(&budget, 1024 * mib);
    assert_int_equal(budget_could_fit(&budget, BUDGET_REQUESTS, 300 * mib, 0, &err),
                     CUZK_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(err.text, "301 MiB"));
    assert_non_null(strstr(err.text, "256 MiB"));
    assert_non_null(strstr(err.text, "1024 MiB"));
    assert_int_equal(budget_could_fit(&budget, BUDGET_REQUESTS, 256 * mib, 0, &err), CUZK_OK);
    assert_int_equal(budget_could_fit(&budget, BUDGET_CIRCUITS, 500 * mib, 200 * mib, &err),
                     CUZK_RESOURCE_EXHAUSTED);
    assert_int_equal(budget_could_fit(&budget, BUDGET_CIRCUITS, 400 * mib, 200 * mib, &err),
                     CUZK_OK);
}

static void critical_jobs_have_a_reserve(void **state)
{
    (void)state;
    struct budget budget;
    struct budget_hold most = {0};
    struct budget_hold hold = {0};
    budget_init(&budget, 1024 * mib);
    assert_true(budget_take(&budget, BUDGET_PARTITIONS, 896 * mib, false, &most));
    assert_false(budget_take(&budget, BUDGET_PARTITIONS, mib, false, &hold));
    assert_true(budget_take(&budget, BUDGET_PARTITIONS, 64 * mib, true, &hold));
}

/* For any order of taking and giving back: the sum is right, the limit holds, and with all
   partitions gone a partition of any loaded circuit fits again (so no wait is endless). */
static void random_use_never_breaks_the_sum_or_blocks(void **state)
{
    (void)state;
    srandom(1);
    struct budget budget;
    struct budget_hold holds[64] = {0};
    const uint64_t floor = 50 * mib;
    budget_init(&budget, 1024 * mib);
    for (unsigned step = 0; step < 200000; step++) {
        struct budget_hold *hold = &holds[random() % 64];
        enum budget_use use = (enum budget_use)(random() % BUDGET_USES);
        uint64_t bytes = (uint64_t)(random() % (long)floor) + 1;
        if (hold->bytes)
            budget_release(&budget, hold, random() % 3 ? 0 : hold->bytes / 2);
        else if (use == BUDGET_CIRCUITS)
            budget_take_circuit(&budget, bytes, floor, hold);
        else
            budget_take(&budget, use, bytes, random() % 8 == 0, hold);
        uint64_t sum = 0;
        uint64_t partitions = 0;
        for (unsigned i = 0; i < 64; i++) {
            sum += holds[i].bytes;
            partitions += holds[i].use == BUDGET_PARTITIONS ? holds[i].bytes : 0;
        }
        assert_int_equal(sum, budget_used(&budget));
        assert_true(sum <= budget.total);
        assert_true(budget_used(&budget) - partitions + floor <= budget.total);
        if (partitions == 0 && budget.used[BUDGET_REQUESTS] <= budget.requests_max) {
            struct budget_hold one = {0};
            assert_true(budget_take(&budget, BUDGET_PARTITIONS, floor, false, &one));
            budget_release(&budget, &one, 0);
        }
    }
}

/* --- A made-up /proc and /sys ----------------------------------------------------------------- */

static void put(const char *root, const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    struct cuzk_error err;
    snprintf(path, sizeof path, "%s%s", root, folder);
    assert_ok(file_make_dirs(path, &err), err);
    snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
    assert_ok(file_write(path, text, strlen(text), &err), err);
}

static void remove_tree(const char *root)
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    FILE *pipe = popen(command, "r");
    assert_int_equal(pclose(pipe), 0);
}

static void the_least_limit_counts(void **state)
{
    (void)state;
    char root[] = "/tmp/cuzk-budget-XXXXXX";
    assert_non_null(mkdtemp(root));
    put(root, "/proc", "meminfo", "MemTotal: 67108864 kB\nMemAvailable: 33554432 kB\nSwap: 1 kB\n");
    assert_int_equal(budget_auto(root, 0), 32768 * mib);
    /* Version 2, the limit on a group above ours. */
    put(root, "/proc/self", "cgroup", "0::/system.slice/cuzk.service\n");
    put(root, "/sys/fs/cgroup/system.slice/cuzk.service", "memory.max", "max\n");
    assert_int_equal(budget_auto(root, 0), 32768 * mib);
    put(root, "/sys/fs/cgroup/system.slice", "memory.max", "17179869184\n");
    assert_int_equal(budget_auto(root, 0), 16384 * mib);
    /* In a container the group's name is that of the host; its limit is at the top. */
    put(root, "/proc/self", "cgroup", "0::/somewhere/else\n");
    put(root, "/sys/fs/cgroup", "memory.max", "8589934592\n");
    assert_int_equal(budget_auto(root, 0), 8192 * mib);
    /* Version 1. */
    put(root, "/proc/self", "cgroup", "7:cpu:/x\n5:memory:/docker/abc\n");
    put(root, "/sys/fs/cgroup/memory/docker/abc", "memory.limit_in_bytes", "4294967296\n");
    put(root, "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(budget_auto(root, 0), 4096 * mib);
    /* The margin, but never more than half. */
    assert_int_equal(budget_auto(root, 1024 * mib), 3072 * mib);
    assert_int_equal(budget_auto(root, 4096 * mib), 2048 * mib);
    remove_tree(root);
}

static void process_limits_count(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {1024 * mib, 1024 * mib};
        setrlimit(RLIMIT_DATA, &limit);
        _exit(budget_auto("/nonexistent", 0) == 1024 * mib ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_of_the_numbers_do_no_harm),
        cmocka_unit_test(what_can_never_fit_is_refused_with_numbers),
        cmocka_unit_test(critical_jobs_have_a_reserve),
        cmocka_unit_test(random_use_never_breaks_the_sum_or_blocks),
        cmocka_unit_test(the_least_limit_counts),
        cmocka_unit_test(process_limits_count),
    };
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
