/* The critical path of a run or of a job. It leads from the last moment back to the first, always
   to the work that had to end before the next work could begin. Its steps adjoin, so they add up to
   the run's time exactly.

   Before a partition's device time: if another partition was on the device when this partition was
   ready, this partition waited for the device; if not, it waited for its own synthesis. Before a
   synthesis: it waited for memory that a partition gave back, for a worker that synthesized (or,
   with the channel full, waited for the device), or for the beginning of its job. Before the
   beginning of a job: the client sent the job after the end of an earlier job. */
#include "waterfall/path.h"

#include "base/error.h"
#include "base/mem.h"
#include "waterfall/split.h"

#include <stdlib.h>

/* A partition (or job) by the moment at which it ended something. */
struct moment {
    int64_t time_us;
    int32_t device;
    uint32_t index;
};

struct moments {
    struct moment *list;
    size_t count;
};

struct path {
    struct waterfall_report *report;
    struct waterfall_run *run;
    struct moments device_ends; /* GPU_END, by device */
    struct moments all_ends;    /* GPU_END, of all devices */
    struct moments synth_frees; /* when the worker of a synthesis could take the next one */
    struct moments job_ends;
    uint32_t of_job; /* the path of this job; WATERFALL_NO_JOB: of the run */
    int64_t from_us; /* where the path begins */
    int64_t at_us;   /* everything later is explained */
    bool failed;
    uint32_t job; /* of the steps that are being added */
    int32_t partition;
};

static int compare_moments(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The latest moment of a device not after time_us that is not `except`; NULL: none. */
static const struct moment *find_latest(const struct moments *moments, int32_t device,
                                        int64_t time_us, uint32_t except)
{
    struct moment key = {time_us, device, UINT32_MAX};
    size_t low = 0, high = moments->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_moments(&moments->list[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && moments->list[low - 1].index == except)
        low--;
    return low > 0 && moments->list[low - 1].device == device ? &moments->list[low - 1] : NULL;
}

static int64_t freed_us(const struct waterfall_partition *p)
{
    return p->sent_us > p->synth_end_us ? p->sent_us : p->synth_end_us;
}

static void collect_moments(struct path *path, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct waterfall_partition *p = &path->report->partitions[i];
        if (!p->complete)
            continue;
        uint32_t index = (uint32_t)i;
        path->device_ends.list[path->device_ends.count++] =
            (struct moment){p->gpu_end_us, p->device, index};
        path->all_ends.list[path->all_ends.count++] = (struct moment){p->gpu_end_us, 0, index};
        path->synth_frees.list[path->synth_frees.count++] = (struct moment){freed_us(p), 0, index};
    }
    for (size_t j = path->run->jobs; j < path->run->jobs + path->run->job_count; j++)
        if (path->report->jobs[j].end_us > path->report->jobs[j].start_us)
            path->job_ends.list[path->job_ends.count++] =
                (struct moment){path->report->jobs[j].end_us, 0, (uint32_t)j};
    qsort(path->device_ends.list, path->device_ends.count, sizeof(struct moment), compare_moments);
    qsort(path->all_ends.list, path->all_ends.count, sizeof(struct moment), compare_moments);
    qsort(path->synth_frees.list, path->synth_frees.count, sizeof(struct moment), compare_moments);
    qsort(path->job_ends.list, path->job_ends.count, sizeof(struct moment), compare_moments);
}

static void add_step(void *context, int64_t start_us, int64_t end_us, enum waterfall_part part)
{
    struct path *path = context;
    struct waterfall_run *run = path->run;
    int64_t time_us = end_us - start_us;
    if (path->of_job != WATERFALL_NO_JOB) {
        struct waterfall_job *job = &path->report->jobs[path->of_job];
        job->path_us[part] += time_us;
        if (path->job != path->of_job)
            job->path_others_us += time_us;
        return;
    }
    struct waterfall_step step = {start_us, end_us, path->job, path->partition, part};
    if (MEM_GROW(run->path, run->path_capacity, run->path_count + 1))
        run->path[run->path_count++] = step;
    else
        path->failed = true;
    if (path->job == WATERFALL_NO_JOB)
        run->path_nothing_us += time_us;
    else
        run->path_us[part] += time_us;
}

/* Explains the time from start to path->at_us as it looked to a partition of the job. */
static void explain_since(struct path *path, uint32_t job, const struct waterfall_partition *p,
                          int64_t start_us)
{
    if (start_us < path->from_us)
        start_us = path->from_us;
    if (start_us >= path->at_us)
        return;
    path->job = job;
    path->partition = p ? p->index : WATERFALL_NONE;
    if (job == WATERFALL_NO_JOB)
        add_step(path, start_us, path->at_us, WATERFALL_PART_OTHER);
    else
        split_window(path->report, job, p, start_us, path->at_us, add_step, path);
    path->at_us = start_us;
}

/* When the job of a partition was ready for its first synthesis. */
static int64_t ready_us(const struct waterfall_report *report, uint32_t job)
{
    int64_t ready = report->jobs[job].start_us;
    for (size_t i = report->job_intervals[job]; i < report->job_intervals[job + 1]; i++) {
        const struct waterfall_interval *interval = &report->intervals[i];
        bool before = interval->span == TRACE_SPAN_PARSE || interval->span == TRACE_SPAN_QUEUE;
        if (before && interval->end_us > ready)
            ready = interval->end_us;
    }
    return ready;
}

/* A wait of the whole job counts as this partition's wait if it ended when this partition began. */
static bool waited_for_memory(const struct waterfall_report *report,
                              const struct waterfall_partition *p)
{
    enum { HAND_OVER_US = 5000 };
    for (size_t i = report->job_intervals[p->job]; i < report->job_intervals[p->job + 1]; i++) {
        const struct waterfall_interval *interval = &report->intervals[i];
        if (interval->span != TRACE_SPAN_BUDGET_WAIT || interval->end_us <= interval->start_us ||
            interval->end_us > p->synth_start_us)
            continue;
        if (interval->partition == p->index ||
            (interval->partition == WATERFALL_NONE &&
             p->synth_start_us - interval->end_us <= HAND_OVER_US))
            return true;
    }
    return false;
}

/* The partition whose device time had to end before p's began; NULL: p came straight from its
   synthesis. */
static const struct waterfall_partition *blocked_by_device(const struct path *path,
                                                           const struct waterfall_partition *p)
{
    uint32_t self = (uint32_t)(p - path->report->partitions);
    const struct moment *m = find_latest(&path->device_ends, p->device, p->gpu_start_us, self);
    return m && m->time_us > p->sent_us ? &path->report->partitions[m->index] : NULL;
}

/* Steps back from the start of p's synthesis. Returns the partition whose device time comes next,
   or NULL; then *synth is the partition whose synthesis comes next, or NULL: p's job began. */
static const struct waterfall_partition *before_synthesis(struct path *path,
                                                          const struct waterfall_partition *p,
                                                          const struct waterfall_partition **synth)
{
    const struct waterfall_partition *partitions = path->report->partitions;
    uint32_t self = (uint32_t)(p - partitions);
    int64_t ready = ready_us(path->report, p->job);
    *synth = NULL;
    if (waited_for_memory(path->report, p)) {
        const struct moment *m = find_latest(&path->all_ends, 0, p->synth_start_us, self);
        if (m && m->time_us > ready) {
            explain_since(path, p->job, p, m->time_us);
            return &partitions[m->index];
        }
    }
    const struct moment *m = find_latest(&path->synth_frees, 0, p->synth_start_us, self);
    if (!m || m->time_us <= ready)
        return NULL;
    const struct waterfall_partition *q = &partitions[m->index];
    explain_since(path, p->job, p, m->time_us);
    const struct moment *end = find_latest(&path->all_ends, 0, m->time_us, m->index);
    if (end && end->time_us > q->synth_end_us) {
        explain_since(path, q->job, q, end->time_us); /* it had waited for room in the channel */
        return &partitions[end->index];
    }
    explain_since(path, q->job, q, q->synth_end_us);
    *synth = q;
    return NULL;
}

/* Follows a job from its end to its beginning, by way of other jobs' partitions. */
static void follow_job(struct path *path, uint32_t job, size_t *steps_left)
{
    const struct waterfall_report *report = path->report;
    const struct waterfall_partition *p = split_last_partition(report, &report->jobs[job]);
    if (!p || !p->complete) {
        explain_since(path, job, p, report->jobs[job].start_us);
        return;
    }
    while (*steps_left && !path->failed && path->at_us > path->from_us) {
        (*steps_left)--;
        explain_since(path, p->job, p, p->gpu_start_us);
        const struct waterfall_partition *q = blocked_by_device(path, p);
        if (q) {
            explain_since(path, p->job, p, q->gpu_end_us);
            p = q;
            continue;
        }
        for (q = NULL; !q && *steps_left && path->at_us > path->from_us; (*steps_left)--) {
            const struct waterfall_partition *synth;
            explain_since(path, p->job, p, p->synth_start_us);
            q = before_synthesis(path, p, &synth);
            if (!q && !synth) {
                explain_since(path, p->job, p, report->jobs[p->job].start_us);
                return;
            }
            p = q ? q : synth;
        }
    }
}

static void walk_run(struct path *path, size_t steps_max)
{
    path->of_job = WATERFALL_NO_JOB;
    path->from_us = path->run->start_us;
    path->at_us = path->run->end_us;
    while (path->at_us > path->from_us && steps_max && !path->failed) {
        int64_t before = path->at_us;
        const struct moment *m = find_latest(&path->job_ends, 0, path->at_us, WATERFALL_NO_JOB);
        if (!m)
            break;
        explain_since(path, WATERFALL_NO_JOB, NULL, m->time_us);
        follow_job(path, m->index, &steps_max);
        if (path->at_us == before)
            break; /* only with events missing */
    }
    explain_since(path, WATERFALL_NO_JOB, NULL, path->from_us);
}

/* The path of a job ends where the job began. Where the path leads through jobs that began later,
   the rest is explained as it looked to this job. */
static void walk_job(struct path *path, uint32_t job, size_t steps_max)
{
    const struct waterfall_job *of = &path->report->jobs[job];
    path->of_job = job;
    path->from_us = of->start_us;
    path->at_us = of->end_us;
    follow_job(path, job, &steps_max);
    explain_since(path, job, split_last_partition(path->report, of), of->start_us);
}

enum cuzk_status path_find(struct waterfall_report *report, struct waterfall_run *run,
                           struct cuzk_error *err)
{
    if (run->job_count == 0)
        return CUZK_OK;
    const struct waterfall_job *last = &report->jobs[run->jobs + run->job_count - 1];
    size_t from = report->jobs[run->jobs].partitions;
    size_t to = last->partitions + last->partition_count;
    struct path path = {.report = report, .run = run};
    struct moment *moments = mem_alloc(3 * (to - from) + run->job_count, sizeof *moments);
    if (!moments)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a run's critical path");
    path.device_ends.list = moments;
    path.all_ends.list = moments + (to - from);
    path.synth_frees.list = moments + 2 * (to - from);
    path.job_ends.list = moments + 3 * (to - from);
    collect_moments(&path, from, to);
    size_t steps_max = 4 * (to - from) + run->job_count + 4;
    walk_run(&path, steps_max);
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++)
        walk_job(&path, (uint32_t)j, steps_max < 10000 ? steps_max : 10000);
    mem_free(moments);
    return path.failed ? error_set(err, CUZK_NO_MEMORY, "no memory for a run's critical path")
                       : CUZK_OK;
}
