/* Bringing a circuit to a device and taking it from there: the functions of struct backend. */
#ifndef CUDA_CIRCUIT_LOAD_H
#define CUDA_CIRCUIT_LOAD_H

#include "backend/cuda/host/circuit.h"

/* CUZK_UNSUPPORTED: a device does not take a domain of that size. */
enum cuzk_status circuit_check_size(unsigned log2_domain, struct cuzk_error *err);

enum cuzk_status circuit_load(struct backend_device *device, const struct shape *shape,
                              const struct key_vectors *key, struct backend_circuit **out,
                              struct cuzk_error *err);
void circuit_unload(struct backend_circuit *circuit);
uint64_t circuit_bytes(const struct backend_circuit *circuit);

#endif
