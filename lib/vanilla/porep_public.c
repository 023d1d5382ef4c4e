#include "vanilla/porep_public.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "vanilla/chacha.h"

void porep_prover_id(uint64_t miner_id, uint8_t prover_id[32])
{
    memset(prover_id, 0, 32);
    unsigned i = 0;
    for (; miner_id >= 0x80; miner_id >>= 7)
        prover_id[i++] = (uint8_t)(miner_id | 0x80);
    prover_id[i] = (uint8_t)miner_id;
}

void porep_replica_id(const struct porep_public *values, const uint8_t prover_id[32],
                      uint64_t sector_number, uint8_t replica_id[32])
{
    uint8_t message[32 + 8 + 3 * 32];
    memcpy(message, prover_id, 32);
    store_u64_be(message + 32, sector_number);
    memcpy(message + 40, values->ticket, 32);
    memcpy(message + 72, values->comm_d, 32);
    seal_porep_id(values->proof, message + 104);
    sha256(message, sizeof message, replica_id);
    fr_make_safe(replica_id);
}

void porep_graph(const struct porep_public *values, struct graph *graph)
{
    uint8_t porep_id[32];
    seal_porep_id(values->proof, porep_id);
    graph_init(graph, values->config->nodes, porep_id, values->proof->api_v1_0);
}

/* A 256-bit little-endian number modulo nodes − 1, plus 1: never node 0, which has no parents. */
static uint64_t reduce_to_node(const uint8_t number[32], uint64_t nodes)
{
    uint64_t rest = 0;
    for (unsigned i = 32; i-- > 0;)
        rest = (rest << 8 | number[i]) % (nodes - 1);
    return rest + 1;
}

uint64_t porep_challenge_interactive(const uint8_t replica_id[32], const uint8_t seed[32],
                                     uint32_t j, uint64_t nodes)
{
    uint8_t message[68];
    uint8_t digest[SHA256_BYTES];
    memcpy(message, replica_id, 32);
    memcpy(message + 32, seed, 32);
    store_u32_le(message + 64, j);
    sha256(message, sizeof message, digest);
    return reduce_to_node(digest, nodes);
}

/* The ChaCha20 stream whose key is the BLAKE2b hash, keyed by `name`, of two 32-byte values. */
static void synthetic_stream(struct chacha *chacha, const char *name, const uint8_t first[32],
                             const uint8_t second[32])
{
    uint8_t message[64];
    uint8_t key[32];
    memcpy(message, first, 32);
    memcpy(message + 32, second, 32);
    blake2b_keyed(name, strlen(name), message, sizeof message, key, sizeof key);
    chacha_init(chacha, key, (const uint8_t *)"synth-porep",
                20); /* with its terminator: 12 bytes */
}

uint64_t porep_synthetic_entry(const uint8_t replica_id[32], const uint8_t comm_r[32],
                               uint64_t index, uint64_t nodes)
{
    struct chacha chacha;
    uint32_t words[16];
    uint8_t number[32];
    synthetic_stream(&chacha, "filecoin.io|PoRep|1|Synthetic|1|Generation", replica_id, comm_r);
    chacha_block(&chacha, (uint32_t)(index / 2), words);
    for (unsigned i = 0; i < 8; i++)
        store_u32_le(number + 4 * i, words[8 * (index % 2) + i]);
    return reduce_to_node(number, nodes);
}

uint64_t porep_synthetic_select(const uint8_t replica_id[32], const uint8_t seed[32], uint32_t j,
                                uint64_t set)
{
    struct chacha chacha;
    uint32_t words[16];
    synthetic_stream(&chacha, "filecoin.io|PoRep|1|Synthetic|1|Selection", replica_id, seed);
    chacha_block(&chacha, j / 16, words);
    return words[j % 16] % set;
}

void porep_challenges(const struct porep_public *values, unsigned partition, uint64_t *challenges)
{
    const struct porep_config *config = values->config;
    CHECK(values->proof->feature != SEAL_NON_INTERACTIVE && partition < config->partitions);
    uint64_t set = config->nodes < (uint64_t)1 << 18 ? config->nodes : (uint64_t)1 << 18;
    for (unsigned i = 0; i < config->challenges; i++) {
        uint32_t j = partition * config->challenges + i;
        if (values->proof->feature == SEAL_INTERACTIVE) {
            challenges[i] =
                porep_challenge_interactive(values->replica_id, values->seed, j, config->nodes);
            continue;
        }
        uint64_t index = porep_synthetic_select(values->replica_id, values->seed, j, set);
        challenges[i] =
            porep_synthetic_entry(values->replica_id, values->comm_r, index, config->nodes);
    }
}

size_t porep_inputs_count(const struct porep_config *config)
{
    return 3 + (size_t)config->challenges * (4 + POREP_PARENTS);
}

void porep_inputs(const struct porep_public *values, unsigned partition, struct fr *inputs)
{
    CHECK(fr_from_bytes(inputs++, values->replica_id));
    CHECK(fr_from_bytes(inputs++, values->comm_d));
    CHECK(fr_from_bytes(inputs++, values->comm_r));
    struct graph graph;
    porep_graph(values, &graph);
    uint64_t challenges[POREP_CHALLENGES_MAX];
    porep_challenges(values, partition, challenges);
    for (unsigned i = 0; i < values->config->challenges; i++) {
        uint64_t parents[POREP_PARENTS];
        graph_parents(&graph, challenges[i], parents);
        fr_from_u64(inputs++, challenges[i]); /* data leaf */
        for (unsigned p = 0; p < POREP_PARENTS; p++)
            fr_from_u64(inputs++, parents[p]);
        for (unsigned use = 0; use < 3; use++) /* challenge, replica leaf, own column */
            fr_from_u64(inputs++, challenges[i]);
    }
}
