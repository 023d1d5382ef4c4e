/* The SDR graph, challenges and ids against the value vectors of part I.3. */
#include "support/support.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "vanilla/porep_public.h"

#include <string.h>

/* Labels all nodes of a small graph; returns the last label of layer 11. */
static void last_label(uint64_t nodes, uint8_t id_byte, bool api_v1_0, uint8_t label[32])
{
    enum { LAYERS = 11 };
    uint8_t porep_id[32];
    uint8_t replica_id[32];
    memset(porep_id, id_byte, sizeof porep_id);
    memset(replica_id, 9, sizeof replica_id);
    struct graph graph;
    graph_init(&graph, nodes, porep_id, api_v1_0);
    uint8_t(*layers)[128][32] = mem_zalloc(LAYERS, sizeof *layers);
    assert_non_null(layers);
    for (unsigned layer = 1; layer <= LAYERS; layer++) {
        /* Node 0 hashes no parents, which graph_label leaves out because no challenge is node 0. */
        uint8_t message[64] = {0};
        memcpy(message, replica_id, 32);
        store_u32_be(message + 32, layer);
        sha256(message, sizeof message, layers[layer - 1][0]);
        fr_make_safe(layers[layer - 1][0]);
        for (uint64_t node = 1; node < nodes; node++) {
            uint64_t parents[POREP_PARENTS];
            uint8_t labels[POREP_PARENTS][32];
            graph_parents(&graph, node, parents);
            for (unsigned p = 0; p < graph_label_parents(layer); p++)
                memcpy(labels[p], layers[layer - (p < POREP_DRG_PARENTS ? 1 : 2)][parents[p]], 32);
            graph_label(layers[layer - 1][node], replica_id, layer, node,
                        (const uint8_t(*)[32])labels);
        }
    }
    memcpy(label, layers[LAYERS - 1][nodes - 1], 32);
    mem_free(layers);
}

static void labels_of_both_api_versions(void **state)
{
    (void)state;
    static const struct {
        uint64_t nodes;
        uint8_t id_byte;
        bool api_v1_0;
        uint64_t limbs[4];
    } cases[] = {
        {64,
         0,
         true,
         {0xd3faa96b9a0fba04, 0xea81a283d106485e, 0xe3d51b9afa5ac2b3, 0x0462f4f4f1a68d37}},
        {128,
         0,
         true,
         {0x7e191e52c4a8da86, 0x5ae8a1c9e6fac148, 0xce239f3b88a894b8, 0x234c00d1dc1d53be}},
        {64,
         123,
         false,
         {0xabb3f38bb70defcf, 0x777a2e4d7769119f, 0x3448959d495490bc, 0x06021188c7a71cb5}},
        {128,
         123,
         false,
         {0x22ab81cf68c4676d, 0x7a77a82fc7c9c189, 0xc6c03d32c1e42d23, 0x0f777c18cc2c55bd}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t label[32];
        last_label(cases[i].nodes, cases[i].id_byte, cases[i].api_v1_0, label);
        for (unsigned limb = 0; limb < 4; limb++)
            assert_int_equal(load_u64_le(label + 8 * limb), cases[i].limbs[limb]);
    }
}

static void parents_in_a_full_size_graph(void **state)
{
    (void)state;
    static const uint64_t expected[POREP_PARENTS] = {
        31452223,  30154252,  31452223,  31452209,  31451856,  31452221,  993901710,
        197332330, 194963789, 351793030, 154814453, 906545137, 987154038, 354166944,
    };
    uint8_t porep_id[32];
    uint64_t parents[POREP_PARENTS];
    struct graph graph;
    seal_porep_id(seal_proof_by_number(8), porep_id);
    graph_init(&graph, (uint64_t)1 << 30, porep_id, false);
    graph_parents(&graph, 31452224, parents);
    assert_memory_equal(parents, expected, sizeof parents);
}

static void first_nodes_have_parent_zero(void **state)
{
    (void)state;
    uint8_t porep_id[32] = {0};
    uint64_t parents[POREP_PARENTS];
    for (int api_v1_0 = 0; api_v1_0 < 2; api_v1_0++) {
        struct graph graph;
        graph_init(&graph, 64, porep_id, api_v1_0);
        for (uint64_t node = 0; node < 2; node++) {
            graph_parents(&graph, node, parents);
            for (unsigned p = 0; p < POREP_DRG_PARENTS; p++)
                assert_int_equal(parents[p], 0);
        }
    }
}

static void predecessor_is_first_or_last(void **state)
{
    (void)state;
    uint8_t porep_id[32] = {7};
    uint64_t new_api[POREP_PARENTS];
    uint64_t old_api[POREP_PARENTS];
    struct graph graph;
    graph_init(&graph, 1024, porep_id, false);
    graph_parents(&graph, 1000, new_api);
    graph_init(&graph, 1024, porep_id, true);
    graph_parents(&graph, 1000, old_api);
    assert_int_equal(new_api[0], 999);
    assert_int_equal(old_api[POREP_DRG_PARENTS - 1], 999);
    assert_memory_equal(new_api + 1, old_api, 5 * sizeof(uint64_t));
}

/* In API 1.0.0 graphs of 2^30 nodes an expander parent is cut to 29 bits. */
static void old_graphs_truncate_expander_parents(void **state)
{
    (void)state;
    uint8_t porep_id[32] = {3};
    uint64_t new_api[POREP_PARENTS];
    uint64_t old_api[POREP_PARENTS];
    bool differs = false;
    for (uint64_t node = 2; node < 20; node++) {
        struct graph graph;
        graph_init(&graph, (uint64_t)1 << 30, porep_id, false);
        graph_parents(&graph, node, new_api);
        graph_init(&graph, (uint64_t)1 << 30, porep_id, true);
        graph_parents(&graph, node, old_api);
        for (unsigned p = POREP_DRG_PARENTS; p < POREP_PARENTS; p++) {
            assert_int_equal(old_api[p], new_api[p] & 0x1fffffff);
            differs = differs || old_api[p] != new_api[p];
        }
    }
    assert_true(differs);
}

/* --- Ids and challenges ----------------------------------------------------------------------- */

static void prover_ids_are_leb128(void **state)
{
    (void)state;
    static const struct {
        uint64_t miner;
        const char *hex;
    } cases[] = {
        {0, "00"},      {1, "01"},      {127, "7f"},       {128, "8001"},
        {1000, "e807"}, {1001, "e907"}, {16384, "808001"}, {UINT64_MAX, "ffffffffffffffffff01"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t id[32];
        char hex[65] = "";
        porep_prover_id(cases[i].miner, id);
        memset(hex, '0', 64);
        memcpy(hex, cases[i].hex, strlen(cases[i].hex));
        assert_hex_equal(id, sizeof id, hex);
    }
}

static void make_public(struct porep_public *values)
{
    *values = (struct porep_public){.proof = seal_proof_by_number(8),
                                    .config = porep_config((uint64_t)32 << 30)};
    assert_non_null(values->config);
    memset(values->ticket, 1, 32);
    memset(values->seed, 2, 32);
    values->comm_d[0] = 12345 & 0xff;
    values->comm_d[1] = 12345 >> 8;
    uint8_t prover_id[32];
    porep_prover_id(1000, prover_id);
    porep_replica_id(values, prover_id, 42, values->replica_id);
}

static void replica_id_and_interactive_challenges(void **state)
{
    (void)state;
    static const uint64_t first[] = {91849024, 150174674, 800785381, 748305960};
    static const uint64_t last[] = {522559294, 404277970, 515971108, 956590522};
    struct porep_public values;
    make_public(&values);
    assert_hex_equal(values.replica_id, 32,
                     "29471ecb11813df55677a65d09227edc621dd8a8b2c51b6fe70dc362a7547925");
    uint64_t challenges[POREP_CHALLENGES_MAX];
    porep_challenges(&values, 0, challenges);
    assert_memory_equal(challenges, first, sizeof first);
    porep_challenges(&values, 9, challenges);
    assert_memory_equal(challenges, last, sizeof last);
}

static void synthetic_challenges(void **state)
{
    (void)state;
    static const uint64_t entries[] = {178, 297, 869, 211, 875, 477, 94,  781, 124, 332, 856,
                                       801, 176, 692, 429, 691, 290, 204, 986, 210, 973};
    static const uint64_t selected[] = {176, 781, 801, 986, 290, 211, 692, 856, 986, 332};
    uint8_t replica_id[32] = {55};
    uint8_t comm_r[32] = {101};
    uint8_t seed[32];
    memset(seed, 1, sizeof seed);
    for (uint64_t i = 0; i < 21; i++)
        assert_int_equal(porep_synthetic_entry(replica_id, comm_r, i, 1024), entries[i]);
    for (uint32_t j = 0; j < 10; j++) {
        uint64_t index = porep_synthetic_select(replica_id, seed, j, 21);
        assert_int_equal(porep_synthetic_entry(replica_id, comm_r, index, 1024), selected[j]);
    }
}

/* A synthetic proof's challenges depend on comm_r, an interactive one's do not. */
static void synthetic_proofs_use_synthetic_challenges(void **state)
{
    (void)state;
    struct porep_public values;
    uint64_t before[POREP_CHALLENGES_MAX];
    uint64_t after[POREP_CHALLENGES_MAX];
    make_public(&values);
    porep_challenges(&values, 1, before);
    values.comm_r[0] = 1;
    porep_challenges(&values, 1, after);
    assert_memory_equal(before, after, sizeof before);

    values.proof = seal_proof_by_number(13);
    porep_challenges(&values, 1, after);
    for (unsigned i = 0; i < values.config->challenges; i++) {
        uint64_t index = porep_synthetic_select(values.replica_id, values.seed,
                                                values.config->challenges + i, 1 << 18);
        assert_int_equal(after[i], porep_synthetic_entry(values.replica_id, values.comm_r, index,
                                                         values.config->nodes));
    }
}

static void seal_proofs_by_number_and_name(void **state)
{
    (void)state;
    static const struct {
        unsigned number;
        const char *name;
    } cases[] = {
        {0, "StackedDrg2KiBV1"},
        {4, "StackedDrg64GiBV1"},
        {5, "StackedDrg2KiBV1_1"},
        {8, "StackedDrg32GiBV1_1"},
        {13, "StackedDrg32GiBV1_1_Feat_SyntheticPoRep"},
        {19, "StackedDrg64GiBV1_2_Feat_NonInteractivePoRep"},
    };
    assert_int_equal(seal_proof_count(), 20);
    for (unsigned i = 0; i < 20; i++) {
        const struct seal_proof *proof = seal_proof_by_number(i);
        assert_int_equal(proof->number, i);
        assert_ptr_equal(seal_proof_by_name(proof->name, strlen(proof->name)), proof);
        assert_int_equal(seal_shape_sector_bytes(proof->shape, strlen(proof->shape)),
                         proof->sector_bytes);
        assert_int_equal(proof->api_v1_0, i < 5);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(seal_proof_by_number(cases[i].number)->name, cases[i].name);
    assert_null(seal_proof_by_number(20));
    assert_null(seal_proof_by_name("StackedDrg2KiBV1x", 17));
    assert_int_equal(seal_shape_sector_bytes("StackedDrg2KiBV1_1", 18), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_of_both_api_versions),
        cmocka_unit_test(parents_in_a_full_size_graph),
        cmocka_unit_test(first_nodes_have_parent_zero),
        cmocka_unit_test(predecessor_is_first_or_last),
        cmocka_unit_test(old_graphs_truncate_expander_parents),
        cmocka_unit_test(prover_ids_are_leb128),
        cmocka_unit_test(replica_id_and_interactive_challenges),
        cmocka_unit_test(synthetic_challenges),
        cmocka_unit_test(synthetic_proofs_use_synthetic_challenges),
        cmocka_unit_test(seal_proofs_by_number_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
