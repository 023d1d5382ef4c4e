/* The Lagrange form of a key by plain transforms of points. */
#ifndef BACKEND_CPU_DERIVE_H
#define BACKEND_CPU_DERIVE_H

#include "backend/backend.h"

struct pool;

/* struct backend's derive, after the check that the key's sections fit the circuit. About n·log2 n
   multiplications of points, n = 2^log2_domain: minutes for the 2 KiB PoRep, days for a 32 GiB one.
   Takes n projective points and C by columns. CUZK_BAD_PARAMS names a malformed point of the key,
   CUZK_INVALID_ARGUMENT one of h' or l' that comes out as infinity. */
enum cuzk_status derive_points(const struct shape *shape, const struct key_vectors *key,
                               const struct lagrange_points *out, struct pool *pool,
                               backend_progress_fn *progress, void *context,
                               struct cuzk_error *err);

#endif
