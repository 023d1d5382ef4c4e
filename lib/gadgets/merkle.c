#include "gadgets/merkle.h"

#include "gadgets/insertion.h"
#include "gadgets/poseidon_circuit.h"
#include "gadgets/sha256.h"

enum { LEVEL_BITS_MAX = 3, SIBLINGS_MAX = INSERTION_ARITY_MAX - 1 };

/* A level of a Poseidon tree is one template with one out, the parent. In a SHA-256 tree only the
   insertion of a level is a template, with the two children as outs; the hash consists of templates
   of its own. */
static size_t n_level_outs(enum merkle_hash hash)
{
    return hash == MERKLE_POSEIDON ? 1 : 2;
}

/* nodes[0] = parent for Poseidon; nodes[0…1] = children in order for SHA-256. */
static void insert_and_hash(struct cs *cs, enum merkle_hash hash, unsigned arity,
                            struct num current, const struct boolean *bits,
                            const struct num *siblings, struct num *nodes)
{
    num_insert(cs, arity, current, bits, siblings, nodes);
    if (hash == MERKLE_POSEIDON)
        nodes[0] = poseidon_circuit(cs, POSEIDON_TREE, arity, nodes);
}

static struct num finish_level(struct cs *cs, enum merkle_hash hash, const struct num *nodes)
{
    return hash == MERKLE_POSEIDON ? nodes[0] : sha256_hash_nodes(cs, nodes[0], nodes[1]);
}

static const char *level_name(enum merkle_hash hash, unsigned arity)
{
    if (hash == MERKLE_SHA256)
        return "sha256-insert";
    return arity == 2 ? "merkle2" : arity == 4 ? "merkle4" : "merkle8";
}

/* Climbs one level from current. Allocates the index bits of the level, which are returned in
   `bits`, and the siblings. */
static struct num prove_level(struct cs *cs, enum merkle_hash hash, unsigned arity,
                              struct num current, uint64_t index, const struct fr *siblings,
                              struct boolean *bits)
{
    unsigned n_bits = merkle_level_bits(arity);
    size_t n_nodes = n_level_outs(hash);
    struct num nodes[INSERTION_ARITY_MAX], given[SIBLINGS_MAX];
    struct var outs[LEVEL_BITS_MAX + 2];
    struct cs_template use = {
        .name = level_name(hash, arity),
        .externals = &current.var,
        .n_externals = 1,
    };
    if (cs_template_begin(cs, &use, outs, n_bits + n_nodes)) {
        for (unsigned i = 0; i < n_bits; i++)
            bits[i] = boolean_bit(cs, index >> i & 1);
        for (unsigned i = 0; i + 1 < arity; i++)
            given[i] = num_alloc(cs, &siblings[i]);
        insert_and_hash(cs, hash, arity, current, bits, given, nodes);
        for (unsigned i = 0; i < n_bits; i++)
            outs[i] = bits[i].var;
        for (size_t i = 0; i < n_nodes; i++)
            outs[n_bits + i] = nodes[i].var;
        cs_template_end(cs, outs, n_bits + n_nodes);
    } else {
        for (unsigned i = 0; i < n_bits; i++)
            bits[i] = boolean_plain(outs[i], false);
        for (size_t i = 0; i < n_nodes; i++)
            nodes[i] = (struct num){.var = outs[n_bits + i]};
    }
    return finish_level(cs, hash, nodes);
}

void merkle_prove(struct cs *cs, const struct merkle_path *path, struct num leaf, struct num root)
{
    struct boolean bits[LEVEL_BITS_MAX * MERKLE_LEVELS_MAX];
    size_t n_bits = 0;
    const struct fr *siblings = path->siblings;
    struct num current = leaf;
    for (unsigned level = 0; level < path->levels; level++) {
        unsigned arity = path->arity[level];
        current = prove_level(cs, path->hash, arity, current, path->index >> n_bits, siblings,
                              &bits[n_bits]);
        n_bits += merkle_level_bits(arity);
        siblings += arity - 1;
    }
    num_pack_into_inputs(cs, bits, n_bits);
    num_enforce_equal(cs, current, root);
}

static const char *given_level_name(enum merkle_hash hash, unsigned arity)
{
    if (hash == MERKLE_SHA256)
        return "sha256-insert-given";
    return arity == 2 ? "merkle2-given" : arity == 4 ? "merkle4-given" : "merkle8-given";
}

/* Climbs one level from current. The template's externals are the bits, current and the
   siblings. */
static struct num given_level(struct cs *cs, enum merkle_hash hash, unsigned arity,
                              struct num current, const struct boolean *bits,
                              const struct num *siblings)
{
    struct var externals[LEVEL_BITS_MAX + INSERTION_ARITY_MAX], outs[2];
    struct num nodes[INSERTION_ARITY_MAX];
    size_t n = 0, n_nodes = n_level_outs(hash);
    for (unsigned i = 0; i < merkle_level_bits(arity); i++)
        externals[n++] = bits[i].var;
    externals[n++] = current.var;
    for (unsigned i = 0; i + 1 < arity; i++)
        externals[n++] = siblings[i].var;
    struct cs_template use = {
        .name = given_level_name(hash, arity),
        .externals = externals,
        .n_externals = n,
    };
    if (cs_template_begin(cs, &use, outs, n_nodes)) {
        insert_and_hash(cs, hash, arity, current, bits, siblings, nodes);
        for (size_t i = 0; i < n_nodes; i++)
            outs[i] = nodes[i].var;
        cs_template_end(cs, outs, n_nodes);
    } else {
        for (size_t i = 0; i < n_nodes; i++)
            nodes[i] = (struct num){.var = outs[i]};
    }
    return finish_level(cs, hash, nodes);
}

struct num merkle_root(struct cs *cs, enum merkle_hash hash, unsigned levels, const uint8_t *arity,
                       struct num leaf, const struct boolean *bits, const struct num *siblings)
{
    struct num current = leaf;
    for (unsigned level = 0; level < levels; level++) {
        current = given_level(cs, hash, arity[level], current, bits, siblings);
        bits += merkle_level_bits(arity[level]);
        siblings += arity[level] - 1;
    }
    return current;
}
