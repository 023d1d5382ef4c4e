/* The page of what a running daemon does. */
#ifndef WATERFALL_LIVE_H
#define WATERFALL_LIVE_H

#include "base/text.h"
#include "trace/event.h"

/* Appends the history of a recorder as an HTML page that can reload itself. NULL is a recorder
   without events. */
enum cuzk_status waterfall_live_page(struct trace *trace, struct text *out, struct cuzk_error *err);

#endif
