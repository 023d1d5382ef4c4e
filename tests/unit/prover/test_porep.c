/* Real PoReps of 2 KiB sectors through the engine and the one-shot calls, on the processor. Needs
   the 2 KiB development parameters, which tools/dev-params makes. */
#include "support/support.h"
#include "fake_work/fake.h"

#include "base/mem.h"

#include <cuzk/engine.h>
#include <cuzk/prove.h>
#include <cuzk/verify.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static enum cuzk_status submit(struct cuzk_engine *engine, const uint8_t *c1, size_t len,
                               struct cuzk_request request, char job_id[CUZK_JOB_ID_BYTES],
                               struct cuzk_error *err)
{
    const uint8_t *payloads[1] = {c1};
    size_t lens[1] = {len};
    request.kind = request.kind ? request.kind : CUZK_POREP;
    request.payloads = payloads;
    request.payload_lens = lens;
    request.n_payloads = 1;
    return cuzk_engine_submit(engine, &request, job_id, NULL, NULL, err);
}

/* A process takes the job and dies by SIGKILL; gives the job's id. */
static void submit_and_die(const struct cuzk_engine_options *options, const uint8_t *c1, size_t len,
                           const struct cuzk_request *request, char id[CUZK_JOB_ID_BYTES])
{
    int report[2];
    assert_int_equal(pipe(report), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct cuzk_engine *engine;
        struct cuzk_error err;
        assert_ok(cuzk_engine_open(options, &engine, &err), err);
        assert_ok(submit(engine, c1, len, *request, id, &err), err);
        assert_int_equal(write(report[1], id, CUZK_JOB_ID_BYTES), CUZK_JOB_ID_BYTES);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(read(report[0], id, CUZK_JOB_ID_BYTES), CUZK_JOB_ID_BYTES);
    close(report[0]);
    close(report[1]);
}

static void remove_tree(const char *folder)
{
    char command[200];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    FILE *pipe = popen(command, "r");
    assert_int_equal(pclose(pipe), 0);
}

/* From the storage system's wrapper to a proof that verifies, over the death of the daemon. */
static void a_real_c1_becomes_a_proof_whatever_happens(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("SKIP: a proof takes too long with sanitizers\n");
    skip();
#endif
    const char *params = dev_params_or_skip();
    size_t len;
    uint8_t *c1 = vector_read_or_skip("reference/porep-2k/c1-wrapped.json", &len);
    char folder[] = "/tmp/cuzk-porep-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const struct cuzk_engine_options options = {
        .param_cache = params, .backend = "cpu", .state_dir = folder};
    const struct cuzk_request request = {.request_id = "porep-1000-42",
                                         .sector_bytes = 2048,
                                         .registered_proof = 5,
                                         .has_sector_number = true,
                                         .sector_number = 42,
                                         .has_miner_id = true,
                                         .miner_id = 1000};
    struct cuzk_error err;
    char id[CUZK_JOB_ID_BYTES];
    struct fake_result result;
    submit_and_die(&options, c1, len, &request, id);
    struct cuzk_engine *engine;
    assert_ok(cuzk_engine_open(&options, &engine, &err), err);
    fake_await(engine, id, 0, &result);
    assert_string_equal(result.error.text, "");
    assert_int_equal(result.outcome, CUZK_JOB_COMPLETED);
    assert_int_equal(result.proof_len, 192);
    assert_true(result.device_ms > 0 && result.total_ms >= result.device_ms);
    const struct cuzk_verify_options verifying = {.param_cache = params};
    assert_ok(cuzk_verify_c1(&verifying, c1, len, result.proof, result.proof_len, &err), err);
    char *json = cuzk_engine_status_json(engine);
    assert_non_null(strstr(json, "\"circuit_id\":\"porep-2k\""));
    assert_non_null(strstr(json, "\"development\":true"));
    cuzk_text_free(json);
    cuzk_engine_close(engine);
    remove_tree(folder);
    mem_free(c1);
}

/* What is wrong is said by name, before any proving. */
static void wrong_requests_fail_fast(void **state)
{
    (void)state;
    const char *params = dev_params_or_skip();
    size_t len;
    uint8_t *c1 = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    const struct cuzk_engine_options options = {.param_cache = params, .backend = "cpu"};
    struct cuzk_engine *engine;
    struct cuzk_error open_err;
    assert_ok(cuzk_engine_open(&options, &engine, &open_err), open_err);
    static const struct {
        struct cuzk_request request;
        enum cuzk_status refused; /* at once, or CUZK_OK */
        const char *text;
    } cases[] = {
        {{.kind = CUZK_WINNING_POST}, CUZK_INVALID_ARGUMENT, "randomness: missing"},
        {{.sector_bytes = 3000}, CUZK_INVALID_ARGUMENT, "sector_size"},
        {{.sector_bytes = 8 << 20}, CUZK_BAD_PARAMS, "porep-8m"},
        {{.registered_proof = 1000}, CUZK_INVALID_ARGUMENT, "registered_proof"},
        {{.registered_proof = 3, .sector_bytes = 2048}, CUZK_INVALID_ARGUMENT, "sector_size"},
        {{.has_miner_id = true, .miner_id = 1000, .has_sector_number = true, .sector_number = 43},
         CUZK_OK,
         "replica_id"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char id[CUZK_JOB_ID_BYTES];
        struct cuzk_error err = {CUZK_OK, ""};
        struct fake_result result;
        enum cuzk_status status = submit(engine, c1, len, cases[i].request, id, &err);
        assert_int_equal(status, cases[i].refused);
        if (status == CUZK_OK) {
            fake_await(engine, id, 0, &result);
            assert_int_equal(result.outcome, CUZK_JOB_FAILED);
            err = result.error;
            assert_int_equal(err.status, CUZK_INVALID_ARGUMENT);
        }
        if (!strstr(err.text, cases[i].text))
            fail_msg("case %zu: '%s' does not name %s", i, err.text, cases[i].text);
    }
    cuzk_engine_close(engine);
    mem_free(c1);
}

static void a_simulation_never_completes_a_job(void **state)
{
    (void)state;
    const char *params = dev_params_or_skip();
    size_t len;
    uint8_t *c1 = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    struct cuzk_engine_options options = {
        .param_cache = params, .backend = "sim", .sim_timing = "prove_ms=1"};
    struct cuzk_engine *engine;
    struct cuzk_error err;
    char id[CUZK_JOB_ID_BYTES];
    struct fake_result result;
    assert_ok(cuzk_engine_open(&options, &engine, &err), err);
    assert_ok(submit(engine, c1, len, (struct cuzk_request){0}, id, &err), err);
    fake_await(engine, id, 0, &result);
    assert_int_equal(result.outcome, CUZK_JOB_FAILED);
    assert_non_null(strstr(result.error.text, "simulation"));
    assert_int_equal(result.proof_len, 0);
    cuzk_engine_close(engine);
    mem_free(c1);
}

/* Another half minute on two cores, so only in the long tier. */
static void one_call_proves_and_another_verifies(void **state)
{
    (void)state;
    if (!getenv("CUZK_TEST_LONG")) {
        print_message("SKIP: a second proof (CUZK_TEST_LONG=1)\n");
        skip();
    }
    const char *params = dev_params_or_skip();
    size_t len;
    uint8_t *c1 = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    const struct cuzk_verify_options verifying = {.param_cache = params};
    struct cuzk_prove_options options = {.param_cache = params, .backend = "cpu"};
    struct cuzk_phase_times times;
    struct cuzk_error err;
    uint8_t *proof;
    size_t proof_len;
    assert_ok(cuzk_prove_c1(&options, c1, len, &proof, &proof_len, &times, &err), err);
    assert_int_equal(proof_len, 192);
    assert_true(times.msm_ns > 0 && times.ntt_ns > 0 && times.eval_ns > 0);
    assert_true(times.msm_ns + times.ntt_ns + times.eval_ns <= times.device_ns);
    assert_true(times.peak_rss_bytes > 0);
    print_message(
        "2 KiB PoRep: parse %.3f s, circuit %.3f, parameters %.3f, synthesis %.3f, rows %.3f,"
        " quotient %.3f, sums %.3f, finish %.3f, verify %.3f, total %.2f, cpu %.2f\n",
        (double)times.parse_ns / 1e9, (double)times.shape_ns / 1e9, (double)times.params_ns / 1e9,
        (double)times.synthesis_ns / 1e9, (double)times.eval_ns / 1e9, (double)times.ntt_ns / 1e9,
        (double)times.msm_ns / 1e9, (double)times.finish_ns / 1e9, (double)times.verify_ns / 1e9,
        (double)times.total_ns / 1e9, (double)times.cpu_ns / 1e9);
    assert_ok(cuzk_verify_c1(&verifying, c1, len, proof, proof_len, &err), err);
    proof[191] ^= 1;
    enum cuzk_status status = cuzk_verify_c1(&verifying, c1, len, proof, proof_len, &err);
    assert_true(status == CUZK_VERIFY_FAILED || status == CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "partition 0"));
    assert_int_equal(cuzk_verify_c1(&verifying, c1, len, proof, 191, &err), CUZK_INVALID_ARGUMENT);
    cuzk_proof_free(proof);
    mem_free(c1);
}

static void synthesis_has_the_known_digests(void **state)
{
    (void)state;
    size_t len;
    uint8_t *c1 = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    size_t known_len;
    char *known = (char *)vector_read_or_skip("reference/porep-2k/witness.sha256", &known_len);
    struct cuzk_synth_options options = {.digests = true, .iterations = 2};
    struct cuzk_synth_report report;
    struct cuzk_error err;
    assert_ok(cuzk_synth_c1(&options, c1, len, &report, &err), err);
    const struct {
        const char *key;
        const uint8_t *digest;
    } digests[] = {{"inputs_sha256 ", report.inputs_sha256},
                   {"aux_sha256 ", report.aux_sha256},
                   {"a_sha256 ", report.a_sha256},
                   {"b_sha256 ", report.b_sha256},
                   {"c_sha256 ", report.c_sha256}};
    for (size_t i = 0; i < sizeof digests / sizeof *digests; i++) {
        char *at = strstr(known, digests[i].key);
        assert_non_null(at);
        at += strlen(digests[i].key);
        at[64] = '\0';
        assert_hex_equal(digests[i].digest, 32, at);
        at[64] = '\n';
    }
    assert_true(report.witness_bytes > 0 && report.shape_bytes > 0 && report.synthesis_ns > 0);
    options.partition = 1;
    assert_int_equal(cuzk_synth_c1(&options, c1, len, &report, &err), CUZK_INVALID_ARGUMENT);
    mem_free(known);
    mem_free(c1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(synthesis_has_the_known_digests),
        cmocka_unit_test(wrong_requests_fail_fast),
        cmocka_unit_test(a_simulation_never_completes_a_job),
        cmocka_unit_test(one_call_proves_and_another_verifies),
        cmocka_unit_test(a_real_c1_becomes_a_proof_whatever_happens),
    };
    return cmocka_run_group_tests_name("porep", tests, NULL, NULL);
}
