/* The PoSt circuits, row by row from the gadgets, against the reference (docs/spec/parameters.md,
   part I.2). The largest are in tests/vectors, in compiled form. */
#include "../gadgets/compare.h"

#include "circuits/post.h"
#include "oracle/digest.h"

#include <stdlib.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

struct known {
    const struct post_config *(*config)(uint64_t sector_bytes);
    uint64_t sector_bytes;
    unsigned sectors; /* 0: as the circuit has */
    uint32_t n_rows, n_inputs, n_aux;
    uint32_t a_points, b_points; /* of the parameter file */
    const char *digest;
};

static const struct known known[] = {
    {post_winning_config, 2 * KIB, 0, 90750, 133, 91674, 69433, 66793,
     "0562576ee4499eb52b6d27f619c7c8bb7d7082deefd01a3988a421c46021027d"},
    {post_winning_config, 4 * KIB, 0, 111474, 133, 112464, 85075, 82303,
     "43b9935fa13bca85b427c00c60254238a303051aaac91a04bbc6243430145cb5"},
    {post_winning_config, 16 * KIB, 0, 125730, 133, 127116, 96295, 92467,
     "7bda5171871031419b3b10f26c631b8240f928ef52f4f7fdef7984c99717eb46"},
    {post_winning_config, 32 * KIB, 0, 146454, 133, 147906, 111937, 107977,
     "a7428668f5a63a8824ae85f8efe93c7568805984db6ad1a4b91c9e9b8244ffb7"},
    {post_winning_config, 8 * MIB, 0, 230670, 133, 233442, 176881, 169489,
     "a6c494954a4d6d7d625ec8a92fd130bc76b9ef4065c3f3b262b72dad2c36c4de"},
    {post_winning_config, 512 * MIB, 0, 300630, 133, 304326, 230605, 220837,
     "5e2b13b5100d585ff6e6839a25a1b380b49577f25fd6af701a8a065bbfb672e6"},
    {post_winning_config, 32 * GIB, 0, 370590, 133, 375210, 284329, 272185,
     "55eda60b104e697c2586d1b87478ef8820d2e79807f937d240c90df3546212ae"},
    {post_winning_config, 64 * GIB, 0, 391314, 133, 396000, 299971, 287695,
     "3a37365af6e18cc0af7aa6f5ec9e35986cba1c02506be9c1a240c5c537382ddd"},
    {post_window_config, 2 * KIB, 0, 21866, 23, 22128, 16793, 16029,
     "f8ba7b86efda8fa8cfeb67e179175a602a5ded01f9e293e9f7c46fea566d5e31"},
    {post_window_config, 4 * KIB, 0, 28146, 23, 28428, 21533, 20729,
     "a4cac349347f50d861bc84247a18cf0914687ae86785aefa3f66e93c3118ab52"},
    {post_window_config, 16 * KIB, 0, 32466, 23, 32868, 24933, 23809,
     "c41ef9ace07399aa646e24ebe3ea8544e38d3384e6b009150833137c4a42bed6"},
    {post_window_config, 32 * KIB, 0, 38746, 23, 39168, 29673, 28509,
     "32686bfbf5a14f0d4784bf5f2d0c489a986c7019d27fed7cee5f157d9c661e67"},
    {post_window_config, 8 * MIB, 0, 64266, 23, 65088, 49353, 47149,
     "dcd5280559753a4ad5bffa124170123ee2fbb985b038376c76935a545958c8e4"},
    {post_window_config, 512 * MIB, 0, 85466, 23, 86568, 65633, 62709,
     "1b244b2f0526c2b1bcf3fa37e7aa722336c102fd590ce905708fb2fd6271154f"},
    {post_window_config, 32 * GIB, 1, 53333, 12, 54024, 40957, 39135,
     "1303b803b6643f09a85527e48f9417da585d70f30ba7add7db316337fa5af9bb"},
    {post_window_config, 64 * GIB, 1, 56473, 12, 57174, 43327, 41485,
     "ff3a5c1ea6ecf30169c78a1c093909a4d97f33b07cef6ad03c46343aaa55abf9"},
};

/* Quick ones are in the short tier. */
enum { ROWS_QUICK = 130000 };

static void check_circuit(const struct known *k)
{
    const struct post_config *config = k->config(k->sector_bytes);
    struct post_partition *blank = post_blank(config, k->sectors);
    assert_non_null(blank);
    struct circuit_program program = {post_synthesize, blank};
    struct cs_digest digest;
    struct cuzk_error err = {0};
    print_message("post, %llu bytes, %u challenges\n", (unsigned long long)k->sector_bytes,
                  config->challenges);
    assert_ok(cs_digest(&program, &digest, NULL, NULL, &err), err);
    assert_int_equal(digest.n_rows, k->n_rows);
    assert_int_equal(digest.n_inputs, k->n_inputs);
    assert_int_equal(digest.n_aux, k->n_aux);
    assert_int_equal(digest.n_inputs + digest.a_dense_aux, k->a_points);
    assert_int_equal(digest.b_dense_inputs + digest.b_dense_aux, k->b_points);
    assert_hex_equal(digest.sha256, sizeof digest.sha256, k->digest);
    post_partition_free(blank);
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
    assert_null(post_winning_config(8 * KIB));
    assert_null(post_window_config(1 * KIB));
    assert_null(post_window_config(3 * KIB));
    assert_null(post_window_config(0));
    assert_int_equal(post_window_config(32 * GIB)->sectors, 2349);
    assert_int_equal(post_window_config(64 * GIB)->sectors, 2300);
}

/* comm_r and the root of each path are wrong, everything else is as the rows want it. */
static void witnesses_agree_with_the_rows(void **state)
{
    (void)state;
    struct post_partition *partition = post_blank(post_window_config(4 * KIB), 0);
    assert_non_null(partition);
    const struct post_config *config = partition->config;
    uint64_t random = 1;
    for (unsigned i = 0; i < config->sectors * config->challenges; i++) {
        struct post_challenge *challenge = &partition->challenges[i];
        challenge->leaf = test_random_fr(&random);
        challenge->path.index = test_random(&random);
        for (unsigned k = 0; k < config->tree_r.siblings; k++)
            challenge->path.siblings[k] = test_random_fr(&random);
    }
    struct circuit_program program = {post_synthesize, partition};
    assert_int_equal(compare_drivers(&program), 2 * (1 + 10));
    post_partition_free(partition);
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
