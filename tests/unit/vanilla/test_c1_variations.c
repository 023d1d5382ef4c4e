/* Seeded variations of a real C1 and its wrapper: after any change, reading and checking end
   with an answer, the same in one piece and in many, and leave nothing in memory. */
#include "support/support.h"

#include "base/mem.h"
#include "vanilla/c1.h"

#include <string.h>

enum { VARIATIONS = 300 };

static uint64_t random_state = 0x9e3779b97f4a7c15;

static size_t random_below(size_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % limit);
}

/* Changes a few places: another digit, another byte, a part taken out, a part repeated, the end
   cut. data has room for 3 · 64 bytes more. */
static size_t vary(uint8_t *data, size_t len)
{
    for (size_t changes = 1 + random_below(3); changes > 0 && len > 0; changes--) {
        size_t at = random_below(len);
        size_t part = 1 + random_below(len - at < 64 ? len - at : 64);
        switch (random_below(6)) {
        case 0:
        case 1:
            if (data[at] >= '0' && data[at] <= '9')
                data[at] = (uint8_t)('0' + random_below(10));
            break;
        case 2:
            data[at] = (uint8_t)random_below(256);
            break;
        case 3:
            memmove(data + at, data + at + part, len - at - part);
            len -= part;
            break;
        case 4:
            memmove(data + at + part, data + at, len - at);
            len += part;
            break;
        default:
            if (random_below(8) == 0)
                len = at;
        }
    }
    return len;
}

static enum cuzk_status read_and_check(const uint8_t *data, size_t len, size_t piece,
                                       struct cuzk_error *err)
{
    struct c1_reader *reader = c1_reader_new();
    struct c1 *c1 = NULL;
    assert_non_null(reader);
    enum cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < len && status == CUZK_OK; i += piece)
        status = c1_reader_feed(reader, data + i, len - i < piece ? len - i : piece, err);
    if (status == CUZK_OK)
        status = c1_reader_finish(reader, &c1, err);
    if (status == CUZK_OK)
        status = c1_check(c1, NULL, NULL, err);
    c1_reader_free(reader);
    c1_free(c1);
    return status;
}

static void vary_file(const char *name)
{
    size_t len;
    unsigned accepted = 0;
    uint8_t *original = vector_read_or_skip(name, &len);
    uint8_t *varied = mem_alloc(len + 3 * 64, 1);
    size_t before = mem_used_bytes();
    for (unsigned i = 0; i < VARIATIONS; i++) {
        struct cuzk_error whole = {0};
        struct cuzk_error cut = {0};
        memcpy(varied, original, len);
        size_t varied_len = vary(varied, len);
        enum cuzk_status status = read_and_check(varied, varied_len, varied_len + 1, &whole);
        assert_int_equal(read_and_check(varied, varied_len, 1 + random_below(3000), &cut), status);
        assert_string_equal(cut.text, whole.text);
        assert_int_equal(mem_used_bytes(), before);
        accepted += status == CUZK_OK;
    }
    /* Some change nothing (a digit by itself), most do. */
    assert_true(accepted > 0 && accepted < VARIATIONS / 2);
    mem_free(varied);
    mem_free(original);
}

/* Cut at every byte of its begin, and with every byte of it changed, a C1 gets the same answer
   in one piece, where arrays of bytes are read by the fast reader, and in pieces too small for
   that. */
static void every_fault_in_the_begin(void **state)
{
    (void)state;
    enum { BEGIN = 1500 };
    static const char other[] = "019,:[]{}\"\\ -.e\x80";
    size_t len;
    uint8_t *text = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    assert_true(len > BEGIN);
    for (size_t at = 0; at < BEGIN; at++) {
        for (size_t i = 0; i < sizeof other; i++) { /* at the end of the list: cut */
            struct cuzk_error whole = {0};
            struct cuzk_error cut = {0};
            const uint8_t original = text[at];
            const size_t changed_len = other[i] ? BEGIN : at;
            text[at] = (uint8_t)other[i];
            enum cuzk_status status = read_and_check(text, changed_len, BEGIN, &whole);
            assert_int_equal(read_and_check(text, changed_len, 101, &cut), status);
            assert_int_equal(status, CUZK_INVALID_ARGUMENT);
            assert_string_equal(cut.text, whole.text);
            text[at] = original;
        }
    }
    mem_free(text);
}

static void variations_of_a_c1(void **state)
{
    (void)state;
    vary_file("reference/porep-2k/c1.json");
}

static void variations_of_a_wrapper(void **state)
{
    (void)state;
    vary_file("reference/porep-2k/c1-wrapped.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_in_the_begin),
        cmocka_unit_test(variations_of_a_c1),
        cmocka_unit_test(variations_of_a_wrapper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
