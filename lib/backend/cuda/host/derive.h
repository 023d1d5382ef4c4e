/* The functions of struct backend that work on a key without a circuit on the device. */
#ifndef CUDA_DERIVE_H
#define CUDA_DERIVE_H

#include "backend/cuda/device/device.h"

/* The Lagrange form (key/lagrange.h). Takes 128 bytes of device memory for each point of the
   domain, 17.2 GB for 2^27, and 1.4 GB; on the host the columns of C (r1cs/transpose.h). */
enum cuzk_status derive_lagrange(struct backend_device *device, const struct shape *shape,
                                 const struct key_vectors *key, const struct lagrange_points *out,
                                 backend_progress_fn *progress, void *context,
                                 struct cuzk_error *err);

/* Σ scalars[i]·points[i], some of which may be infinity. Takes 8 GB of device memory. */
enum cuzk_status sum_points(struct backend_device *device, const uint8_t *points, uint32_t n,
                            const struct fr *scalars, struct g1 *out, struct cuzk_error *err);

#endif
