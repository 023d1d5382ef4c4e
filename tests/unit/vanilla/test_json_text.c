/* JSON as events: order, offsets and limits, with the text cut in any way. */
#include "support/support.h"

#include "base/mem.h"
#include "base/text.h"
#include "vanilla/json_text.h"

#include <string.h>

struct recorder {
    struct json_text *text;
    struct text log;
    const char *stop_at; /* string or key at which the receiver stops */
};

static bool record(void *context, enum json_event event, const char *bytes, size_t len)
{
    static const char *const names[] = {"null", "bool", "number", "string", "key",
                                        "{",    "}",    "[",      "]"};
    struct recorder *recorder = context;
    text_add(&recorder->log, "%s(%.*s)@%llu ", names[event], (int)len, len ? bytes : "",
             (unsigned long long)json_text_offset(recorder->text));
    return !recorder->stop_at || len != strlen(recorder->stop_at) ||
           memcmp(bytes, recorder->stop_at, len) != 0;
}

/* Reads in pieces; the log is the caller's to free. */
static enum cuzk_status read_text(struct recorder *recorder, const char *json, size_t len,
                                  size_t piece, struct cuzk_error *err)
{
    recorder->log = (struct text){0};
    recorder->text = json_text_new(record, recorder);
    assert_non_null(recorder->text);
    enum cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < len && status == CUZK_OK; i += piece)
        status = json_text_feed(recorder->text, json + i, len - i < piece ? len - i : piece, err);
    if (status == CUZK_OK)
        status = json_text_end(recorder->text, err);
    json_text_free(recorder->text);
    return status;
}

static void events_do_not_depend_on_the_pieces(void **state)
{
    (void)state;
    static const char json[] = "{\"a\" : [1,-2.5e3,null,true],\"b\\u0063\":\"x\\ny\",\"\":{}}\n";
    static const char expected[] =
        "{()@1 key(a)@4 [()@8 number(1)@9 number(-2.5e3)@16 null()@21 bool()@26 ]()@27 "
        "key(bc)@37 string(x\ny)@44 key()@47 {()@49 }()@50 }()@51 ";
    for (size_t piece = 1; piece <= sizeof json; piece++) {
        struct recorder recorder = {0};
        struct cuzk_error err;
        assert_ok(read_text(&recorder, json, sizeof json - 1, piece, &err), err);
        assert_string_equal(recorder.log.data, expected);
        text_free(&recorder.log);
    }
}

static void what_is_not_json_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *text;
    } cases[] = {
        {"", "not JSON: parse error: premature EOF, at byte 0"},
        {"[1", "not JSON: parse error: premature EOF, at byte 2"},
        {"[1}", "not JSON: parse error: after array element, I expect ',' or ']', after byte 2"},
        {"[083]", "not JSON: parse error: after array element, I expect ',' or ']', after byte 2"},
        {"[1] x", "not JSON: parse error: trailing garbage, after byte 3"},
        {"[1] []", "not JSON: parse error: trailing garbage, after byte 3"},
        {"\xef\xbb\xbf[]", "not JSON: lexical error: invalid char in json text, at byte 1"},
        {"['a']", "not JSON: lexical error: invalid char in json text, at byte 2"},
        {"[\"\xff\"]", "not JSON: lexical error: invalid bytes in UTF8 string, at byte 3"},
        {"[\"\x01\"]", "not JSON: lexical error: invalid character inside string, at byte 2"},
        {"{\"a\":1,}", ""},
        {"[1,]", ""},
        {"/* c */ []", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct recorder recorder = {0};
        struct cuzk_error err = {0};
        size_t len = strlen(cases[i].json);
        assert_int_equal(read_text(&recorder, cases[i].json, len, len + 1, &err),
                         CUZK_INVALID_ARGUMENT);
        text_free(&recorder.log);
        if (cases[i].text[0])
            assert_string_equal(err.text, cases[i].text);
        struct cuzk_error cut_err = {0};
        assert_int_equal(read_text(&recorder, cases[i].json, len, 1, &cut_err),
                         CUZK_INVALID_ARGUMENT);
        assert_string_equal(cut_err.text, err.text);
        text_free(&recorder.log);
    }
}

static void the_receiver_can_stop(void **state)
{
    (void)state;
    struct recorder recorder = {.stop_at = "b"};
    assert_int_equal(read_text(&recorder, "{\"a\":1,\"b\":2}", 13, 13, NULL), CUZK_CANCELLED);
    assert_string_equal(recorder.log.data, "{()@1 key(a)@4 number(1)@6 key(b)@10 ");
    text_free(&recorder.log);
}

/* A run of JSON_RUN_MAX bytes without an event is the longest that is taken, in any pieces. */
static void long_runs_are_refused_without_being_held(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        char run;
        const char *after;
        size_t fixed; /* bytes of the run's token and gap besides the run */
    } kinds[] = {
        {"[\"", 'x', "\"]", 2}, {"[", ' ', "1]", 1}, {"[", '7', "]", 0}, {"[", ' ', "]", 1}};
    static const size_t pieces[] = {1, 1000, SIZE_MAX};
    for (size_t n = 0; n < 4 * 3 * 2; n++) {
        size_t kind = n % 4;
        size_t over = n / 4 % 2;
        struct text json = {0};
        text_add(&json, "%s", kinds[kind].before);
        for (size_t i = kinds[kind].fixed; i < JSON_RUN_MAX + over; i++)
            text_add_bytes(&json, &kinds[kind].run, 1);
        text_add(&json, "%s", kinds[kind].after);
        struct recorder recorder = {0};
        struct cuzk_error err = {0};
        size_t piece = pieces[n / 8] < json.len ? pieces[n / 8] : json.len;
        enum cuzk_status status = read_text(&recorder, json.data, json.len, piece, &err);
        assert_int_equal(status, over ? CUZK_INVALID_ARGUMENT : CUZK_OK);
        if (over)
            assert_string_equal(err.text, "a string, number or white space of more than 8192 "
                                          "bytes, after byte 1");
        text_free(&recorder.log);
        text_free(&json);
    }
}

static bool ignore_event(void *context, enum json_event event, const char *bytes, size_t len)
{
    (void)context, (void)event, (void)bytes, (void)len;
    return true;
}

/* Deep nesting and a long string full of escapes, byte by byte: what the parser has to hold most
 * of. */
static void memory_is_taken_once(void **state)
{
    (void)state;
    size_t before = mem_used_bytes();
    struct json_text *text = json_text_new(ignore_event, NULL);
    size_t taken = mem_used_bytes() - before;
    assert_true(taken < 256 << 10);
    mem_fail_after(0);
    for (int i = 0; i < 128; i++)
        assert_int_equal(json_text_feed(text, "[", 1, NULL), CUZK_OK);
    assert_int_equal(json_text_feed(text, "\"", 1, NULL), CUZK_OK);
    for (int i = 0; i < JSON_RUN_MAX / 2 - 1; i++) {
        assert_int_equal(json_text_feed(text, "\\", 1, NULL), CUZK_OK);
        assert_int_equal(json_text_feed(text, "n", 1, NULL), CUZK_OK);
    }
    assert_int_equal(json_text_feed(text, "\"", 1, NULL), CUZK_OK);
    assert_int_equal(json_text_feed(text, "]", 1, NULL), CUZK_OK);
    mem_fail_after(-1);
    assert_int_equal(mem_used_bytes() - before, taken);
    json_text_free(text);
}

static void no_memory_is_reported(void **state)
{
    (void)state;
    struct recorder recorder = {0};
    mem_fail_after(0);
    assert_null(json_text_new(record, &recorder));
    mem_fail_after(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_do_not_depend_on_the_pieces),
        cmocka_unit_test(what_is_not_json_is_refused_with_its_place),
        cmocka_unit_test(the_receiver_can_stop),
        cmocka_unit_test(long_runs_are_refused_without_being_held),
        cmocka_unit_test(memory_is_taken_once),
        cmocka_unit_test(no_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
