/* Base64 as a stream: the vectors of RFC 4648, in pieces of every size, and what is refused. */
#include "support/support.h"

#include "vanilla/base64.h"

#include <stdio.h>
#include <string.h>

/* Decodes in pieces of `piece` characters. */
static enum cuzk_status decode(const char *text, size_t piece, char *out, size_t *out_len,
                               struct cuzk_error *err)
{
    struct base64 state = {0};
    size_t len = strlen(text);
    *out_len = 0;
    for (size_t i = 0; i < len; i += piece) {
        uint8_t bytes[256];
        size_t n = len - i < piece ? len - i : piece;
        size_t ready;
        enum cuzk_status status = base64_decode(&state, text + i, n, bytes, &ready, err);
        if (status != CUZK_OK)
            return status;
        assert_true(ready <= n / 4 * 3 + 3);
        memcpy(out + *out_len, bytes, ready);
        *out_len += ready;
    }
    return base64_end(&state, err);
}

static void rfc_vectors_in_all_pieces(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"Zg==", "f"},
        {"Zm8=", "fo"},
        {"Zm9v", "foo"},
        {"Zm9vYg==", "foob"},
        {"Zm9vYmE=", "fooba"},
        {"Zm9vYmFy", "foobar"},
        {"+/+/", "\xfb\xff\xbf"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
         "\x00\x10\x83\x10\x51\x87\x20\x92\x8b\x30\xd3\x8f\x41\x14\x93\x51\x55\x97\x61\x96\x9b\x71"
         "\xd7\x9f\x82\x18\xa3\x92\x59\xa7\xa2\x9a\xab\xb2\xdb\xaf\xc3\x1c\xb3\xd3\x5d\xb7\xe3\x9e"
         "\xbb\xf3\xdf\xbf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t padding = strlen(cases[i][0]) - strcspn(cases[i][0], "=");
        for (size_t piece = 1; piece <= 9; piece++) {
            char out[64];
            size_t len;
            struct cuzk_error err;
            assert_ok(decode(cases[i][0], piece, out, &len, &err), err);
            assert_int_equal(len, strlen(cases[i][0]) * 3 / 4 - padding);
            assert_memory_equal(out, cases[i][1], len);
        }
    }
}

static void faults_name_the_character(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"Zm9v-m9v", "character 0x2d is not of the standard base64 alphabet (A-Z a-z 0-9 + /), at "
                     "character 4"},
        {"Zm_v", "character 0x5f is not of the standard base64 alphabet (A-Z a-z 0-9 + /), at "
                 "character 2"},
        {"Zm9v\\nZm9v", "an escape sequence (a line break?), expected standard base64, at "
                        "character 4"},
        {"Zm9v Zm9v", "character 0x20 is not of the standard base64 alphabet (A-Z a-z 0-9 + /), at "
                      "character 4"},
        {"Zg", "2 characters, expected a multiple of 4 (is the padding missing?)"},
        {"Zm8", "3 characters, expected a multiple of 4 (is the padding missing?)"},
        {"Zm9vZ", "5 characters, expected a multiple of 4 (is the padding missing?)"},
        {"Zg=", "3 characters, expected a multiple of 4 (is the padding missing?)"},
        {"Z===", "padding in the wrong place or of the wrong length, at character 1"},
        {"=", "padding in the wrong place or of the wrong length, at character 0"},
        {"Zm9v=", "padding in the wrong place or of the wrong length, at character 4"},
        {"Zg===", "text behind the padding, at character 4"},
        {"Zg=Zg", "text behind the padding, at character 3"},
        {"Zg==Zg==", "text behind the padding, at character 4"},
        {"Zh==", "padding in the wrong place or of the wrong length, at character 2"},
        {"Zm9=", "padding in the wrong place or of the wrong length, at character 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t piece = 1; piece <= 9; piece++) {
            char out[64];
            size_t len;
            struct cuzk_error err = {0};
            assert_int_equal(decode(cases[i][0], piece, out, &len, &err), CUZK_INVALID_ARGUMENT);
            assert_string_equal(err.text, cases[i][1]);
        }
    }
}

/* Every byte in every place of three groups: accepted if it is of the alphabet, else named in the
   error. */
static void every_character_in_every_place(void **state)
{
    (void)state;
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t at = 0; at < 12; at++) {
        for (unsigned c = 1; c < 256; c++) {
            char text[] = "////////////";
            char out[64], whole[32], expected[12];
            size_t len;
            struct cuzk_error err = {0};
            const char *found = strchr(alphabet, (int)c);
            text[at] = (char)c;
            enum cuzk_status status = decode(text, 12, out, &len, &err);
            if (found) {
                memset(expected, 0xff, 9);
                for (size_t bit = 0; bit < 6; bit++) {
                    size_t place = 6 * at + bit;
                    if (!((size_t)(found - alphabet) >> (5 - bit) & 1))
                        expected[place / 8] = (char)(expected[place / 8] & ~(0x80 >> place % 8));
                }
                assert_ok(status, err);
                assert_int_equal(len, 9);
                assert_memory_equal(out, expected, 9);
            } else {
                snprintf(whole, sizeof whole, "at character %zu", at);
                assert_int_equal(status, CUZK_INVALID_ARGUMENT);
                assert_non_null(strstr(err.text, whole));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rfc_vectors_in_all_pieces),
        cmocka_unit_test(faults_name_the_character),
        cmocka_unit_test(every_character_in_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
