/* The engine's public calls. */
#include <cuzk/engine.h>

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

enum cuzk_status cuzk_engine_open(const struct cuzk_engine_options *options,
                                  struct cuzk_engine **out, struct cuzk_error *err)
{
    (void)options;
    *out = NULL;
    return error_set(err, CUZK_UNAVAILABLE, "the engine is being built");
}
void cuzk_engine_drain(struct cuzk_engine *engine, bool finish_queued)
{
    (void)engine;
    (void)finish_queued;
}
bool cuzk_engine_wait_idle(struct cuzk_engine *engine, uint64_t timeout_ms)
{
    (void)engine;
    (void)timeout_ms;
    return true;
}
void cuzk_engine_close(struct cuzk_engine *engine)
{
    (void)engine;
}
enum cuzk_status cuzk_engine_submit(struct cuzk_engine *engine, const struct cuzk_request *request,
                                    char job_id[CUZK_JOB_ID_BYTES], uint32_t *queue_position,
                                    bool *attached, struct cuzk_error *err)
{
    (void)engine;
    (void)request;
    (void)job_id;
    (void)queue_position;
    (void)attached;
    return error_set(err, CUZK_UNAVAILABLE, "the engine is being built");
}
enum cuzk_status cuzk_engine_watch(struct cuzk_engine *engine, const char *job_id,
                                   uint64_t timeout_ms, cuzk_result_fn *fn, void *context,
                                   uint64_t *watch, struct cuzk_error *err)
{
    (void)engine;
    (void)job_id;
    (void)timeout_ms;
    (void)fn;
    (void)context;
    (void)watch;
    return error_set(err, CUZK_NOT_FOUND, "no job");
}
bool cuzk_engine_unwatch(struct cuzk_engine *engine, uint64_t watch)
{
    (void)engine;
    (void)watch;
    return false;
}
enum cuzk_status cuzk_engine_cancel(struct cuzk_engine *engine, const char *job_id,
                                    bool *was_running, struct cuzk_error *err)
{
    (void)engine;
    (void)job_id;
    (void)was_running;
    return error_set(err, CUZK_NOT_FOUND, "no job");
}
enum cuzk_status cuzk_engine_preload(struct cuzk_engine *engine, const char *circuit_id,
                                     bool *already_loaded, uint64_t *load_ms,
                                     struct cuzk_error *err)
{
    (void)engine;
    (void)circuit_id;
    (void)already_loaded;
    (void)load_ms;
    return error_set(err, CUZK_UNAVAILABLE, "the engine is being built");
}
enum cuzk_status cuzk_engine_evict(struct cuzk_engine *engine, const char *circuit_id,
                                   bool *was_loaded, uint64_t *freed_bytes, struct cuzk_error *err)
{
    (void)engine;
    (void)circuit_id;
    (void)was_loaded;
    (void)freed_bytes;
    return error_set(err, CUZK_UNAVAILABLE, "the engine is being built");
}
enum cuzk_status cuzk_engine_snapshot(struct cuzk_engine *engine, struct cuzk_snapshot *out,
                                      struct cuzk_error *err)
{
    (void)engine;
    *out = (struct cuzk_snapshot){ 0 };
    (void)err;
    return CUZK_OK;
}
void cuzk_snapshot_free(struct cuzk_snapshot *snapshot)
{
    (void)snapshot;
}
char *cuzk_engine_metrics_text(struct cuzk_engine *engine)
{
    (void)engine;
    return NULL;
}
char *cuzk_engine_status_json(struct cuzk_engine *engine)
{
    (void)engine;
    return NULL;
}
void cuzk_text_free(char *text)
{
    mem_free(text);
}
