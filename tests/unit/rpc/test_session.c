/* Calls on a connection in memory: admission, limits, deadlines, cancellation, drain. */
#include "support/support.h"

#include "base/mem.h"
#include "memory_peer.h"

#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20 };
static const char echo_path[] = "/test.Service/Echo";
static const char keep_path[] = "/test.Service/Keep";

/* The calls that Keep's handler got, which the test answers, and what the hooks reported. */
static struct {
    struct rpc_call *calls[8];
    size_t count;
    unsigned cancelled;
    enum rpc_code reason;
    unsigned released;
} kept;

static void echo(struct rpc_call *call, void *user)
{
    (void)user;
    size_t len;
    uint8_t *message = rpc_call_take_message(call, &len);
    rpc_reply(call, message, len);
}

static void on_cancelled(void *user, enum rpc_code reason)
{
    (void)user;
    kept.cancelled++;
    kept.reason = reason;
}

static void on_released(void *user)
{
    (void)user;
    kept.released++;
}

static void keep(struct rpc_call *call, void *user)
{
    (void)user;
    rpc_call_attach(call, &kept, on_cancelled, on_released);
    kept.calls[kept.count++] = call;
}

static void no_wake(void *context)
{
    (void)context;
}

static struct rpc_hub hub;
static struct peer peer;

static void start(struct rpc_limits limits)
{
    static const struct rpc_method methods[] = {{echo_path, echo, NULL}, {keep_path, keep, NULL}};
    struct rpc_server_config config = {.methods = methods, .method_count = 2, .limits = limits};
    struct cuzk_error err = {0};
    memset(&kept, 0, sizeof kept);
    assert_ok(hub_init(&hub, &config, &err), err);
    hub.wake = no_wake;
    hub.now_ms = 1000000;
    peer_open(&peer, &hub);
    assert_non_null(peer.session);
    peer_pump(&peer);
}

static void finish(void)
{
    peer_close(&peer);
    hub_free(&hub);
}

/* Moves the clock and lets timers run out. */
static void pass_ms(uint64_t ms)
{
    hub.now_ms += ms;
    if (session_expiry_ms(peer.session) <= hub.now_ms)
        session_expire(peer.session);
    peer_pump(&peer);
}

static void assert_answer(const struct peer_call *call, enum rpc_code code, const char *text)
{
    assert_int_equal(call->http_status, 200);
    assert_int_equal(call->code, code);
    if (!strstr(call->text, text))
        fail_msg("\"%s\" is not in \"%s\"", text, call->text);
}

static void messages_of_all_sizes_come_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4096, 16384, 60000};
    size_t before = mem_used_bytes();
    start((struct rpc_limits){0});
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct peer_call *call = peer_start(&peer, echo_path, NULL, sizes[i], SIZE_MAX, NULL, NULL);
        size_t len = 1;
        const uint8_t *answer = peer_answer(call, 0, &len);
        assert_answer(call, RPC_OK, "");
        assert_non_null(answer);
        assert_int_equal(len, sizes[i]);
        assert_memory_equal(answer, call->body + GRPC_PREFIX_BYTES, len);
        assert_true(call->closed);
        assert_string_equal(call->accept, "identity");
    }
    finish();
    assert_int_equal(mem_used_bytes(), before);
}

static void a_message_in_single_bytes_is_put_together(void **state)
{
    (void)state;
    start((struct rpc_limits){0});
    struct peer_call *call = peer_start(&peer, echo_path, NULL, 100, 0, NULL, NULL);
    for (size_t i = 1; i <= call->len; i++)
        peer_allow(&peer, call, i);
    assert_int_equal(call->code, -1);
    peer_allow(&peer, call, SIZE_MAX);
    assert_answer(call, RPC_OK, "");
    assert_memory_equal(call->answer, call->body, call->len);
    finish();
}

static void large_messages_wait_for_room_in_order_and_small_ones_pass(void **state)
{
    (void)state;
    start((struct rpc_limits){.request_bytes_max = 5 * MIB});
    struct peer_call *first = peer_start(&peer, keep_path, NULL, 3 * MIB, SIZE_MAX, NULL, NULL);
    struct peer_call *second = peer_start(&peer, keep_path, NULL, 4 * MIB, SIZE_MAX, NULL, NULL);
    struct peer_call *third = peer_start(&peer, keep_path, NULL, 1 * MIB, SIZE_MAX, NULL, NULL);
    struct peer_call *small = peer_start(&peer, echo_path, NULL, 100, SIZE_MAX, NULL, NULL);
    assert_answer(small, RPC_OK, "");
    assert_int_equal(kept.count, 1);
    assert_int_equal(hub.stats.held_back, 2);
    assert_int_equal(hub.large_bytes, 3 * MIB);
    /* What was sent of a held message is no more than the first window. */
    assert_true(second->sent <= WINDOW_BYTES);

    rpc_call_drop_message(kept.calls[0]);
    peer_pump(&peer);
    assert_int_equal(kept.count, 3); /* 4 + 1 MiB fit now */
    assert_int_equal(hub.stats.held_back, 0);
    assert_int_equal(hub.large_bytes, 5 * MIB);
    size_t len;
    /* The third one was let in with the second, and was shorter. */
    const uint8_t *message = rpc_call_message(kept.calls[2], &len);
    assert_int_equal(len, 4 * MIB);
    assert_memory_equal(message, second->body + GRPC_PREFIX_BYTES, len);

    for (size_t i = 0; i < 3; i++)
        rpc_reply(kept.calls[i], NULL, 0);
    peer_pump(&peer);
    assert_answer(first, RPC_OK, "");
    assert_answer(third, RPC_OK, "");
    assert_int_equal(hub.large_bytes, 0);
    assert_int_equal(kept.released, 3);
    assert_int_equal(kept.cancelled, 0);
    finish();
}

static void a_message_larger_than_every_window_arrives(void **state)
{
    (void)state;
    enum { BYTES = SESSION_WINDOW_BYTES + 3 * MIB };
    start((struct rpc_limits){0});
    struct peer_call *call = peer_start(&peer, keep_path, NULL, BYTES, SIZE_MAX, NULL, NULL);
    assert_int_equal(kept.count, 1);
    size_t len;
    const uint8_t *message = rpc_call_message(kept.calls[0], &len);
    assert_int_equal(len, BYTES);
    assert_memory_equal(message, call->body + GRPC_PREFIX_BYTES, len);
    rpc_reply(kept.calls[0], NULL, 0);
    finish();
}

static void a_held_message_that_is_cancelled_lets_the_next_one_in(void **state)
{
    (void)state;
    start((struct rpc_limits){.request_bytes_max = 5 * MIB});
    struct peer_call *first = peer_start(&peer, keep_path, NULL, 3 * MIB, 1000, NULL, NULL);
    struct peer_call *second = peer_start(&peer, keep_path, NULL, 5 * MIB, SIZE_MAX, NULL, NULL);
    peer_start(&peer, keep_path, NULL, 2 * MIB, SIZE_MAX, NULL, NULL);
    assert_int_equal(kept.count, 0);
    peer_reset(&peer, second);
    peer_pump(&peer);
    assert_int_equal(kept.count, 1);
    peer_reset(&peer, first);
    assert_int_equal(hub.large_bytes, 2 * MIB);
    rpc_fail(kept.calls[0], RPC_ABORTED, "no");
    finish();
}

static void too_large_messages_are_refused_on_their_prefix(void **state)
{
    (void)state;
    start((struct rpc_limits){.message_bytes_max = 2 * MIB});
    struct peer_call *call = peer_start(&peer, echo_path, NULL, 2 * MIB + 1, 5, NULL, NULL);
    assert_answer(call, RPC_RESOURCE_EXHAUSTED, "2097153 bytes is over the limit of 2097152");
    assert_true(call->closed);
    assert_int_equal(call->error, NGHTTP2_NO_ERROR);
    assert_int_equal(hub.small_bytes, 0);
    call = peer_start(&peer, keep_path, NULL, 2 * MIB, SIZE_MAX, NULL, NULL);
    assert_int_equal(kept.count, 1);
    rpc_reply(kept.calls[0], NULL, 0);
    finish();

    /* What can never fit into the budget is refused at once instead of waiting for ever. */
    start((struct rpc_limits){.request_bytes_max = 1 * MIB});
    call = peer_start(&peer, echo_path, NULL, 1 * MIB + 1, 5, NULL, NULL);
    assert_answer(call, RPC_RESOURCE_EXHAUSTED, "over the limit of 1048576");
    finish();
}

static void small_messages_have_a_limit_of_their_own(void **state)
{
    (void)state;
    start((struct rpc_limits){.small_bytes_max = 10000});
    peer_start(&peer, keep_path, NULL, 6000, SIZE_MAX, NULL, NULL);
    struct peer_call *second = peer_start(&peer, keep_path, NULL, 6000, SIZE_MAX, NULL, NULL);
    assert_answer(second, RPC_RESOURCE_EXHAUSTED, "limit of 10000 bytes");
    rpc_reply(kept.calls[0], NULL, 0);
    peer_pump(&peer);
    struct peer_call *third = peer_start(&peer, echo_path, NULL, 6000, SIZE_MAX, NULL, NULL);
    assert_answer(third, RPC_OK, "");
    finish();
}

static void the_server_ends_a_call_at_its_deadline(void **state)
{
    (void)state;
    start((struct rpc_limits){0});
    struct peer_call *running =
        peer_start(&peer, keep_path, NULL, 10, SIZE_MAX, "grpc-timeout", "500m");
    struct peer_call *sending = peer_start(&peer, keep_path, NULL, 10, 7, "grpc-timeout", "2S");
    assert_int_equal(rpc_call_deadline_ms(kept.calls[0]), hub.now_ms + 500);
    assert_int_equal(session_expiry_ms(peer.session), hub.now_ms + 500);
    pass_ms(499);
    assert_int_equal(running->code, -1);
    pass_ms(1);
    assert_answer(running, RPC_DEADLINE_EXCEEDED, "deadline");
    assert_int_equal(kept.cancelled, 1);
    assert_int_equal(kept.reason, RPC_DEADLINE_EXCEEDED);
    assert_int_equal(kept.released, 0);
    pass_ms(1500);
    assert_answer(sending, RPC_DEADLINE_EXCEEDED, "deadline");
    /* The late answer goes nowhere. */
    rpc_reply(kept.calls[0], NULL, 0);
    peer_pump(&peer);
    assert_int_equal(kept.released, 1);
    finish();
}

static void a_reset_cancels_the_call(void **state)
{
    (void)state;
    start((struct rpc_limits){0});
    struct peer_call *call = peer_start(&peer, keep_path, NULL, 10, SIZE_MAX, NULL, NULL);
    peer_reset(&peer, call);
    assert_int_equal(kept.cancelled, 1);
    assert_int_equal(kept.reason, RPC_CANCELLED);
    rpc_fail(kept.calls[0], RPC_CANCELLED, "gone");
    peer_pump(&peer);
    assert_int_equal(kept.released, 1);
    assert_int_equal(hub.stats.calls_failed, 1);
    finish();
}

static void a_lost_connection_cancels_its_calls(void **state)
{
    (void)state;
    start((struct rpc_limits){0});
    peer_start(&peer, keep_path, NULL, 10, SIZE_MAX, NULL, NULL);
    peer_start(&peer, keep_path, NULL, 2 * MIB, 1000, NULL, NULL);
    session_free(peer.session);
    peer.session = NULL;
    assert_int_equal(kept.cancelled, 1);
    rpc_reply(kept.calls[0], NULL, 0);
    finish();
}

static void stalled_and_slow_uploads_are_given_up(void **state)
{
    (void)state;
    start((struct rpc_limits){.stall_ms_max = 1000, .upload_rate_min = MIB});
    struct peer_call *stalled = peer_start(&peer, keep_path, NULL, 2 * MIB, 1000, NULL, NULL);
    pass_ms(999);
    assert_int_equal(stalled->code, -1);
    pass_ms(1);
    assert_answer(stalled, RPC_DEADLINE_EXCEEDED, "995 of 2097152 bytes");

    struct peer_call *slow = peer_start(&peer, keep_path, NULL, 2 * MIB, 1000, NULL, NULL);
    for (size_t i = 1; i <= 5 && slow->code < 0; i++) {
        peer_allow(&peer, slow, 1000 + i);
        pass_ms(
            600); /* never stalled, but 2 MiB at 1 MiB/s and the grace of 1 s are over after 3 s */
        assert_int_equal(slow->code, i < 5 ? -1 : RPC_DEADLINE_EXCEEDED);
    }
    assert_int_equal(hub.large_bytes, 0);
    finish();
}

static void an_answer_that_is_not_taken_is_given_up(void **state)
{
    (void)state;
    start((struct rpc_limits){.stall_ms_max = 1000});
    nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10};
    nghttp2_submit_settings(peer.h2, NGHTTP2_FLAG_NONE, &window, 1);
    peer.stop_reading = true;
    struct peer_call *call = peer_start(&peer, echo_path, NULL, 100, SIZE_MAX, NULL, NULL);
    assert_int_equal(call->answer_len, 10);
    pass_ms(999);
    assert_false(call->closed);
    pass_ms(1);
    assert_true(call->closed);
    assert_int_equal(call->error, NGHTTP2_CANCEL);
    finish();
}

static void heads_over_the_limits_are_refused(void **state)
{
    (void)state;
    start((struct rpc_limits){.header_bytes_max = 2000});
    char value[3000];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    struct peer_call *call = peer_start(&peer, echo_path, NULL, 1, SIZE_MAX, "x-pad", value);
    assert_answer(call, RPC_RESOURCE_EXHAUSTED, "over the limit of 2000 bytes");
    value[0] = '/';
    value[PATH_BYTES_MAX + 1] = '\0';
    call = peer_start(&peer, value, NULL, 1, SIZE_MAX, NULL, NULL);
    assert_answer(call, RPC_UNIMPLEMENTED, "path");
    call = peer_start(&peer, "/test.Service/Nothing", NULL, 1, SIZE_MAX, NULL, NULL);
    assert_answer(call, RPC_UNIMPLEMENTED, "/test.Service/Nothing");
    call = peer_start(&peer, echo_path, NULL, 1, SIZE_MAX, "grpc-timeout", "soon");
    assert_answer(call, RPC_INVALID_ARGUMENT, "grpc-timeout");
    call = peer_start(&peer, echo_path, NULL, 1, SIZE_MAX, "trace-bin", "AAEC");
    assert_answer(call, RPC_OK, "");
    finish();
}

static void compressed_and_odd_messages_are_refused(void **state)
{
    (void)state;
    start((struct rpc_limits){0});
    struct peer_call *call = peer_start(&peer, echo_path, NULL, 3, 0, "grpc-encoding", "gzip");
    call->body[0] = 1;
    peer_allow(&peer, call, SIZE_MAX);
    assert_answer(call, RPC_UNIMPLEMENTED, "compressed");
    assert_string_equal(call->accept, "identity");
    call = peer_start(&peer, echo_path, NULL, 3, 0, NULL, NULL);
    call->body[0] = 1;
    peer_allow(&peer, call, SIZE_MAX);
    assert_answer(call, RPC_INTERNAL, "flag 1");
    call = peer_start(&peer, echo_path, NULL, 30, 0, NULL, NULL);
    call->len = 20;
    peer_allow(&peer, call, SIZE_MAX);
    assert_answer(call, RPC_INTERNAL, "15 of 30");
    call = peer_start(&peer, echo_path, NULL, 30, 0, NULL, NULL);
    call->body[4] = 10;
    peer_allow(&peer, call, SIZE_MAX);
    assert_answer(call, RPC_INTERNAL, "second");
    call = peer_start(&peer, echo_path, NULL, 30, 0, NULL, NULL);
    call->len = 0;
    peer_allow(&peer, call, SIZE_MAX);
    assert_answer(call, RPC_INTERNAL, "without a message");
    finish();
}

static void a_drain_finishes_what_runs_and_names_the_last_call(void **state)
{
    (void)state;
    start((struct rpc_limits){0});
    struct peer_call *running = peer_start(&peer, keep_path, NULL, 10, SIZE_MAX, NULL, NULL);
    session_drain(peer.session);
    const uint8_t *data; /* the notice, held back on its way to the client */
    size_t len = session_pull(peer.session, &data);
    uint8_t notice[256];
    assert_true(len > 0 && len <= sizeof notice);
    memcpy(notice, data, len);
    struct peer_call *crossing = peer_start(&peer, keep_path, NULL, 10, SIZE_MAX, NULL, NULL);
    assert_true(crossing->closed);
    assert_int_equal(crossing->error, NGHTTP2_REFUSED_STREAM);
    nghttp2_session_mem_recv(peer.h2, notice, len);
    assert_int_equal(peer.goaways, 1);
    assert_int_equal(peer.last_stream_id, INT32_MAX);

    pass_ms(0); /* the ping came back: the second one follows */
    assert_int_equal(peer.goaways, 2);
    assert_int_equal(peer.last_stream_id, running->id);
    assert_int_equal(peer.goaway_error, NGHTTP2_NO_ERROR);
    assert_false(session_over(peer.session));
    rpc_reply(kept.calls[0], NULL, 0);
    peer_pump(&peer);
    assert_answer(running, RPC_OK, "");
    assert_true(session_over(peer.session));
    finish();
}

static void an_end_fails_what_runs(void **state)
{
    (void)state;
    start((struct rpc_limits){0});
    struct peer_call *running = peer_start(&peer, keep_path, NULL, 10, SIZE_MAX, NULL, NULL);
    session_end(peer.session);
    peer_pump(&peer);
    assert_answer(running, RPC_UNAVAILABLE, "stopping");
    assert_int_equal(kept.reason, RPC_UNAVAILABLE);
    assert_true(session_over(peer.session));
    rpc_reply(kept.calls[0], NULL, 0);
    finish();
}

static void silent_and_idle_connections_end(void **state)
{
    (void)state;
    start((struct rpc_limits){.idle_ms_max = 5000});
    assert_int_equal(session_expiry_ms(peer.session), hub.now_ms + 5000);
    pass_ms(3000);
    peer_start(&peer, echo_path, NULL, 1, SIZE_MAX, NULL, NULL);
    assert_int_equal(session_expiry_ms(peer.session), hub.now_ms + 5000);
    pass_ms(5000);
    assert_int_equal(peer.goaways, 1); /* this client ends its side on the first one */
    pass_ms(GOAWAY_MS);
    assert_true(session_over(peer.session));
    finish();

    start((struct rpc_limits){.handshake_ms_max = 700});
    struct session *silent = session_new(&hub, "other");
    hub.now_ms += 699;
    session_expire(silent);
    assert_false(session_over(silent));
    hub.now_ms += 1;
    assert_true(session_expiry_ms(silent) <= hub.now_ms);
    session_expire(silent);
    assert_true(session_over(silent));
    session_free(silent);
    finish();
}

static void settings_come_before_any_request(void **state)
{
    (void)state;
    start((struct rpc_limits){0});
    struct session *session = session_new(&hub, "other");
    const uint8_t *data;
    assert_true(session_pull(session, &data) >= 9);
    assert_int_equal(data[3], NGHTTP2_SETTINGS);
    session_receive(session, (const uint8_t *)"GET / HTTP/1.1\r\n\r\n......", 24);
    assert_true(session_over(session));
    session_free(session);
    finish();
}

static void a_storm_of_resets_ends_the_connection(void **state)
{
    (void)state;
    start((struct rpc_limits){0});
    unsigned calls = 0;
    while (peer.goaways == 0 && calls < 5000) {
        struct peer_call *call = peer_start(&peer, echo_path, NULL, 10, 3, NULL, NULL);
        peer_reset(&peer, call);
        free(call->body);
        free(call);
        peer.call_count--;
        calls++;
    }
    assert_true(calls > 900 && calls < 1200);
    finish();
}

/* The whole life of a connection with the n-th allocation failing, for every n. */
static void failing_allocations_leak_nothing(void **state)
{
    (void)state;
    size_t before = mem_used_bytes();
    bool passed = false;
    long n = 0;
    for (; !passed; n++) {
        assert_true(n < 500);
        start((struct rpc_limits){0});
        peer_close(&peer);
        mem_fail_after(n);
        peer_open(&peer, &hub);
        if (peer.session) {
            struct peer_call *call =
                peer_start(&peer, echo_path, NULL, 70000, SIZE_MAX, NULL, NULL);
            struct peer_call *other = peer_start(&peer, keep_path, NULL, 10, SIZE_MAX, NULL, NULL);
            if (kept.count > 0)
                rpc_fail(kept.calls[0], RPC_ABORTED, "no");
            peer_pump(&peer);
            passed = call->code == RPC_RESOURCE_EXHAUSTED ? false : other->code == RPC_ABORTED;
        }
        mem_fail_after(-1);
        finish();
        assert_int_equal(mem_used_bytes(), before);
    }
    assert_true(n > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_all_sizes_come_back),
        cmocka_unit_test(a_message_in_single_bytes_is_put_together),
        cmocka_unit_test(large_messages_wait_for_room_in_order_and_small_ones_pass),
        cmocka_unit_test(a_message_larger_than_every_window_arrives),
        cmocka_unit_test(a_held_message_that_is_cancelled_lets_the_next_one_in),
        cmocka_unit_test(too_large_messages_are_refused_on_their_prefix),
        cmocka_unit_test(small_messages_have_a_limit_of_their_own),
        cmocka_unit_test(the_server_ends_a_call_at_its_deadline),
        cmocka_unit_test(a_reset_cancels_the_call),
        cmocka_unit_test(a_lost_connection_cancels_its_calls),
        cmocka_unit_test(stalled_and_slow_uploads_are_given_up),
        cmocka_unit_test(an_answer_that_is_not_taken_is_given_up),
        cmocka_unit_test(heads_over_the_limits_are_refused),
        cmocka_unit_test(compressed_and_odd_messages_are_refused),
        cmocka_unit_test(a_drain_finishes_what_runs_and_names_the_last_call),
        cmocka_unit_test(an_end_fails_what_runs),
        cmocka_unit_test(silent_and_idle_connections_end),
        cmocka_unit_test(settings_come_before_any_request),
        cmocka_unit_test(a_storm_of_resets_ends_the_connection),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
