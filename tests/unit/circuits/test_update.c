/* The sector update circuits, row by row from the gadgets, against the reference
   (docs/spec/parameters.md, part I.2). The largest are in tests/vectors, in compiled form. */
#include "../gadgets/compare.h"

#include "circuits/update.h"
#include "oracle/digest.h"

#include <stdlib.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

struct known {
    bool poseidon;
    uint64_t sector_bytes;
    uint32_t n_rows, n_aux;
    uint32_t a_points, b_points; /* of the parameter file */
    const char *digest;
};

static const struct known known[] = {
    {false, 1 * KIB, 1248389, 1247309, 1241654, 327404,
     "83a1393994b076648429fe24777f6ebd6f9384e49d0edd50bfddd1bafd79fe81"},
    {false, 2 * KIB, 1705039, 1703569, 1697194, 444404,
     "6210f571efe0d06e909326e6988c7320681695ebf1c3c21c5e89ac925113f232"},
    {false, 4 * KIB, 2165109, 2163189, 2155234, 564064,
     "3b8b56412047628f8bb1119dca365e61fd7d1734535d06f6adcdff5f43f74084"},
    {false, 8 * KIB, 2620359, 2618009, 2609694, 680064,
     "0133cf149d4e0ab17a39cfae5f075b7b41e4284f4fccb4b416ff9ae6b20caea5"},
    {false, 16 * KIB, 6300021, 6293944, 6284887, 1613423,
     "54aed5638c09739420cc70fb9d30c537f69258c6b25b3903278b9f6ebac882e7"},
    {false, 32 * KIB, 6760091, 6753564, 6742927, 1733083,
     "789f0f71139bd897330ec9ddf91ec139b0b8cd849476eca841c9a57a842c13a8"},
    {false, 8 * MIB, 10007503, 9998039, 9981020, 2567922,
     "41f26a2b76c1e3b34eafbe030ef87b27190dd47d1f492a22e30b46247629d20e"},
    {false, 16 * MIB, 10467573, 10457659, 10439060, 2687582,
     "9a8072cb0eae3307069ade82fcd6745b29e53eb43657e5a852c576597b3947c2"},
    {true, 2 * KIB, 36424, 36834, 27935, 26698,
     "499ed33ac17c26173841aa13be5fc2f59bebbc71a8f4eee7efe1ba02cb911877"},
    {true, 4 * KIB, 45814, 46254, 35015, 33718,
     "704e85b6a1e9f30739db3b81516eee0ebb6390d375a61c4274ecc6474059b5d4"},
    {true, 16 * KIB, 102954, 104194, 78905, 75358,
     "e1e8b68e02a9d663455d963bfb5a145e7205eb9e10a541dea4a199043f78c848"},
    {true, 32 * KIB, 121734, 123034, 93065, 89398,
     "5d9d79f13a1e84a8fe8c0b414c90484df6d8325640f27285282164bb7c728647"},
    {true, 8 * MIB, 395250, 400248, 303021, 289454,
     "bfc7cc62d2c01d2509e5fb3ba193a88f60db73e91aa5a6cfc50c2148e1ea6a32"},
};

/* Quick ones are in the short tier. */
enum { ROWS_QUICK = 2000000 };

static void check_circuit(const struct known *k)
{
    struct update_partition *blank = update_blank(update_config(k->sector_bytes, k->poseidon));
    assert_non_null(blank);
    struct circuit_program program = {update_synthesize, blank};
    struct cs_digest digest;
    struct cuzk_error err = {0};
    print_message("update%s, %llu bytes\n", k->poseidon ? "-poseidon" : "",
                  (unsigned long long)k->sector_bytes);
    assert_ok(cs_digest(&program, &digest, NULL, NULL, &err), err);
    assert_int_equal(digest.n_rows, k->n_rows);
    assert_int_equal(digest.n_inputs, 5);
    assert_int_equal(digest.n_aux, k->n_aux);
    assert_int_equal(digest.n_inputs + digest.a_dense_aux, k->a_points);
    assert_int_equal(digest.b_dense_inputs + digest.b_dense_aux, k->b_points);
    assert_hex_equal(digest.sha256, sizeof digest.sha256, k->digest);
    update_partition_free(blank);
}

static void circuits_have_the_digests_of_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].n_rows <= ROWS_QUICK || getenv("CUZK_TEST_LONG"))
            check_circuit(&known[i]);
    }
}

static void sizes_without_a_circuit_have_no_configuration(void **state)
{
    (void)state;
    assert_null(update_config(1 * GIB, false));
    assert_null(update_config(0, true));
    assert_int_equal(update_config(32 * GIB, false)->partitions, 16);
}

static void fill(struct fr *out, size_t n, uint64_t *random)
{
    for (size_t i = 0; i < n; i++)
        out[i] = test_random_fr(random);
}

/* Two comm_r, comm_d, and three roots of each challenge are wrong. */
static void witnesses_agree_with_the_rows(void **state)
{
    (void)state;
    for (int poseidon = 0; poseidon < 2; poseidon++) {
        struct update_partition *partition = update_blank(update_config(16 * KIB, poseidon));
        assert_non_null(partition);
        const struct update_config *config = partition->config;
        uint64_t random = 1;
        struct fr *const commitments[] = {&partition->comm_r_old, &partition->comm_d_new,
                                          &partition->comm_r_new, &partition->comm_c,
                                          &partition->root_r_old, &partition->root_r_new};
        for (size_t i = 0; i < 6; i++)
            fill(commitments[i], 1, &random);
        fill(partition->apex_leaves, config->apex_leaves, &random);
        fill(partition->partition_path, config->partition_bits, &random);
        partition->index = config->partitions - 1;
        for (unsigned i = 0; i < config->challenges; i++) {
            struct update_challenge *challenge = &partition->challenges[i];
            fill(&challenge->label_r_old, 1, &random);
            fill(&challenge->label_d_new, 1, &random);
            fill(challenge->path_r_old.siblings, config->tree_r.siblings, &random);
            fill(challenge->path_r_new.siblings, config->tree_r.siblings, &random);
            fill(challenge->path_d_new.siblings, config->path_d.siblings, &random);
        }
        struct circuit_program program = {update_synthesize, partition};
        unsigned commitments_wrong = poseidon ? 2 : 3;
        assert_int_equal(compare_drivers(&program), commitments_wrong + 3 * config->challenges);
        update_partition_free(partition);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circuits_have_the_digests_of_the_reference),
        cmocka_unit_test(witnesses_agree_with_the_rows),
        cmocka_unit_test(sizes_without_a_circuit_have_no_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
