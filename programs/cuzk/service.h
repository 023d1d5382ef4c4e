/* The eight methods of cuzk.v1.ProvingEngine and the one of cuzk.v1.Timeline: wire messages to
   engine calls and back, nothing else. */
#ifndef CUZK_PROGRAM_SERVICE_H
#define CUZK_PROGRAM_SERVICE_H

#include "rpc/rpc.h"
#include "trace/event.h"

#include <cuzk/engine.h>

struct service;

/* How many methods there are. */
enum { SERVICE_METHOD_COUNT = 9 };

/* Starts the threads that serve calls. The engine and the timeline (may be NULL) outlive the
   service. cancel_on_disconnect: a client of Prove that goes away takes its job with it. */
enum cuzk_status service_create(struct cuzk_engine *engine, struct trace *trace,
                                bool cancel_on_disconnect, struct service **out,
                                struct cuzk_error *err);

/* The method table for rpc_server_start; valid as long as the service. */
const struct rpc_method *service_methods(const struct service *service);

/* Ends the threads. To be called when the server is stopped and the engine is closed or idle: calls
   still waiting are answered with UNAVAILABLE. */
void service_free(struct service *service);

#endif
