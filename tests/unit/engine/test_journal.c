/* Jobs across deaths of the process. Each test has a folder of its own, and the processes that die
   are its children. */
#include "support/support.h"
#include "fake_work/fake.h"

#include "engine/shared.h"

#include "base/error.h"
#include "base/mem.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/cuzk-journal-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    FILE *pipe = popen(command, "r");
    return pipe && pclose(pipe) == 0 ? 0 : 1;
}

static struct cuzk_engine *open_here(struct fake *fake)
{
    struct cuzk_engine_options options = {.state_dir = folder};
    fake_init(fake, 1);
    return fake_engine(fake, &options);
}

static void close_here(struct cuzk_engine *engine, struct fake *fake)
{
    cuzk_engine_close(engine);
    fake_destroy(fake);
}

/* Files of requests in the folder; poison included. */
static unsigned count_files(const char *ending)
{
    unsigned n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t len = strlen(entry->d_name);
        n += len > strlen(ending) + 60 && strcmp(entry->d_name + len - strlen(ending), ending) == 0;
    }
    closedir(dir);
    return n;
}

/* --- Dying at a given point ------------------------------------------------------------------- */

struct death {
    pthread_mutex_t lock;
    unsigned points_left;
};

static void die_at_point(void *context, const char *point)
{
    struct death *death = context;
    (void)point;
    pthread_mutex_lock(&death->lock);
    bool now = death->points_left-- == 0;
    pthread_mutex_unlock(&death->lock);
    if (now)
        kill(getpid(), SIGKILL);
}

/* Submits three jobs and waits for them; reports the id of each job that was accepted. */
static void child_work(unsigned points, int report_fd)
{
    struct fake fake;
    struct cuzk_engine *engine = open_here(&fake);
    struct death death = {PTHREAD_MUTEX_INITIALIZER, points};
    journal_set_probe(engine->shared.journal, die_at_point, &death);
    char ids[3][CUZK_JOB_ID_BYTES];
    for (unsigned i = 0; i < 3; i++) {
        struct cuzk_error err;
        bool attached;
        memset(ids[i], 0, sizeof ids[i]);
        assert_ok(fake_submit(engine, "same id", (char)('a' + i), 2, CUZK_PRIORITY_NORMAL, ids[i],
                              &attached, &err),
                  err);
        assert_int_equal(write(report_fd, ids[i], CUZK_JOB_ID_BYTES), CUZK_JOB_ID_BYTES);
    }
    for (unsigned i = 0; i < 3; i++) {
        struct fake_result result;
        fake_await(engine, ids[i], 0, &result);
    }
    _exit(0);
}

/* true: the child was killed. */
static bool run_child(unsigned points, char ids[3][CUZK_JOB_ID_BYTES], unsigned *n_ids)
{
    int report[2];
    assert_int_equal(pipe(report), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        child_work(points, report[1]);
    close(report[1]);
    *n_ids = 0;
    while (*n_ids < 3 && read(report[0], ids[*n_ids], CUZK_JOB_ID_BYTES) == CUZK_JOB_ID_BYTES)
        ++*n_ids;
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    close(report[0]);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

/* Each accepted job is proved after the restart, at whatever point the process died. */
static void accepted_jobs_survive_death_at_any_point(void **state)
{
    unsigned points = 0;
    for (bool killed = true; killed; points++) {
        char ids[3][CUZK_JOB_ID_BYTES];
        unsigned n_ids;
        assert_int_equal(remove_folder(state), 0);
        assert_int_equal(make_folder(state), 0);
        killed = run_child(points, ids, &n_ids);
        struct fake fake;
        struct cuzk_engine *engine = open_here(&fake);
        for (unsigned i = 0; i < n_ids; i++) {
            struct fake_result result;
            fake_await(engine, ids[i], 0, &result);
            assert_int_equal(result.outcome, CUZK_JOB_COMPLETED);
            assert_true(fake_proof_is_of(&result, (char)('a' + i), 2));
        }
        assert_true(cuzk_engine_wait_idle(engine, 60000));
        close_here(engine, &fake);
        assert_int_equal(count_files(""), 0); /* no request's file is left */
    }
    assert_true(points > 15); /* before and after: file, row, start, finish of each job */
}

static void results_are_served_after_a_restart(void **state)
{
    (void)state;
    struct fake fake;
    struct cuzk_engine *engine = open_here(&fake);
    char done[CUZK_JOB_ID_BYTES];
    char failed[CUZK_JOB_ID_BYTES];
    char cancelled[CUZK_JOB_ID_BYTES];
    char later[CUZK_JOB_ID_BYTES];
    struct cuzk_error err;
    struct fake_result result;
    bool flag;
    assert_ok(fake_submit(engine, "x", 'a', 2, 0, done, &flag, &err), err);
    fake_await(engine, done, 0, &result);
    uint64_t total_ms = result.total_ms;
    fake.parse_status = CUZK_INVALID_ARGUMENT;
    assert_ok(fake_submit(engine, "x", 'b', 2, 0, failed, &flag, &err), err);
    fake_await(engine, failed, 0, &result);
    fake_hold(&fake, FAKE_PARSE);
    assert_ok(fake_submit(engine, "x", 'c', 2, 0, cancelled, &flag, &err), err);
    fake_wait_inside(&fake, FAKE_PARSE, 1);
    assert_ok(cuzk_engine_cancel(engine, cancelled, &flag, &err), err);
    fake_open(&fake, FAKE_PARSE);
    assert_true(cuzk_engine_wait_idle(engine, 60000));
    close_here(engine, &fake);

    engine = open_here(&fake);
    fake_await(engine, done, 0, &result);
    assert_true(fake_proof_is_of(&result, 'a', 2));
    assert_true(result.total_ms <= total_ms); /* without the time of writing it down */
    fake_await(engine, failed, 0, &result);
    assert_int_equal(result.outcome, CUZK_JOB_FAILED);
    assert_int_equal(result.error.status, CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(result.error.text, "bad input"));
    fake_await(engine, cancelled, 0, &result);
    assert_int_equal(result.outcome, CUZK_JOB_CANCELLED);
    /* The same request again is no new work, and no number is used twice. */
    assert_ok(fake_submit(engine, "x", 'a', 2, 0, later, &flag, &err), err);
    assert_true(flag);
    assert_ok(fake_submit(engine, "y", 'd', 2, 0, later, &flag, &err), err);
    uint64_t numbers[2];
    assert_true(request_job_number(cancelled, &numbers[0]));
    assert_true(request_job_number(later, &numbers[1]));
    assert_true(numbers[1] > numbers[0]);
    close_here(engine, &fake);
}

static enum cuzk_status die_on_poison(const struct fake_taken *take, unsigned attempt)
{
    (void)attempt;
    if (take->tag == 'P')
        kill(getpid(), SIGKILL);
    return CUZK_OK;
}

/* A job whose process died too often is set aside; the other jobs are done. */
static void a_poisonous_job_is_set_aside(void **state)
{
    (void)state;
    char poison[CUZK_JOB_ID_BYTES];
    char good[CUZK_JOB_ID_BYTES];
    struct fake fake;
    struct fake_result result;
    struct cuzk_error err;
    bool attached;
    int report[2];
    assert_int_equal(pipe(report), 0);
    for (unsigned death = 0; death < JOURNAL_STARTS_MAX; death++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            struct cuzk_engine *engine = open_here(&fake);
            fake.prove_status = die_on_poison;
            if (death == 0) {
                fake_hold(&fake, FAKE_LOAD); /* nothing is proved before both are accepted */
                assert_ok(fake_submit(engine, "", 'P', 1, 0, poison, &attached, &err), err);
                assert_ok(fake_submit(engine, "", 'g', 1, 0, good, &attached, &err), err);
                assert_int_equal(write(report[1], poison, sizeof poison), sizeof poison);
                assert_int_equal(write(report[1], good, sizeof good), sizeof good);
                fake_open(&fake, FAKE_LOAD);
            }
            cuzk_engine_wait_idle(engine, UINT64_MAX);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
    }
    assert_int_equal(read(report[0], poison, sizeof poison), sizeof poison);
    assert_int_equal(read(report[0], good, sizeof good), sizeof good);
    close(report[0]);
    close(report[1]);
    struct cuzk_engine *engine = open_here(&fake);
    fake_await(engine, poison, 0, &result);
    assert_int_equal(result.outcome, CUZK_JOB_FAILED);
    assert_non_null(strstr(result.error.text, "set aside"));
    fake_await(engine, good, 0, &result);
    assert_true(fake_proof_is_of(&result, 'g', 1));
    close_here(engine, &fake);
    assert_int_equal(count_files(".poison"), 1);
}

static void open_gate(void *context, const struct cuzk_result *result)
{
    (void)result;
    fake_open(context, FAKE_PROVE);
}

/* Restarts in good order do not make a job poisonous, and a started job goes on after them. */
static void orderly_restarts_do_not_count(void **state)
{
    (void)state;
    char id[CUZK_JOB_ID_BYTES];
    struct fake fake;
    struct fake_result result;
    struct cuzk_error err;
    bool attached;
    for (unsigned i = 0; i < JOURNAL_STARTS_MAX + 2; i++) {
        struct cuzk_engine_options options = {.state_dir = folder};
        fake_init(&fake, 1);
        fake_hold(&fake, FAKE_PROVE);
        struct cuzk_engine *engine = fake_engine(&fake, &options);
        if (i == 0)
            assert_ok(fake_submit(engine, "x", 'a', 3, 0, id, &attached, &err), err);
        fake_wait_inside(&fake, FAKE_PROVE, 1);
        assert_ok(cuzk_engine_watch(engine, id, 0, open_gate, &fake, NULL, &err), err);
        close_here(engine, &fake);
    }
    struct cuzk_engine *engine = open_here(&fake);
    fake_await(engine, id, 0, &result);
    assert_true(fake_proof_is_of(&result, 'a', 3));
    close_here(engine, &fake);
}

/* A job that was not begun stays for the next start, and its watchers learn that. */
static void drained_jobs_stay_in_the_journal(void **state)
{
    (void)state;
    char ids[3][CUZK_JOB_ID_BYTES];
    struct fake fake;
    struct fake_result results[3];
    struct cuzk_error err;
    bool attached;
    struct cuzk_engine *engine = open_here(&fake);
    fake_hold(&fake, FAKE_PARSE);
    for (unsigned i = 0; i < 3; i++) {
        fake_result_init(&results[i]);
        assert_ok(fake_submit(engine, "", (char)('a' + i), 2, 0, ids[i], &attached, &err), err);
        assert_ok(cuzk_engine_watch(engine, ids[i], 0, fake_result_fn, &results[i], NULL, &err),
                  err);
    }
    fake_wait_inside(&fake, FAKE_PARSE, 1);
    cuzk_engine_drain(engine, false);
    sem_wait(&results[2].arrived);
    assert_int_equal(results[2].error.status, CUZK_UNAVAILABLE);
    fake_open(&fake, FAKE_PARSE);
    assert_true(cuzk_engine_wait_idle(engine, 60000));
    assert_int_equal(results[0].outcome, CUZK_JOB_COMPLETED);
    close_here(engine, &fake);
    engine = open_here(&fake);
    for (unsigned i = 0; i < 3; i++) {
        struct fake_result result;
        fake_await(engine, ids[i], 0, &result);
        assert_true(fake_proof_is_of(&result, (char)('a' + i), 2));
    }
    close_here(engine, &fake);
}

static void a_second_process_is_refused(void **state)
{
    (void)state;
    struct fake fake;
    struct cuzk_engine *engine = open_here(&fake);
    struct journal *journal;
    struct cuzk_error err;
    assert_int_equal(journal_open(folder, &journal, &err), CUZK_FAILED_PRECONDITION);
    assert_non_null(strstr(err.text, "another process"));
    close_here(engine, &fake);
}

/* There is no room for files: new jobs are refused, and the running one ends well. */
static void a_full_disk_refuses_new_jobs_only(void **state)
{
    (void)state;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct fake fake;
        struct fake_result result;
        struct cuzk_error err;
        char id[CUZK_JOB_ID_BYTES];
        char refused[CUZK_JOB_ID_BYTES];
        bool attached;
        struct cuzk_engine *engine = open_here(&fake);
        fake_hold(&fake, FAKE_PROVE);
        assert_ok(fake_submit(engine, "", 'a', 2, 0, id, &attached, &err), err);
        fake_wait_inside(&fake, FAKE_PROVE, 1);
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {16, 16};
        setrlimit(RLIMIT_FSIZE, &limit);
        assert_int_equal(fake_submit(engine, "", 'b', 2, 0, refused, &attached, &err),
                         CUZK_RESOURCE_EXHAUSTED);
        fake_open(&fake, FAKE_PROVE);
        fake_await(engine, id, 0, &result);
        assert_true(fake_proof_is_of(&result, 'a', 2));
        close_here(engine, &fake);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_damaged_request_fails_its_job_with_the_file(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct journal *journal;
    const uint8_t *payloads[1] = {(const uint8_t *)"a\2"};
    const size_t lens[1] = {2};
    struct cuzk_request from = {.request_id = "x",
                                .kind = CUZK_POREP,
                                .payloads = payloads,
                                .payload_lens = lens,
                                .n_payloads = 1};
    struct request *request;
    assert_ok(request_copy(&from, &request, &err), err);
    assert_ok(journal_open(folder, &journal, &err), err);
    assert_ok(journal_add(journal, 7, request, &err), err);
    request_release(request);
    journal_close(journal);
    char command[PATH_MAX];
    snprintf(command, sizeof command, "for f in %s/*.0000000000000007; do echo >> $f; done",
             folder);
    FILE *pipe = popen(command, "r");
    assert_int_equal(pclose(pipe), 0);
    struct fake fake;
    struct fake_result result;
    struct cuzk_engine *engine = open_here(&fake);
    fake_await(engine, "x-0000000000000007", 0, &result);
    assert_int_equal(result.outcome, CUZK_JOB_FAILED);
    assert_non_null(strstr(result.error.text, "digest"));
    close_here(engine, &fake);
}

static enum cuzk_status every_device_is_lost(const struct fake_taken *take, unsigned attempt)
{
    (void)take;
    (void)attempt;
    return CUZK_DEVICE_LOST;
}

static void end_at_once(void *context, const char *why)
{
    (void)context;
    (void)why;
    _exit(7);
}

/* As the daemon does: a process without a device ends, and the next one finishes the job. */
static void a_job_outlives_the_loss_of_all_devices(void **state)
{
    (void)state;
    char id[CUZK_JOB_ID_BYTES] = "";
    int report[2], status;
    struct fake fake;
    struct fake_result result;
    assert_int_equal(pipe(report), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct cuzk_error err;
        bool attached;
        struct cuzk_engine_options options = {.state_dir = folder, .devices_lost = end_at_once};
        fake_init(&fake, 1);
        fake.prove_status = every_device_is_lost;
        fake_hold(&fake, FAKE_PROVE);
        struct cuzk_engine *engine = fake_engine(&fake, &options);
        assert_ok(fake_submit(engine, "", 'a', 2, 0, id, &attached, &err), err);
        assert_int_equal(write(report[1], id, sizeof id), sizeof id);
        fake_open(&fake, FAKE_PROVE);
        cuzk_engine_wait_idle(engine, UINT64_MAX);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_int_equal(read(report[0], id, sizeof id), sizeof id);
    close(report[0]);
    close(report[1]);
    struct cuzk_engine *engine = open_here(&fake);
    fake_await(engine, id, 0, &result);
    assert_true(fake_proof_is_of(&result, 'a', 2));
    close_here(engine, &fake);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_job_outlives_the_loss_of_all_devices),
        IN_FOLDER(accepted_jobs_survive_death_at_any_point),
        IN_FOLDER(results_are_served_after_a_restart),
        IN_FOLDER(a_poisonous_job_is_set_aside),
        IN_FOLDER(orderly_restarts_do_not_count),
        IN_FOLDER(drained_jobs_stay_in_the_journal),
        IN_FOLDER(a_second_process_is_refused),
        IN_FOLDER(a_full_disk_refuses_new_jobs_only),
        IN_FOLDER(a_damaged_request_fails_its_job_with_the_file),
    };
    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
