/* From the vanilla proofs of a PoSt to all values of its partitions: challenges, public inputs, aux
   and row values of the reference, every row satisfied. */
#include "vectors/witness_known.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "circuits/sector.h"
#include "vanilla/post.h"

#include <stdio.h>
#include <string.h>

struct post_case {
    const char *name;       /* of the files: <name>-public-inputs.txt, … */
    const char *randomness; /* of <name>-public.json */
    bool api_v1_2;
    unsigned partitions;
    unsigned n_sectors;
    const char *sectors[3];
};

static void assert_partition(const struct post_case *post_case, const char *folder, bool winning,
                             unsigned partition, const char *inputs_known, const char *known)
{
    struct post_public values = {
        .config = winning ? post_winning_config(2048) : post_window_config(2048),
        .winning = winning,
        .api_v1_2 = post_case->api_v1_2,
        .partition = partition,
    };
    struct post_vanilla proofs[2];
    struct cuzk_error err;
    struct post *post;
    unsigned n = 0;
    assert_true(hex_decode(post_case->randomness, values.randomness, 32));
    for (unsigned i = 2 * partition; i < post_case->n_sectors && n < 2; i++, n++) {
        char path[128];
        snprintf(path, sizeof path, "reference/%s/%s%s.bin", folder, post_case->name,
                 post_case->sectors[i]);
        proofs[n].bytes = vector_read_or_skip(path, &proofs[n].len);
        assert_int_equal(proofs[n].len, post_vanilla_bytes(&values));
    }
    assert_ok(post_read(&values, proofs, n, NULL, &post, &err), err);
    assert_ok(post_check(post, NULL, &err), err);
    size_t count = post_inputs_count(values.config);
    struct fr *inputs = mem_alloc(count, sizeof *inputs);
    post_inputs(post, inputs);
    assert_inputs_known(inputs, count, inputs_known, partition);
    struct circuit_program program = {post_synthesize, post_checked(post)};
    assert_witness_known(&program, inputs, count, known, partition);
    mem_free(inputs);
    post_free(post);
    while (n > 0)
        mem_free((void *)(uintptr_t)proofs[--n].bytes);
}

static void assert_case(const struct post_case *post_case, const char *folder, bool winning)
{
    char path[128];
    size_t len;
    snprintf(path, sizeof path, "reference/%s/%s-public-inputs.txt", folder, post_case->name);
    char *inputs_known = (char *)vector_read_or_skip(path, &len);
    snprintf(path, sizeof path, "reference/%s/%s-witness.sha256", folder, post_case->name);
    char *known = (char *)vector_read_or_skip(path, &len);
    for (unsigned k = 0; k < post_case->partitions; k++)
        assert_partition(post_case, folder, winning, k, inputs_known, known);
    mem_free(inputs_known);
    mem_free(known);
}

static void winning_post(void **state)
{
    (void)state;
    static const struct post_case winning = {
        "winning", "9072d0411b0216e2bbe9177c7ba778d50feb128fd5f7b750056772918b90d320",
        false,     1,
        1,         {"-sector42"}};
    assert_case(&winning, "winning-2k", true);
}

static void window_post(void **state)
{
    (void)state;
    static const struct post_case cases[] = {
        {"two",
         "79dfe668b258b139e6dc03486b176b7e9c75564420f3e773437287278a16e922",
         true,
         1,
         2,
         {"-sector42", "-sector43"}},
        {"one",
         "af803f512bfabad01318d3cffe821485b18eb06b54f4ae68ffd603c2c67e271b",
         true,
         1,
         1,
         {"-sector42"}},
        {"three",
         "29f0925f2961fbec3e94890e0ed97070b8bf02b56d900e3d28b0befaf351c91b",
         true,
         2,
         3,
         {"-sector42", "-sector43", "-sector44"}},
        {"three-v1",
         "5b0e123a4943fe0bb9e9e8c66a3b4149c21616c5369a9382645bdfef83fe473c",
         false,
         2,
         3,
         {"-sector42", "-sector43", "-sector44"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_case(&cases[i], "window-2k", false);
}

/* A real sector of 32 GiB: the proof and its public data are published with Curio. */
static void real_32gib_window_post(void **state)
{
    (void)state;
    struct post_public values = {.config = post_window_config(32 * GIB)};
    struct post_vanilla proof;
    struct cuzk_error err;
    struct post *post;
    uint8_t comm_r[32];
    proof.bytes = vector_read_or_skip("public/curio-testgolden/post.vproof", &proof.len);
    struct fr *inputs = mem_alloc(post_inputs_count(values.config), sizeof *inputs);
    assert_int_equal(proof.len, post_vanilla_bytes(&values));
    assert_ok(post_read(&values, &proof, 1, NULL, &post, &err), err);
    assert_ok(post_check(post, NULL, &err), err);
    post_inputs(post, inputs);
    fr_to_bytes(comm_r, &inputs[0]);
    assert_memory_equal(comm_r, proof.bytes + 8, 32);
    mem_free(inputs);
    post_free(post);
    mem_free((void *)(uintptr_t)proof.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winning_post),
        cmocka_unit_test(window_post),
        cmocka_unit_test(real_32gib_window_post),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
