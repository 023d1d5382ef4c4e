/* A kind of proof that does not exist goes through the real engine on the processor, with
   development parameters of its own: from the request to proofs that the public verifier takes. */
#include "support/support.h"
#include "fake_work/fake.h"
#include "unit/prover/kind_made_up.h"

#include <cuzk/engine.h>
#include <cuzk/params.h>
#include <cuzk/prove.h>
#include <cuzk/verify.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITIONS = 3 };

static char folder[] = "/tmp/cuzk-kind-XXXXXX";

static const uint8_t good[PARTITIONS][4] = {{3, 5, 15, 0}, {255, 255, 1, 254}, {7, 0, 0, 0}};
static const uint8_t bad[PARTITIONS][4] = {{3, 5, 15, 0}, {255, 255, 1, 254}, {7, 2, 15, 0}};

static struct cuzk_engine *open_engine(const char *backend)
{
    const struct cuzk_engine_options options = {
        .param_cache = folder, .backend = backend, .threads = 2, .synthesis_concurrency = 2};
    struct cuzk_engine *engine;
    struct cuzk_error err;
    assert_ok(cuzk_engine_open(&options, &engine, &err), err);
    return engine;
}

static enum cuzk_status submit(struct cuzk_engine *engine, enum cuzk_proof_kind kind,
                               const uint8_t factors[][4], size_t n, char id[CUZK_JOB_ID_BYTES],
                               struct cuzk_error *err)
{
    const uint8_t *payloads[16];
    size_t lens[16];
    for (size_t i = 0; i < n; i++) {
        payloads[i] = factors[i % PARTITIONS];
        lens[i] = 4;
    }
    const struct cuzk_request request = {
        .kind = kind, .payloads = payloads, .payload_lens = lens, .n_payloads = n};
    return cuzk_engine_submit(engine, &request, id, NULL, NULL, err);
}

static void a_made_up_kind_is_proved(void **state)
{
    (void)state;
    struct cuzk_engine *engine = open_engine("cpu");
    struct cuzk_error err;
    struct fake_result result;
    char id[CUZK_JOB_ID_BYTES];
    assert_ok(submit(engine, CUZK_SNAP, good, PARTITIONS, id, &err), err);
    fake_await(engine, id, 0, &result);
    assert_string_equal(result.error.text, "");
    assert_int_equal(result.outcome, CUZK_JOB_COMPLETED);
    assert_int_equal(result.proof_len, PARTITIONS * CUZK_PROOF_BYTES);
    cuzk_engine_close(engine);

    struct cuzk_vk *vk;
    char path[PATH_MAX];
    uint8_t inputs[PARTITIONS][CUZK_INPUT_BYTES] = {0};
    for (unsigned p = 0; p < PARTITIONS; p++)
        memcpy(inputs[p], &good[p][2], 2);
    snprintf(path, sizeof path, "%s/%s.vk", folder, made_up_circuit.params_name);
    assert_ok(cuzk_vk_open(path, &vk, &err), err);
    assert_ok(cuzk_verify(vk, result.proof, result.proof_len, inputs[0], sizeof inputs, &err), err);
    inputs[1][0] ^= 1;
    assert_int_equal(
        cuzk_verify(vk, result.proof, result.proof_len, inputs[0], sizeof inputs, &err),
        CUZK_VERIFY_FAILED);
    cuzk_vk_close(vk);
}

static void what_the_kind_refuses_is_reported(void **state)
{
    (void)state;
    struct cuzk_engine *engine = open_engine("cpu");
    struct cuzk_error err;
    struct fake_result result;
    char id[CUZK_JOB_ID_BYTES];
    assert_int_equal(submit(engine, CUZK_SNAP, good, 9, id, &err), CUZK_INVALID_ARGUMENT);
    assert_string_equal(err.text, "made up: 9 partitions");
    assert_ok(submit(engine, CUZK_SNAP, bad, PARTITIONS, id, &err), err);
    fake_await(engine, id, 0, &result);
    assert_int_equal(result.outcome, CUZK_JOB_FAILED);
    assert_int_equal(result.error.status, CUZK_INVALID_ARGUMENT);
    assert_string_equal(result.error.text, "made up: partition 2: 15 is not 7 times 2");
    cuzk_engine_close(engine);
}

/* A simulation makes up proofs of every kind, and completes no job of any. */
static void a_simulated_device_completes_no_job(void **state)
{
    (void)state;
    struct cuzk_engine *engine = open_engine("sim");
    struct cuzk_error err;
    struct fake_result result;
    char id[CUZK_JOB_ID_BYTES];
    assert_ok(submit(engine, CUZK_SNAP, good, PARTITIONS, id, &err), err);
    fake_await(engine, id, 0, &result);
    assert_int_equal(result.outcome, CUZK_JOB_FAILED);
    assert_int_equal(strncmp(result.error.text, CUZK_SIMULATION_TEXT, strlen(CUZK_SIMULATION_TEXT)),
                     0);
    assert_int_equal(result.proof_len, 0);
    cuzk_engine_close(engine);
}

/* --- The one-shot calls ----------------------------------------------------------------------- */

struct seen {
    char phases[2048]; /* "parse -1 of 0\n…" */
    size_t len;
};

static void see(void *context, const char *phase, int partition, unsigned n_partitions, uint64_t ns)
{
    (void)ns;
    struct seen *seen = context;
    seen->len += (size_t)snprintf(seen->phases + seen->len, sizeof seen->phases - seen->len,
                                  "%s %d of %u\n", phase, partition, n_partitions);
}

/* The calls for PoRep, with the made-up kind in its place. */
static void one_call_proves_and_another_verifies(void **state)
{
    (void)state;
    static const char *const phases[] = {
        "parse -1 of 1\n",       "compile circuit -1 of 1\n", "load parameters -1 of 1\n",
        "check 0 of 1\n",        "synthesis 0 of 1\n",        "proof 0 of 1\n",
        "verification 0 of 1\n", "verification -1 of 1\n",
    };
    struct seen seen = {.phases = ""};
    struct cuzk_prove_options proving = {.param_cache = folder,
                                         .backend = "cpu",
                                         .threads = 1,
                                         .progress = see,
                                         .progress_context = &seen};
    const struct cuzk_verify_options verifying = {.param_cache = folder, .threads = 1};
    struct cuzk_phase_times times;
    struct cuzk_error err;
    uint8_t *proof = NULL;
    size_t len;
    kind_replace(CUZK_POREP, &kind_made_up);
    assert_ok(cuzk_prove_c1(&proving, good[0], 4, &proof, &len, &times, &err), err);
    assert_int_equal(len, CUZK_PROOF_BYTES);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (!strstr(seen.phases, phases[i]))
            fail_msg("'%s' is not in: %s", phases[i], seen.phases);
    assert_true(times.parse_ns > 0 && times.shape_ns > 0 && times.params_ns > 0);
    assert_true(times.synthesis_ns > 0 && times.finish_ns > 0 && times.verify_ns > 0);
    assert_true(times.eval_ns > 0 && times.ntt_ns > 0 && times.msm_ns > 0);
    assert_true(times.eval_ns + times.ntt_ns + times.msm_ns <= times.device_ns);
    assert_true(times.device_ns <= times.total_ns && times.peak_rss_bytes > 0);
    assert_ok(cuzk_verify_c1(&verifying, good[0], 4, proof, len, &err), err);
    assert_int_equal(cuzk_verify_c1(&verifying, good[1], 4, proof, len, &err), CUZK_VERIFY_FAILED);
    assert_non_null(strstr(err.text, "partition 0 of 1"));
    assert_int_equal(cuzk_verify_c1(&verifying, good[0], 4, proof, len - 1, &err),
                     CUZK_INVALID_ARGUMENT);
    cuzk_proof_free(proof);

    assert_int_equal(cuzk_prove_c1(&proving, bad[2], 4, &proof, &len, &times, &err),
                     CUZK_INVALID_ARGUMENT);
    assert_string_equal(err.text, "made up: partition 0: 15 is not 7 times 2");
    proving.backend = "sim";
    assert_int_equal(cuzk_prove_c1(&proving, good[0], 4, &proof, &len, NULL, &err),
                     CUZK_INVALID_ARGUMENT);
    assert_string_equal(err.text, "backend 'sim' makes no proofs");
    kind_replace(CUZK_POREP, &kind_porep);
}

static void kinds_that_are_not_served_are_refused(void **state)
{
    (void)state;
    struct cuzk_engine *engine = open_engine("cpu");
    struct cuzk_error err;
    char id[CUZK_JOB_ID_BYTES];
    kind_replace(CUZK_WINNING_POST, NULL);
    assert_int_equal(submit(engine, CUZK_WINNING_POST, good, 1, id, &err), CUZK_UNSUPPORTED);
    assert_string_equal(
        err.text,
        "proof_kind: winning_post is not supported, porep_c2, snap_update, window_post are");
    kind_replace(CUZK_WINDOW_POST, NULL);
    kind_replace(CUZK_SNAP, NULL);
    assert_int_equal(submit(engine, CUZK_SNAP, good, 1, id, &err), CUZK_UNSUPPORTED);
    assert_string_equal(err.text, "proof_kind: snap_update is not supported, porep_c2 is");
    kind_replace(CUZK_SNAP, &kind_made_up);
    kind_replace(CUZK_WINDOW_POST, &kind_post);
    kind_replace(CUZK_WINNING_POST, &kind_post);
    cuzk_engine_close(engine);
}

static int set_up(void **state)
{
    (void)state;
    struct cuzk_error err;
    bool made;
    if (!mkdtemp(folder))
        return -1;
    circuit_add(&made_up_circuit, &made_up_blank);
    kind_replace(CUZK_SNAP, &kind_made_up);
    assert_ok(cuzk_params_generate(folder, made_up_circuit.id, 2, NULL, NULL, &made, &err), err);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    kind_replace(CUZK_SNAP, &kind_update);
    circuit_add(NULL, NULL);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    FILE *pipe = popen(command, "r");
    return pipe && pclose(pipe) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_made_up_kind_is_proved),
        cmocka_unit_test(what_the_kind_refuses_is_reported),
        cmocka_unit_test(a_simulated_device_completes_no_job),
        cmocka_unit_test(one_call_proves_and_another_verifies),
        cmocka_unit_test(kinds_that_are_not_served_are_refused),
    };
    return cmocka_run_group_tests_name("kind", tests, set_up, tear_down);
}
