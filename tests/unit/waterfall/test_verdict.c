/* The performance hunts that this tool is to replace, rebuilt as logs of the model: the verdict
   names each cause and the knob. */
#include "analyse.h"

#include "support/schedule.h"

#include <stdio.h>

/* One card, ten partitions a proof, today's times: 2 s of device time a partition. */
static struct schedule_options hunt(uint64_t seed)
{
    struct schedule_options o = schedule_defaults(seed);
    o.classic = o.say_gpu_queue = true;
    o.jobs = 8;
    o.concurrency = 5;
    o.partitions = 10;
    o.synth_workers = 10;
    o.lookahead = 8;
    o.parse = 900;
    o.synth = 33000;
    o.device = 2000;
    o.verify = 5;
    o.jitter = 10;
    return o;
}

static void analyse_hunts(struct analysed *a, const struct schedule_options *options, size_t count)
{
    struct text log = {0};
    int64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        struct schedule_options o = options[i];
        struct schedule_truth truth;
        o.offset = at;
        schedule_run(&o, &log, &truth);
        at = truth.end + 60000;
    }
    analyse_bytes(a, log.data, log.len);
    assert_int_equal(a->report.run_count, count);
    text_free(&log);
}

static void test_too_little_synthesis(void **state)
{
    (void)state;
    struct schedule_options options = hunt(1);
    struct analysed a;
    analyse_hunts(&a, &options, 1);
    const struct waterfall_run *run = &a.report.runs[0];
    double idle = (double)run->devices[0].idle_by_cause_us[WATERFALL_CAUSE_SYNTH] / 1e6 /
                  (double)run->complete;
    assert_true(idle > 12 && idle < 18); /* a proof, as in the first hunt */
    assert_int_equal(run->verdict.bottleneck, WATERFALL_BOUND_SYNTHESIS);
    assert_true(run->verdict.confidence >= 0.8);
    assert_non_null(strstr(run->verdict.text.data, "Synthesis-bound"));
    assert_non_null(strstr(run->verdict.text.data, "synthesis workers would hide it"));
    assert_true(run->verdict.gain > 1.4 && run->verdict.gain < 2.2);
    release_analysed(&a);
}

/* The number of workers that a verdict asks for. */
static unsigned advised_workers(const struct waterfall_run *run)
{
    unsigned workers = 0;
    const char *advice = strstr(run->verdict.text.data, ">= ");
    assert_non_null(advice);
    assert_int_equal(sscanf(advice, ">= %u synthesis workers", &workers), 1);
    return workers;
}

/* What the verdict advised, done: the gain is what it said, and the device is the wall. */
static void test_the_advice_of_more_workers_is_right(void **state)
{
    (void)state;
    struct schedule_options options = hunt(1);
    struct analysed before, after;
    options.jobs = 20; /* the beginning and the end weigh less */
    analyse_hunts(&before, &options, 1);
    const struct waterfall_run *few = &before.report.runs[0];
    assert_int_equal(few->verdict.bottleneck, WATERFALL_BOUND_SYNTHESIS);
    options.synth_workers = advised_workers(few);
    assert_true(options.synth_workers >= 16 && options.synth_workers <= 20);
    analyse_hunts(&after, &options, 1);
    const struct waterfall_run *many = &after.report.runs[0];
    assert_int_equal(many->verdict.bottleneck, WATERFALL_BOUND_DEVICE);
    double gain = (double)(few->end_us - few->start_us) / (double)(many->end_us - many->start_us);
    assert_true(few->verdict.gain > 0.9 * gain && few->verdict.gain < 1.15 * gain);
    release_analysed(&before);
    release_analysed(&after);
}

static void test_more_workers_that_slow_each_other(void **state)
{
    (void)state;
    struct schedule_options options[3] = {hunt(1), hunt(2), hunt(3)};
    struct analysed a;
    static const unsigned workers[3] = {6, 12, 18};
    for (size_t i = 0; i < 3; i++) {
        options[i].synth_workers = workers[i];
        options[i].synth = 4500;
        options[i].growth = 0.9;
    }
    analyse_hunts(&a, options, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct waterfall_run *run = &a.report.runs[i];
        assert_true(run->synth_growth_known);
        assert_true(run->synth_growth > 0.8 && run->synth_growth < 1);
        assert_int_equal(run->verdict.bottleneck, WATERFALL_BOUND_CONTENTION);
        assert_non_null(strstr(run->verdict.text.data, "CPU contention"));
    }
    assert_true(a.report.runs[2].synth.mean > 2 * a.report.runs[0].synth.mean);
    release_analysed(&a);
}

static void test_the_device_is_the_wall(void **state)
{
    (void)state;
    struct schedule_options options = hunt(1);
    struct analysed a;
    options.device = 4500;
    options.synth_workers = 14;
    analyse_hunts(&a, &options, 1);
    const struct waterfall_run *run = &a.report.runs[0];
    assert_int_equal(run->verdict.bottleneck, WATERFALL_BOUND_DEVICE);
    assert_true(run->verdict.confidence >= 0.7);
    assert_non_null(strstr(run->verdict.text.data, "Device-bound"));
    release_analysed(&a);
}

/* Our own logs also tell the causes that the Rust cuzk does not record. */
static enum waterfall_bottleneck bottleneck_of(struct schedule_options options)
{
    struct analysed a;
    options.classic = false;
    options.label = "x";
    analyse_hunts(&a, &options, 1);
    enum waterfall_bottleneck bottleneck = a.report.runs[0].verdict.bottleneck;
    assert_true(a.report.runs[0].whole);
    release_analysed(&a);
    return bottleneck;
}

static void test_the_other_causes(void **state)
{
    (void)state;
    struct schedule_options o = hunt(4);
    o.budget = 3;
    o.synth = 10000;
    assert_int_equal(bottleneck_of(o), WATERFALL_BOUND_BUDGET);
    o = hunt(4);
    o.synth = 4000;
    o.concurrency = 1;
    o.think = 60000;
    assert_int_equal(bottleneck_of(o), WATERFALL_BOUND_CLIENT);
    o = hunt(4);
    o.synth = 4000;
    o.parse = 60000;
    assert_int_equal(bottleneck_of(o), WATERFALL_BOUND_PARSE);
    o = hunt(4);
    o.synth = 4000;
    o.workers_per_device = 1;
    o.start = 3000;
    assert_int_equal(bottleneck_of(o), WATERFALL_BOUND_DISPATCH);
    o = hunt(4);
    o.synth = 4000;
    o.concurrency = 1;
    o.verify = 50000;
    assert_int_equal(bottleneck_of(o), WATERFALL_BOUND_FINISH);
}

static void test_little_data_is_said_to_be_little(void **state)
{
    (void)state;
    struct schedule_options options = hunt(1);
    struct analysed a;
    options.jobs = 1;
    options.partitions = 1;
    options.synth_workers = 1;
    analyse_hunts(&a, &options, 1);
    assert_true(a.report.runs[0].verdict.confidence < 0.7);
    release_analysed(&a);
    analyse_text(&a, "TIMELINE,5,SYNTH_START,a,partition=0\n");
    assert_int_equal(a.report.runs[0].verdict.bottleneck, WATERFALL_BOUND_UNKNOWN);
    assert_true(a.report.runs[0].verdict.confidence < 0.1);
    release_analysed(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_little_synthesis),
        cmocka_unit_test(test_the_advice_of_more_workers_is_right),
        cmocka_unit_test(test_more_workers_that_slow_each_other),
        cmocka_unit_test(test_the_device_is_the_wall),
        cmocka_unit_test(test_the_other_causes),
        cmocka_unit_test(test_little_data_is_said_to_be_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
