/* The standard services: health and reflection. */
#include "support/support.h"

#include "base/mem.h"
#include "memory_peer.h"
#include "rpc/health.h"
#include "rpc/wire.h"

#include <cuzk/v1/descriptors.h>
#include <string.h>

static const char check_path[] = "/grpc.health.v1.Health/Check";
static const char watch_path[] = "/grpc.health.v1.Health/Watch";
static const char *const reflection_paths[] = {
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
};

static struct rpc_hub hub;
static struct peer peer;

static void ignore_call(struct rpc_call *call, void *user)
{
    (void)user;
    rpc_reply(call, NULL, 0);
}

static void no_wake(void *context)
{
    (void)context;
}

static int start(void **state)
{
    (void)state;
    static const struct rpc_method method = {"/cuzk.v1.ProvingEngine/Prove", ignore_call, NULL};
    struct rpc_server_config config = {.methods = &method,
                                       .method_count = 1,
                                       .descriptors = cuzk_descriptors,
                                       .descriptors_len = cuzk_descriptors_len};
    struct cuzk_error err = {0};
    assert_ok(hub_init(&hub, &config, &err), err);
    hub.wake = no_wake;
    hub.now_ms = 1;
    peer_open(&peer, &hub);
    peer_pump(&peer);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    peer_close(&peer);
    hub_free(&hub);
    return 0;
}

/* Asks about a service's health; allowed as in peer_start. */
static struct peer_call *ask_health(const char *path, const char *service, size_t allowed)
{
    struct text request = {0};
    wire_add_bytes(&request, 1, service, strlen(service));
    struct peer_call *call =
        peer_start(&peer, path, (uint8_t *)request.data, request.len, allowed, NULL, NULL);
    text_free(&request);
    return call;
}

/* The status in the i-th answer; -1: there is none. */
static int health_status(const struct peer_call *call, size_t i)
{
    size_t len;
    const uint8_t *answer = peer_answer(call, i, &len);
    if (!answer)
        return -1;
    struct wire_reader reader = wire_reader_of(answer, len);
    struct wire_field field;
    assert_true(wire_next(&reader, &field));
    assert_int_equal(field.number, 1);
    return (int)field.value;
}

static void check_tells_of_the_server_and_its_services(void **state)
{
    (void)state;
    assert_int_equal(health_status(ask_health(check_path, "", SIZE_MAX), 0), 1);
    assert_int_equal(health_status(ask_health(check_path, "cuzk.v1.ProvingEngine", SIZE_MAX), 0),
                     1);
    struct peer_call *unknown = ask_health(check_path, "cuzk.v1", SIZE_MAX);
    assert_int_equal(unknown->code, RPC_NOT_FOUND);
    health_set(&hub, false);
    assert_int_equal(health_status(ask_health(check_path, "", SIZE_MAX), 0), 2);
}

static void watch_tells_of_every_change(void **state)
{
    (void)state;
    struct peer_call *server = ask_health(watch_path, "", SIZE_MAX);
    struct peer_call *unknown = ask_health(watch_path, "no.such.Service", SIZE_MAX);
    struct peer_call *gone = ask_health(watch_path, "", SIZE_MAX);
    peer_reset(&peer, gone);
    assert_int_equal(health_status(server, 0), 1);
    assert_int_equal(health_status(unknown, 0), 3);
    health_set(&hub, false);
    health_set(&hub, false);
    peer_pump(&peer);
    assert_int_equal(health_status(server, 1), 2);
    health_set(&hub, true);
    peer_pump(&peer);
    assert_int_equal(health_status(server, 2), 1);
    assert_int_equal(health_status(server, 3), -1);
    assert_int_equal(health_status(unknown, 1), -1);
    assert_int_equal(server->code, -1); /* still going on */
}

static void a_drain_ends_watching(void **state)
{
    (void)state;
    struct peer_call *call = ask_health(watch_path, "", SIZE_MAX);
    health_set(&hub, false);
    session_drain(peer.session);
    peer_pump(&peer);
    assert_int_equal(health_status(call, 1), 2);
    assert_int_equal(call->code, RPC_UNAVAILABLE);
    assert_int_equal(peer.session->stream_count, 0);
}

/* Asks reflection one question; `found` gets the answer's field of that number. */
static struct peer_call *ask_reflection(const char *path, uint32_t kind, const char *what)
{
    struct text request = {0};
    wire_add_bytes(&request, kind, what, strlen(what));
    struct peer_call *call =
        peer_start(&peer, path, (uint8_t *)request.data, request.len, SIZE_MAX, NULL, NULL);
    text_free(&request);
    assert_int_equal(call->code, RPC_OK);
    return call;
}

static struct wire_reader answered(const struct peer_call *call, uint32_t kind)
{
    size_t len;
    const uint8_t *answer = peer_answer(call, 0, &len);
    assert_non_null(answer);
    return wire_find(answer, len, kind);
}

static bool contains(struct wire_reader reader, const char *text)
{
    return memmem(reader.at, (size_t)(reader.end - reader.at), text, strlen(text)) != NULL;
}

static void both_versions_list_all_services(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct wire_reader list = answered(ask_reflection(reflection_paths[i], 7, ""), 6);
        assert_true(contains(list, "cuzk.v1.ProvingEngine"));
        assert_true(contains(list, "grpc.health.v1.Health"));
        assert_true(contains(list, "grpc.reflection.v1.ServerReflection"));
        assert_true(contains(list, "grpc.reflection.v1alpha.ServerReflection"));
    }
}

static void symbols_and_files_are_found(void **state)
{
    (void)state;
    static const char *const symbols[] = {
        "cuzk.v1.ProvingEngine",
        "cuzk.v1.ProvingEngine.Prove",
        "cuzk.v1.SubmitProofRequest",
        "cuzk.v1.SubmitProofRequest.vanilla_proof",
        "cuzk.v1.AwaitProofResponse.Status",
        "cuzk.v1.ProofKind",
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        struct wire_reader files = answered(ask_reflection(reflection_paths[0], 4, symbols[i]), 4);
        assert_true(contains(files, "cuzk/v1/proving.proto"));
    }
    struct wire_reader file =
        answered(ask_reflection(reflection_paths[0], 3, "grpc/health/v1/health.proto"), 4);
    assert_true(contains(file, "HealthCheckRequest"));
    struct wire_reader other =
        answered(ask_reflection(reflection_paths[0], 4, "grpc.health.v1.Health"), 4);
    assert_false(contains(other, "ProvingEngine"));
}

static void what_is_not_there_is_an_error_in_the_answer(void **state)
{
    (void)state;
    static const struct {
        uint32_t kind;
        const char *what;
    } questions[] = {{4, "cuzk.v1"},
                     {4, "cuzk.v1.Nothing"},
                     {4, "cuzk.v1.ProvingEngine.X"},
                     {4, "cuzk.v1.Submit"},
                     {4, ""},
                     {3, "no/such.proto"},
                     {5, ""},
                     {6, "cuzk.v1.ProofKind"}};
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        struct peer_call *call =
            ask_reflection(reflection_paths[1], questions[i].kind, questions[i].what);
        struct wire_reader error = answered(call, 7);
        struct wire_field field;
        assert_true(wire_next(&error, &field));
        assert_int_equal(field.value, RPC_NOT_FOUND);
    }
    struct peer_call *bad = peer_start(&peer, reflection_paths[0], (const uint8_t *)"\x22\x7f", 2,
                                       SIZE_MAX, NULL, NULL);
    assert_int_equal(bad->code, RPC_INVALID_ARGUMENT);
}

static void one_stream_answers_many_questions_but_does_not_pile_up_answers(void **state)
{
    (void)state;
    struct text request = {0};
    wire_add_bytes(&request, 4, "cuzk.v1.ProvingEngine", 21);
    /* A body of ten thousand messages, of a peer that takes no answers. */
    enum { COUNT = 10000 };
    struct text body = {0};
    for (size_t i = 0; i < COUNT; i++) {
        char prefix[5] = {0, 0, 0, 0, (char)request.len};
        text_add_bytes(&body, prefix, 5);
        text_add_bytes(&body, request.data, request.len);
    }
    nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0};
    nghttp2_submit_settings(peer.h2, NGHTTP2_FLAG_NONE, &window, 1);
    struct peer_call *call =
        peer_start(&peer, reflection_paths[0], (uint8_t *)body.data, body.len, 0, NULL, NULL);
    memmove(call->body, call->body + GRPC_PREFIX_BYTES, body.len);
    call->len = body.len;
    size_t before = mem_used_bytes();
    peer_allow(&peer, call, SIZE_MAX);
    assert_true(mem_used_bytes() < before + 2 * STREAM_OUTPUT_MAX);
    text_free(&body);
    text_free(&request);
}

static void missing_memory_ends_a_question_and_leaks_nothing(void **state)
{
    (void)state;
    struct text request = {0};
    wire_add_bytes(&request, 4, "cuzk.v1.ProvingEngine", 21);
    int code = -1;
    for (long n = 0; code != RPC_OK; n++) {
        assert_true(n < 200);
        finish(NULL);
        size_t before = mem_used_bytes();
        start(NULL);
        mem_fail_after(n);
        struct peer_call *call = peer_start(&peer, reflection_paths[0], (uint8_t *)request.data,
                                            request.len, SIZE_MAX, NULL, NULL);
        code = call->code;
        mem_fail_after(-1);
        finish(NULL);
        assert_int_equal(mem_used_bytes(), before);
        start(NULL);
    }
    text_free(&request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(check_tells_of_the_server_and_its_services, start, finish),
        cmocka_unit_test_setup_teardown(watch_tells_of_every_change, start, finish),
        cmocka_unit_test_setup_teardown(a_drain_ends_watching, start, finish),
        cmocka_unit_test_setup_teardown(both_versions_list_all_services, start, finish),
        cmocka_unit_test_setup_teardown(symbols_and_files_are_found, start, finish),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_an_error_in_the_answer, start, finish),
        cmocka_unit_test_setup_teardown(
            one_stream_answers_many_questions_but_does_not_pile_up_answers, start, finish),
        cmocka_unit_test_setup_teardown(missing_memory_ends_a_question_and_leaks_nothing, start,
                                        finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
