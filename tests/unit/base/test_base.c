/* The base library: errors, memory, byte order, text, files, hashes. */
#include "support/support.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void errors_are_one_line(void **state)
{
    (void)state;
    struct cuzk_error err;
    assert_int_equal(error_set(&err, CUZK_NOT_FOUND, "no %s\nhere\x1b[31m", "job"), CUZK_NOT_FOUND);
    assert_string_equal(err.text, "no job?here?[31m");
    assert_int_equal(error_prefix(&err, "file %d", 7), CUZK_NOT_FOUND);
    assert_string_equal(err.text, "file 7: no job?here?[31m");
    error_errno(&err, CUZK_IO, ENOENT, "cannot open x");
    assert_string_equal(err.text, "cannot open x: No such file or directory");
    /* Text that does not fit is cut, not overrun; a NULL error is allowed. */
    char longer[2 * CUZK_ERROR_TEXT_BYTES];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    error_set(&err, CUZK_IO, "%s", longer);
    error_prefix(&err, "%s", longer);
    assert_int_equal(strlen(err.text), CUZK_ERROR_TEXT_BYTES - 1);
    assert_int_equal(error_set(NULL, CUZK_IO, "x"), CUZK_IO);
}

static void every_status_has_a_text(void **state)
{
    (void)state;
    for (int i = 0; i < CUZK_STATUS_COUNT; i++)
        assert_true(strlen(cuzk_status_text((enum cuzk_status)i)) > 0);
    assert_string_equal(cuzk_status_text((enum cuzk_status)999), "unknown status");
}

static void memory_is_counted_and_aligned(void **state)
{
    (void)state;
    size_t before = mem_used_bytes();
    /* Both sides of the border between malloc and mmap. */
    const size_t sizes[] = {0, 1, 63, 64, 1000, (1 << 20) - 1, 1 << 20, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint8_t *block = mem_zalloc(sizes[i], 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        assert_int_equal(mem_used_bytes(), before + sizes[i]);
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(block[j], 0);
        memset(block, 0xff, sizes[i]);
        mem_free(block);
    }
    assert_int_equal(mem_used_bytes(), before);
    assert_null(mem_alloc(SIZE_MAX / 2, 3));
    mem_free(NULL);
}

static void memory_grows_and_keeps_content(void **state)
{
    (void)state;
    void *array = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 100000; i++) {
        assert_true(mem_reserve(&array, &capacity, i + 1, sizeof(uint32_t)));
        ((uint32_t *)array)[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(((uint32_t *)array)[i], i);
    assert_false(mem_reserve(&array, &capacity, SIZE_MAX - 1, 8));
    mem_free(array);
}

static void allocations_can_be_made_to_fail(void **state)
{
    (void)state;
    mem_fail_after(1);
    void *first = mem_alloc(1, 1);
    void *second = mem_alloc(1, 1);
    mem_fail_after(-1);
    assert_non_null(first);
    assert_null(second);
    mem_free(first);
}

static void byte_orders_and_hex(void **state)
{
    (void)state;
    const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 0xf8};
    uint8_t out[8];
    assert_int_equal(load_u32_be(bytes), 0x01020304);
    assert_int_equal(load_u32_le(bytes), 0x04030201);
    assert_true(load_u64_be(bytes) == 0x01020304050607f8u);
    assert_true(load_u64_le(bytes) == 0xf807060504030201u);
    store_u64_be(out, load_u64_be(bytes));
    assert_memory_equal(out, bytes, 8);
    store_u64_le(out, load_u64_le(bytes));
    assert_memory_equal(out, bytes, 8);
    char text[17];
    hex_encode(bytes, 8, text);
    assert_string_equal(text, "01020304050607f8");
    assert_true(hex_decode("01020304050607F8", out, 8));
    assert_memory_equal(out, bytes, 8);
    assert_false(hex_decode("01020304050607f", out, 8));
    assert_false(hex_decode("01020304050607f800", out, 8));
    assert_false(hex_decode("0102030405060g07", out, 8));
}

static void numbers_are_digits_within_bounds(void **state)
{
    (void)state;
    uint64_t number = 5;
    assert_true(number_parse("0", 0, 9, &number) && number == 0);
    assert_true(number_parse("0012", 0, 12, &number) && number == 12);
    assert_true(number_parse("18446744073709551615", 0, UINT64_MAX, &number));
    assert_true(number == UINT64_MAX);
    static const char *const refused[] = {
        "18446744073709551616", /* 2^64 */
        "18446744073709551620",
        "99999999999999999999999999",
        "",
        "-1",
        "+1",
        " 1",
        "1 ",
        "0x10",
        "1.5",
        "ten",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_false(number_parse(refused[i], 0, UINT64_MAX, &number));
    assert_false(number_parse("9", 10, 20, &number));
    assert_false(number_parse("21", 10, 20, &number));
    assert_true(number == UINT64_MAX); /* untouched */
    assert_string_equal(number_read("64GiB", &number), "GiB");
    assert_true(number == 64);
    assert_null(number_read("18446744073709551616GiB", &number));
    assert_null(number_read("GiB", &number));
}

static void json_text_is_escaped(void **state)
{
    (void)state;
    struct text text = {0};
    text_add_json(&text, "a\"\\\n\x1b\xc3\xa4\xff\xed\xa0\x80 \xf0\x9f\x98\x80");
    assert_string_equal(text.data,
                        "\"a\\\"\\\\\\u000a\\u001b\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf"
                        "\xbd\xef\xbf\xbd \xf0\x9f\x98\x80\"");
    text_free(&text);
    mem_fail_after(0);
    text_add(&text, "%d", 5);
    mem_fail_after(-1);
    assert_true(text.failed);
    text_free(&text);
}

static void files_are_whole_or_absent(void **state)
{
    (void)state;
    char folder[] = "/tmp/cuzk-test-XXXXXX";
    char path[128];
    struct cuzk_error err;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a/b", folder);
    assert_ok(file_make_dirs(path, &err), err);
    snprintf(path, sizeof path, "%s/a/b/file", folder);
    assert_ok(file_write(path, "hello", 5, &err), err);
    uint8_t *data;
    size_t len;
    assert_ok(file_read(path, 5, &data, &len, &err), err);
    assert_int_equal(len, 5);
    assert_string_equal((char *)data, "hello");
    mem_free(data);
    assert_int_equal(file_read(path, 4, &data, &len, &err), CUZK_RESOURCE_EXHAUSTED);
    assert_int_equal(file_read(folder, 4, &data, &len, &err), CUZK_IO);
    assert_int_equal(file_write("/nonexistent/x", "", 0, &err), CUZK_IO);

    struct file_map map;
    assert_ok(file_map_open(path, &map, &err), err);
    assert_memory_equal(map.data, "hello", 5);
    assert_ok(file_map_check(&map, &err), err);
    assert_int_equal(truncate(path, 3), 0);
    assert_int_equal(file_map_check(&map, &err), CUZK_IO);
    file_map_close(&map);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(file_map_open(path, &map, &err), CUZK_IO);
    unlink(path);
    snprintf(path, sizeof path, "%s/a/b", folder);
    rmdir(path);
    snprintf(path, sizeof path, "%s/a", folder);
    rmdir(path);
    assert_int_equal(rmdir(folder), 0);
}

static void hashes_equal_their_standards(void **state)
{
    (void)state;
    uint8_t digest[64];
    /* FIPS 180-4 "abc"; RFC 7693 "abc". */
    sha256("abc", 3, digest);
    assert_hex_equal(digest, 32,
                     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    blake2b_512("abc", 3, digest);
    assert_hex_equal(digest, 64,
                     "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                     "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
    struct hasher *hasher = sha256_new();
    hasher_update(hasher, "a", 1);
    hasher_update(hasher, "bc", 2);
    hasher_final(hasher, digest);
    assert_hex_equal(digest, 32,
                     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hasher_final(sha256_new(), NULL);
    hasher_final(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_one_line),
        cmocka_unit_test(every_status_has_a_text),
        cmocka_unit_test(memory_is_counted_and_aligned),
        cmocka_unit_test(memory_grows_and_keeps_content),
        cmocka_unit_test(allocations_can_be_made_to_fail),
        cmocka_unit_test(byte_orders_and_hex),
        cmocka_unit_test(numbers_are_digits_within_bounds),
        cmocka_unit_test(json_text_is_escaped),
        cmocka_unit_test(files_are_whole_or_absent),
        cmocka_unit_test(hashes_equal_their_standards),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
