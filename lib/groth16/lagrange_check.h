/* Is a key's Lagrange form (key/lagrange.h) the form of that key? */
#ifndef GROTH16_LAGRANGE_CHECK_H
#define GROTH16_LAGRANGE_CHECK_H

#include "backend/backend.h"

struct pool;

/* Compares random linear combinations of the points of key->lagrange with those of key->h and
   key->l that must be equal; the device adds up the points (backend->sum), the pool (NULL: the
   caller alone) makes the scalars. A form with any other points of the group passes with a
   probability below 2^-220. This is against devices that compute wrongly: a point with a part
   outside the group that was put there on purpose may pass, and then shows in the verification of
   proofs.

   CUZK_BAD_PARAMS says which part is wrong: "h of the Lagrange form" or "l of the Lagrange form",
   which takes in the inputs. Other errors are those of memory, randomness and the device. Takes two
   arrays of 2^log2_domain scalars and a 32nd of one: 8.7 GB for a 32 GiB PoRep. */
enum cuzk_status lagrange_check(const struct backend *backend, struct backend_device *device,
                                const struct shape *shape, const struct key_vectors *key,
                                struct pool *pool, struct cuzk_error *err);

#endif
