#include "circuits/update.h"

#include "base/check.h"
#include "base/mem.h"
#include "circuits/sector.h"
#include "gadgets/insertion.h"
#include "gadgets/poseidon_circuit.h"
#include "gadgets/row.h"
#include "gadgets/sha256.h"

#include <pthread.h>

enum { NODE_BITS_MAX = 31 };

/* --- Configurations --------------------------------------------------------------------------- */

static struct update_config configs[2][SECTOR_SIZES];
static pthread_once_t configs_once = PTHREAD_ONCE_INIT;

static unsigned log2_of(uint64_t power)
{
    return (unsigned)__builtin_ctzll(power);
}

/* Part G.1. */
static struct update_config make_config(const struct sector_size *size, bool poseidon)
{
    uint64_t nodes = size->bytes / SECTOR_NODE_BYTES;
    bool tiny = size->bytes <= 32 * KIB;
    struct update_config c = {.sector_bytes = size->bytes, .poseidon = poseidon};
    c.partitions = size->bytes <= 8 * KIB ? 1 : tiny ? 2 : size->bytes <= 16 * MIB ? 4 : 16;
    c.challenges = size->bytes <= 16 * MIB ? 10 : 86;
    c.apex_leaves = size->bytes <= 8 * KIB ? 8 : UPDATE_APEX_LEAVES_MAX;
    for (unsigned i = 0; i < UPDATE_HS; i++)
        c.hs[i] = tiny ? 1 : 7 + i;
    /* Production uses hs[3]. In tiny sectors several are equal, and the first of them is found. */
    c.h_select = tiny ? 1 : 1 << 3;
    if (poseidon) {
        c.challenges *= c.partitions;
        c.partitions = 1;
        c.apex_leaves = 0;
    }
    c.node_bits = log2_of(nodes);
    c.partition_bits = log2_of(c.partitions);
    c.random_bits = c.node_bits - c.partition_bits;
    c.challenges_per_digest = FR_CAPACITY / c.random_bits;
    c.digests = (c.challenges + c.challenges_per_digest - 1) / c.challenges_per_digest;
    sector_tree_r(&c.tree_r, size);
    c.path_d = c.tree_r;
    if (!poseidon) {
        c.apex_bits = log2_of(c.apex_leaves);
        tree_shape_binary(&c.path_d, nodes / c.partitions / c.apex_leaves);
    }
    return c;
}

static void make_configs(void)
{
    for (size_t i = 0; i < SECTOR_SIZES; i++) {
        configs[false][i] = make_config(&sector_sizes[i], false);
        configs[true][i] = make_config(&sector_sizes[i], true);
    }
}

const struct update_config *update_config(uint64_t sector_bytes, bool poseidon)
{
    pthread_once(&configs_once, make_configs);
    if (sector_bytes == 1 * GIB)
        return NULL;
    for (size_t i = 0; i < SECTOR_SIZES; i++) {
        if (configs[poseidon][i].sector_bytes == sector_bytes)
            return &configs[poseidon][i];
    }
    return NULL;
}

/* --- The circuit ------------------------------------------------------------------------------ */

/* Shared by the steps of part G.2. */
struct common {
    struct cs *cs;
    const struct update_partition *input;
    const struct update_config *config;
    const struct boolean *challenge_bits; /* node_bits for each challenge */
    struct boolean partition_bits[UPDATE_PARTITION_BITS_MAX];
    struct boolean h_bits[UPDATE_HS];
    struct num partition;
    struct num comm_r_old, comm_d_new, comm_r_new;
    struct num phi;
    struct num root_r_old, root_r_new;
    struct num apex_leaves[UPDATE_APEX_LEAVES_MAX];
};

static struct num input_num(struct cs *cs, const struct fr *value)
{
    struct num x = num_alloc(cs, value);
    num_inputize(cs, x);
    return x;
}

static struct num hash2(struct cs *cs, enum poseidon_domain domain, struct num a, struct num b)
{
    const struct num pair[2] = {a, b};
    return poseidon_circuit(cs, domain, 2, pair);
}

/* Steps 1 … 4: the public inputs, and phi. */
static void synthesize_inputs(struct common *s, const struct update_partition *partition)
{
    struct cs *cs = s->cs;
    unsigned n_partition_bits = s->config->partition_bits;
    struct boolean bits[UPDATE_PARTITION_BITS_MAX + UPDATE_HS];
    struct fr value;
    fr_from_u64(&value, partition->index | (uint64_t)s->config->h_select << n_partition_bits);
    struct num partition_and_h = input_num(cs, &value);
    num_decompose(cs, partition_and_h, n_partition_bits + UPDATE_HS, bits);
    memcpy(s->partition_bits, bits, n_partition_bits * sizeof *bits);
    memcpy(s->h_bits, bits + n_partition_bits, sizeof s->h_bits);
    if (!s->config->poseidon)
        s->partition = num_pack_bits(cs, s->partition_bits, n_partition_bits);
    s->comm_r_old = input_num(cs, &partition->comm_r_old);
    s->comm_d_new = input_num(cs, &partition->comm_d_new);
    s->comm_r_new = input_num(cs, &partition->comm_r_new);
    s->phi = hash2(cs, POSEIDON_RANDOMNESS, s->comm_d_new, s->comm_r_old);
}

/* Step 7: the apex tree and the path from its root to comm_d_new. */
static void synthesize_apex(struct common *s, const struct num *path)
{
    struct cs *cs = s->cs;
    static const uint8_t binary[UPDATE_PARTITION_BITS_MAX] = {2, 2, 2, 2};
    struct num row[UPDATE_APEX_LEAVES_MAX];
    memcpy(row, s->apex_leaves, sizeof row);
    cs_push(cs, "apex tree");
    for (unsigned n = s->config->apex_leaves; n > 1; n /= 2) {
        for (unsigned i = 0; i < n / 2; i++)
            row[i] = sha256_hash_nodes(cs, row[2 * i], row[2 * i + 1]);
    }
    struct num root = merkle_root(cs, MERKLE_SHA256, s->config->partition_bits, binary, row[0],
                                  s->partition_bits, path);
    num_enforce_equal(cs, root, s->comm_d_new);
    cs_pop(cs);
}

/* Steps 5 … 7. In the Poseidon form also the partition number, which is 0. */
static void synthesize_commitments(struct common *s, const struct update_partition *partition)
{
    struct cs *cs = s->cs;
    const struct update_config *config = s->config;
    struct num comm_c = num_alloc(cs, &partition->comm_c);
    s->root_r_old = num_alloc(cs, &partition->root_r_old);
    s->root_r_new = num_alloc(cs, &partition->root_r_new);
    struct num path[UPDATE_PARTITION_BITS_MAX];
    if (!config->poseidon) {
        for (unsigned i = 0; i < config->apex_leaves; i++)
            s->apex_leaves[i] = num_alloc(cs, &partition->apex_leaves[i]);
        for (unsigned i = 0; i < config->partition_bits; i++)
            path[i] = num_alloc(cs, &partition->partition_path[i]);
    }
    num_enforce_equal(cs, hash2(cs, POSEIDON_TREE, comm_c, s->root_r_old), s->comm_r_old);
    num_enforce_equal(cs, hash2(cs, POSEIDON_TREE, comm_c, s->root_r_new), s->comm_r_new);
    if (config->poseidon)
        s->partition = num_alloc(cs, &fr_zero);
    else
        synthesize_apex(s, path);
}

/* Step 8, one digest: digests · partition + j, hashed with comm_r_new, and its bits. */
static void digest_bits(struct common *s, unsigned j, struct boolean bits[FR_BITS])
{
    struct cs *cs = s->cs;
    struct fr digests, offset, value;
    fr_from_u64(&digests, s->config->digests);
    fr_from_u64(&offset, j);
    fr_mul(&value, &digests, &s->partition.value);
    fr_add(&value, &value, &offset);
    struct num index = num_alloc(cs, &value);
    struct row row;
    row_start(&row);
    lc_add(&row.a, s->partition.var, &digests);
    lc_add(&row.a, VAR_ONE, &offset);
    lc_add_var(&row.b, VAR_ONE);
    lc_add_var(&row.c, index.var);
    row_enforce(cs, &row);
    num_decompose(cs, hash2(cs, POSEIDON_RANDOMNESS, s->comm_r_new, index), FR_BITS, bits);
}

/* All challenges' bits, least significant first, node_bits for each. NULL without memory. */
static struct boolean *challenge_bits(struct common *s)
{
    const struct update_config *config = s->config;
    struct boolean *all = mem_alloc((size_t)config->challenges * config->node_bits, sizeof *all);
    if (!all)
        return NULL;
    struct boolean *out = all;
    unsigned left = config->challenges;
    for (unsigned j = 0; j < config->digests; j++) {
        struct boolean bits[FR_BITS];
        digest_bits(s, j, bits);
        for (unsigned i = 0; i < config->challenges_per_digest && left > 0; i++, left--) {
            memcpy(out, &bits[i * config->random_bits], config->random_bits * sizeof *bits);
            out += config->random_bits;
            memcpy(out, s->partition_bits, config->partition_bits * sizeof *bits);
            out += config->partition_bits;
        }
    }
    return all;
}

/* Σ over the choices of h of (the challenge's top h bits) · (h is chosen). */
static struct num high_bits_rows(struct common *s, const struct boolean *challenge)
{
    struct cs *cs = s->cs;
    struct num products[UPDATE_HS];
    struct fr sum = fr_zero;
    struct row row;
    for (unsigned i = 0; i < UPDATE_HS; i++) {
        unsigned h = s->config->hs[i];
        struct num top = num_pack_bits(cs, challenge + s->config->node_bits - h, h);
        struct num chosen = {s->h_bits[i].var, s->h_bits[i].value ? fr_one : fr_zero};
        products[i] = num_mul(cs, top, chosen);
        fr_add(&sum, &sum, &products[i].value);
    }
    struct num high = num_alloc(cs, &sum);
    row_start(&row);
    for (unsigned i = 0; i < UPDATE_HS; i++)
        lc_add_var(&row.a, products[i].var);
    lc_add_var(&row.b, VAR_ONE);
    lc_add_var(&row.c, high.var);
    row_enforce(cs, &row);
    return high;
}

static struct num high_bits(struct common *s, const struct boolean *challenge)
{
    struct var externals[NODE_BITS_MAX + UPDATE_HS];
    size_t n = 0;
    unsigned longest = s->config->hs[UPDATE_HS - 1];
    for (unsigned i = s->config->node_bits - longest; i < s->config->node_bits; i++)
        externals[n++] = challenge[i].var;
    for (unsigned i = 0; i < UPDATE_HS; i++)
        externals[n++] = s->h_bits[i].var;
    struct cs_template use = {
        .name = "update-high-bits",
        .externals = externals,
        .n_externals = n,
    };
    struct num high = {.var = VAR_ONE};
    if (cs_template_begin(s->cs, &use, &high.var, 1)) {
        high = high_bits_rows(s, challenge);
        cs_template_end(s->cs, &high.var, 1);
    }
    return high;
}

/* The apex leaf that the bits choose. */
static struct num select_apex_leaf(struct common *s, const struct boolean *bits)
{
    const struct update_config *config = s->config;
    struct var externals[UPDATE_APEX_LEAVES_MAX + NODE_BITS_MAX];
    struct num leaves[UPDATE_APEX_LEAVES_MAX];
    memcpy(leaves, s->apex_leaves, sizeof leaves);
    for (unsigned i = 0; i < config->apex_leaves; i++)
        externals[i] = leaves[i].var;
    for (unsigned i = 0; i < config->apex_bits; i++)
        externals[config->apex_leaves + i] = bits[i].var;
    struct cs_template use = {
        .name = "update-select",
        .externals = externals,
        .n_externals = config->apex_leaves + config->apex_bits,
    };
    struct num leaf = {.var = VAR_ONE};
    if (cs_template_begin(s->cs, &use, &leaf.var, 1)) {
        leaf = num_select(s->cs, leaves, bits, config->apex_bits);
        cs_template_end(s->cs, &leaf.var, 1);
    }
    return leaf;
}

/* Allocates all siblings of a path, then proves that leaf is at the position of the bits under
   root. */
static void prove_path(struct common *s, const char *name, enum merkle_hash hash,
                       const struct tree_shape *shape, const struct tree_path *path,
                       struct num leaf, const struct boolean *bits, struct num root)
{
    struct num siblings[TREE_LEVELS_MAX * (INSERTION_ARITY_MAX - 1)];
    cs_push(s->cs, name);
    for (unsigned i = 0; i < shape->siblings; i++)
        siblings[i] = num_alloc(s->cs, &path->siblings[i]);
    struct num computed =
        merkle_root(s->cs, hash, shape->levels, shape->arity, leaf, bits, siblings);
    num_enforce_equal(s->cs, computed, root);
    cs_pop(s->cs);
}

/* Step 9. */
static void synthesize_challenge(struct common *s, const struct update_challenge *challenge,
                                 const struct boolean *bits)
{
    struct cs *cs = s->cs;
    const struct update_config *config = s->config;
    struct num rho = hash2(cs, POSEIDON_RANDOMNESS, s->phi, high_bits(s, bits));
    struct num label_r_old = num_alloc(cs, &challenge->label_r_old);
    struct num label_d_new = num_alloc(cs, &challenge->label_d_new);
    struct num label_r_new = num_add(cs, label_r_old, num_mul(cs, label_d_new, rho));
    prove_path(s, "old replica", MERKLE_POSEIDON, &config->tree_r, &challenge->path_r_old,
               label_r_old, bits, s->root_r_old);
    prove_path(s, "new replica", MERKLE_POSEIDON, &config->tree_r, &challenge->path_r_new,
               label_r_new, bits, s->root_r_new);
    if (config->poseidon) {
        prove_path(s, "new data", MERKLE_POSEIDON, &config->path_d, &challenge->path_d_new,
                   label_d_new, bits, s->comm_d_new);
    } else {
        struct num apex_leaf = select_apex_leaf(s, bits + config->path_d.levels);
        prove_path(s, "new data", MERKLE_SHA256, &config->path_d, &challenge->path_d_new,
                   label_d_new, bits, apex_leaf);
    }
}

static void challenge_part(struct cs *cs, void *context, size_t index)
{
    struct common s = *(const struct common *)context;
    s.cs = cs;
    cs_push(cs, "challenge");
    synthesize_challenge(&s, &s.input->challenges[index],
                         s.challenge_bits + index * s.config->node_bits);
    cs_pop(cs);
}

void update_synthesize(struct cs *cs, const void *input)
{
    const struct update_partition *partition = input;
    struct common s = {.cs = cs, .input = partition, .config = partition->config};
    cs_push(cs, "update");
    synthesize_inputs(&s, partition);
    synthesize_commitments(&s, partition);
    struct boolean *bits = challenge_bits(&s);
    s.challenge_bits = bits;
    if (bits)
        cs_parts(cs, s.config->challenges, challenge_part, &s);
    else
        cs_fail(cs, CUZK_NO_MEMORY);
    mem_free(bits);
    cs_pop(cs);
}

/* --- Partitions ------------------------------------------------------------------------------- */

static void place_paths(struct update_partition *partition)
{
    const struct update_config *config = partition->config;
    struct fr *next = partition->siblings;
    for (unsigned i = 0; i < config->challenges; i++) {
        struct update_challenge *challenge = &partition->challenges[i];
        challenge->path_r_old.siblings = next;
        challenge->path_r_new.siblings = next + config->tree_r.siblings;
        challenge->path_d_new.siblings = next + 2 * (size_t)config->tree_r.siblings;
        next += 2 * (size_t)config->tree_r.siblings + config->path_d.siblings;
    }
}

struct update_partition *update_blank(const struct update_config *config)
{
    struct update_partition *partition = mem_zalloc(1, sizeof *partition);
    if (!partition)
        return NULL;
    size_t per_challenge = 2 * (size_t)config->tree_r.siblings + config->path_d.siblings;
    partition->config = config;
    partition->challenges = mem_zalloc(config->challenges, sizeof *partition->challenges);
    partition->siblings =
        mem_zalloc(config->challenges * per_challenge, sizeof *partition->siblings);
    if (!partition->challenges || !partition->siblings) {
        update_partition_free(partition);
        return NULL;
    }
    place_paths(partition);
    return partition;
}

void update_partition_free(struct update_partition *partition)
{
    if (!partition)
        return;
    mem_free(partition->challenges);
    mem_free(partition->siblings);
    mem_free(partition);
}
