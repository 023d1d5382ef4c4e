/* The simulated backend: its timing options, and that nobody can take it for a real one. */
#include "support/support.h"

#include "backend/sim/sim.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"

static void test_timing(void **state)
{
    (void)state;
    struct sim_timing timing;
    struct cuzk_error err;
    assert_ok(sim_timing_parse(NULL, &timing, &err), err);
    assert_int_equal(timing.devices, 1);
    assert_int_equal(timing.prove_ms, 1000);
    assert_ok(
        sim_timing_parse("prove_ms=12,devices=3,jitter=90,load_ms=0,fault_every=2", &timing, &err),
        err);
    assert_int_equal(timing.prove_ms, 12);
    assert_int_equal(timing.devices, 3);
    assert_int_equal(timing.jitter, 90);
    assert_int_equal(timing.fault_every, 2);
}

static void test_bad_timing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "prove",       "prove_ms",    "prove_ms=",
        "prove_ms=-1", "prove_ms=1x", "prove_ms=99999999999",
        "devices=0",   "devices=65",  "jitter=91",
        "=1",          ",",           "prove_ms=1,,load_ms=1",
        "speed=1",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct sim_timing timing;
        struct cuzk_error err;
        if (sim_timing_parse(texts[i], &timing, &err) != CUZK_INVALID_ARGUMENT)
            fail_msg("'%s' was accepted", texts[i]);
        assert_non_null(strstr(err.text, "simulation timing"));
    }
}

static void test_device(void **state)
{
    (void)state;
    const struct backend *sim = backend_find("sim");
    const struct backend_options options = {.sim_timing = "devices=2,prove_ms=20,fault_every=2"};
    const struct backend_partition partition = {.scope = TRACE_SCOPE(NULL, "job")};
    struct backend_device *device;
    struct backend_circuit *circuit;
    struct backend_sums sums;
    struct cuzk_error err;
    unsigned n;
    assert_false(sim->makes_proofs);
    assert_ok(sim->count(&options, &n, &err), err);
    assert_int_equal(n, 2);
    assert_int_equal(sim->open(&options, 2, &device, &err), CUZK_NO_DEVICE);
    assert_ok(sim->open(&options, 1, &device, &err), err);
    assert_non_null(strstr(sim->describe(device), "simulated"));
    assert_ok(sim->load(device, NULL, NULL, &circuit, &err), err);
    const uint64_t start = clock_now_ns();
    assert_ok(sim->prove(circuit, &partition, &sums, &err), err);
    assert_true(clock_now_ns() - start >= 20000000);
    assert_true(g1_is_infinity(&sums.a));
    assert_int_equal(sim->prove(circuit, &partition, &sums, &err), CUZK_DEVICE_FAULT);
    assert_ok(sim->prove(circuit, &partition, &sums, &err), err);
    sim->unload(circuit);
    sim->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timing),
        cmocka_unit_test(test_bad_timing),
        cmocka_unit_test(test_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
