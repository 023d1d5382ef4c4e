/* Proofs of the reference: they verify, alone and together, and nothing near them does. */
#include "unit/groth16/files.h"

#include "groth16/verify.h"

enum { INPUTS_MAX = 133, PROOFS_MAX = 2 };

/* A key, proofs under it, and their public inputs, from a folder of the reference. */
struct sample {
    struct vk vk;
    struct proof proofs[PROOFS_MAX];
    uint8_t bytes[PROOFS_MAX][CUZK_PROOF_BYTES];
    struct fr inputs[PROOFS_MAX][INPUTS_MAX];
    size_t n;
    size_t n_inputs;
};

static const struct {
    const char *vk, *proof, *inputs;
    size_t n;
} samples[] = {
    {"porep-2k/porep-2k.vk", "porep-2k/proof.hex", "porep-2k/public-inputs.txt", 1},
    {"winning-2k/winning-2k.vk", "winning-2k/winning-proof.hex",
     "winning-2k/winning-public-inputs.txt", 1},
    {"update-2k/update-2k.vk", "update-2k/proof.hex", "update-2k/public-inputs.txt", 1},
    {"window-2k/window-2k.vk", "window-2k/two-proof.hex", "window-2k/two-public-inputs.txt", 1},
    {"window-2k/window-2k.vk", "window-2k/one-proof.hex", "window-2k/one-public-inputs.txt", 1},
    {"window-2k/window-2k.vk", "window-2k/three-proof.hex", "window-2k/three-public-inputs.txt", 2},
    {"porep-8m/porep-8m.vk", "porep-8m/proof.hex", "porep-8m/public-inputs.txt", 1},
};
enum { SAMPLE_TWO_PARTITIONS = 5 };

static char *read_reference(const char *name)
{
    char path[128];
    size_t len;
    snprintf(path, sizeof path, "reference/%s", name);
    return (char *)vector_read_or_skip(path, &len);
}

static void read_inputs(struct sample *sample, const char *text)
{
    size_t count = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        char hex[2 * FR_BYTES + 1] = {0};
        uint8_t bytes[FR_BYTES];
        if (*line == '#')
            continue;
        memcpy(hex, line, 2 * FR_BYTES);
        assert_true(hex_decode(hex, bytes, FR_BYTES));
        assert_true(fr_from_bytes(
            &sample->inputs[count / sample->n_inputs][count % sample->n_inputs], bytes));
        count++;
    }
    assert_int_equal(count, sample->n * sample->n_inputs);
}

static struct sample load(size_t index)
{
    struct sample sample = {.n = samples[index].n};
    struct cuzk_error err;
    char path[128];
    snprintf(path, sizeof path, "reference/%s", samples[index].vk);
    assert_ok(vk_read(vector_path_or_skip(path), &sample.vk, &err), err);
    sample.n_inputs = sample.vk.n_ic - 1;
    char *text = read_reference(samples[index].proof);
    for (size_t j = 0; j < sample.n; j++) {
        char hex[2 * CUZK_PROOF_BYTES + 1] = {0};
        memcpy(hex, text + 2 * CUZK_PROOF_BYTES * j, 2 * CUZK_PROOF_BYTES);
        assert_true(hex_decode(hex, sample.bytes[j], CUZK_PROOF_BYTES));
        assert_ok(proof_decode(sample.bytes[j], &sample.proofs[j], &err), err);
    }
    mem_free(text);
    text = read_reference(samples[index].inputs);
    read_inputs(&sample, text);
    mem_free(text);
    return sample;
}

/* Verifies the sample's proofs together, `copies` times each. */
static enum cuzk_status verify_copies(const struct sample *sample, size_t copies,
                                      struct cuzk_error *err)
{
    struct proof proofs[40];
    const struct fr *inputs[40];
    size_t n = copies * sample->n;
    assert_true(n <= ARRAY_LEN(proofs));
    for (size_t j = 0; j < n; j++) {
        proofs[j] = sample->proofs[j % sample->n];
        inputs[j] = sample->inputs[j % sample->n];
    }
    return verify_batch(&sample->vk, proofs, inputs, n, sample->n_inputs, err);
}

static void proofs_of_the_reference_verify(void **state)
{
    (void)state;
    struct cuzk_error err;
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        struct sample sample = load(i);
        for (size_t j = 0; j < sample.n; j++) {
            uint8_t bytes[CUZK_PROOF_BYTES];
            assert_ok(verify_single(&sample.vk, &sample.proofs[j], sample.inputs[j],
                                    sample.n_inputs, &err),
                      err);
            proof_encode(bytes, &sample.proofs[j]);
            assert_memory_equal(bytes, sample.bytes[j], CUZK_PROOF_BYTES);
        }
        assert_ok(verify_copies(&sample, 1, &err), err);
        assert_ok(verify_copies(&sample, 3, &err), err);
        vk_free(&sample.vk);
    }
}

/* Every public input matters, in both forms. */
static void no_changed_input_verifies(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct sample sample = load(SAMPLE_TWO_PARTITIONS);
    for (size_t i = 0; i < sample.n_inputs; i++) {
        struct fr kept = sample.inputs[1][i];
        fr_add(&sample.inputs[1][i], &kept, &fr_one);
        assert_int_equal(
            verify_single(&sample.vk, &sample.proofs[1], sample.inputs[1], sample.n_inputs, &err),
            CUZK_VERIFY_FAILED);
        assert_int_equal(verify_copies(&sample, 1, &err), CUZK_VERIFY_FAILED);
        assert_string_equal(err.text, "proof 2 of 2 is not valid");
        sample.inputs[1][i] = kept;
    }
    vk_free(&sample.vk);
}

static void partitions_are_not_exchangeable(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct sample sample = load(SAMPLE_TWO_PARTITIONS);
    struct proof kept = sample.proofs[0];
    sample.proofs[0] = sample.proofs[1];
    sample.proofs[1] = kept;
    assert_int_equal(verify_copies(&sample, 1, &err), CUZK_VERIFY_FAILED);
    assert_string_equal(err.text, "proof 1 of 2 is not valid");
    vk_free(&sample.vk);
}

/* Two wrong proofs with opposite errors: without the random factors they would pass together. */
static void opposite_errors_do_not_cancel(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct sample sample = load(SAMPLE_TWO_PARTITIONS);
    for (int j = 0; j < 2; j++) {
        struct g1 c, generator;
        g1_from_affine(&c, &sample.proofs[j].c);
        g1_from_affine(&generator, g1_generator());
        if (j == 1)
            g1_neg(&generator, &generator);
        g1_add(&c, &c, &generator);
        g1_to_affine(&sample.proofs[j].c, &c);
    }
    assert_int_equal(verify_copies(&sample, 1, &err), CUZK_VERIFY_FAILED);
    vk_free(&sample.vk);
}

static void counts_are_checked(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct sample sample = load(SAMPLE_TWO_PARTITIONS);
    const struct fr *inputs[] = {sample.inputs[0], sample.inputs[1]};
    for (size_t n = 0; n < 3; n++) {
        assert_int_equal(verify_batch(&sample.vk, sample.proofs, inputs, n, 21, &err),
                         CUZK_INVALID_ARGUMENT);
    }
    assert_non_null(strstr(err.text, "21 public inputs, expected 22"));
    vk_free(&sample.vk);
}

/* A circuit may have no public input but the constant 1. With generators for a key, a proof (x·G,
   G, y·G) is valid if x = 2 + y. */
static void the_constant_alone_is_an_input(void **state)
{
    (void)state;
    struct g1_affine ic[2] = {*g1_generator(), *g1_generator()}; /* the second is not the key's */
    struct vk vk = {.alpha_g1 = *g1_generator(),
                    .beta_g2 = *g2_generator(),
                    .gamma_g2 = *g2_generator(),
                    .delta_g2 = *g2_generator(),
                    .n_ic = 1,
                    .ic = ic};
    struct cuzk_error err;
    for (uint64_t x = 2; x < 5; x++) {
        struct proof proof = {.b = *g2_generator(), .c = *g1_generator()};
        struct fr factor;
        struct g1 a;
        fr_from_u64(&factor, x);
        g1_from_affine(&a, g1_generator());
        g1_mul(&a, &a, &factor);
        g1_to_affine(&proof.a, &a);
        /* What lies behind the one scalar must not count. */
        void *dirt = mem_alloc(1, FR_BYTES);
        assert_non_null(dirt);
        memset(dirt, 0x5a, FR_BYTES);
        mem_free(dirt);
        assert_int_equal(verify_single(&vk, &proof, NULL, 0, &err),
                         x == 3 ? CUZK_OK : CUZK_VERIFY_FAILED);
        struct proof pair[] = {proof, proof};
        const struct fr *none[] = {NULL, NULL};
        assert_int_equal(verify_batch(&vk, pair, none, 2, 0, &err),
                         x == 3 ? CUZK_OK : CUZK_VERIFY_FAILED);
    }
}

static void a_sum_may_be_infinite(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct sample sample = load(0);
    /* ic_1 · x = -ic_0 for ic_1 = ic_0 and x = -1; the rest of the inputs zero. Nothing to be
       accepted, but nothing to stumble over either. */
    sample.vk.ic[1] = sample.vk.ic[0];
    memset(sample.inputs[0], 0, sizeof sample.inputs[0]);
    sample.inputs[0][0] = fr_minus_one;
    assert_int_equal(
        verify_single(&sample.vk, &sample.proofs[0], sample.inputs[0], sample.n_inputs, &err),
        CUZK_VERIFY_FAILED);
    assert_int_equal(verify_copies(&sample, 2, &err), CUZK_VERIFY_FAILED);
    vk_free(&sample.vk);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct sample sample = load(SAMPLE_TWO_PARTITIONS);
    size_t used = mem_used_bytes();
    long after = 0;
    for (enum cuzk_status status = CUZK_NO_MEMORY; status != CUZK_OK; after++) {
        struct cuzk_error err;
        mem_fail_after(after);
        status = verify_copies(&sample, 1, &err);
        if (status == CUZK_OK)
            status =
                verify_single(&sample.vk, sample.proofs, sample.inputs[0], sample.n_inputs, &err);
        mem_fail_after(-1);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        assert_int_equal(mem_used_bytes(), used);
    }
    assert_true(after > 8);
    vk_free(&sample.vk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_of_the_reference_verify),
        cmocka_unit_test(no_changed_input_verifies),
        cmocka_unit_test(partitions_are_not_exchangeable),
        cmocka_unit_test(opposite_errors_do_not_cancel),
        cmocka_unit_test(counts_are_checked),
        cmocka_unit_test(the_constant_alone_is_an_input),
        cmocka_unit_test(a_sum_may_be_infinite),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
