/* Framing of outgoing messages and gathering of HTTP/2 frames. */
#include "support/support.h"

#include "rpc/frames.h"

#include <string.h>

static void a_message_comes_out_whole_in_pieces_of_any_size(void **state)
{
    (void)state;
    static const uint8_t message[] = "three hundred bytes would do as well";
    static const uint8_t prefix[GRPC_PREFIX_BYTES] = {0, 0, 0, 0, sizeof message};
    for (size_t piece = 1; piece <= sizeof message + GRPC_PREFIX_BYTES; piece++) {
        struct frame frame = frame_of(message, sizeof message);
        uint8_t out[sizeof message + 2 * GRPC_PREFIX_BYTES];
        size_t len = 0;
        while (!frame_is_sent(&frame)) {
            size_t left = sizeof message + GRPC_PREFIX_BYTES - len;
            size_t copied = frame_copy(&frame, out + len, piece);
            assert_int_equal(copied, piece < left ? piece : left);
            len += copied;
        }
        assert_int_equal(len, sizeof message + GRPC_PREFIX_BYTES);
        assert_memory_equal(out, prefix, sizeof prefix);
        assert_memory_equal(out + GRPC_PREFIX_BYTES, message, sizeof message);
    }
}

static void an_empty_message_is_a_prefix(void **state)
{
    (void)state;
    static const uint8_t zero[GRPC_PREFIX_BYTES];
    struct frame frame = frame_of(NULL, 0);
    uint8_t out[16];
    assert_false(frame_is_sent(&frame));
    assert_int_equal(frame_copy(&frame, out, sizeof out), GRPC_PREFIX_BYTES);
    assert_memory_equal(out, zero, sizeof zero);
    assert_true(frame_is_sent(&frame));
}

/* Frames of 1000, 999, … bytes, each of one value. */
struct source {
    unsigned next;
    uint8_t frame[1000];
};

static size_t pull_frame(void *context, const uint8_t **data)
{
    struct source *source = context;
    size_t len = source->next;
    if (len == 0)
        return 0;
    memset(source->frame, (int)(len & 0xff), len);
    *data = source->frame;
    source->next--;
    return len;
}

static void frames_are_gathered_in_order_and_none_is_lost(void **state)
{
    (void)state;
    static struct send_buffer buffer;
    static struct source source = {.next = 1000};
    unsigned frame = 1000;
    size_t of_frame = 0;
    size_t total = 0;
    size_t left;
    while ((left = send_buffer_fill(&buffer, pull_frame, &source)) > 0) {
        /* The socket takes two thirds of what is there. */
        size_t taken = (2 * left + 2) / 3;
        for (size_t i = 0; i < taken; i++) {
            assert_int_equal(buffer.bytes[buffer.start + i], frame & 0xff);
            if (++of_frame == frame) {
                frame--;
                of_frame = 0;
            }
        }
        buffer.start += taken;
        total += taken;
    }
    assert_int_equal(total, 1000 * 1001 / 2);
    assert_int_equal(frame, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_comes_out_whole_in_pieces_of_any_size),
        cmocka_unit_test(an_empty_message_is_a_prefix),
        cmocka_unit_test(frames_are_gathered_in_order_and_none_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
