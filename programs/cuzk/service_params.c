/* Parameters: loading and evicting them on demand. */
#include "service_call.h"

#include "rpc/message.h"

#include <cuzk/v1/proving.pb-c.h>

void serve_preload(struct service_call *call)
{
    Cuzk__V1__PreloadSrsRequest *request =
        service_decode(call, &cuzk__v1__preload_srs_request__descriptor);
    if (!request)
        return;
    Cuzk__V1__PreloadSrsResponse response = CUZK__V1__PRELOAD_SRS_RESPONSE__INIT;
    struct cuzk_error err = {0};
    bool already_loaded = false;
    enum cuzk_status status = cuzk_engine_preload(call->context->engine, request->circuit_id,
                                                  &already_loaded, &response.load_time_ms, &err);
    message_free(&request->base);
    response.already_loaded = already_loaded;
    service_answer(call, status, &response.base, &err);
}

void serve_evict(struct service_call *call)
{
    Cuzk__V1__EvictSrsRequest *request =
        service_decode(call, &cuzk__v1__evict_srs_request__descriptor);
    if (!request)
        return;
    Cuzk__V1__EvictSrsResponse response = CUZK__V1__EVICT_SRS_RESPONSE__INIT;
    struct cuzk_error err = {0};
    bool was_loaded = false;
    enum cuzk_status status = cuzk_engine_evict(call->context->engine, request->circuit_id,
                                                &was_loaded, &response.freed_bytes, &err);
    message_free(&request->base);
    response.was_loaded = was_loaded;
    service_answer(call, status, &response.base, &err);
}
