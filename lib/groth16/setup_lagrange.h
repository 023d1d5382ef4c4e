/* The Lagrange form (key/lagrange.h) of development parameters: with known trapdoors it is, as
   the parameters are, multiples of the generator, and no transform of points is needed.

   With n = 2^log2_domain, d = 7^n - 1, w of order n, and H_k = s·τ^k, s = (τ^n - 1) / δ, for
   k < n - 1 (the key has no other), the sums of the definition are geometric series:

     Σ_{k<n-1} p^-k·H_k = s·p·(((τ/g)^n - 1) / (τ - p) - (τ/g)^n / τ)      for p = g·w^j, j < n

   so that h'_j is 1/(n·d) times this for p = 7·w^j, f_i for p = w^i. */
#ifndef GROTH16_SETUP_LAGRANGE_H
#define GROTH16_SETUP_LAGRANGE_H

#include "key/params.h"
#include "groth16/setup.h"

/* Writes the file of the form (key/lagrange_file.h) beside params, which setup_write made from
   the shape and these trapdoors. Its bytes are those that a backend's derive makes. pool and
   progress may be NULL. CUZK_BAD_PARAMS: the parameters come from other trapdoors;
   CUZK_INVALID_ARGUMENT: a point of h' or l' is infinity, or τ is in the domain or 7 times it;
   CUZK_IO names the file; CUZK_FAILED_PRECONDITION: another process writes it now. Memory: 32 bytes
   a variable, 90 MiB of a table and 8 MiB a thread. */
enum cuzk_status setup_write_lagrange(const struct params *params, const struct shape *shape,
                                      const struct setup_trapdoor *trapdoor, struct pool *pool,
                                      setup_progress_fn *progress, void *progress_context,
                                      struct cuzk_error *err);

#endif
