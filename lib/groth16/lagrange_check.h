/* Is a key's Lagrange form (backend/lagrange.h) the form of that key? */
#ifndef GROTH16_LAGRANGE_CHECK_H
#define GROTH16_LAGRANGE_CHECK_H

#include "backend/backend.h"

struct pool;

/* Compares random linear combinations of key->lagrange with those of key->h and key->l that must be
   equal; the device adds up the points (backend->sum). A form with a fault anywhere passes with
   probability below 2^-220. CUZK_BAD_PARAMS says which part is wrong. Takes two arrays of
   2^log2_domain scalars. */
enum cuzk_status lagrange_check(const struct backend *backend, struct backend_device *device,
                                const struct shape *shape, const struct backend_key *key,
                                struct pool *pool, struct cuzk_error *err);

#endif
