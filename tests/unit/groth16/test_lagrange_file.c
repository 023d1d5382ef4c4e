/* Files of Lagrange forms: what is taken for one, and how making one goes and fails. The keys are
   those of tiny circuits. */
#include "support/progress.h"
#include "unit/groth16/files.h"
#include "unit/groth16/form.h"
#include "unit/r1cs/toy.h"

#include "base/error.h"
#include "groth16/lagrange_make.h"
#include "key/lagrange_file.h"
#include "groth16/setup.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* --- A key and its form ---------------------------------------------------------------------- */

/* Four rows, three inputs, seven aux variables: a domain of eight. */
enum { N_H = 8, N_L = 7, N_INPUTS = 3, HEADER = FORM_HEADER_BYTES };
enum { FORM_BYTES = HEADER + (N_H + N_L + N_INPUTS) * 96 };

struct sample {
    struct shape *shape;
    struct params *params;
    char form[512], part[512]; /* names */
};

static struct shape *tiny_shape(const char *tiny, size_t n_rows, uint32_t n_inputs, uint32_t n_aux)
{
    char name[64];
    snprintf(name, sizeof name, "reference/tiny/%s.txt", tiny);
    struct text_circuit circuit = text_circuit_load(name, n_rows, n_inputs, n_aux);
    struct circuit_program program = text_program(&circuit);
    struct shape *shape;
    struct cuzk_error err;
    assert_ok(shape_record(&program, &shape, &err), err);
    text_circuit_free(&circuit);
    return shape;
}

static void sample_init(struct sample *s, const char *folder)
{
    struct setup_trapdoor trapdoor;
    struct cuzk_error err;
    const char *path = folder_path(folder, "key.params");
    setup_dev_trapdoor(&trapdoor);
    s->shape = tiny_shape("t2-density", 4, N_INPUTS, N_L);
    assert_int_equal(1u << s->shape->log2_domain, N_H);
    assert_ok(setup_write(s->shape, &trapdoor, path, NULL, NULL, NULL, &err), err);
    assert_ok(params_open(path, &s->params, &err), err);
    snprintf(s->form, sizeof s->form, "%s/key.lagrange", folder);
    snprintf(s->part, sizeof s->part, "%s/key.lagrange.part", folder);
    remove(s->form);
    remove(s->part);
}

static void sample_free(struct sample *s)
{
    params_close(s->params);
    shape_free(s->shape);
}

static void good_form(const struct sample *s, uint8_t bytes[FORM_BYTES])
{
    size_t len;
    uint8_t *form = form_bytes(s->params, s->shape, &len);
    assert_int_equal(len, FORM_BYTES);
    memcpy(bytes, form, FORM_BYTES);
    mem_free(form);
}

static void assert_refused(const struct sample *s, const char *said)
{
    struct lagrange_file *file;
    struct cuzk_error err = {0};
    assert_int_equal(lagrange_open(s->params, s->shape, &file, &err), CUZK_BAD_PARAMS);
    assert_int_equal(err.status, CUZK_BAD_PARAMS);
    assert_null(file);
    assert_non_null(strstr(err.text, s->form));
    if (!strstr(err.text, said))
        fail_msg("'%s' expected in: %s", said, err.text);
}

/* --- Opening --------------------------------------------------------------------------------- */

static void no_file_is_no_failure(void **state)
{
    struct sample s;
    struct lagrange_file *file;
    struct cuzk_error err;
    sample_init(&s, *state);
    assert_ok(lagrange_open(s.params, s.shape, &file, &err), err);
    assert_null(file);
    lagrange_close(file);
    sample_free(&s);
}

static void a_good_file_gives_its_points(void **state)
{
    struct sample s;
    struct lagrange_file *file;
    struct cuzk_error err;
    uint8_t bytes[FORM_BYTES];
    sample_init(&s, *state);
    good_form(&s, bytes);
    write_whole(s.form, bytes, sizeof bytes);
    assert_ok(lagrange_open(s.params, s.shape, &file, &err), err);
    assert_non_null(file);
    assert_string_equal(file->path, s.form);
    assert_int_equal(file->map.len, FORM_BYTES);
    assert_memory_equal(file->points.h, bytes + HEADER, N_H * 96);
    assert_memory_equal(file->points.l, bytes + HEADER + N_H * 96, N_L * 96);
    assert_memory_equal(file->points.inputs, bytes + HEADER + (N_H + N_L) * 96, N_INPUTS * 96);
    lagrange_close(file);
    sample_free(&s);
}

static void every_field_of_the_header_counts(void **state)
{
    static const struct {
        size_t at;
        const char *said;
    } fields[] = {
        {0, "CUZKLAGR"},
        {7, "CUZKLAGR"},
        {8, "version: 2, expected 1"},
        {12, "log2_domain: 4, expected 3"},
        {16, "points of l: 8, expected 7"},
        {20, "points of inputs: 4, expected 3"},
        {24, "verifying key"},
        {39, "verifying key"},
        {40, "byte 40: 1, expected 0"},
        {HEADER - 1, "byte 4095: 1, expected 0"},
    };
    struct sample s;
    uint8_t bytes[FORM_BYTES];
    sample_init(&s, *state);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        good_form(&s, bytes);
        bytes[fields[i].at]++;
        write_whole(s.form, bytes, sizeof bytes);
        assert_refused(&s, fields[i].said);
    }
    sample_free(&s);
}

static void every_wrong_length_is_refused(void **state)
{
    static const struct {
        size_t len;
        const char *said;
    } lengths[] = {
        {0, "empty"},
        {1, "1 bytes, expected 5824"},
        {HEADER - 1, "4095 bytes, expected 5824"},
        {HEADER, "4096 bytes, expected 5824"},
        {FORM_BYTES - 1, "5823 bytes, expected 5824"},
        {FORM_BYTES + 1, "5825 bytes, expected 5824"},
    };
    struct sample s;
    uint8_t bytes[FORM_BYTES + 1] = {0};
    sample_init(&s, *state);
    good_form(&s, bytes);
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        write_whole(s.form, bytes, lengths[i].len);
        assert_refused(&s, lengths[i].said);
    }
    sample_free(&s);
}

static void what_is_no_file_is_refused(void **state)
{
    struct sample s;
    uint8_t bytes[FORM_BYTES];
    sample_init(&s, *state);
    assert_int_equal(mkdir(s.form, 0755), 0);
    assert_refused(&s, "not a regular file");
    rmdir(s.form);
    assert_int_equal(mkfifo(s.form, 0644), 0);
    assert_refused(&s, "not a regular file");
    unlink(s.form);
    assert_int_equal(symlink("key.lagrange", s.form), 0); /* cannot be opened by anybody */
    assert_refused(&s, "cannot open");
    unlink(s.form);
    if (geteuid() != 0) {
        good_form(&s, bytes);
        write_whole(s.form, bytes, sizeof bytes);
        assert_int_equal(chmod(s.form, 0), 0);
        assert_refused(&s, "Permission denied");
        unlink(s.form);
    }
    sample_free(&s);
}

/* Another key of the same circuit: all but the digest is the same. */
static void the_form_of_another_key_is_refused(void **state)
{
    struct sample s;
    struct setup_trapdoor trapdoor;
    struct params *other;
    struct lagrange_file *file;
    struct cuzk_error err;
    uint8_t bytes[FORM_BYTES];
    const char *path = folder_path(*state, "other.params");
    sample_init(&s, *state);
    good_form(&s, bytes);
    setup_dev_trapdoor(&trapdoor);
    setup_dev_scalar(&trapdoor.delta, "another delta");
    assert_ok(setup_write(s.shape, &trapdoor, path, NULL, NULL, NULL, &err), err);
    assert_ok(params_open(path, &other, &err), err);
    write_whole(folder_path(*state, "other.lagrange"), bytes, sizeof bytes);
    assert_int_equal(lagrange_open(other, s.shape, &file, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, "verifying key"));
    params_close(other);
    sample_free(&s);
}

static void every_allocation_may_fail(void **state)
{
    struct sample s;
    uint8_t bytes[FORM_BYTES];
    sample_init(&s, *state);
    good_form(&s, bytes);
    write_whole(s.form, bytes, sizeof bytes);
    size_t used = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    long after = 0;
    for (; status != CUZK_OK; after++) {
        struct lagrange_file *file;
        mem_fail_after(after);
        status = lagrange_open(s.params, s.shape, &file, NULL);
        mem_fail_after(-1);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        lagrange_close(file);
        assert_int_equal(mem_used_bytes(), used);
    }
    assert_true(after > 1);
    sample_free(&s);
}

/* --- Making ---------------------------------------------------------------------------------- */

/* The cpu backend with a made-up derive. */
static struct fake {
    enum { GOOD, FAILS, WRONG, DIES, AGAIN } how;
    const struct sample *sample;
    unsigned n_derived;
} fake;

static const struct backend *fake_backend(void);

static enum cuzk_status make(const struct sample *s, backend_progress_fn *progress, void *context,
                             struct cuzk_error *err)
{
    const struct backend_options options = {.threads = 1};
    struct backend_device *device;
    assert_ok(fake_backend()->open(&options, 0, &device, err), *err);
    fake.sample = s;
    enum cuzk_status status =
        lagrange_make(s->params, s->shape, fake_backend(), device, NULL, progress, context, err);
    fake_backend()->close(device);
    return status;
}

static enum cuzk_status fake_derive(struct backend_device *device, const struct shape *shape,
                                    const struct key_vectors *key,
                                    const struct lagrange_points *out,
                                    backend_progress_fn *progress, void *context,
                                    struct cuzk_error *err)
{
    fake.n_derived++;
    if (fake.how == FAILS)
        return error_set(err, CUZK_DEVICE_FAULT, "a fault was asked for");
    if (fake.how == DIES) {
        memset(out->h, 1, 96);
        kill(getpid(), SIGKILL);
    }
    if (fake.how == AGAIN) { /* another maker while this one is at work */
        struct cuzk_error why;
        fake.how = GOOD;
        assert_int_equal(make(fake.sample, NULL, NULL, &why), CUZK_FAILED_PRECONDITION);
        assert_non_null(strstr(why.text, "another process"));
        assert_int_equal(fake.n_derived, 1);
    }
    TRY(backend_find("cpu")->derive(device, shape, key, out, progress, context, err));
    if (fake.how == WRONG)
        memcpy(out->inputs, out->h, 96);
    return CUZK_OK;
}

static const struct backend *fake_backend(void)
{
    static struct backend backend;
    backend = *backend_find("cpu");
    backend.derive = fake_derive;
    return &backend;
}

static void assert_nothing_made(const struct sample *s)
{
    assert_false(exists(s->form));
    assert_false(exists(s->part));
}

static void assert_good_form(const struct sample *s)
{
    struct lagrange_file *file;
    struct cuzk_error err;
    assert_false(exists(s->part));
    assert_ok(lagrange_open(s->params, s->shape, &file, &err), err);
    assert_non_null(file);
    lagrange_close(file);
}

static void a_made_file_is_a_good_one(void **state)
{
    struct sample s;
    struct cuzk_error err;
    struct progress_log log = {0};
    uint8_t header[FORM_BYTES];
    size_t len;
    sample_init(&s, *state);
    fake = (struct fake){.how = GOOD};
    assert_ok(make(&s, log_progress, &log, &err), err);
    assert_good_form(&s);
    uint8_t *bytes = read_whole(s.form, &len);
    good_form(&s, header);
    assert_int_equal(len, FORM_BYTES);
    assert_memory_equal(bytes, header, HEADER);
    for (size_t i = HEADER; i < len; i += 96) {
        struct g1_affine point;
        assert_true(g1_decode(&point, bytes + i, POINT_CHECK_SUBGROUP) || bytes[i] == 0x40);
    }
    mem_free(bytes);
    assert_true(log.calls >= 3);
    assert_true(log.last > 0.999 && log.last <= 1);
    sample_free(&s);
}

static void a_file_that_cannot_be_made_is_not_there(void **state)
{
    struct sample s;
    struct cuzk_error err;
    sample_init(&s, *state);
    fake = (struct fake){.how = FAILS};
    assert_int_equal(make(&s, NULL, NULL, &err), CUZK_DEVICE_FAULT);
    assert_non_null(strstr(err.text, "a fault was asked for"));
    assert_nothing_made(&s);
    fake = (struct fake){.how = WRONG};
    assert_int_equal(make(&s, NULL, NULL, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, s.form));
    assert_nothing_made(&s);
    sample_free(&s);
}

/* An older file stays until there is a better one. */
static void an_older_file_is_replaced_only_by_a_whole_one(void **state)
{
    struct sample s;
    struct cuzk_error err;
    sample_init(&s, *state);
    write_whole(s.form, "old", 3);
    fake = (struct fake){.how = FAILS};
    assert_int_equal(make(&s, NULL, NULL, &err), CUZK_DEVICE_FAULT);
    assert_refused(&s, "3 bytes");
    fake = (struct fake){.how = GOOD};
    assert_ok(make(&s, NULL, NULL, &err), err);
    assert_good_form(&s);
    sample_free(&s);
}

static void backends_that_cannot_say_so(void **state)
{
    struct sample s;
    struct cuzk_error err;
    struct backend cannot = *backend_find("cpu");
    sample_init(&s, *state);
    cannot.derive = NULL;
    assert_int_equal(lagrange_make(s.params, s.shape, &cannot, NULL, NULL, NULL, NULL, &err),
                     CUZK_NO_DEVICE);
    assert_string_equal(err.text, "backend cpu cannot derive");
    assert_nothing_made(&s);
    sample_free(&s);
}

/* Runs in a process of its own and gives its status. */
static int in_child(void (*fn)(const struct sample *s), const struct sample *s)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        fn(s);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void make_without_room(const struct sample *s)
{
    struct cuzk_error err = {0};
    struct rlimit limit = {FORM_BYTES - 1, FORM_BYTES - 1};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    if (make(s, NULL, NULL, &err) != CUZK_IO || !strstr(err.text, s->part) ||
        !strstr(err.text, "5824 bytes") || fake.n_derived != 0)
        _exit(1);
}

static void a_full_disk_is_told_before_the_work(void **state)
{
    struct sample s;
    sample_init(&s, *state);
    fake = (struct fake){.how = GOOD};
    assert_int_equal(in_child(make_without_room, &s), 0);
    assert_nothing_made(&s);
    sample_free(&s);
}

static void make_and_die(const struct sample *s)
{
    struct cuzk_error err;
    make(s, NULL, NULL, &err);
}

static void a_killed_maker_leaves_no_file(void **state)
{
    struct sample s;
    struct lagrange_file *file;
    struct cuzk_error err;
    sample_init(&s, *state);
    fake = (struct fake){.how = DIES};
    int status = in_child(make_and_die, &s);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(exists(s.part));
    assert_ok(lagrange_open(s.params, s.shape, &file, &err), err);
    assert_null(file);
    fake = (struct fake){.how = GOOD};
    assert_ok(make(&s, NULL, NULL, &err), err);
    assert_good_form(&s);
    sample_free(&s);
}

static void one_maker_at_a_time(void **state)
{
    struct sample s;
    struct cuzk_error err;
    sample_init(&s, *state);
    fake = (struct fake){.how = AGAIN};
    assert_ok(make(&s, NULL, NULL, &err), err);
    assert_int_equal(fake.n_derived, 1);
    assert_good_form(&s);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_file_is_no_failure),
        cmocka_unit_test(a_good_file_gives_its_points),
        cmocka_unit_test(every_field_of_the_header_counts),
        cmocka_unit_test(every_wrong_length_is_refused),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(the_form_of_another_key_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_made_file_is_a_good_one),
        cmocka_unit_test(a_file_that_cannot_be_made_is_not_there),
        cmocka_unit_test(an_older_file_is_replaced_only_by_a_whole_one),
        cmocka_unit_test(backends_that_cannot_say_so),
        cmocka_unit_test(a_full_disk_is_told_before_the_work),
        cmocka_unit_test(a_killed_maker_leaves_no_file),
        cmocka_unit_test(one_maker_at_a_time),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
