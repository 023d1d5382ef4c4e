#include "engine/stats.h"

const double stats_bounds[STATS_BUCKETS] = {0.1, 0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 1e300};

void stats_count_end(struct stats *stats, const struct job *job)
{
    struct stats_kind *kind = &stats->kind[job->kind - 1];
    double seconds = (double)(job->done_ns - job->accepted_ns) / 1e9;
    if (job->state == JOB_FAILED)
        kind->failed++;
    else if (job->state == JOB_CANCELLED)
        kind->cancelled++;
    if (job->state != JOB_DONE)
        return;
    kind->completed++;
    kind->seconds += seconds;
    for (unsigned i = 0; i < STATS_BUCKETS; i++)
        if (seconds <= stats_bounds[i])
            kind->bucket[i]++;
}
