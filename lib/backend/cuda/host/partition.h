/* A partition's own part of the work on the device: row values, quotient, and the multiplications,
   everything but the sums over bits, which it shares with its batch. */
#ifndef CUDA_PARTITION_H
#define CUDA_PARTITION_H

#include "backend/cuda/host/circuit.h"

/* Where the phases begin and end. */
enum partition_event { ROWS_FROM, ROWS_TO, QUOTIENT_TO, H_TO, TAILS_TO };
_Static_assert(TAILS_TO + 1 == PARTITION_EVENTS, "events of a partition");

/* Enqueues the own part of a partition on the device's stream, for the witness in the slot, and
   records the events. `sums`: device memory for sums_map.own_bytes. If h is streamed, the function
   returns when the last piece is on its way. */
enum cuzk_status partition_enqueue(struct backend_circuit *circuit, const struct witness_slot *slot,
                                   void *sums, const cudaEvent_t events[PARTITION_EVENTS],
                                   struct cuzk_error *err);

/* Byte offset of the sums of one piece of h among them. */
size_t partition_h_offset(const struct backend_circuit *circuit, uint32_t piece);

#endif
