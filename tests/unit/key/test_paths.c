/* The names of a key's files. */
#include "support/support.h"

#include "key/paths.h"

#include <string.h>

static void test_in_a_folder(void **state)
{
    (void)state;
    char path[PATH_MAX];
    struct cuzk_error err = {0};
    assert_ok(key_path("/a", "v28-x", KEY_FILE_PARAMS, path, &err), err);
    assert_string_equal(path, "/a/v28-x.params");
    assert_ok(key_path("a/b", "v28-x", KEY_FILE_VK, path, &err), err);
    assert_string_equal(path, "a/b/v28-x.vk");
    assert_ok(key_path(".", "v28-x", KEY_FILE_LAGRANGE, path, &err), err);
    assert_string_equal(path, "./v28-x.lagrange");
}

static void test_beside_another(void **state)
{
    (void)state;
    static const char *const others[] = {"/a/k.params", "/a/k.vk", "/a/k.lagrange", "/a/k"};
    char path[PATH_MAX];
    struct cuzk_error err = {0};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_ok(key_path_beside(others[i], KEY_FILE_PARAMS, path, &err), err);
        assert_string_equal(path, "/a/k.params");
        assert_ok(key_path_beside(others[i], KEY_FILE_VK, path, &err), err);
        assert_string_equal(path, "/a/k.vk");
        assert_ok(key_path_beside(others[i], KEY_FILE_LAGRANGE, path, &err), err);
        assert_string_equal(path, "/a/k.lagrange");
    }
    assert_true(key_path_is("k.vk", KEY_FILE_VK));
    assert_false(key_path_is("k.vk", KEY_FILE_PARAMS));
    assert_false(key_path_is("vk", KEY_FILE_VK));
}

/* The longest path fits exactly; one byte more is refused, not cut. */
static void test_too_long(void **state)
{
    (void)state;
    static char folder[PATH_MAX], path[PATH_MAX];
    struct cuzk_error err = {0};
    const size_t most = PATH_MAX - 1 - strlen("/k.vk");
    memset(folder, 'f', most);
    assert_ok(key_path(folder, "k", KEY_FILE_VK, path, &err), err);
    assert_int_equal(strlen(path), PATH_MAX - 1);
    assert_int_equal(key_path(folder, "k", KEY_FILE_PARAMS, path, &err), CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "too long"));
    memset(folder, 'f', PATH_MAX - 1 - strlen(".vk"));
    assert_ok(key_path_beside(folder, KEY_FILE_VK, path, &err), err);
    assert_int_equal(key_path_beside(folder, KEY_FILE_LAGRANGE, path, &err), CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "too long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_a_folder),
        cmocka_unit_test(test_beside_another),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
