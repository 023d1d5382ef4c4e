/* Mutated proofs and keys, with the reference's verdicts on them (reference/negative). */
#include "vectors/json.h"

#include "base/bytes.h"
#include "base/check.h"
#include "groth16/verify.h"

enum { N_INPUTS = 39 };

struct sample {
    struct vk vk;
    struct proof good;
    struct fr inputs[N_INPUTS];
};

static void load(struct sample *sample)
{
    struct cuzk_error err;
    size_t len;
    char *text = (char *)vector_read_or_skip("reference/porep-2k/public-inputs.txt", &len);
    const char *line = strchr(text, '\n') + 1; /* after the comment */
    for (size_t i = 0; i < N_INPUTS; i++, line += 65) {
        char hex[65] = {0};
        uint8_t bytes[FR_BYTES];
        memcpy(hex, line, 64);
        assert_true(hex_decode(hex, bytes, FR_BYTES));
        assert_true(fr_from_bytes(&sample->inputs[i], bytes));
    }
    mem_free(text);
    assert_ok(vk_read(vector_path_or_skip("reference/porep-2k/porep-2k.vk"), &sample->vk, &err),
              err);
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void check_mutation(struct sample *sample, yajl_val mutation)
{
    const char *name = json_string(mutation, "name");
    const char *hex = json_string(mutation, "proof");
    const char *read = json_string(mutation, "read");
    struct cuzk_error err;
    struct proof proof;
    uint8_t bytes[CUZK_PROOF_BYTES];
    if (strlen(hex) != 2 * CUZK_PROOF_BYTES) { /* lengths are checked by the holder of the bytes */
        assert_true(starts_with(read, "error: expected exactly 192 bytes"));
        return;
    }
    assert_true(hex_decode(hex, bytes, CUZK_PROOF_BYTES));
    enum cuzk_status status = proof_decode(bytes, &proof, &err);
    if ((status == CUZK_OK) != (strcmp(read, "ok") == 0))
        fail_msg("%s: decoded: %d, the reference: %s", name, status == CUZK_OK, read);
    if (status != CUZK_OK) {
        char point[] = {'p', 'r', 'o', 'o', 'f', ':', ' ', (char)(name[0] - 'a' + 'A'), ' ', 0};
        if (name[1] == '-' && !strstr(err.text, point))
            fail_msg("%s: expected '%s' in: %s", name, point, err.text);
        return;
    }
    const struct fr *inputs[] = {sample->inputs, sample->inputs};
    struct proof pair[] = {sample->good, proof};
    status = verify_single(&sample->vk, &proof, sample->inputs, N_INPUTS, &err);
    if ((status == CUZK_OK) != json_bool(mutation, "verify_proof"))
        fail_msg("%s: verified: %d", name, status == CUZK_OK);
    assert_true(status == CUZK_OK || status == CUZK_VERIFY_FAILED);
    status = verify_batch(&sample->vk, pair, inputs, 2, N_INPUTS, &err);
    if ((status == CUZK_OK) != json_bool(mutation, "verify_batch_with_good_proof"))
        fail_msg("%s: verified in a batch: %d", name, status == CUZK_OK);
}

static void mutated_proofs(void **state)
{
    (void)state;
    struct sample sample;
    struct cuzk_error err;
    load(&sample);
    yajl_val root = json_read_or_skip("reference/negative/proof-mutations.json");
    yajl_val mutations = json_member(root, "mutations");
    assert_int_equal(json_len(mutations), 39);
    uint8_t bytes[CUZK_PROOF_BYTES];
    assert_true(hex_decode(json_string(json_at(mutations, 0), "proof"), bytes, CUZK_PROOF_BYTES));
    assert_ok(proof_decode(bytes, &sample.good, &err), err);
    for (size_t i = 0; i < json_len(mutations); i++)
        check_mutation(&sample, json_at(mutations, i));
    yajl_tree_free(root);
    vk_free(&sample.vk);
}

/* The reference describes the mutations of keys in words; here they are as code, with our verdicts.
   The verdicts differ from the reference's where the reference accepts what cannot be meant: an
   identity in alpha_g1, and trailing bytes. */
static void mutated_keys(void **state)
{
    (void)state;
    size_t len, used;
    struct cuzk_error err;
    struct vk vk;
    uint8_t *good = vector_read_or_skip("reference/porep-2k/porep-2k.vk", &len);
    uint8_t *bytes = mem_alloc(len + 1, 1);
    assert_non_null(bytes);
    static const struct {
        const char *text; /* in the error */
        size_t at;
        uint8_t xor, identity;
        int more; /* bytes more or fewer */
    } cases[] = {
        {NULL, 0, 0, 0, 0},
        {"alpha_g1", 0, 0, 1, 0},
        {"ic[0]", 868, 0, 1, 0},
        {"ic[39]", 868 + 39 * 96, 0, 1, 0},
        {"alpha_g1", 95, 1, 0, 0},
        {"beta_g2", 383, 1, 0, 0},
        {"gamma_g2", 500, 1, 0, 0},
        {"delta_g1", 600, 1, 0, 0},
        {"delta_g2", 700, 1, 0, 0},
        {"expected 4708", 0, 0, 0, -1},
        {"expected 4708", 0, 0, 0, 1},
        {"expected 4804", 867, 40 ^ 41, 0, 0},
        {"expected 4612", 867, 40 ^ 39, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        memcpy(bytes, good, len);
        bytes[len] = 0;
        bytes[cases[i].at] ^= cases[i].xor ;
        if (cases[i].identity) {
            memset(bytes + cases[i].at, 0, G1_BYTES);
            bytes[cases[i].at] = 0x40;
        }
        size_t n = cases[i].more < 0 ? len - 1 : len + (size_t)cases[i].more;
        enum cuzk_status status = vk_parse(bytes, n, true, &vk, &used, &err);
        assert_int_equal(status, cases[i].text ? CUZK_BAD_PARAMS : CUZK_OK);
        if (status == CUZK_OK)
            vk_free(&vk);
        else if (!strstr(err.text, cases[i].text))
            fail_msg("expected '%s' in: %s", cases[i].text, err.text);
    }
    mem_free(bytes);
    mem_free(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutated_proofs),
        cmocka_unit_test(mutated_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
