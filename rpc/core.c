#include "rpc/core.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"

#include <string.h>

static void set_default(size_t *value, size_t standard)
{
    if (*value == 0)
        *value = standard;
}

static void set_default_ms(uint64_t *value, uint64_t standard)
{
    if (*value == 0)
        *value = standard;
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

static bool add_method(struct rpc_core *core, const char *path, struct service_method method)
{
    method.path = mem_strdup(path);
    if (!method.path)
        return false;
    core->methods[core->method_count++] = method;
    return true;
}

static bool add_methods(struct rpc_core *core, const struct rpc_server_config *config)
{
    static const char *const reflection[] = {
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    };
    size_t room = config->method_count + 2 + ARRAY_LEN(reflection);
    core->methods = mem_zalloc(room, sizeof core->methods[0]);
    if (!core->methods)
        return false;
    for (size_t i = 0; i < config->method_count; i++) {
        const struct rpc_method *method = &config->methods[i];
        struct service_method unary = {.unary = method->handler, .user = method->user};
        if (!add_method(core, method->path, unary))
            return false;
    }
    struct service_method check = {.unary = health_check, .user = core};
    struct service_method watch = {.streaming = health_watch};
    struct service_method info = {.streaming = reflection_info};
    if (!add_method(core, "/grpc.health.v1.Health/Check", check) ||
        !add_method(core, "/grpc.health.v1.Health/Watch", watch))
        return false;
    for (size_t i = 0; config->descriptors && i < ARRAY_LEN(reflection); i++) {
        if (!add_method(core, reflection[i], info))
            return false;
    }
    return true;
}

enum cuzk_status core_init(struct rpc_core *core, const struct rpc_server_config *config,
                           struct cuzk_error *err)
{
    *core = (struct rpc_core){.limits = config->limits,
                              .descriptors = config->descriptors,
                              .descriptors_len = config->descriptors_len,
                              .serving = true};
    fill_limits(&core->limits);
    pthread_mutex_init(&core->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&core->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (add_methods(core, config))
        return CUZK_OK;
    core_free(core);
    return error_set(err, CUZK_NO_MEMORY, "no memory for the table of methods");
}

void core_free(struct rpc_core *core)
{
    CHECK(!core->answered && !core->held_first && !core->watchers && core->stats.calls == 0);
    CHECK(core->large_bytes == 0 && core->small_bytes == 0);
    for (size_t i = 0; core->methods && i < core->method_count; i++)
        mem_free(core->methods[i].path);
    mem_free(core->methods);
    pthread_cond_destroy(&core->changed);
    pthread_mutex_destroy(&core->mutex);
}

const struct service_method *core_find_method(const struct rpc_core *core, const char *path)
{
    for (size_t i = 0; i < core->method_count; i++) {
        if (strcmp(core->methods[i].path, path) == 0)
            return &core->methods[i];
    }
    return NULL;
}

bool core_has_service(const struct rpc_core *core, const char *service, size_t len)
{
    for (size_t i = 0; i < core->method_count; i++) {
        const char *path = core->methods[i].path + 1;
        if (strncmp(path, service, len) == 0 && path[len] == '/')
            return true;
    }
    return len == 0;
}

/* ---- budgets ---- */

bool core_charge_small(struct rpc_core *core, struct charge *charge, size_t bytes)
{
    pthread_mutex_lock(&core->mutex);
    bool fits = bytes <= core->limits.small_bytes_max - core->small_bytes;
    if (fits) {
        core->small_bytes += bytes;
        charge->small += bytes;
    }
    pthread_mutex_unlock(&core->mutex);
    return fits;
}

void core_refund(struct rpc_core *core, struct charge *charge)
{
    pthread_mutex_lock(&core->mutex);
    core->small_bytes -= charge->small;
    core->large_bytes -= charge->large;
    pthread_mutex_unlock(&core->mutex);
    *charge = (struct charge){0};
}

/* A message that was held counts as a whole from now on, no longer as a beginning. */
static bool charge_large(struct rpc_core *core, struct charge *charge, size_t bytes)
{
    pthread_mutex_lock(&core->mutex);
    bool fits = bytes <= core->limits.request_bytes_max - core->large_bytes;
    if (fits) {
        core->large_bytes += bytes;
        core->small_bytes -= charge->small;
        *charge = (struct charge){.large = bytes};
    }
    pthread_mutex_unlock(&core->mutex);
    return fits;
}

static void count_held(struct rpc_core *core, int change)
{
    pthread_mutex_lock(&core->mutex);
    core->stats.held_back += (unsigned)change;
    pthread_mutex_unlock(&core->mutex);
}

void core_hold(struct rpc_core *core, struct stream *stream)
{
    stream->held = true;
    stream->held_next = NULL;
    if (core->held_last)
        core->held_last->held_next = stream;
    else
        core->held_first = stream;
    core->held_last = stream;
    count_held(core, 1);
}

void core_unhold(struct rpc_core *core, struct stream *stream)
{
    if (!stream->held)
        return;
    struct stream *before = NULL;
    for (struct stream *s = core->held_first; s != stream; s = s->held_next)
        before = s;
    if (before)
        before->held_next = stream->held_next;
    else
        core->held_first = stream->held_next;
    if (core->held_last == stream)
        core->held_last = before;
    stream->held = false;
    count_held(core, -1);
}

void core_admit(struct rpc_core *core)
{
    /* In order of arrival, so that a large message is not overtaken for ever. */
    struct stream *stream;
    while ((stream = core->held_first) &&
           charge_large(core, &stream->charge, stream->message_len)) {
        core_unhold(core, stream);
        stream_admitted(stream);
    }
}

/* ---- answers ---- */

void core_count_failure(struct rpc_core *core)
{
    pthread_mutex_lock(&core->mutex);
    core->stats.calls_failed++;
    pthread_mutex_unlock(&core->mutex);
}

static void deliver(struct rpc_call *call)
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
        core_count_failure(call->core);
        stream_finish(stream, call->code, "%s", call->text);
    }
}

void core_process(struct rpc_core *core)
{
    pthread_mutex_lock(&core->mutex);
    struct rpc_call *newest = core->answered;
    core->answered = NULL;
    pthread_mutex_unlock(&core->mutex);

    struct rpc_call *oldest = NULL;
    while (newest) {
        struct rpc_call *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest) {
        struct rpc_call *next = oldest->next;
        deliver(oldest);
        call_free(oldest);
        oldest = next;
    }
    core_admit(core);
}
