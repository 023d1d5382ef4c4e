/* Bytes of a hostile client on one connection: HTTP/2, gRPC framing and the standard services, in
   memory and with a clock of its own. The first byte of the input sets the size of the pieces in
   which the rest arrives, and the speed of the clock. */
#include "fuzz.h"

#include "base/check.h"
#include "base/mem.h"
#include "rpc/hub.h"
#include "rpc/session.h"

#include <cuzk/v1/descriptors.h>
#include <string.h>

enum { KEPT_MAX = 256 };

static struct rpc_call *kept[KEPT_MAX];
static size_t kept_count;

static void echo(struct rpc_call *call, void *user)
{
    (void)user;
    size_t len;
    uint8_t *message = rpc_call_take_message(call, &len);
    rpc_reply(call, message, len);
}

/* Answered at the end, when the client may be long gone. */
static void keep(struct rpc_call *call, void *user)
{
    (void)user;
    if (kept_count < KEPT_MAX)
        kept[kept_count++] = call;
    else
        rpc_fail(call, RPC_RESOURCE_EXHAUSTED, "too many");
}

static void no_wake(void *context)
{
    (void)context;
}

/* Reads all output and throws it away. */
static void pull(struct session *session)
{
    const uint8_t *data;
    while (session_pull(session, &data) > 0)
        ;
}

static void feed(struct rpc_hub *hub, struct session *session, const uint8_t *data, size_t len,
                 uint8_t control)
{
    size_t piece = (size_t)1 << (control & 15);
    uint64_t step_ms = (uint64_t)(control >> 4) * 100;
    while (len > 0 && !session_over(session)) {
        size_t now = piece < len ? piece : len;
        session_receive(session, data, now);
        hub_process(hub);
        pull(session);
        hub->now_ms += step_ms;
        if (session_expiry_ms(session) <= hub->now_ms)
            session_expire(session);
        data += now;
        len -= now;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct rpc_method methods[] = {{"/t.S/Echo", echo, NULL},
                                                {"/t.S/Keep", keep, NULL}};
    static const uint8_t hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
    struct rpc_server_config config = {
        .methods = methods,
        .method_count = 2,
        .descriptors = cuzk_descriptors,
        .descriptors_len = cuzk_descriptors_len,
        .limits = {.message_bytes_max = 200000,
                   .request_bytes_max = 300000,
                   .small_bytes_max = 150000,
                   .stall_ms_max = 2000,
                   .handshake_ms_max = 5000},
    };
    if (size == 0)
        return 0;
    size_t before = mem_used_bytes();
    struct rpc_hub hub;
    CHECK(hub_init(&hub, &config, NULL) == CUZK_OK);
    hub.wake = no_wake;
    hub.now_ms = 1000;
    struct session *session = session_new(&hub, "fuzz");
    CHECK(session);
    session_receive(session, hello, sizeof hello); /* with the zero of the frame's stream number */
    feed(&hub, session, data + 1, size - 1, data[0]);
    if (data[0] & 1)
        session_drain(session);
    pull(session);
    for (size_t i = 0; i < kept_count / 2; i++)
        rpc_fail(kept[i], RPC_ABORTED, "half of them in time");
    hub_process(&hub);
    pull(session);
    session_free(session);
    for (size_t i = kept_count / 2; i < kept_count; i++)
        rpc_reply(kept[i], NULL, 0);
    kept_count = 0;
    hub_process(&hub);
    hub_free(&hub);
    CHECK(mem_used_bytes() == before);
    return 0;
}
