/* Sections: the vectors of a proving key (key/key_vectors.h), brought to the device chunk by chunk,
   once to stay there or again for every batch of partitions, and summed up. */
#ifndef CUDA_SECTION_H
#define CUDA_SECTION_H

#include "backend/cuda/host/circuit.h"
#include "backend/cuda/host/tail_list.h"

/* What was wrong with points of a section, if anything: CUZK_BAD_PARAMS. */
enum cuzk_status section_check_faults(const struct points_faults *faults, const char *section,
                                      uint32_t n, struct cuzk_error *err);

/* Brings the section's points to the device once and checks them. The section stays there if the
   plan says so; the points of full-size variables go to their tails. Waits for the stream. */
enum cuzk_status section_load(struct backend_circuit *circuit, enum key_vector section,
                              struct points_loader *loader, const struct tail_list *lists,
                              cudaStream_t stream, struct cuzk_error *err);

/* For the Lagrange form: its points of the inputs, which share the scalars of `list` with section
   a's. After sections l and a. Waits for the stream. */
enum cuzk_status section_load_inputs(struct backend_circuit *circuit, const struct tail_list *list,
                                     cudaStream_t stream, struct cuzk_error *err);

/* Enqueues a section's sums over bits for n witnesses, whose bitmaps are in the order of its
   points. A section that is not on the device is streamed; then the function returns when the last
   chunk is on its way. Results: block.sums at sums_map.bits[section]. */
enum cuzk_status section_sum(struct backend_circuit *circuit, enum key_vector section,
                             const uint64_t *const selected[], unsigned n_witnesses,
                             cudaStream_t stream, struct cuzk_error *err);

/* The sum of a section's parts for one of n witnesses, from the host copy of the sums. */
void section_finish_g1(const struct backend_circuit *circuit, const uint8_t *sums,
                       enum key_vector section, unsigned witness, unsigned n_witnesses,
                       struct g1 *out);
void section_finish_g2(const struct backend_circuit *circuit, const uint8_t *sums,
                       enum key_vector section, unsigned witness, unsigned n_witnesses,
                       struct g2 *out);

#endif
