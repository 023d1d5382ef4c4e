/* Public data of other implementations: real 32 GiB proofs of the network, Groth16 vectors of
   bellman, bad encodings of points, a ceremony's proving key. Read where they are; skipped where
   they are not. */
#include "vectors/json.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "groth16/verify.h"

#include <openssl/evp.h>

/* --- Proofs of the network ------------------------------------------------------------------- */

static void read_be_element(struct fr *out, const uint8_t *bytes)
{
    uint8_t reversed[FR_BYTES];
    for (int i = 0; i < FR_BYTES; i++)
        reversed[i] = bytes[FR_BYTES - 1 - i];
    assert_true(fr_from_bytes(out, reversed));
}

enum { SEALS = 10, SEAL_INPUTS = 328 - 1 };

struct seals {
    struct vk vk;
    struct proof proofs[SEALS];
    struct fr inputs[SEALS][SEAL_INPUTS];
    const struct fr *input_list[SEALS];
};

/* u64 BE number of proofs, u64 BE inputs, vk, then proof and inputs (32 bytes BE) one after the
 * other. */
static struct seals *load_seals(void)
{
    size_t len, used;
    struct cuzk_error err;
    uint8_t *bytes = vector_read_or_skip("public/fil-blst/seal32_x10.prf", &len);
    struct seals *seals = mem_zalloc(1, sizeof *seals);
    assert_non_null(seals);
    assert_int_equal(load_u64_be(bytes), SEALS);
    size_t n_inputs = load_u64_be(bytes + 8);
    assert_ok(vk_parse(bytes + 16, len - 16, false, &seals->vk, &used, &err), err);
    assert_int_equal(seals->vk.n_ic, n_inputs + 1);
    assert_int_equal(n_inputs, SEAL_INPUTS);
    const uint8_t *at = bytes + 16 + used;
    for (size_t j = 0; j < SEALS; j++) {
        assert_ok(proof_decode(at, &seals->proofs[j], &err), err);
        at += CUZK_PROOF_BYTES;
        for (size_t i = 0; i < SEAL_INPUTS; i++, at += FR_BYTES)
            read_be_element(&seals->inputs[j][i], at);
        seals->input_list[j] = seals->inputs[j];
    }
    assert_int_equal(at - bytes, len);
    mem_free(bytes);
    return seals;
}

static void free_seals(struct seals *seals)
{
    vk_free(&seals->vk);
    mem_free(seals);
}

static void network_seals_verify(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct seals *seals = load_seals();
    for (size_t j = 0; j < SEALS; j++)
        assert_ok(verify_single(&seals->vk, &seals->proofs[j], seals->inputs[j], SEAL_INPUTS, &err),
                  err);
    uint64_t start = clock_cpu_ns();
    assert_ok(verify_batch(&seals->vk, seals->proofs, seals->input_list, SEALS, SEAL_INPUTS, &err),
              err);
    print_message("ten seal proofs in a batch: %.1f ms of processor time\n",
                  (double)(clock_cpu_ns() - start) / 1e6);
    free_seals(seals);
}

static void changed_network_seals_do_not(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct seals *seals = load_seals();
    for (size_t j = 0; j < SEALS; j++) {
        char text[64];
        struct fr *input = &seals->inputs[j][(37 * j) % SEAL_INPUTS];
        struct fr kept = *input;
        fr_add(input, input, &fr_one);
        assert_int_equal(
            verify_single(&seals->vk, &seals->proofs[j], seals->inputs[j], SEAL_INPUTS, &err),
            CUZK_VERIFY_FAILED);
        assert_int_equal(
            verify_batch(&seals->vk, seals->proofs, seals->input_list, SEALS, SEAL_INPUTS, &err),
            CUZK_VERIFY_FAILED);
        snprintf(text, sizeof text, "proof %zu of 10 is not valid", j + 1);
        assert_string_equal(err.text, text);
        *input = kept;
    }
    free_seals(seals);
}

/* proof, u64 BE inputs, inputs, vk */
static void network_winning_proof_verifies(void **state)
{
    (void)state;
    size_t len, used;
    struct vk vk;
    struct proof proof;
    struct cuzk_error err;
    uint8_t *bytes = vector_read_or_skip("public/fil-blst/winning32.prf", &len);
    assert_ok(proof_decode(bytes, &proof, &err), err);
    size_t n = load_u64_be(bytes + CUZK_PROOF_BYTES);
    assert_int_equal(n, 132);
    struct fr inputs[132];
    const uint8_t *at = bytes + CUZK_PROOF_BYTES + 8;
    for (size_t i = 0; i < n; i++, at += FR_BYTES)
        read_be_element(&inputs[i], at);
    assert_ok(vk_parse(at, len - (size_t)(at - bytes), true, &vk, &used, &err), err);
    assert_ok(verify_single(&vk, &proof, inputs, n, &err), err);
    fr_add(&inputs[131], &inputs[131], &fr_one);
    assert_int_equal(verify_single(&vk, &proof, inputs, n, &err), CUZK_VERIFY_FAILED);
    vk_free(&vk);
    mem_free(bytes);
}

/* --- Vectors of bellman ---------------------------------------------------------------------- */

static size_t decode_base64(const char *text, uint8_t *out, size_t room)
{
    size_t len = strlen(text);
    assert_true(len % 4 == 0 && len / 4 * 3 <= room);
    int n = EVP_DecodeBlock(out, (const unsigned char *)text, (int)len);
    assert_true(n >= 0);
    size_t padding = len == 0 ? 0 : (size_t)(text[len - 1] == '=') + (size_t)(text[len - 2] == '=');
    return (size_t)n - padding;
}

/* Their keys are compressed: alpha_g1, beta_g2, gamma_g2, delta_g2, ic…; inputs are big-endian. */
static void bellman_vectors_have_their_verdicts(void **state)
{
    (void)state;
    yajl_val cases = json_read_or_skip("public/gnark_bellman_vectors.json");
    for (size_t k = 0; k < json_len(cases); k++) {
        yajl_val one = json_at(cases, k);
        uint8_t key[2048], proof_bytes[CUZK_PROOF_BYTES + 3], input_bytes[1024];
        struct fr inputs[17];
        struct g1_affine ic[18];
        struct vk vk = {.ic = ic};
        struct proof proof;
        struct cuzk_error err;
        size_t key_len = decode_base64(json_string(one, "vk"), key, sizeof key);
        size_t n = decode_base64(json_string(one, "inputs"), input_bytes, sizeof input_bytes) / 32;
        assert_int_equal(decode_base64(json_string(one, "proof"), proof_bytes, sizeof proof_bytes),
                         CUZK_PROOF_BYTES);
        assert_true(n <= ARRAY_LEN(inputs));
        assert_int_equal(key_len, 336 + 48 * (n + 1));
        assert_true(g1_decode_compressed(&vk.alpha_g1, key) &&
                    g2_decode_compressed(&vk.beta_g2, key + 48) &&
                    g2_decode_compressed(&vk.gamma_g2, key + 144) &&
                    g2_decode_compressed(&vk.delta_g2, key + 240));
        for (vk.n_ic = 0; vk.n_ic <= n; vk.n_ic++)
            assert_true(g1_decode_compressed(&ic[vk.n_ic], key + 336 + 48 * vk.n_ic));
        for (size_t i = 0; i < n; i++)
            read_be_element(&inputs[i], input_bytes + 32 * i);
        enum cuzk_status status = proof_decode(proof_bytes, &proof, &err);
        if (status == CUZK_OK)
            status = verify_single(&vk, &proof, inputs, n, &err);
        if ((status == CUZK_OK) != json_bool(one, "ok"))
            fail_msg("case %zu: %s", k, status == CUZK_OK ? "accepted" : err.text);
    }
    yajl_tree_free(cases);
}

/* --- Bad points ------------------------------------------------------------------------------ */

static void bad_points_are_refused(void **state)
{
    (void)state;
    yajl_val cases = json_read_or_skip("public/bls12381_bad_points.json");
    unsigned tried = 0;
    for (size_t k = 0; k < json_len(cases); k++) {
        yajl_val one = json_at(cases, k);
        bool is_g1 = strcmp(json_string(one, "group"), "G1") == 0;
        uint8_t bytes[G2_BYTES];
        struct g1_affine g1;
        struct g2_affine g2;
        bool accepted = false;
        /* Empty where the point has no such form. */
        const char *compressed = json_string(one, "compressed");
        const char *uncompressed = json_string(one, "uncompressed");
        if (*compressed) {
            size_t len = is_g1 ? G1_COMPRESSED_BYTES : G2_COMPRESSED_BYTES;
            assert_true(hex_decode(compressed, bytes, len));
            accepted = is_g1 ? g1_decode_compressed(&g1, bytes) : g2_decode_compressed(&g2, bytes);
            tried++;
        }
        if (*uncompressed) {
            assert_true(hex_decode(uncompressed, bytes, is_g1 ? G1_BYTES : G2_BYTES));
            accepted |= is_g1 ? g1_decode(&g1, bytes, POINT_CHECK_SUBGROUP)
                              : g2_decode(&g2, bytes, POINT_CHECK_SUBGROUP);
            tried++;
        }
        if (accepted)
            fail_msg("%s was accepted", json_string(one, "name"));
    }
    assert_int_equal(tried, 28);
    yajl_tree_free(cases);
}

/* --- A proving key from a ceremony ----------------------------------------------------------- */

/* Its sections are read, and the transcript behind them is seen but not taken for part of them. */
static void ceremony_key_is_read(void **state)
{
    (void)state;
    struct params *params;
    struct cuzk_error err;
    assert_ok(params_open(vector_path_or_skip("public/sapling-output.params"), &params, &err), err);
    assert_int_equal(params->vk.n_ic, 6);
    assert_int_equal(params->key.v[KEY_H].n, 8191);
    assert_int_equal(params->key.v[KEY_L].n, 7821);
    assert_int_equal(params->key.v[KEY_A].n, 6298);
    assert_int_equal(params->key.v[KEY_B_G1].n, 4850);
    assert_int_equal(params->key.v[KEY_B_G2].n, 4850);
    assert_int_equal(params->map.len - params->bytes, 52836);
    assert_ok(params_check_points(params, POINT_CHECK_SUBGROUP, NULL, &err), err);
    params_close(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(network_seals_verify),
        cmocka_unit_test(changed_network_seals_do_not),
        cmocka_unit_test(network_winning_proof_verifies),
        cmocka_unit_test(bellman_vectors_have_their_verdicts),
        cmocka_unit_test(bad_points_are_refused),
        cmocka_unit_test(ceremony_key_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
