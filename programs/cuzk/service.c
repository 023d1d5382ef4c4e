/* The table of methods, and the threads that serve their calls. */
#include "service_call.h"

#include "base/chan.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "rpc/message.h"

#include <pthread.h>

/* The server's only thread just queues the calls. FAST calls are those that the engine answers
   soon. Loading and evicting parameters may take minutes; these calls have a thread of their own,
   so that they delay no other. Waiting for a proof takes no thread: the engine calls back. */
enum service_queue { QUEUE_FAST, QUEUE_SLOW, QUEUES };
enum { FAST_THREADS = 2, SLOW_THREADS = 1, BACKLOG = 4096 };

struct method {
    const char *path;
    void (*serve)(struct service_call *call);
    enum service_queue queue;
    void (*abandon)(void *call, enum rpc_code reason); /* the client no longer waits; may be NULL */
};

static const struct method methods[SERVICE_METHOD_COUNT] = {
    {"/cuzk.v1.ProvingEngine/SubmitProof", serve_submit, QUEUE_FAST, NULL},
    {"/cuzk.v1.ProvingEngine/AwaitProof", serve_await, QUEUE_FAST, NULL},
    {"/cuzk.v1.ProvingEngine/Prove", serve_prove, QUEUE_FAST, abandon_prove},
    {"/cuzk.v1.ProvingEngine/CancelProof", serve_cancel, QUEUE_FAST, NULL},
    {"/cuzk.v1.ProvingEngine/GetStatus", serve_status, QUEUE_FAST, NULL},
    {"/cuzk.v1.ProvingEngine/GetMetrics", serve_metrics, QUEUE_FAST, NULL},
    {"/cuzk.v1.ProvingEngine/PreloadSRS", serve_preload, QUEUE_SLOW, NULL},
    {"/cuzk.v1.ProvingEngine/EvictSRS", serve_evict, QUEUE_SLOW, NULL},
    {"/cuzk.v1.Timeline/MarkRun", serve_mark, QUEUE_FAST, NULL},
};

/* A method of one service: what the server hands to the handler. */
struct entry {
    struct service *service;
    const struct method *method;
};

struct service {
    struct service_context context;
    struct entry entries[SERVICE_METHOD_COUNT];
    struct rpc_method rpc_methods[SERVICE_METHOD_COUNT];
    struct chan *queues[QUEUES];
    pthread_t threads[FAST_THREADS + SLOW_THREADS];
    unsigned n_threads;
};

/* --- Calls ------------------------------------------------------------------------------------ */

void service_release_call(void *user)
{
    struct service_call *call = user;
    if (atomic_fetch_sub(&call->references, 1) == 1)
        mem_free(call);
}

/* A kind or feature that cannot be proved is an invalid argument for a client: UNIMPLEMENTED would
   say that the method is missing. */
void service_fail(struct service_call *call, const struct cuzk_error *err)
{
    enum rpc_code code =
        err->status == CUZK_UNSUPPORTED ? RPC_INVALID_ARGUMENT : rpc_code_of_status(err->status);
    rpc_fail(call->rpc, code, "%s", err->text);
}

void service_answer(struct service_call *call, enum cuzk_status status,
                    const ProtobufCMessage *message, const struct cuzk_error *err)
{
    uint8_t *bytes;
    size_t len;
    struct cuzk_error encoding = {0};
    if (status != CUZK_OK)
        service_fail(call, err);
    else if (message_encode(message, &bytes, &len, &encoding) == CUZK_OK)
        rpc_reply(call->rpc, bytes, len);
    else
        service_fail(call, &encoding);
}

void *service_decode(struct service_call *call, const ProtobufCMessageDescriptor *descriptor)
{
    size_t len;
    const uint8_t *bytes = rpc_call_message(call->rpc, &len);
    ProtobufCMessage *message;
    struct cuzk_error err = {0};
    enum cuzk_status status = message_decode(descriptor, bytes, len, &message, &err);
    rpc_call_drop_message(call->rpc);
    if (status == CUZK_OK)
        return message;
    service_fail(call, &err);
    return NULL;
}

static void queue_call(struct rpc_call *rpc, void *user)
{
    const struct entry *entry = user;
    struct service_call *call = mem_zalloc(1, sizeof *call);
    if (!call) {
        rpc_fail(rpc, RPC_RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    call->context = &entry->service->context;
    call->rpc = rpc;
    call->received_ns = clock_now_ns();
    call->serve = entry->method->serve;
    /* One reference for the queue, one for the server's hooks. */
    atomic_init(&call->references, 2);
    rpc_call_attach(rpc, call, entry->method->abandon, service_release_call);
    if (!chan_try_send(entry->service->queues[entry->method->queue], call)) {
        rpc_fail(rpc, RPC_RESOURCE_EXHAUSTED, "%d calls are waiting already", BACKLOG);
        service_release_call(call);
    }
}

static void *serve_queue(void *argument)
{
    struct chan *queue = argument;
    struct service_call *call;
    while ((call = chan_receive(queue)) != NULL) {
        call->serve(call);
        service_release_call(call);
    }
    return NULL;
}

/* --- The service ------------------------------------------------------------------------------ */

static bool start_threads(struct service *service)
{
    for (unsigned i = 0; i < FAST_THREADS + SLOW_THREADS; i++) {
        struct chan *queue = service->queues[i < FAST_THREADS ? QUEUE_FAST : QUEUE_SLOW];
        if (pthread_create(&service->threads[i], NULL, serve_queue, queue) != 0)
            return false;
        service->n_threads++;
    }
    return true;
}

enum cuzk_status service_create(struct cuzk_engine *engine, struct trace *trace,
                                bool cancel_on_disconnect, struct service **out,
                                struct cuzk_error *err)
{
    struct service *service = mem_zalloc(1, sizeof *service);
    bool ready = service != NULL;
    for (unsigned i = 0; ready && i < QUEUES; i++)
        ready = (service->queues[i] = chan_new(BACKLOG)) != NULL;
    if (!ready || !start_threads(service)) {
        service_free(service);
        return error_set(err, CUZK_NO_MEMORY, "cannot start the service's threads");
    }
    service->context = (struct service_context){engine, trace, cancel_on_disconnect};
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        service->entries[i] = (struct entry){service, &methods[i]};
        service->rpc_methods[i] =
            (struct rpc_method){methods[i].path, queue_call, &service->entries[i]};
    }
    *out = service;
    return CUZK_OK;
}

const struct rpc_method *service_methods(const struct service *service)
{
    return service->rpc_methods;
}

void service_free(struct service *service)
{
    if (!service)
        return;
    for (unsigned i = 0; i < QUEUES; i++) {
        if (service->queues[i])
            chan_close(service->queues[i]);
    }
    for (unsigned i = 0; i < service->n_threads; i++)
        pthread_join(service->threads[i], NULL);
    for (unsigned i = 0; i < QUEUES; i++)
        chan_free(service->queues[i]);
    mem_free(service);
}
