#include "vanilla/graph.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "vanilla/chacha.h"

/* SHA-256 of a name and a 32-byte id. */
static void hash_tagged(const char *tag, const uint8_t id[32], uint8_t digest[SHA256_BYTES])
{
    uint8_t message[64];
    size_t len = strlen(tag);
    CHECK(len + 32 <= sizeof message);
    memcpy(message, tag, len);
    memcpy(message + len, id, 32);
    sha256(message, len + 32, digest);
}

void graph_init(struct graph *graph, uint64_t nodes, const uint8_t porep_id[32], bool api_v1_0)
{
    CHECK(nodes >= 8 && nodes <= (uint64_t)1 << 32 && (nodes & (nodes - 1)) == 0);
    *graph = (struct graph){.nodes = nodes, .api_v1_0 = api_v1_0, .feistel_half_bits = 1};
    uint8_t digest[SHA256_BYTES];
    hash_tagged("Filecoin_DRSample", porep_id, digest);
    memcpy(graph->drg_seed, digest, sizeof graph->drg_seed);
    hash_tagged("Filecoin_Feistel", porep_id, digest);
    for (unsigned i = 0; i < 3; i++)
        graph->feistel_keys[i] = load_u64_le(digest + 8 * i);
    while ((uint64_t)1 << (2 * graph->feistel_half_bits) < POREP_EXP_PARENTS * nodes)
        graph->feistel_half_bits++;
}

/* 64-bit numbers of the random stream of one node. Ten are drawn, which is more than one block. */
struct random_stream {
    struct chacha chacha;
    uint32_t words[16];
    unsigned used; /* words taken, over all blocks */
};

static uint64_t next_u64(struct random_stream *stream)
{
    if (stream->used % 16 == 0)
        chacha_block(&stream->chacha, stream->used / 16, stream->words);
    unsigned at = stream->used % 16;
    stream->used += 2;
    return (uint64_t)stream->words[at + 1] << 32 | stream->words[at];
}

static unsigned log2_ceil(uint64_t v)
{
    unsigned bits = 0;
    while ((uint64_t)1 << bits < v)
        bits++;
    return bits;
}

/* DRSample with five edges a node in a graph of five times as many: node v stands for meta-nodes
   5v … 5v+4. */
static void draw_drg_parents(const struct graph *graph, uint64_t node, uint64_t *parents)
{
    enum { SAMPLED = POREP_DRG_PARENTS - 1 };
    if (node < 2) {
        for (unsigned i = 0; i < POREP_DRG_PARENTS; i++)
            parents[i] = 0;
        return;
    }
    uint8_t key[32];
    memcpy(key, graph->drg_seed, sizeof graph->drg_seed);
    store_u32_le(key + sizeof graph->drg_seed, (uint32_t)node);
    struct random_stream stream = {.used = 0};
    chacha_init(&stream.chacha, key, NULL, 8);

    uint64_t *sampled = graph->api_v1_0 ? parents : parents + 1;
    parents[graph->api_v1_0 ? SAMPLED : 0] = node - 1;
    uint64_t meta = node * SAMPLED;
    unsigned buckets = log2_ceil(meta);
    for (unsigned i = 0; i < SAMPLED; i++) {
        uint64_t bucket = next_u64(&stream) % buckets + 1;
        uint64_t largest = (uint64_t)1 << bucket < meta ? (uint64_t)1 << bucket : meta;
        uint64_t smallest = largest / 2 > 2 ? largest / 2 : 2;
        uint64_t distance = smallest + next_u64(&stream) % (largest - smallest + 1);
        uint64_t parent = (meta - distance) / SAMPLED;
        sampled[i] = parent == node ? node - 1 : parent;
    }
}

static uint64_t feistel_round_value(uint64_t right, uint64_t key)
{
    uint8_t message[16];
    uint8_t digest[BLAKE2B_BYTES];
    store_u64_be(message, right);
    store_u64_be(message + 8, key);
    blake2b_512(message, sizeof message, digest);
    return load_u64_be(digest);
}

/* A permutation of 0 … 8·nodes − 1: a Feistel network over the next larger power of 4, repeated
   until it falls into the range. */
static uint64_t permute_expander(const struct graph *graph, uint64_t value)
{
    unsigned half = graph->feistel_half_bits;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = value >> half;
        uint64_t right = value & mask;
        for (unsigned i = 0; i < 3; i++) {
            uint64_t mixed = left ^ (feistel_round_value(right, graph->feistel_keys[i]) & mask);
            left = right;
            right = mixed;
        }
        value = left << half | right;
    } while (value >= POREP_EXP_PARENTS * graph->nodes);
    return value;
}

void graph_parents(const struct graph *graph, uint64_t node, uint64_t parents[POREP_PARENTS])
{
    CHECK(node < graph->nodes);
    draw_drg_parents(graph, node, parents);
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++) {
        uint64_t image = permute_expander(graph, node * POREP_EXP_PARENTS + i);
        if (graph->api_v1_0)
            image &= UINT32_MAX; /* API 1.0.0 cut the number; its 32 GiB graphs depend on that */
        parents[POREP_DRG_PARENTS + i] = image / POREP_EXP_PARENTS;
    }
}

unsigned graph_label_parents(unsigned layer)
{
    return layer == 1 ? POREP_DRG_PARENTS : POREP_PARENTS;
}

void graph_label(uint8_t label[32], const uint8_t replica_id[32], unsigned layer, uint64_t node,
                 const uint8_t (*labels)[32])
{
    uint8_t message[64 + GRAPH_LABEL_PARENTS * 32] = {0};
    memcpy(message, replica_id, 32);
    store_u32_be(message + 32, layer);
    store_u64_be(message + 36, node);
    unsigned count = graph_label_parents(layer);
    for (unsigned i = 0; i < GRAPH_LABEL_PARENTS; i++)
        memcpy(message + 64 + (size_t)i * 32, labels[i % count], 32);
    sha256(message, sizeof message, label);
    fr_make_safe(label);
}
