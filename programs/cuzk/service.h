/* The eight methods of cuzk.v1.ProvingEngine and the one method of cuzk.v1.Timeline: they turn wire
   messages into engine calls and results into messages, nothing else. */
#ifndef CUZK_PROGRAM_SERVICE_H
#define CUZK_PROGRAM_SERVICE_H

#include "rpc/rpc.h"
#include "trace/event.h"

#include <cuzk/engine.h>

struct service;

/* How many methods there are. */
enum { SERVICE_METHOD_COUNT = 9 };

/* Starts the threads that serve calls. The engine and the trace (may be NULL) outlive the service.
   cancel_on_disconnect: when a client of Prove goes away, its job is cancelled. CUZK_NO_MEMORY. */
enum cuzk_status service_create(struct cuzk_engine *engine, struct trace *trace,
                                bool cancel_on_disconnect, struct service **out,
                                struct cuzk_error *err);

/* The method table for rpc_server_start; valid as long as the service. */
const struct rpc_method *service_methods(const struct service *service);

/* Ends the threads and frees the service. NULL is allowed. The server must be stopped, and the
   engine closed or idle: calls that still wait are answered with UNAVAILABLE. */
void service_free(struct service *service);

#endif
