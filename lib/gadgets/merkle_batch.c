#include "gadgets/merkle_batch.h"

#include "base/check.h"
#include "gadgets/insertion.h"
#include "gadgets/poseidon_circuit.h"
#include "gadgets/row.h"

enum { LEVEL_BITS_MAX = 3, SIBLINGS_MAX = INSERTION_ARITY_MAX - 1 };

/* The number of variables of a proof, counted in the order of merkle_prove. */
static struct witness_size size_of(unsigned column, const struct merkle_path *path)
{
    size_t n_full = column > 1 ? poseidon_trace_len(column) : 0;
    size_t n_index = 0, n_bits = 0;
    for (unsigned level = 0; level < path->levels; level++) {
        unsigned arity = path->arity[level];
        struct insertion_size insertion = num_insert_size(arity);
        n_index += merkle_level_bits(arity);
        n_bits += insertion.n_bits;
        n_full += arity - 1 + insertion.n_full + poseidon_trace_len(arity);
    }
    return (struct witness_size){
        .n_aux = (uint32_t)(n_index + n_bits + n_full),
        .n_full = (uint32_t)n_full,
        .n_inputs = (uint32_t)((n_index + FR_CAPACITY - 1) / FR_CAPACITY),
    };
}

/* A system that appends to the proof's part of the witness. */
static struct cs path_system(const struct merkle_batch *batch, struct pending_path *pending)
{
    return (struct cs){.driver = batch->cs->driver, .witness = &pending->witness};
}

/* Makes the index a public input, the last variable of a proof. */
static void finish_path(struct cs *cs, const struct merkle_path *path)
{
    struct boolean bits[LEVEL_BITS_MAX * MERKLE_LEVELS_MAX];
    unsigned n = 0;
    for (unsigned level = 0; level < path->levels; level++) {
        for (unsigned i = 0; i < merkle_level_bits(path->arity[level]); i++, n++)
            bits[n] = boolean_plain(VAR_ONE, path->index >> n & 1);
    }
    num_pack_into_inputs(cs, bits, n);
}

/* Goes from a node to the inputs of the next hash. */
static void climb_level(const struct merkle_batch *batch, struct pending_path *pending,
                        const struct num *current)
{
    struct cs cs = path_system(batch, pending);
    if (pending->level == pending->path.levels) {
        finish_path(&cs, &pending->path);
        pending->arity = 0;
        return;
    }
    struct boolean bits[LEVEL_BITS_MAX];
    struct num siblings[SIBLINGS_MAX], children[INSERTION_ARITY_MAX];
    unsigned arity = pending->path.arity[pending->level], from = 0, before = 0;
    for (unsigned level = 0; level < pending->level; level++) {
        from += pending->path.arity[level] - 1;
        before += merkle_level_bits(pending->path.arity[level]);
    }
    for (unsigned i = 0; i < merkle_level_bits(arity); i++)
        bits[i] = boolean_bit(&cs, pending->path.index >> (before + i) & 1);
    for (unsigned i = 0; i + 1 < arity; i++)
        siblings[i] = num_alloc(&cs, &pending->path.siblings[from + i]);
    num_insert(&cs, arity, *current, bits, siblings, children);
    for (unsigned i = 0; i < arity; i++)
        pending->inputs[i] = children[i].value;
    pending->arity = arity;
    pending->level++;
}

/* Computes the next hash of all paths for which it has this arity. */
static void hash_together(struct merkle_batch *batch, unsigned arity)
{
    struct pending_path *paths[MERKLE_BATCH_MAX];
    const struct fr *inputs[MERKLE_BATCH_MAX];
    struct fr *traces[MERKLE_BATCH_MAX];
    size_t n = 0, len = poseidon_trace_len(arity);
    for (size_t i = 0; i < batch->n; i++) {
        struct pending_path *pending = &batch->paths[i];
        if (pending->arity != arity)
            continue;
        paths[n] = pending;
        inputs[n] = pending->inputs;
        traces[n] = witness_extend_full(&pending->witness, (uint32_t)len);
        CHECK(traces[n]);
        n++;
    }
    poseidon_traces(NULL, arity, POSEIDON_TREE, n, inputs, traces);
    for (size_t i = 0; i < n; i++) {
        struct num digest = {var_aux(paths[i]->witness.n_aux - 1), traces[i][len - 1]};
        climb_level(batch, paths[i], &digest);
    }
}

void merkle_batch_finish(struct merkle_batch *batch)
{
    for (size_t i = 0; i < batch->n;) {
        if (batch->paths[i].arity != 0)
            hash_together(batch, batch->paths[i].arity);
        else
            CHECK(witness_part_complete(&batch->paths[i++].witness));
    }
    batch->n = 0;
}

void merkle_batch_prove(struct merkle_batch *batch, const struct num *column, unsigned n,
                        const struct merkle_path *path, struct num root)
{
    CHECK(path->hash == MERKLE_POSEIDON && n >= 1 && n <= POSEIDON_ARITY_MAX);
    if (row_wanted(batch->cs)) {
        struct num leaf = n == 1 ? *column : poseidon_circuit(batch->cs, POSEIDON_TREE, n, column);
        merkle_prove(batch->cs, path, leaf, root);
        return;
    }
    struct pending_path *pending = &batch->paths[batch->n];
    struct witness_size size = size_of(n, path);
    if (!witness_skip(batch->cs->witness, &size, &pending->witness))
        return;
    pending->path = *path;
    pending->level = 0;
    if (n == 1) {
        climb_level(batch, pending, column);
    } else {
        pending->arity = n;
        for (unsigned i = 0; i < n; i++)
            pending->inputs[i] = column[i].value;
    }
    if (++batch->n == MERKLE_BATCH_MAX)
        merkle_batch_finish(batch);
}
