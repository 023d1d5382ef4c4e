#include "groth16/lagrange_make.h"

#include "base/error.h"
#include "groth16/lagrange_check.h"
#include "key/lagrange_file.h"

/* The share of the whole that derive takes: measured, for progress only. */
static const double derive_share = 0.9, check_share = 0.05;

struct maker {
    const struct params *params;
    const struct shape *shape;
    const struct backend *backend;
    struct backend_device *device;
    struct pool *pool;
    backend_progress_fn *progress; /* may be NULL */
    void *context;
};

static void report(const struct maker *maker, double done, const char *what)
{
    if (maker->progress)
        maker->progress(maker->context, done, what);
}

/* backend_progress_fn of derive. */
static void report_derive(void *context, double done, const char *what)
{
    report(context, done * derive_share, what);
}

/* lagrange_fill_map_fn */
static enum cuzk_status fill_points(void *context, const struct lagrange_points *points,
                                    struct cuzk_error *err)
{
    struct maker *maker = context;
    struct key_vectors key = maker->params->key;
    TRY(maker->backend->derive(maker->device, maker->shape, &key, points, report_derive, maker,
                               err));
    report(maker, derive_share, "check");
    key.lagrange = *points;
    TRY(lagrange_check(maker->backend, maker->device, maker->shape, &key, maker->pool, err));
    report(maker, derive_share + check_share, "write");
    return CUZK_OK;
}

enum cuzk_status lagrange_make(const struct params *params, const struct shape *shape,
                               const struct backend *backend, struct backend_device *device,
                               struct pool *pool, backend_progress_fn *progress, void *context,
                               struct cuzk_error *err)
{
    struct maker maker = {params, shape, backend, device, pool, progress, context};
    if (!backend->derive || !backend->sum)
        return error_set(err, CUZK_NO_DEVICE, "backend %s cannot derive", backend->name);
    TRY(lagrange_write_mapped(params, shape, fill_points, &maker, err));
    report(&maker, 1, "done");
    return CUZK_OK;
}
