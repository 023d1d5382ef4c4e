/* A call of the service and what its methods share: decoding, answering, and the threads' queues.
   Private to the files service*.c. */
#ifndef CUZK_PROGRAM_SERVICE_CALL_H
#define CUZK_PROGRAM_SERVICE_CALL_H

#include "service.h"

#include <protobuf-c/protobuf-c.h>
#include <stdatomic.h>

/* What the methods need of the service. */
struct service_context {
    struct cuzk_engine *engine;
    struct trace *trace; /* may be NULL */
    bool cancel_on_disconnect;
};

/* One call, from the server's thread to its answer. */
struct service_call {
    const struct service_context *context;
    struct rpc_call *rpc;
    void (*serve)(struct service_call *call);
    uint64_t received_ns; /* when the whole message was there */
    /* Prove only: whether the client no longer waits, and the job to cancel then. */
    _Atomic bool abandoned;
    char job_id[CUZK_JOB_ID_BYTES];
    atomic_uint references; /* the queue, the server, and a wait for a proof */
};

/* Gives a reference back; the last one frees the call. The argument is a struct service_call. */
void service_release_call(void *call);

/* The request message of the call's type, free with message_free. NULL: the message was malformed,
   and the call is answered. */
void *service_decode(struct service_call *call, const ProtobufCMessageDescriptor *descriptor);

/* Answers the call with the message if status is CUZK_OK, otherwise with err. */
void service_answer(struct service_call *call, enum cuzk_status status,
                    const ProtobufCMessage *message, const struct cuzk_error *err);

/* Answers the call with an error. */
void service_fail(struct service_call *call, const struct cuzk_error *err);

/* The methods of cuzk.v1.ProvingEngine and cuzk.v1.Timeline: each decodes the message, calls the
   engine and answers. */
void serve_submit(struct service_call *call);
void serve_await(struct service_call *call);
void serve_prove(struct service_call *call);
void serve_cancel(struct service_call *call);
void serve_status(struct service_call *call);
void serve_metrics(struct service_call *call);
void serve_preload(struct service_call *call);
void serve_evict(struct service_call *call);
void serve_mark(struct service_call *call);

/* The client of a Prove no longer waits. The argument is a struct service_call. */
void abandon_prove(void *call, enum rpc_code reason);

#endif
