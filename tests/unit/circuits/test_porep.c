/* The PoRep circuits, row by row from the gadgets, against the reference (docs/spec/parameters.md,
   part I.2). The full production circuits are in tests/vectors, in compiled form. */
#include "../gadgets/compare.h"

#include "base/hash.h"
#include "circuits/label.h"
#include "circuits/porep.h"
#include "oracle/check.h"
#include "oracle/digest.h"

#include <stdlib.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

struct known {
    uint64_t sector_bytes;
    unsigned challenges; /* 0: as the size has */
    uint32_t n_rows, n_inputs, n_aux;
    uint32_t a_points, b_points; /* of the parameter file */
    bool slow;
    const char *digest;
};

static const struct known known[] = {
    {2 * KIB, 0, 2687921, 40, 2685673, 2674948, 685522, false,
     "dc15b615135b87fca8169bb29ec71946ee7d5652ac57adfe0ffb789af6d81000"},
    {4 * KIB, 0, 2788733, 40, 2786423, 2773198, 716040, true,
     "ac582070844434c66b146669b377daec8ffb10211a2b489ab47481e4db885a5a"},
    {16 * KIB, 0, 2977173, 40, 2974867, 2959970, 766964, true,
     "aefe88588dd428d674464bb475623ca2807cb1359ee458a1990c8271dc060454"},
    {32 * KIB, 0, 3077985, 40, 3075617, 3058220, 797482, true,
     "c6d6b7ffdd842cf3ef9466a280b77c7d90d7faead2a4827f6eb2076a879ccdfd"},
    {8 * MIB, 0, 3844929, 40, 3842449, 3815036, 1011290, true,
     "c81064f99ce13c72ce24cde7bcdb792f10fae18587a68d8937615c7b5937bb43"},
    {16 * MIB, 0, 3945741, 40, 3943199, 3913286, 1041808, true,
     "1164b030fa9d43f527c39f42c9d49d35c00637c72985fd55c60a62e19f889074"},
    {512 * MIB, 0, 4423433, 40, 4420837, 4385080, 1174174, true,
     "b4e1a81021ecec4a659994eeb1086236522aa58217a16577c4056e0b2e20dc17"},
    {1 * GIB, 0, 4524245, 40, 4521587, 4483330, 1204692, true,
     "76c36f2514caf23e0a529a5b346111ebdda9da15ef7b631da30b94dfa4387def"},
    {32 * GIB, 1, 7238236, 22, 7232200, 7209001, 1840034, true,
     "c778141740d7705bd5c5e9c437232a77e7b9480e54bc5ed2bc44cbb9d18d45a5"},
    {64 * GIB, 1, 7288642, 22, 7282575, 7258126, 1855293, true,
     "aabb4f1a7451a6f1d28743fa37d5cb4b283a5ac004f845f24acd3259e7c0b4bb"},
};

static void circuits_have_the_digests_of_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct known *k = &known[i];
        if (k->slow && !getenv("CUZK_TEST_LONG"))
            continue;
        print_message("porep, %llu bytes\n", (unsigned long long)k->sector_bytes);
        struct porep_partition *blank = porep_blank(porep_config(k->sector_bytes), k->challenges);
        assert_non_null(blank);
        struct circuit_program program = {porep_synthesize, blank};
        struct cs_digest digest;
        struct cuzk_error err = {0};
        assert_ok(cs_digest(&program, &digest, NULL, NULL, &err), err);
        assert_int_equal(digest.n_rows, k->n_rows);
        assert_int_equal(digest.n_inputs, k->n_inputs);
        assert_int_equal(digest.n_aux, k->n_aux);
        assert_int_equal(digest.n_inputs + digest.a_dense_aux, k->a_points);
        assert_int_equal(digest.b_dense_inputs + digest.b_dense_aux, k->b_points);
        assert_hex_equal(digest.sha256, sizeof digest.sha256, k->digest);
        porep_partition_free(blank);
    }
}

static void fill_path(struct tree_path *path, const struct tree_shape *shape, uint64_t *random)
{
    path->index = test_random(random);
    for (unsigned i = 0; i < shape->siblings; i++)
        path->siblings[i] = test_random_fr(random);
}

static void fill_challenge(struct porep_challenge *challenge, const struct porep_config *config,
                           uint64_t *random)
{
    challenge->node = test_random(random);
    challenge->data_leaf = test_random_fr(random);
    fill_path(&challenge->tree_d, &config->tree_d, random);
    for (size_t p = 0; p < POREP_PARENTS; p++) {
        for (unsigned layer = 0; layer < config->layers; layer++)
            challenge->parents[p].rows[layer] = test_random_fr(random);
        fill_path(&challenge->parents[p].path, &config->tree_r, random);
    }
    fill_path(&challenge->tree_r, &config->tree_r, random);
    fill_path(&challenge->tree_c, &config->tree_r, random);
}

/* Zeros, and values at random: only commitments and roots can be wrong then, in one row for comm_r
   and one for each of a challenge's 17 paths. */
static void witnesses_agree_with_the_rows(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (unsigned challenges = 1; challenges <= 2; challenges++) {
        struct porep_partition *partition = porep_blank(porep_config(2 * KIB), challenges);
        assert_non_null(partition);
        for (unsigned i = 0; challenges == 2 && i < challenges; i++) {
            partition->replica_id = test_random_fr(&random);
            partition->comm_d = test_random_fr(&random);
            partition->comm_r = test_random_fr(&random);
            fill_challenge(&partition->challenges[i], partition->config, &random);
        }
        struct circuit_program program = {porep_synthesize, partition};
        assert_int_equal(compare_drivers(&program), 1 + 17 * challenges);
        porep_partition_free(partition);
    }
}

/* --- Labels ----------------------------------------------------------------------------------- */

/* Replica id 1, its bits, the parents 1, 2, …, their bits, the bits of node 5 (part I.2). */
static void build_label(struct cs *cs, const void *input)
{
    uint32_t layer = *(const uint32_t *)input;
    size_t n_parents = layer == 1 ? 6 : 14;
    struct sha256_number replica_id, parents[14];
    struct num nums[14], label;
    struct boolean node[64];
    struct label_batch batch;
    sha256_number_of(cs, num_alloc(cs, &fr_one), &replica_id);
    for (size_t i = 0; i < n_parents; i++) {
        struct fr value;
        fr_from_u64(&value, i + 1);
        nums[i] = num_alloc(cs, &value);
    }
    for (size_t i = 0; i < n_parents; i++)
        sha256_number_of(cs, nums[i], &parents[i]);
    num_uint64_bits(cs, 5, node);
    label_batch_start(&batch, cs);
    label_batch_create(&batch, &replica_id, parents, n_parents, layer, node, &label);
    label_batch_finish(&batch);
}

static void labels_have_the_digests_and_values_of_the_reference(void **state)
{
    (void)state;
    static const struct {
        uint32_t layer, n_rows, n_aux;
        const char *digest, *values;
    } labels[] = {
        {1, 524125, 523605, "b0bfd3f1dc4252c9777e773f24acabde23b082fcf52b0ceaf96b9512ceabc0c6",
         "3838757f191834a4a2de1e82ecf173f8fd7b88407cce4ca6e4067f730c6d960e"},
        {2, 526173, 525653, "d897ade94745ab018b56a01ec928f093971401b8768d88c5606845260724daac",
         "f10a1ae3b9f827bbe8dd44b5bb31db4ff55a35fde585c6dd10ca562885b2e913"},
        {11, 526173, 525653, "4e09f65ab45ebcad303d6fca5d8788853a036305dd461360106255217313ad7d",
         "842b50b9c79a6ced55b2b68e27ccfc532b6af7c82ee84395754d10a3ee4d909a"},
    };
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        struct circuit_program program = {build_label, &labels[i].layer};
        struct cs_digest digest;
        struct check_result result;
        struct fr *aux;
        struct cuzk_error err = {0};
        assert_ok(cs_digest(&program, &digest, NULL, NULL, &err), err);
        assert_int_equal(digest.n_rows, labels[i].n_rows);
        assert_int_equal(digest.n_aux, labels[i].n_aux);
        assert_hex_equal(digest.sha256, sizeof digest.sha256, labels[i].digest);
        assert_ok(cs_check(&program, &result, NULL, NULL, NULL, &aux, &err), err);
        assert_int_equal(result.unsatisfied, 0);
        struct hasher *hasher = sha256_new();
        uint8_t bytes[FR_BYTES];
        for (uint32_t v = 0; v < result.n_aux; v++) {
            fr_to_bytes(bytes, &aux[v]);
            hasher_update(hasher, bytes, sizeof bytes);
        }
        hasher_final(hasher, bytes);
        assert_hex_equal(bytes, sizeof bytes, labels[i].values);
        mem_free(aux);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_have_the_digests_and_values_of_the_reference),
        cmocka_unit_test(circuits_have_the_digests_of_the_reference),
        cmocka_unit_test(witnesses_agree_with_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
