/* Bitmaps: single bits, runs of bits at any offset, and bitmaps that grow. */
#include "support/support.h"

#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

static void test_words(void **state)
{
    (void)state;
    assert_int_equal(bit_words(0), 0);
    assert_int_equal(bit_words(1), 1);
    assert_int_equal(bit_words(64), 1);
    assert_int_equal(bit_words(65), 2);
}

/* A run at any place, of any length, to any place changes these bits and no others. */
static void test_runs(void **state)
{
    (void)state;
    enum { WORDS = 4, BITS = 64 * WORDS };
    const uint64_t from[WORDS] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb,
                                  0xd6e8feb86659fd93};
    for (size_t at = 0; at < 130; at += 13) {
        for (size_t from_at = 0; from_at < 130; from_at += 7) {
            for (size_t count = 0; count <= 126; count += 9) {
                uint64_t to[WORDS] = {0};
                bits_or(to, at, from, BITS, from_at, count);
                for (size_t i = 0; i < BITS; i++) {
                    const bool inside = i >= at && i < at + count;
                    assert_int_equal(bit_get(to, i), inside && bit_get(from, from_at + i - at));
                }
            }
        }
    }
}

static void test_growing(void **state)
{
    (void)state;
    struct bitmap map = {0};
    assert_true(bitmap_reserve(&map, 1));
    bit_set(map.words, 0);
    assert_true(bitmap_reserve(&map, 10000));
    for (size_t i = 1; i < 10000; i++)
        assert_false(bit_get(map.words, i));
    bit_set(map.words, 9999);
    assert_int_equal(bitmap_count(&map), 2);
    mem_fail_after(0);
    assert_false(bitmap_reserve(&map, 1000000));
    mem_fail_after(-1);
    assert_int_equal(bitmap_count(&map), 2);
    bitmap_free(&map);
    assert_null(map.words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_growing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
