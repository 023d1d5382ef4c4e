/* Development parameters of the real circuits, byte for byte as the reference makes them. The 2 KiB
   PoRep and update (a minute of processor time, a gigabyte of disk each) with CUZK_TEST_LONG=1
   only. */
#include "unit/groth16/files.h"

#include "base/hash.h"
#include "base/pool.h"
#include "groth16/setup.h"

static void assert_sha256(const char *path, const char *text, const char *key)
{
    struct file_map map;
    struct cuzk_error err;
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1], line[128];
    assert_ok(file_map_open(path, &map, &err), err);
    sha256(map.data, map.len, digest);
    file_map_close(&map);
    hex_encode(digest, sizeof digest, hex);
    snprintf(line, sizeof line, "%s %s\n", key, hex);
    if (!strstr(text, line))
        fail_msg("%s: not as in params.txt: %s", path, line);
}

static void check_circuit(void *folder, const char *id, const char *known)
{
    size_t len;
    struct cuzk_error err;
    struct setup_trapdoor trapdoor;
    struct shape *shape;
    struct params *params;
    char name[128];
    const struct circuit_info *circuit = circuit_by_id(id);
    assert_non_null(circuit);
    char *text = (char *)vector_read_or_skip(known, &len);
    snprintf(name, sizeof name, "name %s.params\n", circuit->params_name);
    assert_non_null(strstr(text, name));
    assert_ok(circuit_shape(circuit, &shape, &err), err);
    setup_dev_trapdoor(&trapdoor);
    write_whole(folder_path(folder, PARAMS_DEV_MARKER), "", 0);

    char path[512], vk_path[512];
    snprintf(path, sizeof path, "%s/%s.params", (char *)folder, circuit->params_name);
    snprintf(vk_path, sizeof vk_path, "%s/%s.vk", (char *)folder, circuit->params_name);
    struct pool *pool = pool_new(0);
    assert_ok(setup_write(shape, &trapdoor, path, pool, NULL, NULL, &err), err);
    assert_sha256(path, text, "file_sha256");
    assert_sha256(vk_path, text, "vk_sha256");
    assert_ok(params_open_circuit(folder, circuit, &params, &err), err);
    assert_ok(params_match_shape(params, shape, &err), err);
    params_close(params);
    unlink(path);
    pool_free(pool);
    shape_free(shape);
    mem_free(text);
}

static void window_2k(void **state)
{
    check_circuit(*state, "wpost-2k", "reference/window-2k/params.txt");
}

static void winning_2k(void **state)
{
    check_circuit(*state, "winning-2k", "reference/winning-2k/params.txt");
}

static void skip_unless_long(void)
{
    if (getenv("CUZK_TEST_LONG"))
        return;
    print_message("SKIP: a minute and a gigabyte (CUZK_TEST_LONG=1)\n");
    skip();
}

static void porep_2k(void **state)
{
    skip_unless_long();
    check_circuit(*state, "porep-2k", "reference/porep-2k/params.txt");
}

static void update_2k(void **state)
{
    skip_unless_long();
    check_circuit(*state, "snap-2k", "reference/update-2k/params.txt");
}

/* The published digest is that of the file with the published name, not of development ones. */
static void network_keys_are_told_from_others(void **state)
{
    (void)state;
    struct vk vk;
    struct cuzk_error err;
    const struct circuit_info *circuit = circuit_by_id("porep-32g");
    assert_non_null(circuit);
    /* A real key of the network, but of an older version (v27) than the name says. */
    const char *path = vector_path_or_skip("public/fil-blst/seal32_x10.vk");
    assert_ok(vk_read(path, &vk, &err), err);
    assert_int_equal(vk_match_circuit(&vk, false, "v28.vk", circuit, &err), CUZK_BAD_PARAMS);
    assert_non_null(strstr(err.text, circuit->vk_digest));
    vk_free(&vk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_2k),
        cmocka_unit_test(winning_2k),
        cmocka_unit_test(porep_2k),
        cmocka_unit_test(update_2k),
        cmocka_unit_test(network_keys_are_told_from_others),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
