/* The text forms of gRPC headers. */
#include "support/support.h"

#include "rpc/grpc.h"
#include "rpc/rpc.h"

#include <string.h>

static void timeouts_of_every_unit_round_up_to_milliseconds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ms;
    } good[] = {
        {"1H", 3600000},    {"30M", 1800000},
        {"5S", 5000},       {"1799997m", 1799997},
        {"4999967u", 5000}, {"1u", 1},
        {"1n", 1},          {"0n", 0},
        {"99999999n", 100}, {"99999999H", UINT64_C(359999996400000)},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t ms = 12345;
        assert_true(grpc_timeout_parse(good[i].text, strlen(good[i].text), &ms));
        assert_int_equal(ms, good[i].ms);
    }
    static const char *const bad[] = {"",     "5",  "S",   "123456789S", "-1S",
                                      "1.5S", "5s", "5 S", " 5S"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t ms;
        assert_false(grpc_timeout_parse(bad[i], strlen(bad[i]), &ms));
    }
}

static void a_formatted_timeout_parses_to_itself(void **state)
{
    (void)state;
    static const uint64_t exact[] = {0, 1, 999, 1800000, 99999999};
    char text[16];
    uint64_t ms;
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        grpc_timeout_format(exact[i], text);
        assert_true(grpc_timeout_parse(text, strlen(text), &ms));
        assert_int_equal(ms, exact[i]);
    }
    grpc_timeout_format(UINT64_MAX - 1, text);
    assert_true(grpc_timeout_parse(text, strlen(text), &ms));
}

static void messages_are_percent_encoded_and_decoded(void **state)
{
    (void)state;
    char encoded[GRPC_ENCODED_BYTES];
    char decoded[64];
    size_t len = grpc_message_encode("100% \xc3\xa4\n~", encoded);
    assert_int_equal(len, strlen("100%25 %C3%A4%0A~"));
    assert_memory_equal(encoded, "100%25 %C3%A4%0A~", len);
    grpc_message_decode(encoded, len, decoded, sizeof decoded);
    assert_string_equal(decoded, "100% \xc3\xa4\n~");

    /* What is no encoding stays as it is; the result is cut to its buffer. */
    grpc_message_decode("%zz 5% %4", 9, decoded, sizeof decoded);
    assert_string_equal(decoded, "%zz 5% %4");
    grpc_message_decode("abcdef", 6, decoded, 4);
    assert_string_equal(decoded, "abc");
}

static void the_longest_message_fits_when_every_byte_is_encoded(void **state)
{
    (void)state;
    char text[GRPC_TEXT_BYTES + 1];
    char encoded[GRPC_ENCODED_BYTES];
    memset(text, '\n', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(grpc_message_encode(text, encoded), GRPC_ENCODED_BYTES);
}

static void content_types_of_protobuf_are_taken(void **state)
{
    (void)state;
    static const char *const good[] = {"application/grpc", "application/grpc+proto",
                                       "Application/GRPC", "application/grpc;charset=utf-8",
                                       "application/grpc+proto ; x"};
    static const char *const bad[] = {"", "text/plain", "application/grpc+json",
                                      "application/grpc-web", "application/grp"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(grpc_content_type_good(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(grpc_content_type_good(bad[i], strlen(bad[i])));
}

static void every_status_has_a_code_and_only_ok_is_ok(void **state)
{
    (void)state;
    assert_int_equal(rpc_code_of_status(CUZK_OK), RPC_OK);
    for (int s = CUZK_OK + 1; s < CUZK_STATUS_COUNT; s++)
        assert_int_not_equal(rpc_code_of_status((enum cuzk_status)s), RPC_OK);
    assert_string_equal(rpc_code_name(RPC_RESOURCE_EXHAUSTED), "RESOURCE_EXHAUSTED");
    assert_string_equal(rpc_code_name(99), "UNKNOWN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeouts_of_every_unit_round_up_to_milliseconds),
        cmocka_unit_test(a_formatted_timeout_parses_to_itself),
        cmocka_unit_test(messages_are_percent_encoded_and_decoded),
        cmocka_unit_test(the_longest_message_fits_when_every_byte_is_encoded),
        cmocka_unit_test(content_types_of_protobuf_are_taken),
        cmocka_unit_test(every_status_has_a_code_and_only_ok_is_ok),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
