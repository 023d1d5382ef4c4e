#include "engine/devices.h"

#include "engine/core.h"

#include "base/log.h"

#include <inttypes.h>

static bool is_quarantined(const struct core *core, unsigned device)
{
    return core->pipeline.quarantined >> device & 1;
}

void devices_blame(struct core *core, unsigned device, const char *why)
{
    const char *name = core->shared->devices[device].name;
    uint64_t failures = ++core->stats.device_failures[device];
    log_error("engine", "device %u (%s): %s, %" PRIu64 " failures so far", device, name, why,
              failures);
    if (failures < DEVICES_FAILURES_MAX || is_quarantined(core, device))
        return;
    if (pipeline_quarantine(&core->pipeline, device))
        log_error("engine", "device %u (%s) is quarantined: it gets no more work", device, name);
    else
        log_error("engine",
                  "device %u (%s) would be quarantined, but it is the last one: it goes on,"
                  " and every proof is verified",
                  device, name);
}

void devices_lose(struct core *core, unsigned device, const char *why)
{
    const struct engine_shared *shared = core->shared;
    if (is_quarantined(core, device))
        return;
    log_error("engine", "device %u (%s) is lost to this process: %s", device,
              shared->devices[device].name, why);
    if (!pipeline_quarantine(&core->pipeline, device) && shared->devices_lost)
        shared->devices_lost(shared->devices_lost_context, why);
}
