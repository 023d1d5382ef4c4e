#include "waterfall/live.h"

#include "base/mem.h"
#include "waterfall/analyse.h"
#include "waterfall/render.h"

enum cuzk_status waterfall_live_page(struct trace *trace, struct text *out, struct cuzk_error *err)
{
    struct trace_record *records = NULL;
    size_t count = 0;
    struct waterfall_log log = {0};
    struct waterfall_report report = {0};
    const struct waterfall_style style = {.live = true};
    enum cuzk_status status = trace_history(trace, &records, &count, err);
    if (status == CUZK_OK)
        status = waterfall_log_add_records(&log, records, count, err);
    if (status == CUZK_OK)
        status = waterfall_analyse(&log, NULL, &report, err);
    if (status == CUZK_OK)
        waterfall_render_html(&report, &style, out);
    waterfall_report_free(&report);
    waterfall_log_free(&log);
    mem_free(records);
    return status;
}
