/* Parameter files from outside: cut, damaged, swapped, or not there. All from the tiny circuits'
 * files. */
#include "unit/groth16/files.h"
#include "unit/r1cs/toy.h"

#include "base/pool.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char tiny_params[] = "reference/tiny/t2-density.params"; /* 3 inputs, 7 aux */

/* A copy of that file under the given name. */
static const char *copy_tiny(void *folder, const char *as)
{
    size_t len;
    uint8_t *bytes = vector_read_or_skip(tiny_params, &len);
    const char *path = folder_path(folder, as);
    write_whole(path, bytes, len);
    mem_free(bytes);
    return path;
}

/* Overwrites bytes of a file. */
static void patch(const char *path, size_t offset, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, len, (off_t)offset), len);
    close(fd);
}

static void assert_refused(const char *path, const char *text)
{
    struct params *params;
    struct cuzk_error err;
    assert_int_equal(params_open(path, &params, &err), CUZK_BAD_PARAMS);
    if (!strstr(err.text, path) || !strstr(err.text, text))
        fail_msg("expected '%s' and '%s' in: %s", path, text, err.text);
}

/* --- Opening --------------------------------------------------------------------------------- */

static void sections_lie_where_the_reference_says(void **state)
{
    struct params *params;
    struct cuzk_error err;
    assert_ok(params_open(copy_tiny(*state, "good.params"), &params, &err), err);
    assert_int_equal(params->vk.n_ic, 3);
    static const uint32_t counts[KEY_VECTORS] = {7, 7, 6, 3, 3};
    for (enum key_vector which = KEY_H; which < KEY_VECTORS; which++)
        assert_int_equal(params->key.v[which].n, counts[which]);
    assert_int_equal(params->key.v[KEY_A].at - params->map.data, 2512);
    assert_int_equal(params->key.v[KEY_B_G2].at - params->map.data, 3384);
    assert_int_equal(params->bytes, params->map.len);
    assert_false(params->is_dev);
    assert_ok(params_check_points(params, POINT_CHECK_SUBGROUP, NULL, &err), err);
    params_close(params);
}

/* 0 bytes, in the middle, at every section's border, one byte before the end. */
static void every_cut_is_refused(void **state)
{
    const char *path = copy_tiny(*state, "cut.params");
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    for (size_t len = (size_t)info.st_size; len-- > 0;) {
        assert_int_equal(truncate(path, (off_t)len), 0);
        assert_refused(path, len == 0     ? "empty"
                             : len < 1156 ? "vk: "
                             : len < 1832 ? "section h: "
                             : len < 2508 ? "section l: "
                             : len < 3088 ? "section a: "
                             : len < 3380 ? "section b_g1: "
                                          : "section b_g2: ");
        if (len == 3959)
            assert_refused(path, "need a file of 3960 bytes, found 3959");
    }
}

static void counts_beyond_the_file_are_refused(void **state)
{
    static const size_t at[] = {864, 1156, 1832, 2508, 3088, 3380};
    static const uint8_t huge[4] = {0xff, 0xff, 0xff, 0xff};
    static const uint8_t none[4] = {0};
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        const char *path = copy_tiny(*state, "count.params");
        size_t before = mem_peak_bytes();
        patch(path, at[i], huge, sizeof huge);
        assert_refused(path, i == 0 ? "expected 412316861188" : "need a file of");
        assert_true(mem_peak_bytes() < before + (1 << 20));
    }
    const char *path = copy_tiny(*state, "count.params");
    patch(path, at[0], none, sizeof none);
    assert_refused(path, "no ic points");
}

static void places_that_are_no_files(void **state)
{
    const char *folder = folder_path(*state, "folder.params");
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_refused(folder, "not a regular file");
    const char *dangling = folder_path(*state, "dangling.params");
    assert_int_equal(symlink("nowhere", dangling), 0);
    assert_refused(dangling, "No such file");
    assert_refused(folder_path(*state, "absent.params"), "No such file");
    const char *pipe = folder_path(*state, "pipe.params");
    assert_int_equal(mkfifo(pipe, 0644), 0);
    assert_refused(pipe, "not a regular file");
    const char *holes = folder_path(*state, "holes.params");
    write_whole(holes, "", 0);
    assert_int_equal(truncate(holes, 3960), 0);
    assert_refused(holes, "vk: ");
    struct params *params;
    struct cuzk_error err;
    assert_ok(params_open(copy_tiny(*state, "with a blank.params"), &params, &err), err);
    params_close(params);
}

static void every_allocation_may_fail(void **state)
{
    const char *path = copy_tiny(*state, "memory.params");
    size_t used = mem_used_bytes();
    long after = 0;
    for (enum cuzk_status status = CUZK_NO_MEMORY; status != CUZK_OK; after++) {
        struct params *params = NULL;
        struct cuzk_error err;
        uint8_t digest[16];
        mem_fail_after(after);
        status = params_open(path, &params, &err);
        if (status == CUZK_OK)
            status = params_check_points(params, POINT_CHECK_CURVE, NULL, &err);
        if (status == CUZK_OK)
            status = params_digest(params, digest, &err);
        mem_fail_after(-1);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        params_close(params);
        assert_int_equal(mem_used_bytes(), used);
    }
    assert_true(after > 5);
}

/* --- Points ---------------------------------------------------------------------------------- */

/* One bit changed anywhere: some check must see it. */
static void no_damaged_byte_goes_unseen(void **state)
{
    size_t len;
    uint8_t *bytes = vector_read_or_skip("reference/tiny/t1-mul.params", &len);
    const char *path = folder_path(*state, "flip.params");
    write_whole(path, bytes, len);
    for (size_t i = 0; i < len; i++) {
        uint8_t changed = (uint8_t)(bytes[i] ^ 1u << i % 8);
        struct params *params = NULL;
        patch(path, i, &changed, 1);
        enum cuzk_status status = params_open(path, &params, NULL);
        if (status == CUZK_OK)
            status = params_check_points(params, POINT_CHECK_CURVE, NULL, NULL);
        /* A count one too small leaves bytes behind the last section: for params_match_shape. */
        if (status == CUZK_OK && params->bytes == params->map.len)
            fail_msg("byte %zu changed, and nobody saw it", i);
        params_close(params);
        patch(path, i, &bytes[i], 1);
    }
    mem_free(bytes);
}

struct bad_point {
    size_t section_offset;
    size_t index;
    const char *section;
    const uint8_t *bytes;
    size_t len;
    enum point_check seen_by; /* the weakest check that must see it */
};

static void bad_points_are_named(void **state)
{
    /* On the curve, outside the subgroup: x = 4, and for G2 x = 2 (found by decompression, which
       does not look at the subgroup). */
    uint8_t order3[G1_BYTES] = {0}, infinity[G2_BYTES] = {0x40}, outside1[G1_BYTES],
            outside2[G2_BYTES], off[G1_BYTES] = {0};
    uint8_t x1[G1_COMPRESSED_BYTES] = {0x80}, x2[G2_COMPRESSED_BYTES] = {0x80};
    blst_p1_affine p1;
    blst_p2_affine p2;
    order3[G1_BYTES - 1] = 2; /* (0, 2) */
    off[G1_BYTES - 1] = 1;
    x1[G1_COMPRESSED_BYTES - 1] = 4;
    x2[G2_COMPRESSED_BYTES - 1] = 2;
    assert_int_equal(blst_p1_uncompress(&p1, x1), BLST_SUCCESS);
    assert_int_equal(blst_p2_uncompress(&p2, x2), BLST_SUCCESS);
    blst_p1_affine_serialize(outside1, &p1);
    blst_p2_affine_serialize(outside2, &p2);
    const struct bad_point cases[] = {
        {1160, 0, "section h: point 0 ", infinity, G1_BYTES, POINT_CHECK_NONE},
        {1160, 6, "section h: point 6 ", off, G1_BYTES, POINT_CHECK_CURVE},
        {1836, 3, "section l: point 3 ", order3, G1_BYTES, POINT_CHECK_SUBGROUP},
        {1836, 4, "section l: point 4 ", infinity, G1_BYTES, POINT_CHECK_NONE},
        {2512, 5, "section a: point 5 ", outside1, G1_BYTES, POINT_CHECK_SUBGROUP},
        {3092, 2, "section b_g1: point 2 ", off, G1_BYTES, POINT_CHECK_CURVE},
        {3384, 1, "section b_g2: point 1 ", outside2, G2_BYTES, POINT_CHECK_SUBGROUP},
        {3384, 2, "section b_g2: point 2 ", infinity, G2_BYTES, POINT_CHECK_NONE},
    };
    struct pool *pool = pool_new(2);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct bad_point *bad = &cases[i];
        const char *path = copy_tiny(*state, "point.params");
        struct params *params;
        struct cuzk_error err;
        patch(path, bad->section_offset + bad->index * bad->len, bad->bytes, bad->len);
        assert_ok(params_open(path, &params, &err), err);
        for (enum point_check check = POINT_CHECK_NONE; check <= POINT_CHECK_SUBGROUP; check++) {
            enum cuzk_status status = params_check_points(params, check, pool, &err);
            assert_int_equal(status, check < bad->seen_by ? CUZK_OK : CUZK_BAD_PARAMS);
            if (status != CUZK_OK && (!strstr(err.text, bad->section) || !strstr(err.text, path)))
                fail_msg("expected '%s' in: %s", bad->section, err.text);
        }
        params_close(params);
    }
    pool_free(pool);
}

/* Two bad points: the first in file order is named, whichever thread came first. */
static void the_first_bad_point_is_named(void **state)
{
    static const uint8_t zeros[G1_BYTES];
    const char *path = copy_tiny(*state, "two.params");
    struct params *params;
    struct cuzk_error err;
    patch(path, 1836 + 2 * G1_BYTES, zeros, sizeof zeros);
    patch(path, 3092, zeros, sizeof zeros);
    assert_ok(params_open(path, &params, &err), err);
    struct pool *pool = pool_new(4);
    for (int round = 0; round < 50; round++) {
        assert_int_equal(params_check_points(params, POINT_CHECK_NONE, pool, &err),
                         CUZK_BAD_PARAMS);
        assert_non_null(strstr(err.text, "section l: point 2 "));
    }
    pool_free(pool);
    params_close(params);
}

static void a_file_cut_under_the_map_is_an_error(void **state)
{
    const char *path = copy_tiny(*state, "shrinks.params");
    struct params *params;
    struct cuzk_error err;
    uint8_t digest[16];
    assert_ok(params_open(path, &params, &err), err);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(params_check_points(params, POINT_CHECK_NONE, NULL, &err), CUZK_IO);
    assert_non_null(strstr(err.text, "got shorter"));
    assert_int_equal(params_digest(params, digest, &err), CUZK_IO);
    params_close(params);
}

/* --- Whose is it? ---------------------------------------------------------------------------- */

static void only_marked_folders_hold_development_files(void **state)
{
    struct params *params;
    struct cuzk_error err;
    const char *path = copy_tiny(*state, "name.params");
    assert_ok(params_open(path, &params, &err), err);
    char published[33];
    hex_encode(params->vk.digest, 16, published);
    struct circuit_info circuit = {
        .id = "made-up",
        .n_inputs = 3,
        .params_bytes = 3960,
        .params_name = "name",
        .params_digest = "",
        .vk_digest = published,
    };
    assert_ok(params_match_circuit(params, &circuit, &err), err);
    params_close(params);

    circuit.vk_digest =
        "00112233445566778899aabbccddeeff"; /* the right name, another version's key */
    assert_int_equal(params_open_circuit(*state, &circuit, &params, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, published));
    assert_non_null(strstr(err.text, circuit.vk_digest));
    circuit.vk_digest = "";
    assert_int_equal(params_open_circuit(*state, &circuit, &params, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, "no published parameters"));

    const char *marker = folder_path(*state, PARAMS_DEV_MARKER);
    write_whole(marker, "", 0);
    assert_ok(params_open_circuit(*state, &circuit, &params, &err), err);
    assert_true(params->is_dev);
    params_close(params);
    circuit.vk_digest = published;
    assert_int_equal(params_open_circuit(*state, &circuit, &params, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, PARAMS_DEV_MARKER));
    unlink(marker);

    circuit.n_inputs = 4;
    assert_int_equal(params_open_circuit(*state, &circuit, &params, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, "3 ic points, expected 4"));
    circuit.params_bytes = 3961;
    assert_int_equal(params_open_circuit(*state, &circuit, &params, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, "3960 bytes, expected 3961"));
}

static void another_circuits_file_is_refused(void **state)
{
    struct text_circuit circuit = text_circuit_load("reference/tiny/t2-density.txt", 4, 3, 7);
    struct circuit_program program = text_program(&circuit);
    struct shape *shape;
    struct params *params;
    struct cuzk_error err;
    assert_ok(shape_record(&program, &shape, &err), err);
    assert_ok(params_open(copy_tiny(*state, "fits.params"), &params, &err), err);
    assert_ok(params_match_shape(params, shape, &err), err);
    static const char *const names[] = {"h", "l", "a", "b_g1"};
    uint32_t *counts[] = {NULL, &shape->n_aux, &shape->a_dense_aux, &shape->b_dense_aux};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char text[32];
        snprintf(text, sizeof text, "section %s has", names[i]);
        if (counts[i])
            ++*counts[i];
        else
            shape->log2_domain++;
        assert_int_equal(params_match_shape(params, shape, &err), CUZK_BAD_PARAMS);
        assert_non_null(strstr(err.text, text));
        if (counts[i])
            --*counts[i];
        else
            shape->log2_domain--;
    }
    params_close(params);

    const char *longer = copy_tiny(*state, "longer.params");
    patch(longer, 3960, "x", 1);
    assert_ok(params_open(longer, &params, &err), err);
    assert_int_equal(params->bytes, 3960);
    assert_int_equal(params_match_shape(params, shape, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, "3961 bytes, but its sections end at 3960"));
    params_close(params);
    shape_free(shape);
    text_circuit_free(&circuit);
}

/* --- Verifying keys -------------------------------------------------------------------------- */

static void keys_are_read_whole(void **state)
{
    size_t len;
    uint8_t *bytes = vector_read_or_skip("reference/tiny/t2-density.vk", &len);
    const char *path = folder_path(*state, "key.vk");
    struct vk vk, other;
    struct cuzk_error err;
    write_whole(path, bytes, len);
    assert_ok(vk_read(path, &vk, &err), err);
    assert_ok(vk_read(copy_tiny(*state, "key.params"), &other, &err), err);
    assert_memory_equal(vk.digest, other.digest, sizeof vk.digest);
    assert_memory_equal(vk.ic, other.ic, 3 * sizeof *vk.ic);
    vk_free(&vk);
    vk_free(&other);
    patch(path, len, "x", 1);
    assert_int_equal(vk_read(path, &vk, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, "1157 bytes, expected 1156"));
    assert_int_equal(vk_read(folder_path(*state, "absent.vk"), &vk, &err), CUZK_BAD_PARAMS);
    mem_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_lie_where_the_reference_says),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(counts_beyond_the_file_are_refused),
        cmocka_unit_test(places_that_are_no_files),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(no_damaged_byte_goes_unseen),
        cmocka_unit_test(bad_points_are_named),
        cmocka_unit_test(the_first_bad_point_is_named),
        cmocka_unit_test(a_file_cut_under_the_map_is_an_error),
        cmocka_unit_test(only_marked_folders_hold_development_files),
        cmocka_unit_test(another_circuits_file_is_refused),
        cmocka_unit_test(keys_are_read_whole),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
