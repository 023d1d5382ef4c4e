/* The verdict on a run: what limited its throughput, how sure that is, and what would change it. */
#include "waterfall/verdict.h"

#include "base/check.h"

#include <math.h>

/* --- Thresholds ------------------------------------------------------------------------------- */

/* A device that is busy for this share of the time is the wall: the rest is start and end. */
#define DEVICE_BOUND 0.85
/* From this growth on a further synthesis worker brings less than half of what it should. */
#define CONTENTION 0.5
/* A larger growth is counted as this one: the number of workers that would help tends to infinity
   as the growth nears 1. */
#define GROWTH_MAX 0.95
/* Synthesis that makes partitions this many times as fast as the devices take them keeps up with
   them; if the devices wait all the same, the channel is too short. */
#define CAPACITY_AMPLE 1.1
/* Finished partitions that wait for room in the channel for this share of the run's time show that
   the channel was full. */
#define CHANNEL_FULL 0.05
/* Device phases that fill less than this share of the GPU spans show that the spans contain
   something else. */
#define OCCUPANCY_LOW 0.7
/* GPU spans that sum to more than this many times the busy time contain waiting for the device. */
#define OVERLAP_HIGH 1.3
/* A device phase below this share of all phases is not named. */
#define PHASE_LEAST 0.005
/* A gain is 1 / the share of the time that is left when the wait is gone. A smaller share than this
   is not believed, so no advice promises more than 20 times. */
#define SHARE_LEFT_LEAST 0.05
/* A fraction of a synthesis worker below this is measurement noise, and not rounded up. */
#define WORKER_FRACTION_LEAST 0.05

/* Confidences, 0 to 1. */

/* In a device that is just busy enough to be the wall. It rises to 1 with a device that is always
   busy, and does not exceed this one where the GPU spans contain something else. */
#define CONFIDENCE_DEVICE 0.6
/* In a cause of idle time without weight among the causes. It rises to 1 with the only cause. */
#define CONFIDENCE_CAUSE 0.4
/* In a verdict that only says what is not known. */
#define CONFIDENCE_UNKNOWN 0.2
/* From this number of partitions on their number takes nothing from the confidence. Below, the
   confidence falls in a straight line to this factor at no partition. */
#define PARTITIONS_ENOUGH 20
#define CONFIDENCE_FEW 0.6
/* The share of events and jobs that are missing takes this many times itself from the confidence,
   down to the factor. */
#define MISSING_WEIGHT 5
#define CONFIDENCE_MISSING 0.3

/* --- Figures ---------------------------------------------------------------------------------- */

/* The run in the few numbers that decide. Times are seconds. */
struct figures {
    double time, devices;
    double utilisation; /* of all devices together */
    double overlap;     /* GPU spans over busy time; above 1 the spans contain waiting */
    double occupancy;   /* device phases over busy time; negative: not in the log */
    double phases[WATERFALL_PHASE_COUNT];
    double partitions, proofs;
    double synth, device; /* a partition: mean synthesis, mean busy time of a device */
    double workers;       /* synthesis workers, as configured or seen */
    double growth;        /* exponent b of growth.c, within 0 … GROWTH_MAX */
    double idle[WATERFALL_CAUSE_COUNT], idle_total;
    enum waterfall_cause cause; /* the largest */
};

static struct figures make_figures(const struct waterfall_run *run)
{
    struct figures f = {.occupancy = -1};
    double busy = 0, spans = 0, phases = 0;
    bool phases_known = run->device_count > 0;
    f.time = (double)(run->end_us - run->start_us) / 1e6;
    f.devices = (double)run->device_count;
    for (size_t d = 0; d < run->device_count; d++) {
        const struct waterfall_device *device = &run->devices[d];
        busy += (double)device->busy_us / 1e6;
        spans += (double)device->spans_us / 1e6;
        phases += (double)device->phases_us / 1e6;
        phases_known = phases_known && device->phases_us >= 0;
        for (size_t p = 0; p < WATERFALL_PHASE_COUNT; p++)
            f.phases[p] += (double)device->phase_us[p] / 1e6;
        for (size_t c = 0; c < WATERFALL_CAUSE_COUNT; c++)
            f.idle[c] += (double)device->idle_by_cause_us[c] / 1e6;
    }
    for (size_t c = 0; c < WATERFALL_CAUSE_COUNT; c++) {
        f.idle_total += f.idle[c];
        if (f.idle[c] > f.idle[f.cause])
            f.cause = (enum waterfall_cause)c;
    }
    f.partitions = (double)run->device.count;
    f.proofs = (double)run->complete;
    f.utilisation = f.time > 0 && f.devices > 0 ? busy / (f.time * f.devices) : 0;
    f.overlap = busy > 0 ? spans / busy : 1;
    if (phases_known && busy > 0)
        f.occupancy = phases / busy;
    f.synth = (double)run->synth.mean / 1e6;
    f.device = f.partitions > 0 ? busy / f.partitions : 0;
    f.workers = run->synth_workers > 0 ? (double)run->synth_workers : run->synth_level.max;
    if (run->synth_growth_known)
        f.growth = fmin(fmax(run->synth_growth, 0), GROWTH_MAX);
    return f;
}

/* The factor on throughput, when this share of the time is left. */
static double gain_of(double share_left)
{
    return 1 / fmax(share_left, SHARE_LEFT_LEAST);
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* What a proof waited, of the named cause. */
static double per_proof(const struct figures *f, enum waterfall_cause cause)
{
    return f->proofs > 0 ? f->idle[cause] / f->proofs : f->idle[cause];
}

static const char *devices_of(const struct figures *f)
{
    return f->devices > 1 ? "the devices together" : "the device";
}

/* --- The judgements --------------------------------------------------------------------------- */

/* How the work of the devices divides into phases. */
static void add_phases(const struct figures *f, struct text *text)
{
    double all = 0;
    for (size_t p = 0; p < WATERFALL_PHASE_COUNT; p++)
        all += f->phases[p];
    const char *separator = " Of its work";
    for (size_t p = 0; p < WATERFALL_PHASE_COUNT; p++) {
        if (f->phases[p] <= PHASE_LEAST * all)
            continue;
        text_add(text, "%s %s is %.0f %%", separator, waterfall_phase_name((enum waterfall_phase)p),
                 percent(f->phases[p], all));
        separator = ",";
    }
    if (*separator == ',')
        text_add(text, ".");
}

static void judge_device(const struct figures *f, struct waterfall_verdict *v)
{
    v->bottleneck = WATERFALL_BOUND_DEVICE;
    v->confidence =
        fmin(1, CONFIDENCE_DEVICE +
                    (1 - CONFIDENCE_DEVICE) * (f->utilisation - DEVICE_BOUND) / (1 - DEVICE_BOUND));
    v->gain = 1;
    text_add(&v->text,
             "Device-bound: %.0f device%s busy %.1f %% of the time, %.2f s a partition. Synthesis "
             "keeps up. Only a faster or a further device raises throughput: another one like it "
             "by up to %.0f %%.",
             f->devices, f->devices > 1 ? "s were" : " was", 100 * f->utilisation, f->device,
             100 / fmax(f->devices, 1));
    if (f->occupancy >= 0)
        add_phases(f, &v->text);
    if (f->occupancy >= 0 && f->occupancy < OCCUPANCY_LOW) {
        v->confidence = fmin(v->confidence, CONFIDENCE_DEVICE);
        text_add(&v->text,
                 " But its phases fill only %.0f %% of that: look inside the device's "
                 "spans.",
                 100 * f->occupancy);
    } else if (f->occupancy < 0 && f->overlap > OVERLAP_HIGH) {
        v->confidence = fmin(v->confidence, CONFIDENCE_DEVICE);
        text_add(&v->text,
                 " But the GPU spans of this log overlap %.1f-fold: they contain waiting for the "
                 "device and work of the CPU, so the true occupancy may be lower.",
                 f->overlap);
    }
}

static void judge_contention(const struct figures *f, struct waterfall_verdict *v)
{
    v->bottleneck = WATERFALL_BOUND_CONTENTION;
    v->gain = gain_of(f->utilisation);
    text_add(&v->text,
             "CPU contention: %s waited %.1f s a proof (%.0f %% of the time) for "
             "synthesis, and syntheses slow each other down: a partition takes %.1f s with %.0f "
             "workers, growing with (number at once)^%.2f. Another worker would raise synthesis "
             "by %.0f %% only, as they share one exhausted resource (memory bandwidth, cores). "
             "Use fewer workers with more threads each, less memory traffic a synthesis, or a "
             "host with more bandwidth; hiding the wait would give up to %.2fx.",
             devices_of(f), per_proof(f, WATERFALL_CAUSE_SYNTH),
             percent(f->idle[WATERFALL_CAUSE_SYNTH], f->time * f->devices), f->synth, f->workers,
             f->growth, 100 * (pow((f->workers + 1) / fmax(f->workers, 1), 1 - f->growth) - 1),
             v->gain);
}

static void judge_lookahead(const struct waterfall_run *run, const struct figures *f,
                            struct waterfall_verdict *v)
{
    v->bottleneck = WATERFALL_BOUND_LOOKAHEAD;
    v->gain = gain_of(1 - f->idle[f->cause] / (f->time * f->devices));
    text_add(&v->text,
             "Lookahead too small: %s waited %.1f s a proof (%.0f %% of the time), although "
             "%.0f synthesis workers could feed it (%.1f s a partition against %.2f s on the "
             "device): finished partitions found the channel full, at most %u were ready at once. "
             "Raise synthesis_lookahead to %.0f; up to %.2fx throughput.",
             devices_of(f), per_proof(f, f->cause),
             percent(f->idle[f->cause], f->time * f->devices), f->workers, f->synth, f->device,
             run->ready_level.max, fmax(run->ready_level.max + 1.0, ceil(2 * f->devices)), v->gain);
}

/* Workers that would keep the devices busy: the wait must vanish, and each added worker slows the
   others as the run (or the log) shows. */
static double workers_needed(const struct figures *f)
{
    double more = f->utilisation > 0
                      ? 1 + f->idle[WATERFALL_CAUSE_SYNTH] / (f->utilisation * f->time * f->devices)
                      : 2;
    double by_idle = f->workers * pow(more, 1 / (1 - f->growth));
    double by_time = f->device > 0 ? f->devices * f->synth / f->device : 0;
    return fmax(ceil(fmax(by_idle, by_time) - WORKER_FRACTION_LEAST), f->workers + 1);
}

static void judge_synthesis(const struct waterfall_run *run, const struct figures *f, bool waited,
                            struct waterfall_verdict *v)
{
    double capacity = f->synth > 0 ? f->workers / f->synth : 0;
    double demand = f->device > 0 ? f->devices / f->device : 0;
    if (waited && capacity > CAPACITY_AMPLE * demand) {
        judge_lookahead(run, f, v);
        return;
    }
    if (run->synth_growth_known && f->growth >= CONTENTION) {
        judge_contention(f, v);
        return;
    }
    v->bottleneck = WATERFALL_BOUND_SYNTHESIS;
    v->gain = gain_of(1 - f->idle[WATERFALL_CAUSE_SYNTH] / (f->time * f->devices));
    text_add(&v->text,
             "Synthesis-bound: %s waited %.1f s a proof (%.0f %% of the time) for "
             "partition synthesis, which takes %.1f s with %.0f worker%s, against %.2f s on the "
             "device. >= %.0f synthesis workers would hide it: up to %.2fx throughput",
             devices_of(f), per_proof(f, WATERFALL_CAUSE_SYNTH),
             percent(f->idle[WATERFALL_CAUSE_SYNTH], f->time * f->devices), f->synth, f->workers,
             f->workers > 1 ? "s" : "", f->device, workers_needed(f), v->gain);
    if (run->synth_growth_known)
        text_add(&v->text, " (syntheses slow each other little: exponent %.2f).", f->growth);
    else
        text_add(&v->text, ", if they do not slow each other down: the log does not show that, as "
                           "about the same number always ran at once.");
}

static void judge_client(const struct waterfall_run *run, const struct figures *f,
                         struct waterfall_verdict *v)
{
    double share = f->idle[WATERFALL_CAUSE_NOTHING] / fmax(f->time * f->devices, 1e-9);
    v->bottleneck = WATERFALL_BOUND_CLIENT;
    v->gain = gain_of(1 - share);
    text_add(&v->text,
             "Too little was submitted: for %.0f %% of the time no job was there; %.1f jobs were "
             "on average, %u at most. Keep at least %u in flight (for cuzk-bench: -j): up to "
             "%.2fx throughput.",
             100 * share, run->jobs_level.mean, run->jobs_level.max, run->jobs_level.max + 1,
             v->gain);
}

static void judge_cause(const struct figures *f, enum waterfall_bottleneck bottleneck,
                        const char *headline, const char *advice, struct waterfall_verdict *v)
{
    double share = f->idle[f->cause] / fmax(f->time * f->devices, 1e-9);
    v->bottleneck = bottleneck;
    v->gain = gain_of(1 - share);
    text_add(&v->text,
             "%s: %s waited %.1f s a proof (%.0f %% of the time) because %s. %s: up to "
             "%.2fx throughput.",
             headline, devices_of(f), per_proof(f, f->cause), 100 * share,
             waterfall_cause_words(f->cause), advice, v->gain);
}

static void judge_idle(const struct waterfall_run *run, const struct figures *f, bool waited,
                       struct waterfall_verdict *v)
{
    v->confidence = CONFIDENCE_CAUSE;
    if (f->idle_total > 0)
        v->confidence += (1 - CONFIDENCE_CAUSE) * f->idle[f->cause] / f->idle_total;
    switch (f->cause) {
    case WATERFALL_CAUSE_SYNTH:
        judge_synthesis(run, f, waited, v);
        break;
    case WATERFALL_CAUSE_NOTHING:
        judge_client(run, f, v);
        break;
    case WATERFALL_CAUSE_LOOKAHEAD:
        judge_lookahead(run, f, v);
        break;
    case WATERFALL_CAUSE_BUDGET:
        judge_cause(f, WATERFALL_BOUND_BUDGET, "Memory-bound",
                    "Raise memory.total_budget so that all synthesis workers can work", v);
        break;
    case WATERFALL_CAUSE_SRS:
        judge_cause(f, WATERFALL_BOUND_SRS, "Parameter loading",
                    "Preload the parameters and give them room to stay", v);
        break;
    case WATERFALL_CAUSE_PARSE:
        judge_cause(f, WATERFALL_BOUND_PARSE, "Parsing",
                    "Keep more jobs in flight, so that inputs are parsed beside proving", v);
        break;
    case WATERFALL_CAUSE_ADMIT:
        judge_cause(f, WATERFALL_BOUND_ADMISSION, "Admission",
                    "Keep more jobs in flight, and the journal on a faster disk", v);
        break;
    case WATERFALL_CAUSE_FINISH:
    case WATERFALL_CAUSE_REPLY:
        judge_cause(f, WATERFALL_BOUND_FINISH, "Finishing",
                    "Raise gpus.gpu_workers_per_device and keep more jobs in flight", v);
        break;
    case WATERFALL_CAUSE_LOCK:
    case WATERFALL_CAUSE_DISPATCH:
        judge_cause(f, WATERFALL_BOUND_DISPATCH, "Hand-over to the device",
                    "Raise gpus.gpu_workers_per_device", v);
        break;
    default:
        v->bottleneck = WATERFALL_BOUND_UNKNOWN;
        v->confidence = CONFIDENCE_UNKNOWN;
        text_add(&v->text, "Unknown: for %.0f %% of the time the device was idle and %s.",
                 percent(f->idle[f->cause], f->time * f->devices), waterfall_cause_words(f->cause));
    }
}

static bool channel_was_full(const struct waterfall_report *report, const struct waterfall_run *run)
{
    int64_t waited = 0;
    size_t to = run->jobs + run->job_count;
    for (size_t i = report->job_intervals[run->jobs]; i < report->job_intervals[to]; i++)
        if (report->intervals[i].span == TRACE_SPAN_LOOKAHEAD_WAIT &&
            report->intervals[i].end_us > report->intervals[i].start_us &&
            report->intervals[i].start_us >= 0)
            waited += report->intervals[i].end_us - report->intervals[i].start_us;
    return (double)waited > CHANNEL_FULL * (double)(run->end_us - run->start_us);
}

/* Few samples and missing events make it less sure. Both halves of the penalty are graded: one lost
   event among thousands changes little. */
static void lower_confidence(const struct waterfall_report *report, const struct waterfall_run *run,
                             const struct figures *f, struct waterfall_verdict *v)
{
    if (f->partitions < PARTITIONS_ENOUGH)
        v->confidence *= CONFIDENCE_FEW + (1 - CONFIDENCE_FEW) / PARTITIONS_ENOUGH * f->partitions;
    if (run->whole)
        return;
    const struct waterfall_log *log = report->log;
    double missing = (double)(run->unpaired + log->lines_skipped + log->dropped);
    double share = missing / fmax((double)log->count, 1) +
                   (double)run->incomplete / fmax((double)run->job_count, 1);
    v->confidence *= fmax(CONFIDENCE_MISSING, 1 - MISSING_WEIGHT * share);
    text_add(&v->text,
             " Uncertain: %zu events have no partner, %zu of %zu jobs are incomplete, "
             "%llu lines could not be used, %llu events were lost%s.",
             run->unpaired, run->incomplete, run->job_count, (unsigned long long)log->lines_skipped,
             (unsigned long long)log->dropped, log->ordered ? "" : ", the lines are out of order");
}

void verdict_judge(const struct waterfall_report *report, struct waterfall_run *run)
{
    struct figures f = make_figures(run);
    struct waterfall_verdict *v = &run->verdict;
    v->gain = 1;
    if (run->device.count == 0 || f.time <= 0) {
        v->bottleneck = WATERFALL_BOUND_UNKNOWN;
        text_add(&v->text, "Unknown: no partition is complete in this run.");
    } else if (f.utilisation >= DEVICE_BOUND) {
        judge_device(&f, v);
    } else {
        judge_idle(run, &f, channel_was_full(report, run), v);
    }
    lower_confidence(report, run, &f, v);
    v->confidence = fmin(fmax(v->confidence, 0), 1);
    if (v->confidence < WATERFALL_CONFIDENT && run->whole && run->device.count)
        text_add(&v->text, " Uncertain: few partitions, or several causes of similar weight.");
}
