/* Marks in the timeline: a client says where a run begins and ends. */
#include "service_call.h"

#include "base/error.h"
#include "rpc/message.h"

#include <cuzk/v1/timeline.pb-c.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_MAX = 64 };

static bool is_label(const char *text)
{
    size_t len = strnlen(text, LABEL_MAX + 1);
    for (size_t i = 0; i < len; i++) {
        if (text[i] < ' ' || text[i] > '~')
            return false;
    }
    return len >= 1 && len <= LABEL_MAX;
}

/* The client's words become one detail of the event; characters that would end the detail are
   replaced. */
static void format_run(const Cuzk__V1__MarkRunRequest *run, char text[TRACE_TEXT_BYTES])
{
    int at =
        snprintf(text, TRACE_TEXT_BYTES, "count=%u,concurrency=%u", run->count, run->concurrency);
    if (!*run->config)
        return;
    at += snprintf(text + at, TRACE_TEXT_BYTES - (size_t)at, ",config=");
    snprintf(text + at, TRACE_TEXT_BYTES - (size_t)at, "%s", run->config);
    for (char *c = text + at; *c; c++) {
        if (*c <= ' ' || *c > '~' || strchr(",=%", *c))
            *c = '_';
    }
}

static enum cuzk_status check_run(const Cuzk__V1__MarkRunRequest *run, struct cuzk_error *err)
{
    if (!is_label(run->label))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "label: expected 1 to %d printable ASCII characters", LABEL_MAX);
    if (run->edge != CUZK__V1__MARK_RUN_REQUEST__EDGE__START &&
        run->edge != CUZK__V1__MARK_RUN_REQUEST__EDGE__END)
        return error_set(err, CUZK_INVALID_ARGUMENT, "edge: expected 1 (start) or 2 (end)");
    return CUZK_OK;
}

static void record_mark(const struct service_context *context, const Cuzk__V1__MarkRunRequest *run)
{
    struct trace_scope scope = TRACE_SCOPE(context->trace, run->label);
    if (run->edge == CUZK__V1__MARK_RUN_REQUEST__EDGE__START) {
        char text[TRACE_TEXT_BYTES];
        format_run(run, text);
        trace_emit_text(&scope, TRACE_RUN_START, -1, text);
        return;
    }
    /* The engine's thread records the last reply. When it answers this call, the reply is
       recorded. */
    cuzk_engine_wait_idle(context->engine, 0);
    trace_emit(&scope, TRACE_RUN_END, -1);
    trace_flush(context->trace);
}

void serve_mark(struct service_call *call)
{
    Cuzk__V1__MarkRunRequest *request =
        service_decode(call, &cuzk__v1__mark_run_request__descriptor);
    if (!request)
        return;
    Cuzk__V1__MarkRunResponse response = CUZK__V1__MARK_RUN_RESPONSE__INIT;
    struct cuzk_error err = {0};
    enum cuzk_status status = check_run(request, &err);
    if (status == CUZK_OK)
        record_mark(call->context, request);
    service_answer(call, status, &response.base, &err);
    message_free(&request->base);
}
