/* The protobuf wire format, and messages through protobuf-c. */
#include "support/support.h"

#include "base/mem.h"
#include "rpc/message.h"
#include "rpc/wire.h"

#include <cuzk/v1/proving.pb-c.h>
#include <string.h>

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    struct text message = {0};
    wire_add_varint(&message, 1, 0);
    wire_add_varint(&message, 2, UINT64_MAX);
    wire_add_bytes(&message, 536870911, "abc", 3);
    wire_add_bytes(&message, 4, NULL, 0);
    assert_false(message.failed);

    struct wire_reader reader = wire_reader_of((uint8_t *)message.data, message.len);
    struct wire_field field;
    assert_true(wire_next(&reader, &field));
    assert_int_equal(field.number, 1);
    assert_int_equal(field.value, 0);
    assert_true(wire_next(&reader, &field));
    assert_true(field.value == UINT64_MAX);
    assert_true(wire_next(&reader, &field));
    assert_int_equal(field.number, 536870911);
    assert_int_equal(field.len, 3);
    assert_memory_equal(field.data, "abc", 3);
    assert_true(wire_next(&reader, &field));
    assert_int_equal(field.len, 0);
    assert_false(wire_next(&reader, &field));
    assert_false(reader.malformed);

    struct wire_reader found = wire_find((uint8_t *)message.data, message.len, 4);
    assert_true(found.at == found.end);
    text_free(&message);
}

static void malformed_messages_end_with_a_mark(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[12];
        size_t len;
    } bad[] = {
        {{0x08}, 1},                      /* a tag without a value */
        {{0x0a, 0x05, 'a'}, 3},           /* longer than what is left */
        {{0x00, 0x01}, 2},                /* field number 0 */
        {{0x0b}, 1},                      /* a group */
        {{0x0d, 1, 2, 3}, 4},             /* cut fixed32 */
        {{0x09, 1, 2, 3, 4, 5, 6, 7}, 8}, /* cut fixed64 */
        {{0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 11}, /* over 64 bits */
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 11},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct wire_reader reader = wire_reader_of(bad[i].bytes, bad[i].len);
        struct wire_field field;
        while (wire_next(&reader, &field))
            ;
        assert_true(reader.malformed);
    }
    struct wire_reader empty = wire_reader_of(NULL, 0);
    struct wire_field field;
    assert_false(wire_next(&empty, &field));
    assert_false(empty.malformed);
}

static void *decode(const char *bytes, size_t len, enum cuzk_status *status)
{
    ProtobufCMessage *message;
    struct cuzk_error err = {0};
    *status = message_decode(&cuzk__v1__prove_request__descriptor, (const uint8_t *)bytes, len,
                             &message, &err);
    return message;
}

static void a_message_goes_there_and_back(void **state)
{
    (void)state;
    char id[] = "wdpost-1000-0-[1 2 3] \xc3\xa4";
    Cuzk__V1__ProveRequest request = CUZK__V1__PROVE_REQUEST__INIT;
    Cuzk__V1__SubmitProofRequest submit = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    ProtobufCBinaryData proofs[2] = {{.len = 2, .data = (uint8_t *)id}, {.len = 0, .data = NULL}};
    request.submit = &submit;
    submit.request_id = id;
    submit.proof_kind = CUZK__V1__PROOF_KIND__WINNING_POST;
    submit.n_vanilla_proofs = 2;
    submit.vanilla_proofs = proofs;
    uint8_t *bytes;
    size_t len;
    struct cuzk_error err = {0};
    assert_ok(message_encode(&request.base, &bytes, &len, &err), err);

    enum cuzk_status status;
    Cuzk__V1__ProveRequest *back = decode((char *)bytes, len, &status);
    assert_int_equal(status, CUZK_OK);
    assert_string_equal(back->submit->request_id, id);
    assert_int_equal(back->submit->n_vanilla_proofs, 2);
    assert_int_equal(back->submit->proof_kind, 4);
    message_free(&back->base);
    mem_free(bytes);
}

static void an_empty_message_is_a_message(void **state)
{
    (void)state;
    enum cuzk_status status;
    Cuzk__V1__ProveRequest *empty = decode(NULL, 0, &status);
    assert_int_equal(status, CUZK_OK);
    assert_null(empty->submit);
    message_free(&empty->base);
}

static void bad_bytes_and_bad_text_are_invalid_arguments(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {
        {"\x0a\x7f", 2},                         /* cut */
        {"\x08\x07", 2},                         /* wrong wire type */
        {"\x0a\x04\x0a\x02\xff\xfe", 6},         /* not UTF-8 … */
        {"\x0a\x04\x0a\x02\xc0\x80", 6},         /* … overlong … */
        {"\x0a\x05\x0a\x03\xed\xa0\x80", 7},     /* … a surrogate … */
        {"\x0a\x06\x0a\x04\xf4\x90\x80\x80", 8}, /* … above U+10FFFF … */
        {"\x0a\x03\x0a\x01\xe2", 5},             /* … and cut off */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        enum cuzk_status status;
        assert_null(decode(bad[i].bytes, bad[i].len, &status));
        assert_int_equal(status, CUZK_INVALID_ARGUMENT);
    }
    static const char *const good[] = {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x99\x82"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char bytes[16] = {0x0a, (char)(strlen(good[i]) + 2), 0x0a, (char)strlen(good[i])};
        memcpy(bytes + 4, good[i], strlen(good[i]));
        enum cuzk_status status;
        Cuzk__V1__ProveRequest *message = decode(bytes, strlen(good[i]) + 4, &status);
        assert_int_equal(status, CUZK_OK);
        message_free(&message->base);
    }
}

static void a_submessage_in_two_parts_is_merged(void **state)
{
    (void)state;
    enum cuzk_status status;
    Cuzk__V1__ProveRequest *message = decode("\x0a\x03\x0a\x01x\x0a\x02\x10\x02", 9, &status);
    assert_int_equal(status, CUZK_OK);
    assert_string_equal(message->submit->request_id, "x");
    assert_int_equal(message->submit->proof_kind, 2);
    message_free(&message->base);
}

static void missing_memory_is_told_and_nothing_leaks(void **state)
{
    (void)state;
    size_t before = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    for (long n = 0; status == CUZK_NO_MEMORY; n++) {
        mem_fail_after(n);
        Cuzk__V1__ProveRequest *message = decode("\x0a\x05\x0a\x01x\x5a\x00", 7, &status);
        mem_fail_after(-1);
        if (message)
            message_free(&message->base);
        assert_int_equal(mem_used_bytes(), before);
        assert_true(n < 20);
    }
    assert_int_equal(status, CUZK_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(malformed_messages_end_with_a_mark),
        cmocka_unit_test(a_message_goes_there_and_back),
        cmocka_unit_test(an_empty_message_is_a_message),
        cmocka_unit_test(bad_bytes_and_bad_text_are_invalid_arguments),
        cmocka_unit_test(a_submessage_in_two_parts_is_merged),
        cmocka_unit_test(missing_memory_is_told_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
