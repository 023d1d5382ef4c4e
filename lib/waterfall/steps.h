/* The steps of an analysis, each in a file of its own. Private to lib/waterfall. */
#ifndef WATERFALL_STEPS_H
#define WATERFALL_STEPS_H

#include "waterfall/report.h"

#define NO_JOB UINT32_MAX

/* The names that several steps need for an attempt's six classic moments, in their order. */
enum stage {
    STAGE_SYNTH_START,
    STAGE_SYNTH_END,
    STAGE_SENT,
    STAGE_PICKED,
    STAGE_GPU_START,
    STAGE_GPU_END,
    STAGE_COUNT
};

/* The moment of a stage. */
int64_t *partition_stage(struct waterfall_partition *partition, enum stage stage);
int64_t partition_stage_us(const struct waterfall_partition *partition, enum stage stage);

/* pair.c: jobs, partitions, intervals and unpaired events of an ordered log. Jobs are in order of
   epoch and start; partitions and intervals are not in order yet. */
enum cuzk_status report_pair(struct waterfall_report *report, struct cuzk_error *err);

/* runs.c: separates runs, orders everything by run and job, and finds each run's devices. */
enum cuzk_status report_find_runs(struct waterfall_report *report,
                                  const struct waterfall_options *options, struct cuzk_error *err);

/* split.c: the wall time of each job by part. */
void report_split_jobs(struct waterfall_report *report);

/* The attempt of a job that reached its last moment last; NULL: the job has no partition. */
const struct waterfall_partition *report_last_partition(const struct waterfall_report *report,
                                                        const struct waterfall_job *job);

/* Visits the moments from start to end as they look to one partition of a job (NULL: to the job as
   a whole): neighbouring stretches in order of time, each with its part. */
typedef void split_visitor(void *context, int64_t start_us, int64_t end_us,
                           enum waterfall_part part);
void report_split_window(const struct waterfall_report *report, uint32_t job,
                         const struct waterfall_partition *partition, int64_t start_us,
                         int64_t end_us, split_visitor *visit, void *context);

/* sweep.c: utilisation of a run's devices, the causes of their idleness, and levels. */
enum cuzk_status report_sweep(struct waterfall_report *report, struct waterfall_run *run,
                              struct cuzk_error *err);

/* stats.c: distributions and Little's law of a run. */
enum cuzk_status report_measure(struct waterfall_report *report, struct waterfall_run *run,
                                struct cuzk_error *err);

/* growth.c: how synthesis times grow with the number of syntheses at once, for all runs. */
enum cuzk_status report_find_growth(struct waterfall_report *report, struct cuzk_error *err);

/* path.c: the critical paths of a run and of its jobs. */
enum cuzk_status report_find_path(struct waterfall_report *report, struct waterfall_run *run,
                                  struct cuzk_error *err);

/* verdict.c: what the numbers of a run mean. */
void report_judge(const struct waterfall_report *report, struct waterfall_run *run);

/* The number after "key=" in a list of details; WATERFALL_NONE if there is none. */
int64_t detail_number(const char *details, const char *key);

/* Adds a warning; false without memory. */
bool report_warn(struct waterfall_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends an element to one of the report's arrays (see mem_reserve); false without memory. */
#define REPORT_APPEND(array, count, capacity, element)                                             \
    (report_reserve((void **)&(array), &(capacity), (count) + 1, sizeof *(array))                  \
         ? ((array)[(count)++] = (element), true)                                                  \
         : false)
bool report_reserve(void **array, size_t *capacity, size_t needed, size_t size);

#endif
