/* Verifying Groth16 proofs (BLS12-381, the encodings of Filecoin): under a verifying key with given
   public inputs, or for a PoRep C1. */
#ifndef CUZK_VERIFY_H
#define CUZK_VERIFY_H

#include <cuzk/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum { CUZK_PROOF_BYTES = 192, CUZK_INPUT_BYTES = 32 };

/* A verifying key, checked. */
struct cuzk_vk;

/* Reads a .vk file, or the key at the head of a .params file; the ending of the path decides.
   CUZK_BAD_PARAMS: the file is missing or wrong. Free the key with cuzk_vk_close. */
enum cuzk_status cuzk_vk_open(const char *path, struct cuzk_vk **out, struct cuzk_error *err);
void cuzk_vk_close(struct cuzk_vk *vk);

/* The number of public inputs of a proof under this key, without the constant 1. */
size_t cuzk_vk_inputs(const struct cuzk_vk *vk);

/* Verifies n ≥ 1 proofs together. proofs: n · 192 bytes; inputs: for each proof, one after the
   other, cuzk_vk_inputs elements of 32 little-endian bytes. CUZK_OK: all proofs are valid;
   CUZK_VERIFY_FAILED: the text names the first invalid proof; CUZK_INVALID_ARGUMENT: the lengths do
   not fit, or a proof or an input is not properly encoded. */
enum cuzk_status cuzk_verify(const struct cuzk_vk *vk, const uint8_t *proofs, size_t proofs_len,
                             const uint8_t *inputs, size_t inputs_len, struct cuzk_error *err);

/* How to verify a proof of a C1. Zero-initialise, then set what differs from the default. */
struct cuzk_verify_options {
    const char *param_cache; /* folder of .vk or .params files; required */
    unsigned threads;        /* for the check of the C1; 0: all of this process */
    bool has_sector_number;  /* compare replica_id with this sector of this miner */
    uint64_t sector_number;
    bool has_miner_id;
    uint64_t miner_id;
};

/* Checks the C1 and verifies a proof for it. CUZK_VERIFY_FAILED: the proof is not valid (the text
   names the first bad partition); CUZK_INVALID_ARGUMENT: the C1 or the proof's encoding is wrong;
   CUZK_BAD_PARAMS: no good verifying key of the circuit in the folder. */
enum cuzk_status cuzk_verify_c1(const struct cuzk_verify_options *options, const uint8_t *c1,
                                size_t c1_len, const uint8_t *proof, size_t proof_len,
                                struct cuzk_error *err);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
