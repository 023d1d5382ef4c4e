/* Making a key's Lagrange form (key/lagrange.h) on a device. */
#ifndef GROTH16_LAGRANGE_MAKE_H
#define GROTH16_LAGRANGE_MAKE_H

#include "backend/backend.h"
#include "key/params.h"

struct pool;

/* Has the backend's derive make the form of the parameters, compares it with them (lagrange_check),
   and writes the file (lagrange_write_mapped). The parameters are the shape's. CUZK_NO_DEVICE: the
   backend cannot derive; CUZK_BAD_PARAMS: what derive made is not the key's form; others as those
   of lagrange_write. progress may be NULL. */
enum cuzk_status lagrange_make(const struct params *params, const struct shape *shape,
                               const struct backend *backend, struct backend_device *device,
                               struct pool *pool, backend_progress_fn *progress, void *context,
                               struct cuzk_error *err);

#endif
