#include "rpc/hub.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "rpc/call.h"
#include "rpc/health.h"
#include "rpc/reflection.h"
#include "rpc/stream.h"

#include <string.h>

static void set_default(size_t *value, size_t fallback)
{
    if (*value == 0)
        *value = fallback;
}

static void set_default_ms(uint64_t *value, uint64_t fallback)
{
    if (*value == 0)
        *value = fallback;
}

static void fill_limits(struct rpc_limits *limits)
{
    const size_t mib = (size_t)1 << 20;
    set_default(&limits->message_bytes_max, 256 * mib);
    set_default(&limits->request_bytes_max, 1024 * mib);
    set_default(&limits->small_bytes_max, 64 * mib);
    set_default(&limits->header_bytes_max, (size_t)64 << 10);
    set_default(&limits->upload_rate_min, (size_t)64 << 10);
    set_default_ms(&limits->handshake_ms_max, 10 * 1000);
    set_default_ms(&limits->idle_ms_max, 3600 * 1000);
    set_default_ms(&limits->stall_ms_max, 30 * 1000);
    if (limits->connections_max == 0)
        limits->connections_max = 256;
    if (limits->streams_max == 0)
        limits->streams_max = 128;
}

static bool add_method(struct rpc_hub *hub, const char *path, struct service_method method)
{
    method.path = mem_strdup(path);
    if (!method.path)
        return false;
    hub->methods[hub->method_count++] = method;
    return true;
}

static bool add_methods(struct rpc_hub *hub, const struct rpc_server_config *config)
{
    static const char *const reflection[] = {
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    };
    size_t room = config->method_count + 2 + ARRAY_LEN(reflection);
    hub->methods = mem_zalloc(room, sizeof hub->methods[0]);
    if (!hub->methods)
        return false;
    for (size_t i = 0; i < config->method_count; i++) {
        const struct rpc_method *method = &config->methods[i];
        struct service_method unary = {.unary = method->handler, .user = method->user};
        if (!add_method(hub, method->path, unary))
            return false;
    }
    struct service_method check = {.unary = health_check, .user = hub};
    struct service_method watch = {.streaming = health_watch};
    struct service_method info = {.streaming = reflection_info};
    if (!add_method(hub, "/grpc.health.v1.Health/Check", check) ||
        !add_method(hub, "/grpc.health.v1.Health/Watch", watch))
        return false;
    for (size_t i = 0; config->descriptors && i < ARRAY_LEN(reflection); i++) {
        if (!add_method(hub, reflection[i], info))
            return false;
    }
    return true;
}

enum cuzk_status hub_init(struct rpc_hub *hub, const struct rpc_server_config *config,
                          struct cuzk_error *err)
{
    *hub = (struct rpc_hub){.limits = config->limits,
                            .descriptors = config->descriptors,
                            .descriptors_len = config->descriptors_len,
                            .serving = true};
    fill_limits(&hub->limits);
    pthread_mutex_init(&hub->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&hub->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (add_methods(hub, config))
        return CUZK_OK;
    hub_free(hub);
    return error_set(err, CUZK_NO_MEMORY, "no memory for the table of methods");
}

void hub_free(struct rpc_hub *hub)
{
    CHECK(!hub->answered && !hub->held_first && !hub->watchers && hub->stats.calls == 0);
    CHECK(hub->large_bytes == 0 && hub->small_bytes == 0);
    for (size_t i = 0; hub->methods && i < hub->method_count; i++)
        mem_free(hub->methods[i].path);
    mem_free(hub->methods);
    pthread_cond_destroy(&hub->changed);
    pthread_mutex_destroy(&hub->mutex);
}

const struct service_method *hub_find_method(const struct rpc_hub *hub, const char *path)
{
    for (size_t i = 0; i < hub->method_count; i++) {
        if (strcmp(hub->methods[i].path, path) == 0)
            return &hub->methods[i];
    }
    return NULL;
}

bool hub_has_service(const struct rpc_hub *hub, const char *service, size_t len)
{
    for (size_t i = 0; i < hub->method_count; i++) {
        const char *path = hub->methods[i].path + 1;
        if (strncmp(path, service, len) == 0 && path[len] == '/')
            return true;
    }
    return len == 0;
}

/* --- Budgets ---------------------------------------------------------------------------------- */

bool hub_charge_small(struct rpc_hub *hub, struct charge *charge, size_t bytes)
{
    pthread_mutex_lock(&hub->mutex);
    bool fits = bytes <= hub->limits.small_bytes_max - hub->small_bytes;
    if (fits) {
        hub->small_bytes += bytes;
        charge->small += bytes;
    }
    pthread_mutex_unlock(&hub->mutex);
    return fits;
}

void hub_refund(struct rpc_hub *hub, struct charge *charge)
{
    pthread_mutex_lock(&hub->mutex);
    hub->small_bytes -= charge->small;
    hub->large_bytes -= charge->large;
    pthread_mutex_unlock(&hub->mutex);
    *charge = (struct charge){0};
}

/* Charges a held message as a whole, in place of its beginning. */
static bool charge_large(struct rpc_hub *hub, struct charge *charge, size_t bytes)
{
    pthread_mutex_lock(&hub->mutex);
    bool fits = bytes <= hub->limits.request_bytes_max - hub->large_bytes;
    if (fits) {
        hub->large_bytes += bytes;
        hub->small_bytes -= charge->small;
        *charge = (struct charge){.large = bytes};
    }
    pthread_mutex_unlock(&hub->mutex);
    return fits;
}

static void count_held(struct rpc_hub *hub, int change)
{
    pthread_mutex_lock(&hub->mutex);
    hub->stats.held_back += (unsigned)change;
    pthread_mutex_unlock(&hub->mutex);
}

void hub_hold(struct rpc_hub *hub, struct stream *stream)
{
    stream->held_next = NULL;
    if (hub->held_last)
        hub->held_last->held_next = stream;
    else
        hub->held_first = stream;
    hub->held_last = stream;
    count_held(hub, 1);
}

void hub_unhold(struct rpc_hub *hub, struct stream *stream)
{
    struct stream *before = NULL;
    for (struct stream *s = hub->held_first; s != stream; s = s->held_next)
        before = s;
    if (before)
        before->held_next = stream->held_next;
    else
        hub->held_first = stream->held_next;
    if (hub->held_last == stream)
        hub->held_last = before;
    count_held(hub, -1);
}

void hub_admit(struct rpc_hub *hub)
{
    /* In order of arrival, so that smaller messages do not overtake a large one for ever. */
    struct stream *stream;
    while ((stream = hub->held_first) && charge_large(hub, &stream->charge, stream->message_len)) {
        hub_unhold(hub, stream);
        stream_admit(stream);
    }
}

/* --- Answers ---------------------------------------------------------------------------------- */

void hub_count_failure(struct rpc_hub *hub)
{
    pthread_mutex_lock(&hub->mutex);
    hub->stats.calls_failed++;
    pthread_mutex_unlock(&hub->mutex);
}

static void deliver_answer(struct rpc_call *call)
{
    struct stream *stream = call->stream;
    if (!stream)
        return;
    stream->call = NULL;
    if (call->code == RPC_OK) {
        stream_send(stream, call->reply, call->reply_len);
        call->reply = NULL;
        stream_finish(stream, RPC_OK, "%s", "");
    } else {
        hub_count_failure(call->hub);
        stream_finish(stream, call->code, "%s", call->text);
    }
}

void hub_process(struct rpc_hub *hub)
{
    pthread_mutex_lock(&hub->mutex);
    struct rpc_call *newest = hub->answered;
    hub->answered = NULL;
    pthread_mutex_unlock(&hub->mutex);

    struct rpc_call *oldest = NULL;
    while (newest) {
        struct rpc_call *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct rpc_call *next = oldest->next;
        deliver_answer(oldest);
        call_free(oldest);
        oldest = next;
    }
    hub_admit(hub);
}
