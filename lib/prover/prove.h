/* From a parsed request to verified proofs, the same for all kinds. Private to lib/prover. */
#ifndef PROVER_PROVE_H
#define PROVER_PROVE_H

#include "prover/kind.h"
#include "prover/residency.h"

/* Checks the input of all partitions: the first fault in their order. */
enum cuzk_status prover_check_all(struct kind_work *work, struct pool *pool,
                                  struct cuzk_error *err);

/* Checks the input of the span's partition, unless that was done before, and makes its witness. The
   check is recorded as TRACE_SPAN_CHECK. Free *out with witness_free. */
enum cuzk_status prover_synthesize(struct kind_work *work, const struct shape *shape,
                                   const struct work_span *span, struct pool *pool,
                                   struct witness *out, struct cuzk_error *err);

/* Proves a partition on the span's device, with fresh blinding. *device_ns: how long the device was
   occupied. A backend that only simulates leaves bytes that no verifier accepts. */
enum cuzk_status prover_prove(const struct resident_circuit *circuit, const struct witness *witness,
                              const struct work_span *span, uint8_t proof[CUZK_PROOF_BYTES],
                              uint64_t *device_ns, struct cuzk_error *err);

/* CUZK_VERIFY_FAILED: not a proof of this partition; CUZK_INVALID_ARGUMENT: its encoding is wrong.
 */
enum cuzk_status prover_verify(const struct kind_work *work, const struct vk *vk,
                               unsigned partition, const uint8_t proof[CUZK_PROOF_BYTES],
                               struct cuzk_error *err);

/* The same for all partitions at once. proofs: CUZK_PROOF_BYTES for each partition. */
enum cuzk_status prover_verify_all(const struct kind_work *work, const struct vk *vk,
                                   const uint8_t *proofs, struct cuzk_error *err);

#endif
