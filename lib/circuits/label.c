#include "circuits/label.h"

#include "base/mem.h"
#include "gadgets/row.h"

/* The message: replica id, layer, node, zeros up to the end of the block, then the parents. */
enum { LAYER = SHA256_BITS, NODE = LAYER + 32, HEADER = SHA256_BLOCK_BITS };
enum { MESSAGE_BITS = HEADER + LABEL_PARENT_SLOTS * SHA256_BITS };

static struct word_planes constant_word(uint32_t value)
{
    return (struct word_planes){ value, UINT32_MAX, value };
}

static struct num label_witness(struct cs *cs, const struct sha256_number *replica_id,
                                const struct sha256_number *parents, size_t n_parents,
                                uint32_t layer, const struct boolean node[64])
{
    struct word_planes message[MESSAGE_BITS / 32];
    memcpy(message, replica_id->word, sizeof replica_id->word);
    message[LAYER / 32] = constant_word(layer);
    message[NODE / 32] = word_planes_of_le_bits(node + 32);
    message[NODE / 32 + 1] = word_planes_of_le_bits(node);
    for (size_t i = NODE / 32 + 2; i < HEADER / 32; i++)
        message[i] = constant_word(0);
    for (size_t i = 0; i < LABEL_PARENT_SLOTS; i++)
        memcpy(&message[HEADER / 32 + 8 * i], parents[i % n_parents].word,
               sizeof parents[0].word);
    return sha256_hash_witness(cs->witness, message, MESSAGE_BITS / 32);
}

struct num label_create(struct cs *cs, const struct sha256_number *replica_id,
                        const struct sha256_number *parents, size_t n_parents, uint32_t layer,
                        const struct boolean node[64])
{
    if (!row_wanted(cs))
        return label_witness(cs, replica_id, parents, n_parents, layer, node);
    struct boolean *message = mem_alloc(MESSAGE_BITS, sizeof *message);
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
    sha256_circuit(cs, message, MESSAGE_BITS, digest);
    mem_free(message);
    return sha256_pack_digest(cs, digest);
}
