/* Distributions of a run's durations, and Little's law. */
#include "waterfall/stats.h"

#include "base/error.h"
#include "base/mem.h"

#include <stdlib.h>

static int compare_durations(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The smallest value that at least `percent` % of the values do not exceed (nearest rank). */
static int64_t percentile(const int64_t *sorted, size_t count, unsigned percent)
{
    size_t rank = (count * percent + 99) / 100;
    return sorted[rank ? rank - 1 : 0];
}

static struct waterfall_distribution measure_durations(int64_t *values, size_t count)
{
    struct waterfall_distribution d = {.count = count};
    if (count == 0)
        return d;
    qsort(values, count, sizeof *values, compare_durations);
    for (size_t i = 0; i < count; i++)
        d.sum += values[i];
    d.min = values[0];
    d.mean = d.sum / (int64_t)count;
    d.p50 = percentile(values, count, 50);
    d.p90 = percentile(values, count, 90);
    d.p95 = percentile(values, count, 95);
    d.p99 = percentile(values, count, 99);
    d.max = values[count - 1];
    return d;
}

enum pick { PICK_SYNTH, PICK_CHANNEL, PICK_DEVICE };

static struct waterfall_distribution measure_partitions(const struct waterfall_report *report,
                                                        const struct waterfall_run *run,
                                                        enum pick pick, int64_t *values)
{
    size_t count = 0;
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++) {
        const struct waterfall_job *job = &report->jobs[j];
        for (size_t i = job->partitions; i < job->partitions + job->partition_count; i++) {
            const struct waterfall_partition *p = &report->partitions[i];
            if (!p->complete)
                continue;
            values[count++] = pick == PICK_SYNTH     ? p->synth_end_us - p->synth_start_us
                              : pick == PICK_CHANNEL ? p->picked_us - p->sent_us
                                                     : p->gpu_end_us - p->gpu_start_us;
        }
    }
    return measure_durations(values, count);
}

static struct waterfall_distribution measure_jobs(const struct waterfall_report *report,
                                                  const struct waterfall_run *run, int64_t *values)
{
    size_t count = 0;
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++)
        if (report->jobs[j].complete)
            values[count++] = report->jobs[j].end_us - report->jobs[j].start_us;
    return measure_durations(values, count);
}

enum cuzk_status stats_measure(const struct waterfall_report *report, struct waterfall_run *run,
                               struct cuzk_error *err)
{
    size_t most = run->job_count;
    size_t partitions = 0;
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++)
        partitions += report->jobs[j].partition_count;
    int64_t *values = mem_alloc(most > partitions ? most : partitions, sizeof *values);
    if (!values)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a run's distributions");
    run->wall = measure_jobs(report, run, values);
    run->synth = measure_partitions(report, run, PICK_SYNTH, values);
    run->channel = measure_partitions(report, run, PICK_CHANNEL, values);
    run->device = measure_partitions(report, run, PICK_DEVICE, values);
    mem_free(values);
    /* Little's law: jobs there = arrival rate × time each is there. The left side is measured over
       all jobs, the right one over the complete ones, so they differ where data are missing. */
    double time = (double)(run->end_us - run->start_us);
    run->little_l = run->jobs_level.mean;
    run->little_lambda_w = time > 0 ? (double)run->wall.sum / time : 0;
    return CUZK_OK;
}
