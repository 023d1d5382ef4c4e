/* The fast reader of arrays of 32 numbers: it takes what a plain reader takes and nothing else. */
#include "support/support.h"

#include "vanilla/c1_internal.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 256 };

/* What c1_bytes_read is documented to do, number by number. */
static size_t read_plainly(uint8_t bytes[32], const char *text)
{
    const char *next = text;
    for (unsigned i = 0; i < 32; i++) {
        unsigned value = 0;
        size_t digits = strspn(next, "0123456789");
        if (digits < 1 || digits > 3 || (digits > 1 && next[0] == '0'))
            return 0;
        for (size_t d = 0; d < digits; d++)
            value = 10 * value + (unsigned)(next[d] - '0');
        if (value > 255 || next[digits] != (i < 31 ? ',' : ']'))
            return 0;
        bytes[i] = (uint8_t)value;
        next += digits + 1;
    }
    return (size_t)(next - 1 - text);
}

static void assert_read_alike(const char text[TEXT_BYTES])
{
    uint8_t bytes[32], expected[32];
    size_t len = read_plainly(expected, text);
    assert_int_equal(c1_bytes_read(bytes, text, TEXT_BYTES), len);
    if (len > 0)
        assert_memory_equal(bytes, expected, 32);
}

/* Numbers 13·(i + shift) modulo 256: all lengths, everywhere. The rest of the text is zeros. */
static size_t write_array(char text[TEXT_BYTES], unsigned shift)
{
    size_t len = 0;
    memset(text, 0, TEXT_BYTES);
    for (unsigned i = 0; i < 32; i++)
        len += (size_t)snprintf(text + len, TEXT_BYTES - len, "%u%c", 13 * (i + shift) % 256,
                                i < 31 ? ',' : ']');
    return len;
}

static void every_number_in_every_place(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 256; shift++) {
        char text[TEXT_BYTES];
        uint8_t bytes[32];
        size_t len = write_array(text, shift);
        assert_int_equal(c1_bytes_read(bytes, text, TEXT_BYTES), len - 1);
        for (unsigned i = 0; i < 32; i++)
            assert_int_equal(bytes[i], 13 * (i + shift) % 256);
    }
}

/* Every byte instead of, in front of, and one less, in every place. */
static void every_change_of_a_byte(void **state)
{
    (void)state;
    char text[TEXT_BYTES], changed[TEXT_BYTES];
    for (unsigned shift = 0; shift < 64; shift++) {
        size_t len = write_array(text, shift);
        for (size_t at = 0; at < len; at++) {
            memcpy(changed, text, TEXT_BYTES);
            memmove(changed + at, text + at + 1, TEXT_BYTES - at - 1);
            assert_read_alike(changed);
            for (unsigned byte = 1; byte < 256; byte++) {
                memcpy(changed, text, TEXT_BYTES);
                changed[at] = (char)byte;
                assert_read_alike(changed);
                memcpy(changed + at + 1, text + at, TEXT_BYTES - at - 1);
                assert_read_alike(changed);
            }
        }
    }
}

/* It reads no more bytes than it may, and takes no text that is not complete. */
static void short_texts_are_left_alone(void **state)
{
    (void)state;
    char text[TEXT_BYTES];
    uint8_t bytes[32];
    size_t len = write_array(text, 0);
    assert_true(len < C1_BYTES_TEXT_MAX);
    assert_int_equal(c1_bytes_read(bytes, text, C1_BYTES_TEXT_MAX - 1), 0);
    assert_int_equal(c1_bytes_read(bytes, text, C1_BYTES_TEXT_MAX), len - 1);
    char longest[C1_BYTES_TEXT_MAX];
    for (size_t i = 0; i < sizeof longest; i++)
        longest[i] = "255,"[i % 4];
    longest[sizeof longest - 1] = ']';
    assert_int_equal(c1_bytes_read(bytes, longest, sizeof longest), sizeof longest - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_in_every_place),
        cmocka_unit_test(every_change_of_a_byte),
        cmocka_unit_test(short_texts_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
