/* Groth16 verification (docs/spec/groth16.md, part A.10) and proof bytes (part A.4). */
#ifndef GROTH16_VERIFY_H
#define GROTH16_VERIFY_H

#include "key/params.h"

#include <cuzk/verify.h>

/* A proof whose points are on the curve, in the subgroup, and finite. */
struct proof {
    struct g1_affine a;
    struct g2_affine b;
    struct g1_affine c;
};

/* CUZK_INVALID_ARGUMENT names the point (A, B, C) that does not decode. */
enum cuzk_status proof_decode(const uint8_t bytes[CUZK_PROOF_BYTES], struct proof *out,
                              struct cuzk_error *err);
void proof_encode(uint8_t bytes[CUZK_PROOF_BYTES], const struct proof *proof);

/* inputs: n_inputs public inputs without the constant 1. CUZK_OK: valid; CUZK_VERIFY_FAILED: not;
   CUZK_INVALID_ARGUMENT: n_inputs does not fit the key. */
enum cuzk_status verify_single(const struct vk *vk, const struct proof *proof,
                               const struct fr *inputs, size_t n_inputs, struct cuzk_error *err);

/* n proofs under one key, inputs[j] being those of proof j, by a random linear combination. n = 1
   is verify_single. */
enum cuzk_status verify_batch(const struct vk *vk, const struct proof *proofs,
                              const struct fr *const *inputs, size_t n, size_t n_inputs,
                              struct cuzk_error *err);

#endif
