/* How synthesis slows down when more of it goes on at once. If c partitions are synthesized
   together and each takes time proportional to c^b, then b near 0 means that the workers do not
   disturb each other, and b near 1 that they share one exhausted resource (memory bandwidth,
   cores), so that more workers bring nothing. b is the slope of a least-squares line through log
   time against log c. */
#include "waterfall/growth.h"

#include "base/error.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

struct point {
    int64_t time_us;
    int32_t level;   /* syntheses at once from here on */
    double integral; /* of the level, up to here */
};

/* Sums of a least-squares line. */
struct fit {
    double n, x, y, xx, xy, yy;
};

static int compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return (x->time_us > y->time_us) - (x->time_us < y->time_us);
}

static bool is_sample(const struct waterfall_partition *p)
{
    return p->complete && p->index >= 0 && p->synth_end_us > p->synth_start_us;
}

/* Integral of the level from the first point to a moment that is not before it. */
static double integral_to(const struct point *points, size_t count, int64_t time_us)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (points[middle].time_us <= time_us)
            low = middle;
        else
            high = middle;
    }
    return points[low].integral + points[low].level * (double)(time_us - points[low].time_us);
}

static void add_sample(struct fit *fit, double x, double y)
{
    fit->n += 1;
    fit->x += x;
    fit->y += y;
    fit->xx += x * x;
    fit->xy += x * y;
    fit->yy += y * y;
}

/* Adds the samples of a run to its own fit and to the common one. */
static bool sample_run(const struct waterfall_report *report, const struct waterfall_run *run,
                       struct fit *fit, struct fit *common)
{
    if (run->job_count == 0)
        return true;
    const struct waterfall_job *last = &report->jobs[run->jobs + run->job_count - 1];
    size_t from = report->jobs[run->jobs].partitions;
    size_t to = last->partitions + last->partition_count;
    struct point *points = mem_alloc(2 * (to - from), sizeof *points);
    if (!points)
        return false;
    size_t count = 0;
    for (size_t i = from; i < to; i++) {
        const struct waterfall_partition *p = &report->partitions[i];
        if (p->synth_start_us < 0 || p->synth_end_us <= p->synth_start_us)
            continue;
        points[count++] = (struct point){.time_us = p->synth_start_us, .level = 1};
        points[count++] = (struct point){.time_us = p->synth_end_us, .level = -1};
    }
    qsort(points, count, sizeof *points, compare_points);
    for (size_t i = 1; i < count; i++) {
        points[i].integral =
            points[i - 1].integral +
            points[i - 1].level * (double)(points[i].time_us - points[i - 1].time_us);
        points[i].level += points[i - 1].level;
    }
    for (size_t i = from; i < to; i++) {
        const struct waterfall_partition *p = &report->partitions[i];
        if (!is_sample(p))
            continue;
        double time = (double)(p->synth_end_us - p->synth_start_us);
        double level = (integral_to(points, count, p->synth_end_us) -
                        integral_to(points, count, p->synth_start_us)) /
                       time;
        add_sample(fit, log(level), log(time));
        add_sample(common, log(level), log(time));
    }
    mem_free(points);
    return true;
}

/* A line through fewer syntheses says nothing. */
enum { SAMPLES_MIN = 12 };

/* A variance of log c below this (a standard deviation of 0.14) means that about the same number
   was always synthesized at once, so that a slope cannot be seen. */
#define LEVEL_VARIANCE_MIN 0.02

/* A slope with a larger standard error is not known. */
#define SLOPE_ERROR_MAX 0.2

struct slope {
    double slope, error;
};

/* The slope, with an infinite error if the levels do not differ enough for one. */
static struct slope slope_of(const struct fit *fit)
{
    struct slope none = {0, INFINITY};
    if (fit->n < SAMPLES_MIN)
        return none;
    double sxx = fit->xx - fit->x * fit->x / fit->n;
    double sxy = fit->xy - fit->x * fit->y / fit->n;
    double syy = fit->yy - fit->y * fit->y / fit->n;
    if (sxx / fit->n < LEVEL_VARIANCE_MIN)
        return none;
    double slope = sxy / sxx;
    double residual = fmax(syy - slope * sxy, 0);
    return (struct slope){slope, sqrt(residual / (fit->n - 2) / sxx)};
}

/* A run takes its own slope or the one over all runs, whichever is surer. */
enum cuzk_status growth_find(struct waterfall_report *report, struct cuzk_error *err)
{
    struct fit common = {0};
    struct slope *own = mem_alloc(report->run_count, sizeof *own);
    bool ok = own;
    for (size_t i = 0; i < report->run_count && ok; i++) {
        struct fit fit = {0};
        ok = sample_run(report, &report->runs[i], &fit, &common);
        own[i] = slope_of(&fit);
    }
    struct slope all = slope_of(&common);
    for (size_t i = 0; i < report->run_count && ok; i++) {
        struct slope best = own[i].error < all.error ? own[i] : all;
        report->runs[i].synth_growth_known = best.error < SLOPE_ERROR_MAX;
        report->runs[i].synth_growth = best.error < SLOPE_ERROR_MAX ? best.slope : 0;
    }
    mem_free(own);
    return ok ? CUZK_OK : error_set(err, CUZK_NO_MEMORY, "no memory to compare synthesis times");
}
