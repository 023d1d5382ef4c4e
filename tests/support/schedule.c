#include "support/schedule.h"

#include "base/check.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum phase { PHASE_ABSENT, PHASE_QUEUED, PHASE_PARSING, PHASE_PARSED, PHASE_VERIFYING, PHASE_DONE };
enum place {
    PLACE_WAITING,
    PLACE_BUDGET,
    PLACE_SYNTH,
    PLACE_FULL,
    PLACE_READY,
    PLACE_PICKED,
    PLACE_DEVICE,
    PLACE_PROVED
};

struct part {
    enum place place;
    double left; /* of the current work */
    unsigned index, worker;
    int64_t since;       /* in this place */
    bool waits;          /* for room in the channel, and has said so */
    unsigned long order; /* of entering the channel */
};

struct job {
    enum phase phase;
    int64_t accepted, left, free_at;
    struct part parts[SCHEDULE_PARTITIONS_MAX];
};

struct model {
    const struct schedule_options *options;
    struct text *log;
    struct schedule_truth *truth;
    uint64_t random;
    int64_t now;
    struct job *jobs;
    unsigned submitted, done, first_open; /* jobs before first_open are done */
    unsigned long sent;
    bool changed;
};

uint64_t schedule_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

struct schedule_options schedule_defaults(uint64_t seed)
{
    return (struct schedule_options){.seed = seed,
                                     .jobs = 4,
                                     .concurrency = 2,
                                     .partitions = 3,
                                     .synth_workers = 2,
                                     .lookahead = 1,
                                     .devices = 1,
                                     .workers_per_device = 2,
                                     .parse = 20,
                                     .synth = 300,
                                     .device = 200,
                                     .verify = 10,
                                     .jitter = 20};
}

/* A duration around a mean, at least 1 ms. */
static double vary(struct model *m, unsigned mean)
{
    double at = (double)(schedule_random(&m->random) % 2001) / 1000 - 1;
    double time = mean * (1 + at * m->options->jitter / 100);
    return fmax(1, floor(time));
}

static void say(struct model *m, const char *event, unsigned job, const char *detail)
{
    text_add(m->log, "TIMELINE,%lld,%s,job-%llx-%u,%s\n", (long long)m->now, event,
             (unsigned long long)m->options->seed, job, detail);
    m->truth->lines++;
}

static void say_extra(struct model *m, const char *event, unsigned job, int partition)
{
    char detail[32] = "";
    if (m->options->classic)
        return;
    if (partition >= 0)
        snprintf(detail, sizeof detail, "partition=%d", partition);
    say(m, event, job, detail);
}

static unsigned count_places(const struct model *m, enum place place)
{
    unsigned count = 0;
    for (unsigned j = m->first_open; j < m->submitted; j++)
        for (unsigned p = 0; p < m->options->partitions; p++)
            count += m->jobs[j].phase >= PHASE_PARSED && m->jobs[j].parts[p].place == place;
    return count;
}

static unsigned count_phases(const struct model *m, enum phase phase)
{
    unsigned count = 0;
    for (unsigned j = m->first_open; j < m->submitted; j++)
        count += m->jobs[j].phase == phase;
    return count;
}

/* Whether a device worker holds a partition; and whether its device is occupied. */
static bool worker_holds(const struct model *m, unsigned worker)
{
    for (unsigned j = m->first_open; j < m->submitted; j++)
        for (unsigned p = 0; p < m->options->partitions; p++) {
            const struct part *part = &m->jobs[j].parts[p];
            if ((part->place == PLACE_PICKED || part->place == PLACE_DEVICE) &&
                part->worker == worker)
                return true;
        }
    return false;
}

static unsigned device_holds(const struct model *m, unsigned device, enum place place)
{
    unsigned count = 0;
    for (unsigned j = m->first_open; j < m->submitted; j++)
        for (unsigned p = 0; p < m->options->partitions; p++) {
            const struct part *part = &m->jobs[j].parts[p];
            count +=
                part->place == place && part->worker / m->options->workers_per_device == device;
        }
    return count;
}

static void submit(struct model *m)
{
    const struct schedule_options *o = m->options;
    unsigned open = 0;
    int64_t free_at = 0;
    for (unsigned j = m->first_open; j < m->submitted; j++)
        open += m->jobs[j].phase != PHASE_DONE;
    if (m->submitted >= o->jobs || open >= o->concurrency)
        return;
    for (unsigned j = 0; j < m->submitted && o->think; j++)
        if (m->jobs[j].phase == PHASE_DONE && m->jobs[j].free_at > free_at)
            free_at = m->jobs[j].free_at;
    if (m->now < free_at)
        return;
    char detail[48];
    struct job *job = &m->jobs[m->submitted];
    *job = (struct job){.phase = PHASE_QUEUED, .accepted = m->now};
    for (unsigned p = 0; p < o->partitions; p++)
        job->parts[p].index = p;
    snprintf(detail, sizeof detail, "kind=porep-c2,partitions=%u", o->partitions);
    if (!o->classic)
        say(m, "JOB_ACCEPTED", m->submitted, detail);
    say_extra(m, "QUEUE_START", m->submitted, -1);
    m->submitted++;
    m->changed = true;
}

/* One parser, in order of arrival. Then the job's partitions wait for synthesis workers. */
static void parse(struct model *m)
{
    for (unsigned j = m->first_open; j < m->submitted; j++) {
        struct job *job = &m->jobs[j];
        if (job->phase == PHASE_PARSING && job->left <= 0) {
            say_extra(m, "PARSE_END", j, -1);
            job->phase = PHASE_PARSED;
            m->changed = true;
        } else if (job->phase == PHASE_QUEUED && count_phases(m, PHASE_PARSING) == 0) {
            say_extra(m, "QUEUE_END", j, -1);
            say_extra(m, "PARSE_START", j, -1);
            job->phase = PHASE_PARSING;
            job->left = m->options->parse;
            m->changed = true;
        }
    }
}

static unsigned in_memory(const struct model *m)
{
    unsigned count = 0;
    for (enum place place = PLACE_SYNTH; place <= PLACE_DEVICE; place++)
        count += count_places(m, place);
    return count;
}

static void start_synthesis(struct model *m, unsigned j, struct part *part)
{
    char detail[32];
    if (part->place == PLACE_BUDGET)
        say_extra(m, "BUDGET_WAIT_END", j, (int)part->index);
    snprintf(detail, sizeof detail, "partition=%u", part->index);
    say(m, "SYNTH_START", j, detail);
    part->place = PLACE_SYNTH;
    part->left = vary(m, m->options->synth);
    part->since = m->now;
    m->changed = true;
}

/* A synthesis worker is held from the wait for memory until its partition is in the channel. */
static void step_synthesis(struct model *m, unsigned j, struct part *part)
{
    const struct schedule_options *o = m->options;
    unsigned held =
        count_places(m, PLACE_BUDGET) + count_places(m, PLACE_SYNTH) + count_places(m, PLACE_FULL);
    bool room = !o->budget || in_memory(m) < o->budget;
    char detail[64];
    if (part->place == PLACE_BUDGET && room) {
        start_synthesis(m, j, part);
    } else if (part->place == PLACE_WAITING && held < o->synth_workers) {
        if (room) {
            start_synthesis(m, j, part);
            return;
        }
        say_extra(m, "BUDGET_WAIT_START", j, (int)part->index);
        part->place = PLACE_BUDGET;
        m->changed = true;
    } else if (part->place == PLACE_SYNTH && part->left <= 0) {
        snprintf(detail, sizeof detail, "partition=%u,synth_ms=%lld", part->index,
                 (long long)(m->now - part->since));
        say(m, "SYNTH_END", j, detail);
        part->place = PLACE_FULL;
        part->since = m->now;
        m->changed = true;
    } else if (part->place == PLACE_FULL && count_places(m, PLACE_READY) >= o->lookahead) {
        if (!part->waits)
            say_extra(m, "LOOKAHEAD_WAIT_START", j, (int)part->index);
        part->waits = true;
    } else if (part->place == PLACE_FULL) {
        if (part->waits)
            say_extra(m, "LOOKAHEAD_WAIT_END", j, (int)part->index);
        snprintf(detail, sizeof detail, "partition=%u", part->index);
        say(m, o->say_gpu_queue ? "GPU_QUEUE" : "CHAN_SEND", j, detail);
        part->place = PLACE_READY;
        part->order = m->sent++;
        m->changed = true;
    }
}

static void step_device(struct model *m, unsigned j, struct part *part)
{
    const struct schedule_options *o = m->options;
    unsigned device = part->worker / o->workers_per_device;
    char detail[80];
    if (part->place == PLACE_PICKED && part->left <= 0 &&
        device_holds(m, device, PLACE_DEVICE) == 0) {
        snprintf(detail, sizeof detail, "worker=%u,partition=%u", part->worker, part->index);
        say(m, "GPU_START", j, detail);
        part->place = PLACE_DEVICE;
        part->left = vary(m, o->device);
        part->since = m->now;
        m->changed = true;
    } else if (part->place == PLACE_DEVICE && part->left <= 0) {
        snprintf(detail, sizeof detail, "worker=%u,partition=%u,gpu_ms=%lld", part->worker,
                 part->index, (long long)(m->now - part->since));
        say(m, "GPU_END", j, detail);
        part->place = PLACE_PROVED;
        m->changed = true;
    }
}

/* The first partition that was sent goes to the first free worker. */
static void pick_up(struct model *m)
{
    const struct schedule_options *o = m->options;
    for (unsigned w = 0; w < o->devices * o->workers_per_device; w++) {
        struct part *first = NULL;
        unsigned of = 0;
        for (unsigned j = m->first_open; j < m->submitted; j++)
            for (unsigned p = 0; p < o->partitions; p++) {
                struct part *part = &m->jobs[j].parts[p];
                if (part->place == PLACE_READY && (!first || part->order < first->order)) {
                    first = part;
                    of = j;
                }
            }
        if (!first || worker_holds(m, w))
            continue;
        char detail[48];
        snprintf(detail, sizeof detail, "worker=%u,partition=%u", w, first->index);
        say(m, "GPU_PICKUP", of, detail);
        first->place = PLACE_PICKED;
        first->worker = w;
        first->left = o->start;
        m->changed = true;
    }
}

static void finish(struct model *m, unsigned j)
{
    struct job *job = &m->jobs[j];
    if (job->phase == PHASE_PARSED) {
        for (unsigned p = 0; p < m->options->partitions; p++)
            if (job->parts[p].place != PLACE_PROVED)
                return;
        say_extra(m, "VERIFY_START", j, -1);
        job->phase = PHASE_VERIFYING;
        job->left = m->options->verify;
        m->changed = true;
    }
    if (job->phase == PHASE_VERIFYING && job->left <= 0) {
        say_extra(m, "VERIFY_END", j, -1);
        say_extra(m, "JOB_DONE", j, -1);
        job->phase = PHASE_DONE;
        job->free_at = m->now + m->options->think;
        m->done++;
        m->changed = true;
    }
}

/* Everything that happens at this moment. */
static void settle(struct model *m)
{
    do {
        m->changed = false;
        submit(m);
        parse(m);
        for (unsigned j = m->first_open; j < m->submitted; j++) {
            for (unsigned p = 0; p < m->options->partitions; p++) {
                if (m->jobs[j].phase == PHASE_PARSED)
                    step_synthesis(m, j, &m->jobs[j].parts[p]);
                step_device(m, j, &m->jobs[j].parts[p]);
            }
            finish(m, j);
        }
        pick_up(m);
        while (m->first_open < m->submitted && m->jobs[m->first_open].phase == PHASE_DONE)
            m->first_open++;
    } while (m->changed);
}

static enum schedule_cause cause_now(const struct model *m, unsigned device)
{
    if (device_holds(m, device, PLACE_PICKED))
        return SCHEDULE_LOCK;
    CHECK(count_places(m, PLACE_READY) == 0); /* a free worker would have taken it */
    if (count_places(m, PLACE_FULL))
        return SCHEDULE_LOOKAHEAD;
    unsigned synth = count_places(m, PLACE_SYNTH), budget = count_places(m, PLACE_BUDGET);
    if (budget && synth < m->options->synth_workers)
        return SCHEDULE_BUDGET;
    if (synth)
        return SCHEDULE_SYNTH;
    if (count_phases(m, PHASE_PARSING))
        return SCHEDULE_PARSE;
    if (count_phases(m, PHASE_QUEUED))
        return SCHEDULE_ADMIT;
    return count_phases(m, PHASE_VERIFYING) ? SCHEDULE_REPLY : SCHEDULE_NOTHING;
}

/* Milliseconds until the next piece of work is done or the client has thought enough. */
static int64_t next_change(const struct model *m, double pace)
{
    double next = 1e12;
    for (unsigned j = m->options->think ? 0 : m->first_open; j < m->submitted; j++) {
        const struct job *job = &m->jobs[j];
        if (job->phase == PHASE_DONE && job->free_at > m->now)
            next = fmin(next, (double)(job->free_at - m->now));
        if (job->phase == PHASE_PARSING || job->phase == PHASE_VERIFYING)
            next = fmin(next, (double)job->left);
        for (unsigned p = 0; p < m->options->partitions && job->phase == PHASE_PARSED; p++) {
            const struct part *part = &job->parts[p];
            if (part->place == PLACE_SYNTH)
                next = fmin(next, part->left / pace);
            else if (part->place == PLACE_DEVICE || (part->place == PLACE_PICKED && part->left > 0))
                next = fmin(next, part->left);
        }
    }
    return next <= 1 ? 1 : (int64_t)ceil(next);
}

/* Time passes in which nothing changes. */
static void pass_time(struct model *m)
{
    unsigned synth = count_places(m, PLACE_SYNTH);
    double pace = synth ? pow(synth, -m->options->growth) : 1;
    int64_t time = next_change(m, pace);
    for (unsigned d = 0; d < m->options->devices; d++) {
        if (device_holds(m, d, PLACE_DEVICE))
            m->truth->busy[d] += time;
        else
            m->truth->idle[d][cause_now(m, d)] += time;
    }
    for (unsigned j = m->first_open; j < m->submitted; j++) {
        m->jobs[j].left -= time;
        for (unsigned p = 0; p < m->options->partitions; p++) {
            struct part *part = &m->jobs[j].parts[p];
            part->left -= (part->place == PLACE_SYNTH ? pace : 1) * (double)time;
        }
    }
    m->now += time;
}

static void say_setup(struct model *m)
{
    const struct schedule_options *o = m->options;
    text_add(m->log,
             "TIMELINE,%lld,ENGINE_START,-,synth_workers=%u,lookahead=%u,devices=%u,"
             "workers_per_device=%u\n",
             (long long)m->now, o->synth_workers, o->lookahead, o->devices, o->workers_per_device);
    for (unsigned w = 0; w < o->devices * o->workers_per_device; w++)
        text_add(m->log, "TIMELINE,%lld,DEVICE_WORKER,-,worker=%u,device=%u\n", (long long)m->now,
                 w, w / o->workers_per_device);
    m->truth->lines += 1 + o->devices * o->workers_per_device;
}

void schedule_run(const struct schedule_options *options, struct text *log,
                  struct schedule_truth *truth)
{
    struct model m = {.options = options,
                      .log = log,
                      .truth = truth,
                      .random = options->seed,
                      .now = options->offset};
    CHECK(options->partitions <= SCHEDULE_PARTITIONS_MAX);
    CHECK(options->devices <= SCHEDULE_DEVICES_MAX);
    *truth = (struct schedule_truth){.start = options->offset};
    m.jobs = mem_zalloc(options->jobs, sizeof *m.jobs);
    CHECK(m.jobs);
    if (!options->classic)
        say_setup(&m);
    if (options->label) {
        text_add(log, "TIMELINE,%lld,RUN_START,%s,concurrency=%u\n", (long long)m.now,
                 options->label, options->concurrency);
        truth->lines++;
    }
    for (settle(&m); m.done < options->jobs; settle(&m))
        pass_time(&m);
    truth->end = m.now;
    if (options->label) {
        text_add(log, "TIMELINE,%lld,RUN_END,%s,\n", (long long)m.now, options->label);
        truth->lines++;
    }
    mem_free(m.jobs);
}
