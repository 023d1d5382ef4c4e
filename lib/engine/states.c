/* The names of states in the status. */
#include <cuzk/engine.h>

const char *cuzk_job_state_text(enum cuzk_job_state state)
{
    switch (state) {
    case CUZK_JOB_STATE_ACCEPTED:
        return "accepted";
    case CUZK_JOB_STATE_QUEUED:
        return "queued";
    case CUZK_JOB_STATE_PARSING:
        return "parsing";
    case CUZK_JOB_STATE_RUNNING:
        return "running";
    case CUZK_JOB_STATE_DONE:
        return "done";
    case CUZK_JOB_STATE_FAILED:
        return "failed";
    case CUZK_JOB_STATE_CANCELLED:
        return "cancelled";
    }
    return "unknown";
}

const char *cuzk_partition_state_text(enum cuzk_partition_state state)
{
    switch (state) {
    case CUZK_PARTITION_PENDING:
        return "pending";
    case CUZK_PARTITION_SYNTHESIZING:
        return "synthesizing";
    case CUZK_PARTITION_SYNTHESIZED:
        return "synth_done";
    case CUZK_PARTITION_PROVING:
        return "gpu";
    case CUZK_PARTITION_DONE:
        return "done";
    }
    return "unknown";
}

const char *cuzk_device_state_text(enum cuzk_device_state state)
{
    switch (state) {
    case CUZK_DEVICE_IDLE:
        return "idle";
    case CUZK_DEVICE_PROVING:
        return "proving";
    case CUZK_DEVICE_QUARANTINED:
        return "quarantined";
    }
    return "unknown";
}
