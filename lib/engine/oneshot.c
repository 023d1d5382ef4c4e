/* One-shot proving. */
#include <cuzk/prove.h>

#include "base/error.h"
#include "base/mem.h"

enum cuzk_status cuzk_prove_c1(const struct cuzk_prove_options *options, const uint8_t *c1,
                               size_t c1_len, uint8_t **proof, size_t *proof_len,
                               struct cuzk_phase_times *times, struct cuzk_error *err)
{
    (void)options;
    (void)c1;
    (void)c1_len;
    (void)proof;
    (void)proof_len;
    (void)times;
    return error_set(err, CUZK_UNAVAILABLE, "being built");
}
void cuzk_proof_free(uint8_t *proof)
{
    mem_free(proof);
}
enum cuzk_status cuzk_verify_c1(const struct cuzk_prove_options *options, const uint8_t *c1,
                                size_t c1_len, const uint8_t *proof, size_t proof_len,
                                struct cuzk_phase_times *times, struct cuzk_error *err)
{
    (void)options;
    (void)c1;
    (void)c1_len;
    (void)proof;
    (void)proof_len;
    (void)times;
    return error_set(err, CUZK_UNAVAILABLE, "being built");
}
enum cuzk_status cuzk_synth_c1(const struct cuzk_synth_options *options, const uint8_t *c1,
                               size_t c1_len, struct cuzk_synth_report *out, struct cuzk_error *err)
{
    (void)options;
    (void)c1;
    (void)c1_len;
    (void)out;
    return error_set(err, CUZK_UNAVAILABLE, "being built");
}
