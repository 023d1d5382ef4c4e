/* Loading a circuit: what devices get of its parameter files. The circuit is the smallest there is,
   the 2 KiB WindowPoSt, with development parameters made here. */
#include "support/support.h"
#include "unit/groth16/form.h"

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "prover/residency.h"

#include <cuzk/params.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char circuit_id[] = "wpost-2k";

static char folder[] = "/tmp/cuzk-residency-XXXXXX";
static char form_path[PATH_MAX];

/* --- A backend that remembers the key --------------------------------------------------------- */

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

static struct residency *open_residency(void)
{
    const struct backend_options options = {.threads = 1};
    struct residency *residency;
    struct cuzk_error err;
    assert_ok(residency_open("cpu", folder, &options, &residency, &err), err);
    remembering = *residency->backend;
    remembering.load = load;
    remembering.uses_lagrange = true;
    residency->backend = &remembering;
    memset(&seen, 0, sizeof seen);
    return residency;
}

static struct resident_circuit *load_and_log(struct residency *residency, char log[2048])
{
    struct loaded *loaded;
    struct cuzk_error err;
    log_capture(log, 2048);
    enum cuzk_status status = residency_load(residency, circuit_id, &loaded, &err);
    log_capture(NULL, 0);
    assert_ok(status, err);
    return CONTAINER_OF(loaded, struct resident_circuit, base);
}

/* --- Forms ------------------------------------------------------------------------------------ */

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
    struct residency *residency = open_residency();
    struct resident_circuit *loaded = load_and_log(residency, log);
    assert_null(seen.key.lagrange.h);
    assert_false(loaded->base.lagrange);
    assert_int_equal(loaded->base.mapped_bytes, loaded->params->bytes);
    assert_string_equal(log, "");
    residency_unload(&loaded->base);
    residency_close(residency);
}

static void a_backend_without_use_for_forms_gets_none(void **state)
{
    (void)state;
    char log[2048];
    write_form(0);
    struct residency *residency = open_residency();
    remembering.uses_lagrange = false;
    struct resident_circuit *loaded = load_and_log(residency, log);
    assert_null(seen.key.lagrange.h);
    assert_false(loaded->base.lagrange);
    assert_int_equal(loaded->base.mapped_bytes, loaded->params->bytes);
    assert_string_equal(log, "");
    residency_unload(&loaded->base);
    residency_close(residency);
}

static void devices_get_the_form_that_is_there(void **state)
{
    (void)state;
    char log[2048];
    struct stat info;
    struct cuzk_error err;
    write_form(0);
    struct residency *residency = open_residency();
    struct resident_circuit *loaded = load_and_log(residency, log);
    assert_true(loaded->base.lagrange);
    assert_non_null(seen.key.lagrange.h);
    assert_int_equal(seen.key.lagrange.h[0], 'h');
    assert_true(seen.key.lagrange.l > seen.key.lagrange.h);
    assert_true(seen.key.lagrange.inputs > seen.key.lagrange.l);
    assert_int_equal(stat(form_path, &info), 0);
    assert_int_equal(loaded->base.mapped_bytes, loaded->params->bytes + (size_t)info.st_size);
    assert_string_equal(log, "");
    assert_ok(residency_check(&loaded->base, &err), err);
    /* Written to under the map: as with the parameters, it must be loaded again. */
    assert_int_equal(truncate(form_path, 4096), 0);
    assert_int_equal(residency_check(&loaded->base, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, form_path));
    residency_unload(&loaded->base);
    residency_close(residency);
}

/* Proofs do not need it: the work goes on, and one line says what is wrong. */
static void a_bad_form_is_told_and_left_out(void **state)
{
    (void)state;
    char log[2048];
    struct cuzk_error err;
    write_form(1);
    struct residency *residency = open_residency();
    struct resident_circuit *loaded = load_and_log(residency, log);
    assert_int_equal(seen.n_loads, 1);
    assert_null(seen.key.lagrange.h);
    assert_false(loaded->base.lagrange);
    assert_int_equal(loaded->base.devices, 1);
    assert_int_equal(loaded->base.mapped_bytes, loaded->params->bytes);
    assert_non_null(strstr(log, "warn"));
    assert_non_null(strstr(log, "wpost-2k: proving goes on without the Lagrange form"));
    assert_non_null(strstr(log, form_path));
    assert_ptr_equal(strchr(log, '\n'), log + strlen(log) - 1);
    assert_ok(residency_check(&loaded->base, &err), err);
    residency_unload(&loaded->base);
    residency_close(residency);
}

static void a_form_with_a_bad_point_is_left_out(void **state)
{
    (void)state;
    char log[2048];
    write_form(0);
    struct residency *residency = open_residency();
    seen.refuses_forms = true;
    struct resident_circuit *loaded = load_and_log(residency, log);
    assert_int_equal(seen.n_loads, 2);
    assert_null(seen.key.lagrange.h);
    assert_false(loaded->base.lagrange);
    assert_int_equal(loaded->base.devices, 1);
    assert_non_null(strstr(log, "without the Lagrange form"));
    assert_non_null(strstr(log, "1 are not on the curve"));
    residency_unload(&loaded->base);
    residency_close(residency);
}

static int make_parameters(void **state)
{
    (void)state;
    struct cuzk_error err;
    bool made;
    if (!mkdtemp(folder))
        return -1;
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
    return cmocka_run_group_tests_name("residency", tests, make_parameters, remove_parameters);
}
