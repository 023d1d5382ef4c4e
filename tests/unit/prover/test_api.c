/* The public interface: development parameters made, listed and checked in a folder, Lagrange forms
   beside them; proof bytes verified. The circuit is the smallest there is, the 2 KiB WindowPoSt. */
#include "unit/groth16/files.h"
#include "unit/groth16/form.h"

#include <cuzk/params.h>
#include <cuzk/verify.h>

#include <fcntl.h>

static const char window_name[] =
    "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
    "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0.params";

/* --- Parameters ------------------------------------------------------------------------------- */

struct seen {
    unsigned circuits;
    unsigned present;
    uint64_t window_found;
    uint64_t window_form;
};

static void see(void *context, const struct cuzk_params_entry *entry)
{
    struct seen *seen = context;
    seen->circuits++;
    seen->present += entry->present;
    if (strcmp(entry->circuit, "wpost-2k") == 0) {
        assert_string_equal(entry->file_name, window_name);
        assert_string_equal(entry->published_digest, "7610b9f82bfc88405b7a832b651ce2f6");
        assert_int_equal(entry->expected_bytes, 11501496);
        seen->window_found = entry->found_bytes;
        seen->window_form = entry->lagrange_bytes;
    }
}

static void a_folder_of_development_parameters(void **state)
{
    const char *folder = folder_path(*state, "new/dev");
    struct cuzk_params_report report;
    struct cuzk_error err;
    struct seen seen = {0};
    bool made;
    assert_ok(cuzk_params_generate(folder, "wpost-2k", 2, NULL, NULL, &made, &err), err);
    assert_true(made);
    assert_true(cuzk_params_folder_is_dev(folder));
    assert_ok(cuzk_params_generate(folder, "wpost-2k", 2, NULL, NULL, &made, &err), err);
    assert_false(made);

    cuzk_params_list(folder, see, &seen);
    assert_true(seen.circuits > 20);
    assert_int_equal(seen.present, 1);
    assert_int_equal(seen.window_found, 11501496);

    assert_ok(cuzk_params_check(folder, "wpost-2k", CUZK_PARAMS_DIGEST, 2, &report, &err), err);
    assert_true(report.dev);
    assert_int_equal(report.n_inputs, 23);
    assert_int_equal(report.n_h, 32767);
    assert_int_equal(report.n_l, 22128);
    assert_int_equal(report.n_a, 16793);
    assert_int_equal(report.n_b_g1, 16029);
    assert_int_equal(report.n_b_g2, 16029);
    assert_string_equal(report.file_digest, "53f937db506cd99f5c0cf8023b76ae2a");
    assert_int_equal(cuzk_params_check(folder, "porep-32g", CUZK_PARAMS_LAYOUT, 1, &report, &err),
                     CUZK_BAD_PARAMS);
    assert_int_equal(cuzk_params_check(folder, "porep-32T", CUZK_PARAMS_LAYOUT, 1, &report, &err),
                     CUZK_INVALID_ARGUMENT);
}

/* A broken file is told, and made anew on request. */
static void damage_is_found_and_repaired(void **state)
{
    const char *folder = folder_path(*state, "new/dev");
    char path[1024];
    struct cuzk_params_report report;
    struct cuzk_error err;
    bool made;
    snprintf(path, sizeof path, "%s/%s", folder, window_name);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "\x40", 1, 11501496 - 192), 1); /* the last point of b_g2 */
    close(fd);
    assert_ok(cuzk_params_check(folder, "wpost-2k", CUZK_PARAMS_LAYOUT, 2, &report, &err), err);
    assert_int_equal(cuzk_params_check_file(path, CUZK_PARAMS_POINTS, 2, &report, &err),
                     CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, "section b_g2: point 16028 "));
    assert_int_equal(truncate(path, 11501495), 0);
    assert_int_equal(cuzk_params_check(folder, "wpost-2k", CUZK_PARAMS_LAYOUT, 2, &report, &err),
                     CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, "11501495 bytes, expected 11501496"));
    assert_ok(cuzk_params_generate(folder, "wpost-2k", 2, NULL, NULL, &made, &err), err);
    assert_true(made);
    assert_ok(cuzk_params_check_file(path, CUZK_PARAMS_DIGEST, 2, &report, &err), err);
    assert_string_equal(report.file_digest, "53f937db506cd99f5c0cf8023b76ae2a");
}

static void real_folders_are_not_written_to(void **state)
{
    const char *folder = folder_path(*state, "real");
    struct cuzk_error err;
    char path[1024];
    bool made;
    assert_int_equal(mkdir(folder, 0755), 0);
    snprintf(path, sizeof path, "%s/%s", folder, window_name);
    write_whole(path, "x", 1);
    assert_int_equal(cuzk_params_generate(folder, "winning-2k", 1, NULL, NULL, &made, &err),
                     CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, PARAMS_DEV_MARKER));
    assert_false(cuzk_params_folder_is_dev(folder));
}

/* --- Lagrange forms --------------------------------------------------------------------------- */

enum { WINDOW_FORM_BYTES = 4096 + (32768 + 22128 + 23) * 96 };

/* "folder/v28-….lagrange" of the circuit. */
static void name_form(const char *folder, char path[1024])
{
    int stem = (int)(strlen(window_name) - strlen(".params"));
    snprintf(path, 1024, "%s/%.*s.lagrange", folder, stem, window_name);
}

static void write_form(const char *folder, size_t cut)
{
    const struct circuit_info *circuit = circuit_by_id("wpost-2k");
    struct params *params;
    struct shape *shape;
    struct cuzk_error err;
    char path[1024];
    size_t len;
    assert_ok(params_open_circuit(folder, circuit, &params, &err), err);
    assert_ok(circuit_shape(circuit, &shape, &err), err);
    uint8_t *bytes = form_bytes(params, shape, &len);
    assert_int_equal(len, WINDOW_FORM_BYTES);
    name_form(folder, path);
    write_whole(path, bytes, len - cut);
    mem_free(bytes);
    shape_free(shape);
    params_close(params);
}

static void forms_are_listed_and_checked(void **state)
{
    const char *folder = folder_path(*state, "forms");
    struct cuzk_params_report report;
    struct cuzk_error err;
    struct seen seen = {0};
    bool made;
    assert_ok(cuzk_params_generate(folder, "wpost-2k", 2, NULL, NULL, &made, &err), err);
    cuzk_params_list(folder, see, &seen);
    assert_int_equal(seen.window_form, 0);
    assert_ok(cuzk_params_check(folder, "wpost-2k", CUZK_PARAMS_LAYOUT, 1, &report, &err), err);
    assert_int_equal(report.lagrange_bytes, 0);
    write_form(folder, 0);
    cuzk_params_list(folder, see, &seen);
    assert_int_equal(seen.window_form, WINDOW_FORM_BYTES);
    assert_ok(cuzk_params_check(folder, "wpost-2k", CUZK_PARAMS_LAYOUT, 1, &report, &err), err);
    assert_int_equal(report.lagrange_bytes, WINDOW_FORM_BYTES);
    write_form(folder, 1);
    assert_int_equal(cuzk_params_check(folder, "wpost-2k", CUZK_PARAMS_LAYOUT, 1, &report, &err),
                     CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, ".lagrange: 5276319 bytes, expected 5276320"));
}

static void a_form_that_is_there_is_kept(void **state)
{
    const char *folder = folder_path(*state, "forms");
    const struct cuzk_derive_options options = {.backend = "none"};
    struct cuzk_derive_report report;
    struct cuzk_error err;
    char path[1024];
    name_form(folder, path);
    write_form(folder, 0);
    assert_ok(cuzk_params_derive(folder, "wpost-2k", &options, &report, &err), err);
    assert_false(report.made);
    assert_string_equal(report.path, path);
    assert_int_equal(report.bytes, WINDOW_FORM_BYTES);
    write_form(folder, 1); /* a bad one is no reason not to make it */
    assert_int_equal(cuzk_params_derive(folder, "wpost-2k", &options, &report, &err),
                     CUZK_NO_DEVICE);
}

static void what_cannot_be_derived_is_told(void **state)
{
    const char *folder = folder_path(*state, "forms");
    struct cuzk_derive_options options = {.backend = "sim"};
    struct cuzk_derive_report report;
    struct cuzk_error err;
    char path[1024];
    name_form(folder, path);
    unlink(path);
    assert_int_equal(cuzk_params_derive(folder, "wpost-2k", &options, &report, &err),
                     CUZK_NO_DEVICE);
    assert_string_equal(err.text, "backend sim cannot derive");
    options.backend = "none";
    assert_int_equal(cuzk_params_derive(folder, "wpost-2k", &options, &report, &err),
                     CUZK_NO_DEVICE);
    assert_non_null(strstr(err.text, "'none'"));
    assert_false(exists(path));
    assert_int_equal(cuzk_params_derive(folder, "wpost-32T", &options, &report, &err),
                     CUZK_INVALID_ARGUMENT);
    assert_int_equal(cuzk_params_derive(folder, "winning-2k", &options, &report, &err),
                     CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, "winning-2k"));
}

/* From the trapdoors of development parameters: no backend takes part. */
static void forms_of_development_parameters_are_made(void **state)
{
    const char *folder = folder_path(*state, "forms");
    const struct cuzk_derive_options options = {.backend = "none", .threads = 2};
    struct cuzk_derive_report report;
    struct cuzk_params_report found;
    struct cuzk_error err;
    char path[1024];
    name_form(folder, path);
    write_form(folder, 1); /* a bad one is replaced */
    assert_ok(cuzk_params_generate_lagrange(folder, "wpost-2k", &options, &report, &err), err);
    assert_true(report.made);
    assert_string_equal(report.path, path);
    assert_int_equal(report.bytes, WINDOW_FORM_BYTES);
    assert_ok(cuzk_params_check(folder, "wpost-2k", CUZK_PARAMS_LAYOUT, 1, &found, &err), err);
    assert_int_equal(found.lagrange_bytes, WINDOW_FORM_BYTES);
    assert_ok(cuzk_params_generate_lagrange(folder, "wpost-2k", &options, &report, &err), err);
    assert_false(report.made);
    assert_int_equal(report.bytes, WINDOW_FORM_BYTES);
    assert_int_equal(cuzk_params_generate_lagrange(folder, "winning-2k", &options, &report, &err),
                     CUZK_BAD_PARAMS); /* they come first */
    assert_int_equal(unlink(path), 0);
}

/* A real form is made, is the one that the trapdoors give, and passes the check; one with two
   points exchanged does not. Two minutes of a core, so only in the long tier. */
static void a_real_form_passes_the_check(void **state)
{
    if (!getenv("CUZK_TEST_LONG")) {
        print_message("SKIP: a Lagrange form (CUZK_TEST_LONG=1)\n");
        skip();
    }
    const char *folder = folder_path(*state, "forms");
    const struct cuzk_derive_options options = {.backend = "cpu"};
    struct cuzk_derive_report made;
    struct cuzk_params_report report;
    struct cuzk_error err;
    size_t len;
    assert_ok(cuzk_params_derive(folder, "wpost-2k", &options, &made, &err), err);
    assert_true(made.made);
    assert_ok(cuzk_params_check(folder, "wpost-2k", CUZK_PARAMS_POINTS, 0, &report, &err), err);
    assert_int_equal(report.lagrange_bytes, WINDOW_FORM_BYTES);
    uint8_t *bytes = read_whole(made.path, &len);
    assert_int_equal(unlink(made.path), 0);
    assert_ok(cuzk_params_generate_lagrange(folder, "wpost-2k", &options, &made, &err), err);
    assert_true(made.made);
    uint8_t *same = read_whole(made.path, &len);
    assert_int_equal(len, WINDOW_FORM_BYTES);
    assert_memory_equal(same, bytes, len);
    mem_free(same);
    memcpy(bytes + 4096, bytes + 4096 + 96, 96);
    write_whole(made.path, bytes, len);
    mem_free(bytes);
    assert_int_equal(cuzk_params_check(folder, "wpost-2k", CUZK_PARAMS_POINTS, 0, &report, &err),
                     CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, made.path));
    assert_non_null(strstr(err.text, "h of the Lagrange form"));
}

/* --- Proofs ----------------------------------------------------------------------------------- */

enum { N_PROOFS = 2, N_INPUTS = 22 };

struct bytes {
    uint8_t proofs[N_PROOFS * CUZK_PROOF_BYTES];
    uint8_t inputs[N_PROOFS * N_INPUTS * CUZK_INPUT_BYTES];
};

static void load(struct bytes *out)
{
    size_t len;
    char *text = (char *)vector_read_or_skip("reference/window-2k/three-proof.hex", &len);
    text[2 * sizeof out->proofs] = '\0';
    assert_true(hex_decode(text, out->proofs, sizeof out->proofs));
    mem_free(text);
    text = (char *)vector_read_or_skip("reference/window-2k/three-public-inputs.txt", &len);
    uint8_t *at = out->inputs;
    for (char *line = text; *line; line = strchr(line, '\n') + 1) {
        char hex[65] = {0};
        if (*line == '#')
            continue;
        memcpy(hex, line, 64);
        assert_true(hex_decode(hex, at, CUZK_INPUT_BYTES));
        at += CUZK_INPUT_BYTES;
    }
    assert_int_equal(at - out->inputs, sizeof out->inputs);
    mem_free(text);
}

static void proof_bytes_get_their_verdict(void **state)
{
    (void)state;
    struct bytes good, bad;
    struct cuzk_vk *vk;
    struct cuzk_error err;
    load(&good);
    assert_ok(cuzk_vk_open(vector_path_or_skip("reference/window-2k/window-2k.vk"), &vk, &err),
              err);
    assert_int_equal(cuzk_vk_inputs(vk), N_INPUTS);
    assert_ok(
        cuzk_verify(vk, good.proofs, sizeof good.proofs, good.inputs, sizeof good.inputs, &err),
        err);
    bad = good;
    bad.inputs[sizeof bad.inputs - CUZK_INPUT_BYTES] ^= 1;
    assert_int_equal(
        cuzk_verify(vk, bad.proofs, sizeof bad.proofs, bad.inputs, sizeof bad.inputs, &err),
        CUZK_VERIFY_FAILED);
    assert_string_equal(err.text, "proof 2 of 2 is not valid");

    bad = good;
    memset(bad.inputs + CUZK_INPUT_BYTES, 0xff, CUZK_INPUT_BYTES);
    assert_int_equal(
        cuzk_verify(vk, bad.proofs, sizeof bad.proofs, bad.inputs, sizeof bad.inputs, &err),
        CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "input 1 of proof 1 "));
    bad = good;
    bad.proofs[CUZK_PROOF_BYTES + 48] ^= 0x80;
    assert_int_equal(
        cuzk_verify(vk, bad.proofs, sizeof bad.proofs, bad.inputs, sizeof bad.inputs, &err),
        CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "proof 2 of 2: proof: B is not"));

    static const size_t wrong[] = {0, 191, 192, 193, 383};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(
            cuzk_verify(vk, good.proofs, wrong[i], good.inputs, sizeof good.inputs, &err),
            CUZK_INVALID_ARGUMENT);
    assert_int_equal(
        cuzk_verify(vk, good.proofs, sizeof good.proofs, good.inputs, sizeof good.inputs - 1, &err),
        CUZK_INVALID_ARGUMENT);
    cuzk_vk_close(vk);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct bytes good;
    char path[512];
    load(&good);
    snprintf(path, sizeof path, "%s", vector_path_or_skip("reference/window-2k/window-2k.vk"));
    size_t used = mem_used_bytes();
    for (long after = 0, done = 0; !done; after++) {
        struct cuzk_vk *vk = NULL;
        struct cuzk_error err;
        mem_fail_after(after);
        enum cuzk_status status = cuzk_vk_open(path, &vk, &err);
        if (status == CUZK_OK)
            status = cuzk_verify(vk, good.proofs, sizeof good.proofs, good.inputs,
                                 sizeof good.inputs, &err);
        mem_fail_after(-1);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        cuzk_vk_close(vk);
        assert_int_equal(mem_used_bytes(), used);
        done = status == CUZK_OK;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_of_development_parameters),
        cmocka_unit_test(damage_is_found_and_repaired),
        cmocka_unit_test(real_folders_are_not_written_to),
        cmocka_unit_test(forms_are_listed_and_checked),
        cmocka_unit_test(a_form_that_is_there_is_kept),
        cmocka_unit_test(what_cannot_be_derived_is_told),
        cmocka_unit_test(forms_of_development_parameters_are_made),
        cmocka_unit_test(a_real_form_passes_the_check),
        cmocka_unit_test(proof_bytes_get_their_verdict),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
