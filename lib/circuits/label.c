#include "circuits/label.h"

#include "base/mem.h"

void label_bits_of(struct cs *cs, struct num x, struct label_bits *out)
{
    struct boolean bits[FR_BITS];
    num_to_bits(cs, x, bits);
    num_reverse_bits_in_bytes(bits, FR_BITS, out->bit);
}

struct num label_create(struct cs *cs, const struct label_bits *replica_id,
                        const struct label_bits *parents, size_t n_parents, uint32_t layer,
                        const struct boolean node[64])
{
    enum { LAYER = SHA256_BITS, NODE = LAYER + 32, HEADER = SHA256_BLOCK_BITS };
    size_t n = HEADER + LABEL_PARENT_SLOTS * SHA256_BITS;
    struct boolean *message = mem_alloc(n, sizeof *message);
    struct boolean digest[SHA256_BITS];
    if (!message) {
        cs_fail(cs, CUZK_NO_MEMORY);
        return (struct num){ .var = VAR_ONE };
    }
    memcpy(message, replica_id->bit, sizeof replica_id->bit);
    for (unsigned i = 0; i < 32; i++)
        message[LAYER + i] = boolean_constant(layer >> (31 - i) & 1);
    for (unsigned i = 0; i < 64; i++)
        message[NODE + i] = node[63 - i];
    for (size_t i = NODE + 64; i < HEADER; i++)
        message[i] = boolean_constant(false);
    for (size_t i = 0; i < LABEL_PARENT_SLOTS; i++)
        memcpy(message + HEADER + i * SHA256_BITS, parents[i % n_parents].bit,
               sizeof parents[0].bit);
    sha256_circuit(cs, message, n, digest);
    mem_free(message);
    return sha256_pack_digest(cs, digest);
}
