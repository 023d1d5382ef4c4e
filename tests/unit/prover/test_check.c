/* Real 32 GiB PoRep input through the engine, where each partition is checked when its turn comes:
   what is wrong in one of them ends its job and nothing else. Devices and parameters are made
   up. */
#include "support/sparse.h"
#include "support/support.h"
#include "fake_work/fake.h"

#include "prover/real.h"
#include "waterfall/analyse.h"

#include "base/error.h"
#include "base/mem.h"
#include "vanilla/c1.h"

#include <cuzk/engine.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITIONS = 10 };

static struct text right;
static struct text wrong_at_the_end; /* partition 9, the last challenge */
static struct text wrong_twice;      /* partitions 4 and 9 */
static struct shape *shape;
static struct pool *pool;
static atomic_uint witnesses; /* alive */
static atomic_uint proved;    /* partitions, ever */
static char folder[] = "/tmp/cuzk-check-XXXXXX";

/* --- Input ------------------------------------------------------------------------- */

static int set_up(void **state)
{
    (void)state;
    struct sparse_sector sector;
    struct cuzk_error err;
    assert_ok(sparse_make(&sector, seal_proof_by_number(8), NULL, &err), err);
    assert_ok(sparse_write(&sector, add_text, &right, &err), err);
    spoil(&sector, 9, 17);
    assert_ok(sparse_write(&sector, add_text, &wrong_at_the_end, &err), err);
    spoil(&sector, 4, 2);
    assert_ok(sparse_write(&sector, add_text, &wrong_twice, &err), err);
    sparse_free(&sector);
    assert_ok(circuit_shape(circuit_by_id("porep-32g"), &shape, &err), err);
    pool = pool_new(2);
    assert_non_null(pool);
    return mkdtemp(folder) ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    pool_free(pool);
    shape_free(shape);
    text_free(&right);
    text_free(&wrong_at_the_end);
    text_free(&wrong_twice);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    FILE *pipe = popen(command, "r");
    return pipe && pclose(pipe) == 0 ? 0 : 1;
}

/* The answer to a partition, or to the whole C1 (PARTITIONS), without an engine. */
static struct cuzk_error fault_of(const struct text *text, unsigned partition)
{
    struct c1 *c1;
    struct cuzk_error err;
    assert_ok(c1_parse_parallel(text->data, text->len, pool, &c1, &err), err);
    assert_int_equal(partition < PARTITIONS ? c1_check_partition(c1, partition, pool, &err)
                                            : c1_check(c1, NULL, pool, &err),
                     CUZK_INVALID_ARGUMENT);
    c1_free(c1);
    return err;
}

/* --- The work ---------------------------------------------------------------------- */

static enum cuzk_status admit(void *context, const struct request *request,
                              char circuit_id[WORK_CIRCUIT_ID_BYTES], struct cuzk_error *err)
{
    (void)context;
    (void)request;
    (void)err;
    circuit_id[0] = '\0';
    return CUZK_OK;
}

static enum cuzk_status synthesize(struct work *work, struct loaded *loaded,
                                   const struct work_span *span, void **witness,
                                   struct cuzk_error *err)
{
    struct witness *made = mem_zalloc(1, sizeof *made);
    (void)loaded;
    assert_non_null(made);
    enum cuzk_status status = porep_synthesize_part(work, shape, span, pool, made, err);
    if (status != CUZK_OK) {
        mem_free(made);
        return status;
    }
    atomic_fetch_add(&witnesses, 1);
    *witness = made;
    return CUZK_OK;
}

static void free_witness(void *witness)
{
    witness_free(witness);
    mem_free(witness);
    atomic_fetch_sub(&witnesses, 1);
}

static enum cuzk_status prove(struct work *work, struct loaded *loaded, void *witness,
                              const struct work_span *span, uint8_t proof[CUZK_PROOF_BYTES],
                              uint64_t *device_ns, struct cuzk_error *err)
{
    (void)work;
    (void)loaded;
    (void)witness;
    (void)err;
    trace_emit(&span->scope, TRACE_GPU_START, -1);
    memset(proof, (int)span->partition + 1, CUZK_PROOF_BYTES);
    *device_ns = 1;
    atomic_fetch_add(&proved, 1);
    trace_emit(&span->scope, TRACE_GPU_END, -1);
    return CUZK_OK;
}

static enum cuzk_status verify(struct work *work, struct loaded *loaded, unsigned partition,
                               const uint8_t proof[CUZK_PROOF_BYTES], struct cuzk_error *err)
{
    (void)work;
    (void)loaded;
    return proof[0] == partition + 1 ? CUZK_OK : error_set(err, CUZK_VERIFY_FAILED, "mixed up");
}

static enum cuzk_status verify_all(struct work *work, struct loaded *loaded, const uint8_t *proofs,
                                   struct cuzk_error *err)
{
    for (unsigned p = 0; p < work->n_partitions; p++)
        TRY(verify(work, loaded, p, proofs + (size_t)p * CUZK_PROOF_BYTES, err));
    return CUZK_OK;
}

static enum cuzk_status load(void *context, const char *circuit_id, struct loaded **out,
                             struct cuzk_error *err)
{
    (void)context;
    (void)err;
    assert_string_equal(circuit_id, "porep-32g");
    *out = mem_zalloc(1, sizeof **out);
    assert_non_null(*out);
    snprintf((*out)->circuit_id, sizeof(*out)->circuit_id, "%s", circuit_id);
    (*out)->devices = 1;
    return CUZK_OK;
}

static enum cuzk_status check(const struct loaded *loaded, struct cuzk_error *err)
{
    (void)loaded;
    (void)err;
    return CUZK_OK;
}

static void unload(struct loaded *loaded)
{
    mem_free(loaded);
}

static const struct work_ops ops = {
    .admit = admit,
    .parse = porep_parse,
    .synthesize = synthesize,
    .witness_free = free_witness,
    .prove = prove,
    .verify = verify,
    .verify_all = verify_all,
    .work_free = porep_free,
    .load = load,
    .check = check,
    .unload = unload,
};

static struct cuzk_engine *open_engine(struct real *real, unsigned synthesis_workers,
                                       const char *state_dir, struct trace *trace)
{
    static const struct work_device device = {"made up", "none"};
    const struct work_setup setup = {
        .ops = &ops, .context = real, .devices = &device, .n_devices = 1};
    const struct cuzk_engine_options options = {
        .synthesis_concurrency = synthesis_workers,
        .memory_budget_bytes = UINT64_C(1) << 40,
        .state_dir = state_dir,
        .trace = trace,
    };
    struct cuzk_engine *engine;
    struct cuzk_error err;
    assert_ok(engine_open(&options, &setup, &engine, &err), err);
    return engine;
}

static void submit(struct cuzk_engine *engine, const struct text *text,
                   char job_id[CUZK_JOB_ID_BYTES])
{
    const uint8_t *payload = (const uint8_t *)text->data;
    const struct cuzk_request request = {
        .kind = CUZK_POREP, .payloads = &payload, .payload_lens = &text->len, .n_payloads = 1};
    struct cuzk_error err;
    assert_ok(cuzk_engine_submit(engine, &request, job_id, NULL, NULL, &err), err);
}

/* --- Tests ------------------------------------------------------------------------- */

static void assert_failed_with(const struct fake_result *result, const struct cuzk_error *fault)
{
    assert_int_equal(result->outcome, CUZK_JOB_FAILED);
    assert_int_equal(result->error.status, fault->status);
    assert_string_equal(result->error.text, fault->text);
    assert_int_equal(result->proof_len, 0);
}

static void assert_complete(const struct fake_result *result)
{
    assert_int_equal(result->outcome, CUZK_JOB_COMPLETED);
    assert_int_equal(result->proof_len, PARTITIONS * CUZK_PROOF_BYTES);
    for (unsigned p = 0; p < PARTITIONS; p++)
        assert_int_equal(result->proof[p * CUZK_PROOF_BYTES], p + 1);
}

/* Every span that began has ended, the check of each partition inside its synthesis; nothing was
   tried again. */
static void assert_told_whole(struct trace *trace, const char *bad, const char *good)
{
    struct trace_record *records;
    struct waterfall_log log = {0};
    struct waterfall_report report;
    struct cuzk_error err;
    size_t n;
    unsigned syntheses = 0, checks = 0;
    trace_flush(trace);
    assert_ok(trace_history(trace, &records, &n, &err), err);
    for (size_t i = 0; i < n; i++) {
        assert_int_not_equal(records[i].kind, TRACE_RETRY);
        if (strcmp(records[i].label, bad) == 0 && records[i].partition == 9)
            assert_int_not_equal(records[i].kind, TRACE_CHAN_SEND);
        syntheses += records[i].kind == TRACE_SYNTH_START;
        checks += records[i].kind == TRACE_CHECK_START;
    }
    assert_int_equal(syntheses, 2 * PARTITIONS);
    assert_int_equal(checks, 2 * PARTITIONS);
    assert_ok(waterfall_log_add_records(&log, records, n, &err), err);
    assert_ok(waterfall_analyse(&log, NULL, &report, &err), err);
    assert_int_equal(report.unpaired_count, 0);
    for (size_t j = 0; j < report.job_count; j++) {
        const struct waterfall_job *job = &report.jobs[j];
        assert_int_equal(job->complete, strcmp(job->label, good) == 0);
        for (size_t i = report.job_intervals[j]; i < report.job_intervals[j + 1]; i++) {
            const struct waterfall_interval *interval = &report.intervals[i];
            if (interval->span != TRACE_SPAN_CHECK)
                continue;
            const struct waterfall_partition *p =
                &report.partitions[job->partitions + (size_t)interval->partition];
            assert_int_equal(p->index, interval->partition);
            assert_true(p->synth_start_us <= interval->start_us &&
                        interval->end_us <= p->synth_end_us);
        }
        if (job->complete)
            assert_true(job->split_us[WATERFALL_PART_CHECK] > 0);
    }
    waterfall_report_free(&report);
    waterfall_log_free(&log);
    mem_free(records);
}

/* Nine of its partitions are made before the last one is looked at. None of them leaves, a job
   beside it is not disturbed, and a later process tells the same. */
static void the_last_partition_is_wrong(void **state)
{
    (void)state;
    const size_t before = mem_used_bytes();
    const struct trace_options recording = {.fd = -1, .history_events = 4096};
    const struct cuzk_error fault = fault_of(&wrong_at_the_end, PARTITIONS);
    struct trace *trace;
    struct real real = {.pool = pool};
    struct cuzk_error err;
    char bad[CUZK_JOB_ID_BYTES], good[CUZK_JOB_ID_BYTES];
    struct fake_result result;
    assert_non_null(strstr(fault.text, "C1: partition 9, challenge 17 (node "));
    assert_ok(trace_create(&recording, &trace, &err), err);
    struct cuzk_engine *engine = open_engine(&real, 1, folder, trace);
    atomic_store(&proved, 0);
    submit(engine, &wrong_at_the_end, bad);
    submit(engine, &right, good);
    fake_await(engine, bad, 0, &result);
    assert_failed_with(&result, &fault);
    assert_true(atomic_load(&proved) > 0);
    fake_await(engine, good, 0, &result);
    assert_complete(&result);
    assert_true(cuzk_engine_wait_idle(engine, 60000));
    assert_int_equal(atomic_load(&witnesses), 0);
    cuzk_engine_close(engine);
    assert_told_whole(trace, bad, good);
    trace_destroy(trace);

    engine = open_engine(&real, 1, folder, NULL);
    fake_await(engine, bad, 0, &result);
    assert_failed_with(&result, &fault);
    fake_await(engine, good, 0, &result);
    assert_complete(&result);
    cuzk_engine_close(engine);
    assert_int_equal(mem_used_bytes(), before);
}

/* With several synthesis workers the fault that is found first is told, whole. */
static void two_partitions_are_wrong(void **state)
{
    (void)state;
    const size_t before = mem_used_bytes();
    const struct cuzk_error faults[] = {fault_of(&wrong_twice, 4), fault_of(&wrong_twice, 9)};
    struct real real = {.pool = pool};
    char id[CUZK_JOB_ID_BYTES];
    struct fake_result result;
    struct cuzk_engine *engine = open_engine(&real, PARTITIONS, NULL, NULL);
    submit(engine, &wrong_twice, id);
    fake_await(engine, id, 0, &result);
    assert_failed_with(&result, &faults[strcmp(result.error.text, faults[0].text) != 0]);
    cuzk_engine_close(engine);
    assert_int_equal(atomic_load(&witnesses), 0);
    assert_int_equal(mem_used_bytes(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_partition_is_wrong),
        cmocka_unit_test(two_partitions_are_wrong),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
