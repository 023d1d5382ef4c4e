#include "circuits/label.h"

#include "base/check.h"
#include "base/mem.h"
#include "gadgets/row.h"

/* The message: replica id, layer, node, zeros up to the end of the block, then the parents. */
enum { LAYER = SHA256_BITS, NODE = LAYER + 32, HEADER = SHA256_BLOCK_BITS };
enum { MESSAGE_BITS = HEADER + LABEL_PARENT_SLOTS * SHA256_BITS };
_Static_assert(MESSAGE_BITS == 32 * LABEL_MESSAGE_WORDS, "words of a message");

/* Variables of one hash: 20 blocks and the packed digest. Checked whenever a hash is made. */
enum { LABEL_VARIABLES = 521749 };

static struct word_planes constant_word(uint32_t value)
{
    return (struct word_planes){value, UINT32_MAX, value};
}

/* Leaves room for the hash, which label_batch_finish makes. */
static void label_witness(struct label_batch *batch, const struct sha256_number *replica_id,
                          const struct sha256_number *parents, size_t n_parents, uint32_t layer,
                          const struct boolean node[64], struct num *label)
{
    static const struct witness_size size = {.n_aux = LABEL_VARIABLES, .n_full = 1};
    struct pending_label *pending = &batch->labels[batch->n];
    struct word_planes *message = pending->message;
    if (!witness_skip(batch->cs->witness, &size, &pending->witness)) {
        *label = (struct num){.var = VAR_ONE};
        return;
    }
    pending->label = label;
    memcpy(message, replica_id->word, sizeof replica_id->word);
    message[LAYER / 32] = constant_word(layer);
    message[NODE / 32] = word_planes_of_le_bits(node + 32);
    message[NODE / 32 + 1] = word_planes_of_le_bits(node);
    for (size_t i = NODE / 32 + 2; i < HEADER / 32; i++)
        message[i] = constant_word(0);
    for (size_t i = 0; i < LABEL_PARENT_SLOTS; i++)
        memcpy(&message[HEADER / 32 + 8 * i], parents[i % n_parents].word, sizeof parents[0].word);
    if (++batch->n == LABEL_BATCH_MAX)
        label_batch_finish(batch);
}

void label_batch_finish(struct label_batch *batch)
{
    struct witness *witness[LABEL_BATCH_MAX];
    const struct word_planes *message[LABEL_BATCH_MAX];
    struct num digest[LABEL_BATCH_MAX];
    for (size_t i = 0; i < batch->n; i++) {
        witness[i] = &batch->labels[i].witness;
        message[i] = batch->labels[i].message;
    }
    sha256_hashes_witness(sha256_lanes(), batch->n, witness, message, LABEL_MESSAGE_WORDS, digest);
    for (size_t i = 0; i < batch->n; i++) {
        CHECK(witness_part_complete(witness[i]));
        *batch->labels[i].label = digest[i];
    }
    batch->n = 0;
}

/* The hash with all its rows. */
static struct num label_rows(struct cs *cs, const struct sha256_number *replica_id,
                             const struct sha256_number *parents, size_t n_parents, uint32_t layer,
                             const struct boolean node[64])
{
    struct boolean *message = mem_alloc(MESSAGE_BITS, sizeof *message);
    struct boolean digest[SHA256_BITS];
    if (!message) {
        cs_fail(cs, CUZK_NO_MEMORY);
        return (struct num){.var = VAR_ONE};
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

void label_batch_create(struct label_batch *batch, const struct sha256_number *replica_id,
                        const struct sha256_number *parents, size_t n_parents, uint32_t layer,
                        const struct boolean node[64], struct num *label)
{
    if (row_wanted(batch->cs))
        *label = label_rows(batch->cs, replica_id, parents, n_parents, layer, node);
    else
        label_witness(batch, replica_id, parents, n_parents, layer, node, label);
}
