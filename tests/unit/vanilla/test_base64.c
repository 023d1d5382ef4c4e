/* Base64 as a stream: the vectors of RFC 4648, in pieces of every size, and what is refused. */
#include "support/support.h"

#include "vanilla/base64.h"

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
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t piece = 1; piece <= 9; piece++) {
            char out[64];
            size_t len;
            struct cuzk_error err;
            assert_ok(decode(cases[i][0], piece, out, &len, &err), err);
            assert_int_equal(len, strlen(cases[i][1]));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rfc_vectors_in_all_pieces),
        cmocka_unit_test(faults_name_the_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
