/* Loading a circuit: what devices get of its parameter files. The circuit is the smallest there is,
   the 2 KiB WindowPoSt, with development parameters made here. */
#include "support/support.h"
#include "unit/groth16/form.h"

#include "base/error.h"
#include "base/file.h"
#include "prover/real.h"

#include <cuzk/params.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char circuit_id[] = "wpost-2k";

static char folder[] = "/tmp/cuzk-real-XXXXXX";
static char form_path[PATH_MAX], log_path[64];

/* --- A backend that remembers the key ---------------------------------------------- */

static struct {
    bool refuses_forms; /* as a device that finds a bad point */
    unsigned n_loads;
    struct key_vectors key; /* of the last load */
} seen;

static enum cuzk_status load(struct backend_device *device, const struct shape *shape,
                             const struct key_vectors *key, struct backend_circuit **out,
                             struct cuzk_error *err)
{
    seen.n_loads++;
    seen.key = *key;
    if (seen.refuses_forms && key->lagrange.h)
        return error_set(err, CUZK_BAD_PARAMS, "section h: of 7 points 1 are not on the curve");
    return backend_find("cpu")->load(device, shape, key, out, err);
}

static struct backend remembering;

static struct real *open_real(void)
{
    const struct backend_options options = {.threads = 1};
    struct real *real;
    struct cuzk_error err;
    assert_ok(real_open("cpu", folder, &options, &real, &err), err);
    remembering = *real->backend;
    remembering.load = load;
    remembering.uses_lagrange = true;
    real->backend = &remembering;
    memset(&seen, 0, sizeof seen);
    return real;
}

/* What is logged meanwhile goes to a file. */
static struct real_loaded *load_and_log(struct real *real, char log[2048])
{
    struct loaded *loaded;
    struct cuzk_error err;
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    int fd = open(log_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && fd >= 0);
    dup2(fd, STDERR_FILENO);
    enum cuzk_status status = real_load(real, circuit_id, &loaded, &err);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    ssize_t len = pread(fd, log, 2047, 0);
    log[len > 0 ? len : 0] = '\0';
    close(fd);
    close(kept);
    assert_ok(status, err);
    return (struct real_loaded *)(void *)loaded;
}

/* --- Forms ------------------------------------------------------------------------- */

static void write_form(size_t cut)
{
    const struct circuit_info *circuit = circuit_by_id(circuit_id);
    struct params *params;
    struct shape *shape;
    struct cuzk_error err;
    assert_ok(params_open_circuit(folder, circuit, &params, &err), err);
    assert_ok(circuit_shape(circuit, &shape, &err), err);
    size_t len;
    uint8_t *bytes = form_bytes(params, shape, &len);
    assert_ok(file_write(form_path, bytes, len - cut, &err), err);
    mem_free(bytes);
    shape_free(shape);
    params_close(params);
}

static void without_a_form_nothing_is_said(void **state)
{
    (void)state;
    char log[2048];
    unlink(form_path);
    struct real *real = open_real();
    struct real_loaded *loaded = load_and_log(real, log);
    assert_null(seen.key.lagrange.h);
    assert_false(loaded->base.lagrange);
    assert_int_equal(loaded->base.mapped_bytes, loaded->params->bytes);
    assert_string_equal(log, "");
    real_unload(&loaded->base);
    real_close(real);
}

static void a_backend_without_use_for_forms_gets_none(void **state)
{
    (void)state;
    char log[2048];
    write_form(0);
    struct real *real = open_real();
    remembering.uses_lagrange = false;
    struct real_loaded *loaded = load_and_log(real, log);
    assert_null(seen.key.lagrange.h);
    assert_false(loaded->base.lagrange);
    assert_int_equal(loaded->base.mapped_bytes, loaded->params->bytes);
    assert_string_equal(log, "");
    real_unload(&loaded->base);
    real_close(real);
}

static void devices_get_the_form_that_is_there(void **state)
{
    (void)state;
    char log[2048];
    struct stat info;
    struct cuzk_error err;
    write_form(0);
    struct real *real = open_real();
    struct real_loaded *loaded = load_and_log(real, log);
    assert_true(loaded->base.lagrange);
    assert_non_null(seen.key.lagrange.h);
    assert_int_equal(seen.key.lagrange.h[0], 'h');
    assert_true(seen.key.lagrange.l > seen.key.lagrange.h);
    assert_true(seen.key.lagrange.inputs > seen.key.lagrange.l);
    assert_int_equal(stat(form_path, &info), 0);
    assert_int_equal(loaded->base.mapped_bytes, loaded->params->bytes + (size_t)info.st_size);
    assert_string_equal(log, "");
    assert_ok(real_check(&loaded->base, &err), err);
    /* Written to under the map: as with the parameters, it must be loaded again. */
    assert_int_equal(truncate(form_path, 4096), 0);
    assert_int_equal(real_check(&loaded->base, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, form_path));
    real_unload(&loaded->base);
    real_close(real);
}

/* Proofs do not need it: the work goes on, and one line says what is wrong. */
static void a_bad_form_is_told_and_left_out(void **state)
{
    (void)state;
    char log[2048];
    struct cuzk_error err;
    write_form(1);
    struct real *real = open_real();
    struct real_loaded *loaded = load_and_log(real, log);
    assert_int_equal(seen.n_loads, 1);
    assert_null(seen.key.lagrange.h);
    assert_false(loaded->base.lagrange);
    assert_int_equal(loaded->base.devices, 1);
    assert_int_equal(loaded->base.mapped_bytes, loaded->params->bytes);
    assert_non_null(strstr(log, "warn"));
    assert_non_null(strstr(log, "wpost-2k: proving goes on without the Lagrange form"));
    assert_non_null(strstr(log, form_path));
    assert_ptr_equal(strchr(log, '\n'), log + strlen(log) - 1);
    assert_ok(real_check(&loaded->base, &err), err);
    real_unload(&loaded->base);
    real_close(real);
}

static void a_form_with_a_bad_point_is_left_out(void **state)
{
    (void)state;
    char log[2048];
    write_form(0);
    struct real *real = open_real();
    seen.refuses_forms = true;
    struct real_loaded *loaded = load_and_log(real, log);
    assert_int_equal(seen.n_loads, 2);
    assert_null(seen.key.lagrange.h);
    assert_false(loaded->base.lagrange);
    assert_int_equal(loaded->base.devices, 1);
    assert_non_null(strstr(log, "without the Lagrange form"));
    assert_non_null(strstr(log, "1 are not on the curve"));
    real_unload(&loaded->base);
    real_close(real);
}

static int make_parameters(void **state)
{
    (void)state;
    struct cuzk_error err;
    bool made;
    if (!mkdtemp(folder))
        return -1;
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(form_path, sizeof form_path, "%s/%s.lagrange", folder,
             circuit_by_id(circuit_id)->params_name);
    assert_ok(cuzk_params_generate(folder, circuit_id, 0, NULL, NULL, &made, &err), err);
    return 0;
}

static int remove_parameters(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    FILE *pipe = popen(command, "r");
    return pclose(pipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_form_nothing_is_said),
        cmocka_unit_test(a_backend_without_use_for_forms_gets_none),
        cmocka_unit_test(devices_get_the_form_that_is_there),
        cmocka_unit_test(a_bad_form_is_told_and_left_out),
        cmocka_unit_test(a_form_with_a_bad_point_is_left_out),
    };
    return cmocka_run_group_tests_name("real", tests, make_parameters, remove_parameters);
}
