/* Real PoReps of 2 KiB sectors through the engine on all devices of the machine: many jobs at once,
   every proof valid, every device at work. Needs the 2 KiB development parameters, which
   tools/dev-params makes. */
#include "cuda/device.h"

#include "base/mem.h"

#include <cuzk/engine.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_A_DEVICE = 8, JOBS_MAX = 128 };

struct waiter {
    sem_t arrived;
    unsigned completed;
    struct cuzk_error err;
};

/* Called on the engine's thread, one result at a time. */
static void count_result(void *context, const struct cuzk_result *result)
{
    struct waiter *waiter = context;
    if (result->outcome == CUZK_JOB_COMPLETED && result->proof_len == 192)
        waiter->completed++;
    else
        waiter->err = result->error;
    sem_post(&waiter->arrived);
}

static void submit(struct cuzk_engine *engine, unsigned number, const uint8_t *c1, size_t len,
                   struct waiter *waiter)
{
    char id[32], job_id[CUZK_JOB_ID_BYTES];
    const uint8_t *payloads[1] = {c1};
    struct cuzk_error err;
    snprintf(id, sizeof id, "job-%u", number);
    const struct cuzk_request request = {.request_id = id,
                                         .kind = CUZK_POREP,
                                         .payloads = payloads,
                                         .payload_lens = &len,
                                         .n_payloads = 1};
    assert_ok(cuzk_engine_submit(engine, &request, job_id, NULL, NULL, &err), err);
    assert_ok(cuzk_engine_watch(engine, job_id, 0, count_result, waiter, NULL, &err), err);
}

/* Every line of busy seconds names a device that was busy. */
static unsigned count_busy_devices(struct cuzk_engine *engine)
{
    static const char name[] = "\ncuzk_device_busy_seconds_total{";
    char *text = cuzk_engine_metrics_text(engine);
    unsigned n = 0;
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        n += strtod(strchr(at, '}') + 1, NULL) > 0;
    cuzk_text_free(text);
    return n;
}

static void prove_many(const char *params, uint64_t vram_budget_bytes, unsigned workers)
{
    int n_devices = 0;
    MUST(cudaGetDeviceCount(&n_devices));
    const unsigned n_jobs = (unsigned)n_devices * JOBS_A_DEVICE;
    size_t len;
    uint8_t *c1 = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    const struct cuzk_engine_options options = {.param_cache = params,
                                                .backend = "cuda",
                                                .workers_per_device = workers,
                                                .synthesis_concurrency = 2,
                                                .synthesis_lookahead = 4,
                                                .vram_budget_bytes = vram_budget_bytes};
    struct cuzk_engine *engine;
    struct cuzk_snapshot snapshot;
    struct cuzk_error err;
    struct waiter waiter = {0};
    sem_init(&waiter.arrived, 0, 0);
    assert_in_range(n_jobs, 1, JOBS_MAX);
    assert_ok(cuzk_engine_open(&options, &engine, &err), err);
    for (unsigned i = 0; i < n_jobs; i++)
        submit(engine, i, c1, len, &waiter);
    for (unsigned i = 0; i < n_jobs; i++)
        sem_wait(&waiter.arrived);
    if (waiter.completed != n_jobs)
        fail_msg("%u of %u jobs completed; one says: %s", waiter.completed, n_jobs,
                 waiter.err.text);
    assert_ok(cuzk_engine_snapshot(engine, &snapshot, &err), err);
    assert_int_equal(snapshot.n_devices, n_devices);
    assert_int_equal(snapshot.invalid_proofs, 0);
    cuzk_snapshot_free(&snapshot);
    assert_int_equal(count_busy_devices(engine), n_devices);
    cuzk_engine_close(engine);
    sem_destroy(&waiter.arrived);
    mem_free(c1);
}

static void test_jobs_share_the_devices(void **state)
{
    (void)state;
    skip_without_device();
    prove_many(dev_params_or_skip(), 0, 0);
}

/* With so little memory that the key is streamed, partitions of several jobs share a pass. */
static void test_jobs_share_a_pass(void **state)
{
    (void)state;
    skip_without_device();
    prove_many(dev_params_or_skip(), UINT64_C(800) << 20, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs_share_the_devices),
        cmocka_unit_test(test_jobs_share_a_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
