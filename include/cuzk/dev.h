/* Made-up data for tests and benchmarks. Nothing here says anything about a stored sector. */
#ifndef CUZK_DEV_H
#define CUZK_DEV_H

#include <cuzk/kind.h>
#include <cuzk/status.h>
#include <stddef.h>
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

/* Takes a finished vanilla proof, the proof's place among those of the request first. Its bytes are
   valid until it returns; anything but CUZK_OK ends the making, and is what it then returns. */
typedef enum cuzk_status cuzk_vanilla_fn(void *context, unsigned index, const uint8_t *bytes,
                                         size_t len, struct cuzk_error *err);

/* Makes valid vanilla proofs of a PoSt over sectors that were never sealed: of a WinningPoSt one,
   of a WindowPoSt partition n_sectors (1 to as many as the circuit has), with the sector numbers 1,
   2, … randomness: 32 bytes, the two highest bits of the last one clear. The numbers of the
   registered proofs are those of API 1.0.0 for winning and of 1.2.0 for window. The same arguments
   give the same bytes everywhere; 2,349 sectors of 32 GiB: 59 MB in some seconds. */
enum cuzk_status cuzk_gen_post(enum cuzk_proof_kind kind, uint64_t sector_bytes, unsigned n_sectors,
                               const uint8_t randomness[32], cuzk_vanilla_fn *take, void *context,
                               struct cuzk_error *err);

/* Makes the valid vanilla proofs of a sector update, one for each partition, and the commitments
   that go with them. All nodes of the sector hold one value. */
struct cuzk_gen_commitments {
    uint8_t comm_r_old[32];
    uint8_t comm_r_new[32];
    uint8_t comm_d_new[32];
};
enum cuzk_status cuzk_gen_update(uint64_t sector_bytes, struct cuzk_gen_commitments *commitments,
                                 cuzk_vanilla_fn *take, void *context, struct cuzk_error *err);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
