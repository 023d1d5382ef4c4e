/* Made-up data for tests and benchmarks. Nothing here says anything about a stored sector. */
#ifndef CUZK_DEV_H
#define CUZK_DEV_H

#include <cuzk/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Receives the next bytes of a text that is being generated. Any result but CUZK_OK stops the
   generation, which then returns that result. */
typedef enum cuzk_status cuzk_write_fn(void *context, const void *bytes, size_t len,
                                       struct cuzk_error *err);

/* Writes a valid C1 (the JSON that PoRep proving starts from) of a sector that was never sealed:
   miner 1000, sector 42, StackedDrg…V1_1. Possible because only the nodes that the proof opens need
   real labels. sector_bytes: 2 KiB, 8 or 512 MiB, 32 or 64 GiB. seed: 32 bytes that choose the
   challenges, not all zero; NULL: a fixed seed. The same arguments give the same text on every
   machine. For 32 GiB the text has 39 MB and takes about two seconds and 1 MB of memory.
   CUZK_INVALID_ARGUMENT: another size, or a seed of zeros. */
enum cuzk_status cuzk_gen_c1(uint64_t sector_bytes, const uint8_t *seed, cuzk_write_fn *write,
                             void *context, struct cuzk_error *err);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
