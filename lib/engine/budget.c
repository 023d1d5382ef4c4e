#include "engine/budget.h"

#include "base/check.h"
#include "base/error.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void budget_init(struct budget *budget, uint64_t total)
{
    *budget = (struct budget){
        .total = total,
        .reserve = min_u64(total / 8, UINT64_C(512) << 20),
        .requests_max = total / 4,
    };
}

uint64_t budget_used(const struct budget *budget)
{
    uint64_t sum = 0;
    for (unsigned use = 0; use < BUDGET_USES; use++)
        sum += budget->used[use];
    return sum;
}

/* a + b ≤ limit, without overflow. */
static bool fits(uint64_t a, uint64_t b, uint64_t limit)
{
    return a <= limit && b <= limit - a;
}

static uint64_t circuits_limit(const struct budget *budget, uint64_t floor)
{
    uint64_t kept = budget->requests_max + budget->reserve;
    kept = floor > UINT64_MAX - kept ? UINT64_MAX : kept + floor;
    return kept < budget->total ? budget->total - kept : 0;
}

enum cuzk_status budget_could_fit(const struct budget *budget, enum budget_use use, uint64_t bytes,
                                  uint64_t floor, struct cuzk_error *err)
{
    static const char *const names[BUDGET_USES] = {"request", "circuit", "partition"};
    uint64_t limit = use == BUDGET_REQUESTS   ? budget->requests_max
                     : use == BUDGET_CIRCUITS ? circuits_limit(budget, floor)
                                              : budget->total - budget->reserve;
    if (bytes <= limit)
        return CUZK_OK;
    return error_set(err, CUZK_RESOURCE_EXHAUSTED,
                     "memory budget: the %s needs %" PRIu64 " MiB, at most %" PRIu64
                     " MiB of the budget of %" PRIu64 " MiB can be given to it",
                     names[use], (bytes >> 20) + 1, limit >> 20, budget->total >> 20);
}

static void hold_bytes(struct budget *budget, enum budget_use use, uint64_t bytes,
                       struct budget_hold *hold)
{
    CHECK(hold->bytes == 0);
    *hold = (struct budget_hold){use, bytes};
    budget->used[use] += bytes;
    budget->peak = max_u64(budget->peak, budget_used(budget));
}

bool budget_take(struct budget *budget, enum budget_use use, uint64_t bytes, bool critical,
                 struct budget_hold *hold)
{
    uint64_t limit = critical ? budget->total : budget->total - budget->reserve;
    if (!fits(budget_used(budget), bytes, limit))
        return false;
    uint64_t share = budget->requests_max + (critical ? budget->reserve / 2 : 0);
    if (use == BUDGET_REQUESTS && !fits(budget->used[use], bytes, share))
        return false;
    hold_bytes(budget, use, bytes, hold);
    return true;
}

bool budget_take_circuit(struct budget *budget, uint64_t bytes, uint64_t floor,
                         struct budget_hold *hold)
{
    if (!fits(budget->used[BUDGET_CIRCUITS], bytes, circuits_limit(budget, floor)) ||
        !fits(budget_used(budget), bytes, budget->total))
        return false;
    hold_bytes(budget, BUDGET_CIRCUITS, bytes, hold);
    return true;
}

void budget_release(struct budget *budget, struct budget_hold *hold, uint64_t keep)
{
    if (hold->bytes <= keep)
        return;
    uint64_t freed = hold->bytes - keep;
    CHECK(budget->used[hold->use] >= freed);
    budget->used[hold->use] -= freed;
    hold->bytes = keep;
}

/* --- What this process may use ---------------------------------------------------------------- */

enum { LINE_BYTES = 4096 };

/* First number in a file; UINT64_MAX if there is none ("max", or no such file). */
static uint64_t read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    uint64_t value;
    if (fscanf(file, "%" SCNu64, &value) != 1)
        value = UINT64_MAX;
    fclose(file);
    return value;
}

static uint64_t available_memory(const char *root)
{
    char path[PATH_MAX];
    char line[LINE_BYTES];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    uint64_t available = UINT64_MAX;
    while (fgets(line, sizeof line, file)) {
        uint64_t kib;
        if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kib) == 1)
            available = kib << 10;
    }
    fclose(file);
    return available;
}

/* The least limit of a group and all above it. A group's folder may be missing from our view of the
   file system (a container sees its own group as the root), so the top is always looked at. */
static uint64_t group_limit(const char *root, const char *mount, const char *group,
                            const char *file)
{
    char path[PATH_MAX];
    char name[LINE_BYTES];
    uint64_t limit = UINT64_MAX;
    snprintf(name, sizeof name, "%s", strcmp(group, "/") == 0 ? "" : group);
    for (;;) {
        if (snprintf(path, sizeof path, "%s%s%s/%s", root, mount, name, file) < (int)sizeof path)
            limit = min_u64(limit, read_number(path));
        char *slash = strrchr(name, '/');
        if (!slash)
            return limit;
        *slash = '\0';
    }
}

/* Lines of /proc/self/cgroup: "0::/group" (version 2), "5:memory:/group" (version 1). */
static uint64_t cgroup_limit(const char *root)
{
    char path[PATH_MAX];
    char line[LINE_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    uint64_t limit = UINT64_MAX;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        controllers++;
        if (controllers[0] == '\0')
            limit = min_u64(limit, group_limit(root, "/sys/fs/cgroup", group, "memory.max"));
        else if (strcmp(controllers, "memory") == 0)
            limit = min_u64(
                limit, group_limit(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
    fclose(file);
    return limit;
}

static uint64_t process_limit(void)
{
    uint64_t limit = UINT64_MAX;
    struct rlimit found;
    if (getrlimit(RLIMIT_AS, &found) == 0 && found.rlim_cur != RLIM_INFINITY)
        limit = min_u64(limit, found.rlim_cur);
    if (getrlimit(RLIMIT_DATA, &found) == 0 && found.rlim_cur != RLIM_INFINITY)
        limit = min_u64(limit, found.rlim_cur);
    return limit;
}

uint64_t budget_auto(const char *root, uint64_t margin)
{
    uint64_t limit = min_u64(available_memory(root), min_u64(cgroup_limit(root), process_limit()));
    if (limit == UINT64_MAX)
        limit = UINT64_C(4) << 30; /* nothing is known about this machine */
    return limit - min_u64(margin, limit / 2);
}
