/* The scheduler's decisions, driven with virtual time. */
#include "support/support.h"

#include "base/pointer.h"
#include "engine/pipeline.h"

#include <stdio.h>
#include <string.h>

enum { JOBS_MAX = 40, PARTS_MAX = 12, EVENTS_MAX = 64 };

struct model_job {
    struct pipeline_job line;
    struct pipeline_partition parts[PARTS_MAX];
    unsigned n;
    enum cuzk_priority priority;
    uint64_t arrives, synth, prove;
    unsigned fails; /* partitions whose first proof is bad: a bitmap */
    bool added, done;
    uint64_t ended;
    uint64_t ready_at[PARTS_MAX], taken_at[PARTS_MAX];
};

struct event {
    uint64_t at;
    struct model_job *job;
    unsigned partition;
    bool proving;
};

struct model {
    struct pipeline pipeline;
    struct model_job jobs[JOBS_MAX];
    unsigned n_jobs;
    struct event events[EVENTS_MAX]; /* under way */
    unsigned n_events;
    uint64_t now;
    uint64_t device_busy;
};

static struct model_job *job_of(struct pipeline_job *line)
{
    return CONTAINER_OF(line, struct model_job, line);
}

static void start(struct model *m, struct model_job *job, unsigned partition, bool proving)
{
    assert_true(m->n_events < EVENTS_MAX);
    m->events[m->n_events++] =
        (struct event){m->now + (proving ? job->prove : job->synth), job, partition, proving};
}

/* The pick does not pass a ready partition of a job that is served earlier. */
static void check_order(const struct model *m, const struct pipeline_pick *pick)
{
    for (size_t i = 0; i < m->pipeline.queue.len; i++) {
        struct pipeline_job *other = m->pipeline.queue.entries[i]->owner;
        if (other == pick->job)
            return;
        for (unsigned p = 0; p < other->n_partitions; p++)
            if (other->ready && other->partitions[p].state == PARTITION_READY)
                assert_true(other->partitions[p].avoid >> pick->device & 1);
    }
}

static void check_limits(const struct model *m)
{
    const struct pipeline_limits *limits = &m->pipeline.limits;
    unsigned plain[PARTITION_STATES] = {0};
    unsigned all[PARTITION_STATES] = {0};
    for (size_t i = 0; i < m->pipeline.queue.len; i++) {
        struct pipeline_job *job = m->pipeline.queue.entries[i]->owner;
        for (unsigned p = 0; job->ready && p < job->n_partitions; p++) {
            all[job->partitions[p].state]++;
            plain[job->partitions[p].state] += job->entry.priority < CUZK_PRIORITY_CRITICAL;
        }
    }
    for (unsigned s = 0; s < PARTITION_STATES; s++)
        assert_true(all[s] <= m->pipeline.count[s]);
    assert_true(all[PARTITION_SYNTHESIZING] + all[PARTITION_BLOCKED] <=
                limits->synthesis_concurrency + 1);
    assert_true(plain[PARTITION_SYNTHESIZING] + plain[PARTITION_BLOCKED] <=
                limits->synthesis_concurrency);
    assert_true(plain[PARTITION_READY] <= limits->lookahead);
    for (unsigned d = 0; d < limits->n_devices; d++)
        assert_true(m->pipeline.proving[d] <=
                    limits->workers_per_device + (limits->workers_per_device > 1));
}

static void dispatch(struct model *m)
{
    struct pipeline_pick pick;
    for (unsigned i = 0; i < m->n_jobs; i++) {
        struct model_job *job = &m->jobs[i];
        if (job->added || job->arrives > m->now)
            continue;
        assert_true(pipeline_add(&m->pipeline, &job->line, job->priority, i));
        pipeline_open(&job->line, &m->pipeline, job->parts, job->n,
                      (UINT64_C(1) << m->pipeline.limits.n_devices) - 1);
        job->added = true;
    }
    while (pipeline_unblock(&m->pipeline, &pick))
        job_of(pick.job)->ready_at[pick.partition] = m->now;
    while (pipeline_pick_proving(&m->pipeline, &pick)) {
        check_order(m, &pick);
        pipeline_start_proving(&m->pipeline, &pick);
        job_of(pick.job)->taken_at[pick.partition] = m->now;
        start(m, job_of(pick.job), pick.partition, true);
        while (pipeline_unblock(&m->pipeline, &pick))
            job_of(pick.job)->ready_at[pick.partition] = m->now;
    }
    while (pipeline_pick_synthesis(&m->pipeline, &pick)) {
        pipeline_start_synthesis(&m->pipeline, &pick);
        start(m, job_of(pick.job), pick.partition, false);
    }
    check_limits(m);
}

static void proved(struct model *m, struct model_job *job, unsigned partition)
{
    pipeline_proved(&m->pipeline, &job->line, partition);
    m->device_busy += job->prove;
    if (job->fails >> partition & 1) {
        job->fails &= ~(1u << partition);
        pipeline_redo(&m->pipeline, &job->line, partition);
        return;
    }
    pipeline_verified(&m->pipeline, &job->line, partition);
    if (job->line.count[PARTITION_VERIFIED] < job->n)
        return;
    pipeline_remove(&m->pipeline, &job->line);
    job->done = true;
    job->ended = m->now;
}

/* Runs all jobs. False: some are left and nothing can go on. */
static bool run(struct model *m)
{
    for (;;) {
        dispatch(m);
        uint64_t next = UINT64_MAX;
        unsigned which = 0;
        for (unsigned i = 0; i < m->n_events; i++)
            if (m->events[i].at < next) {
                next = m->events[i].at;
                which = i;
            }
        bool arrival = false;
        for (unsigned i = 0; i < m->n_jobs; i++)
            if (!m->jobs[i].added && m->jobs[i].arrives < next) {
                next = m->jobs[i].arrives;
                arrival = true;
            }
        if (next == UINT64_MAX)
            break;
        m->now = next;
        if (arrival)
            continue;
        struct event event = m->events[which];
        m->events[which] = m->events[--m->n_events];
        if (event.proving)
            proved(m, event.job, event.partition);
        else if (pipeline_synthesized(&m->pipeline, &event.job->line, event.partition) ==
                 PARTITION_READY)
            event.job->ready_at[event.partition] = m->now;
    }
    for (unsigned i = 0; i < m->n_jobs; i++)
        if (!m->jobs[i].done)
            return false;
    return true;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void add(struct model *m, unsigned n, enum cuzk_priority priority, uint64_t arrives,
                uint64_t synth, uint64_t prove)
{
    m->jobs[m->n_jobs++] = (struct model_job){
        .n = n, .priority = priority, .arrives = arrives, .synth = synth, .prove = prove};
}

/* While a CRITICAL partition is ready nothing else starts on a device that is not already there. */
static void check_critical(const struct model *m)
{
    for (unsigned i = 0; i < m->n_jobs; i++) {
        const struct model_job *job = &m->jobs[i];
        for (unsigned p = 0; job->priority == CUZK_PRIORITY_CRITICAL && p < job->n; p++)
            for (unsigned k = 0; k < m->n_jobs; k++)
                for (unsigned q = 0;
                     m->jobs[k].priority < CUZK_PRIORITY_CRITICAL && q < m->jobs[k].n; q++)
                    assert_false(m->jobs[k].taken_at[q] > job->ready_at[p] &&
                                 m->jobs[k].taken_at[q] < job->taken_at[p]);
    }
}

static void any_load_is_served_within_the_limits(void **state)
{
    (void)state;
    static struct model m;
    for (uint32_t seed = 1; seed <= 400; seed++) {
        uint32_t random = seed;
        memset(&m, 0, sizeof m);
        struct pipeline_limits limits = {1 + next_random(&random) % 5, 1 + next_random(&random) % 4,
                                         1 + next_random(&random) % 4,
                                         1 + next_random(&random) % 2};
        pipeline_init(&m.pipeline, &limits);
        unsigned n = 1 + next_random(&random) % JOBS_MAX;
        for (unsigned i = 0; i < n; i++) {
            add(&m, 1 + next_random(&random) % PARTS_MAX,
                (enum cuzk_priority)(1 + next_random(&random) % 4), next_random(&random) % 500,
                1 + next_random(&random) % 30, 1 + next_random(&random) % 30);
            m.jobs[i].fails = seed % 4 == 0 ? next_random(&random) & next_random(&random) : 0;
        }
        if (!run(&m))
            fail_msg("seed %u: jobs are left", seed);
        if (seed % 4 != 0)
            check_critical(&m);
        for (unsigned s = 0; s < PARTITION_STATES; s++)
            assert_int_equal(m.pipeline.count[s], 0);
        for (unsigned d = 0; d < limits.n_devices; d++)
            assert_int_equal(m.pipeline.proving[d], 0);
        pipeline_free(&m.pipeline);
    }
}

/* Cases whose length is known. */
static void the_slower_stage_decides(void **state)
{
    (void)state;
    static const struct {
        struct pipeline_limits limits;
        uint64_t synth, prove, expected; /* of 20 partitions */
    } cases[] = {
        {{1, 1, 1, 1}, 1, 10, 1 + 20 * 10},   /* device-bound */
        {{1, 1, 1, 1}, 10, 1, 20 * 10 + 1},   /* synthesis-bound */
        {{4, 1, 1, 1}, 40, 10, 40 + 20 * 10}, /* four workers just feed the device */
        {{2, 1, 2, 1}, 1, 10, 1 + 10 * 10},   /* two devices */
        {{1, 1, 1, 1}, 10, 10, 10 + 20 * 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct model m;
        memset(&m, 0, sizeof m);
        pipeline_init(&m.pipeline, &cases[i].limits);
        add(&m, 10, CUZK_PRIORITY_NORMAL, 0, cases[i].synth, cases[i].prove);
        add(&m, 10, CUZK_PRIORITY_NORMAL, 0, cases[i].synth, cases[i].prove);
        assert_true(run(&m));
        uint64_t ended = m.jobs[0].ended > m.jobs[1].ended ? m.jobs[0].ended : m.jobs[1].ended;
        assert_int_equal(ended, cases[i].expected);
        assert_int_equal(m.device_busy, 20 * cases[i].prove);
        assert_true(m.jobs[0].ended <= m.jobs[1].ended); /* the older one first */
        pipeline_free(&m.pipeline);
    }
}

static void critical_waits_for_the_partition_on_the_device(void **state)
{
    (void)state;
    for (uint64_t arrives = 1; arrives < 200; arrives++) {
        static struct model m;
        memset(&m, 0, sizeof m);
        struct pipeline_limits limits = {1, 1, 1, 1};
        pipeline_init(&m.pipeline, &limits);
        add(&m, 10, CUZK_PRIORITY_NORMAL, 0, 7, 20);
        add(&m, 10, CUZK_PRIORITY_HIGH, 0, 7, 20);
        add(&m, 1, CUZK_PRIORITY_CRITICAL, arrives, 2, 3);
        assert_true(run(&m));
        assert_true(m.jobs[2].ended <= arrives + 2 + 20 + 3);
        pipeline_free(&m.pipeline);
    }
}

static void a_failed_partition_goes_to_another_device(void **state)
{
    (void)state;
    struct pipeline pipeline;
    struct pipeline_limits limits = {1, 1, 2, 1};
    struct pipeline_job job;
    struct pipeline_partition part;
    struct pipeline_pick pick;
    pipeline_init(&pipeline, &limits);
    assert_true(pipeline_add(&pipeline, &job, CUZK_PRIORITY_NORMAL, 1));
    pipeline_open(&job, &pipeline, &part, 1, 3);
    unsigned first = 9;
    for (unsigned round = 0; round < 2; round++) {
        assert_true(pipeline_pick_synthesis(&pipeline, &pick));
        pipeline_start_synthesis(&pipeline, &pick);
        assert_int_equal(pipeline_synthesized(&pipeline, &job, 0), PARTITION_READY);
        assert_true(pipeline_pick_proving(&pipeline, &pick));
        assert_int_not_equal(pick.device, first);
        first = pick.device;
        pipeline_start_proving(&pipeline, &pick);
        pipeline_proved(&pipeline, &job, 0);
        pipeline_redo(&pipeline, &job, 0);
    }
    /* Both devices failed it, so any will do. The last device is never quarantined. */
    assert_true(pipeline_quarantine(&pipeline, 0));
    assert_false(pipeline_quarantine(&pipeline, 1));
    assert_true(pipeline_pick_synthesis(&pipeline, &pick));
    pipeline_start_synthesis(&pipeline, &pick);
    pipeline_synthesized(&pipeline, &job, 0);
    assert_true(pipeline_pick_proving(&pipeline, &pick));
    assert_int_equal(pick.device, 1);
    pipeline_free(&pipeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_load_is_served_within_the_limits),
        cmocka_unit_test(the_slower_stage_decides),
        cmocka_unit_test(critical_waits_for_the_partition_on_the_device),
        cmocka_unit_test(a_failed_partition_goes_to_another_device),
    };
    return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
