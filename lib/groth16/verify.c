#include "groth16/verify.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "math/pairing.h"

#include <errno.h>
#include <sys/random.h>

/* --- Proof bytes ------------------------------------------------------------------------------ */

enum { PROOF_B = G1_COMPRESSED_BYTES, PROOF_C = PROOF_B + G2_COMPRESSED_BYTES };

enum cuzk_status proof_decode(const uint8_t bytes[CUZK_PROOF_BYTES], struct proof *out,
                              struct cuzk_error *err)
{
    struct proof proof;
    const char *wrong = NULL;
    if (!g1_decode_compressed(&proof.a, bytes))
        wrong = "A";
    else if (!g2_decode_compressed(&proof.b, bytes + PROOF_B))
        wrong = "B";
    else if (!g1_decode_compressed(&proof.c, bytes + PROOF_C))
        wrong = "C";
    if (wrong)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "proof: %s is not the compressed form of a finite point of its group",
                         wrong);
    *out = proof;
    return CUZK_OK;
}

void proof_encode(uint8_t bytes[CUZK_PROOF_BYTES], const struct proof *proof)
{
    g1_compress(bytes, &proof->a);
    g2_compress(bytes + PROOF_B, &proof->b);
    g1_compress(bytes + PROOF_C, &proof->c);
}

/* --- One proof -------------------------------------------------------------------------------- */

/* Σ scalars[i] · ic_i over all ic points. */
static enum cuzk_status sum_inputs(const struct vk *vk, const struct fr *scalars,
                                   struct g1_affine *out, struct cuzk_error *err)
{
    uint8_t *bytes = mem_alloc(vk->n_ic, FR_BYTES);
    if (!bytes)
        return error_set(err, CUZK_NO_MEMORY, "no memory to verify with %u inputs", vk->n_ic);
    for (uint32_t i = 0; i < vk->n_ic; i++)
        fr_to_bytes(bytes + (size_t)FR_BYTES * i, &scalars[i]);
    struct g1 sum;
    enum cuzk_status status = g1_sum_multiples(&sum, vk->ic, bytes, vk->n_ic, FR_BITS, err);
    mem_free(bytes);
    if (status == CUZK_OK)
        g1_to_affine(out, &sum);
    return status;
}

static enum cuzk_status check_count(const struct vk *vk, size_t n_inputs, struct cuzk_error *err)
{
    CHECK(vk->n_ic >= 1);
    if (n_inputs == vk->n_ic - 1)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT,
                     "%zu public inputs, expected %u for this verifying key", n_inputs,
                     vk->n_ic - 1);
}

enum cuzk_status verify_single(const struct vk *vk, const struct proof *proof,
                               const struct fr *inputs, size_t n_inputs, struct cuzk_error *err)
{
    TRY(check_count(vk, n_inputs, err));
    struct fr *scalars = mem_alloc(vk->n_ic, sizeof *scalars);
    struct pairing_product *product = pairing_product_new();
    enum cuzk_status status = CUZK_OK;
    if (!scalars || !product) {
        status = error_set(err, CUZK_NO_MEMORY, "no memory to verify");
        goto out;
    }
    scalars[0] = fr_one;
    if (n_inputs > 0)
        memcpy(scalars + 1, inputs, n_inputs * sizeof *scalars);
    struct g1_affine sum;
    status = sum_inputs(vk, scalars, &sum, err);
    if (status != CUZK_OK)
        goto out;
    struct g1_affine minus_a;
    g1_affine_neg(&minus_a, &proof->a);
    pairing_product_add(product, &minus_a, &proof->b);
    pairing_product_add(product, &vk->alpha_g1, &vk->beta_g2);
    pairing_product_add(product, &sum, &vk->gamma_g2);
    pairing_product_add(product, &proof->c, &vk->delta_g2);
    if (!pairing_product_is_one(product))
        status = error_set(err, CUZK_VERIFY_FAILED, "the proof is not valid");
out:
    pairing_product_free(product);
    mem_free(scalars);
    return status;
}

/* --- Many proofs ------------------------------------------------------------------------------ */

/* A forged batch passes with probability 2^-128. */
enum { RANDOM_BYTES = 16 };

struct batch {
    const struct vk *vk;
    const struct proof *proofs;
    const struct fr *const *inputs;
    size_t n;
    uint8_t *random_bytes; /* z_j, RANDOM_BYTES little-endian bytes each */
    struct fr *random;     /* z_j */
    struct g1_affine *c;   /* C_j, beside each other for the sum */
    struct fr *scalars;    /* of the ic points: Σ_j z_j x_ji, first Σ_j z_j */
    struct pairing_product *product;
};

static enum cuzk_status draw_scalars(struct batch *batch, struct cuzk_error *err)
{
    for (size_t j = 0; j < batch->n; j++) {
        uint8_t bytes[FR_BYTES] = {0};
        ssize_t got;
        do
            got = getrandom(bytes, RANDOM_BYTES, 0);
        while (got < 0 && errno == EINTR);
        if (got != RANDOM_BYTES)
            return error_errno(err, CUZK_IO, errno, "no random numbers to verify with");
        memcpy(batch->random_bytes + RANDOM_BYTES * j, bytes, RANDOM_BYTES);
        CHECK(fr_from_bytes(&batch->random[j], bytes));
    }
    return CUZK_OK;
}

static void fold_inputs(struct batch *batch)
{
    for (size_t j = 0; j < batch->n; j++) {
        const struct fr *z = &batch->random[j];
        fr_add(&batch->scalars[0], &batch->scalars[0], z);
        for (uint32_t i = 1; i < batch->vk->n_ic; i++) {
            struct fr term;
            fr_mul(&term, z, &batch->inputs[j][i - 1]);
            fr_add(&batch->scalars[i], &batch->scalars[i], &term);
        }
    }
}

/* Σ scalars · ic with γ, Σ z C with δ, (Σ z) α with β, −z A with B: 1 together if all are valid. */
static enum cuzk_status multiply_pairings(struct batch *batch, struct cuzk_error *err)
{
    const struct vk *vk = batch->vk;
    struct g1 sum;
    struct g1_affine point;
    TRY(sum_inputs(vk, batch->scalars, &point, err));
    pairing_product_add(batch->product, &point, &vk->gamma_g2);
    TRY(g1_sum_multiples(&sum, batch->c, batch->random_bytes, batch->n, 8 * RANDOM_BYTES, err));
    g1_to_affine(&point, &sum);
    pairing_product_add(batch->product, &point, &vk->delta_g2);
    g1_from_affine(&sum, &vk->alpha_g1);
    g1_mul(&sum, &sum, &batch->scalars[0]);
    g1_to_affine(&point, &sum);
    pairing_product_add(batch->product, &point, &vk->beta_g2);
    for (size_t j = 0; j < batch->n; j++) {
        TRY(g1_sum_multiples(&sum, &batch->proofs[j].a, batch->random_bytes + RANDOM_BYTES * j, 1,
                             8 * RANDOM_BYTES, err));
        g1_to_affine(&point, &sum);
        g1_affine_neg(&point, &point);
        pairing_product_add(batch->product, &point, &batch->proofs[j].b);
    }
    return CUZK_OK;
}

static enum cuzk_status check_batch(struct batch *batch, struct cuzk_error *err)
{
    TRY(draw_scalars(batch, err));
    for (size_t j = 0; j < batch->n; j++)
        batch->c[j] = batch->proofs[j].c;
    fold_inputs(batch);
    TRY(multiply_pairings(batch, err));
    if (pairing_product_is_one(batch->product))
        return CUZK_OK;
    return error_set(err, CUZK_VERIFY_FAILED, "one of %zu proofs is not valid", batch->n);
}

/* After a batch failed: which one is it? */
static enum cuzk_status name_culprit(const struct batch *batch, size_t n_inputs,
                                     struct cuzk_error *err)
{
    for (size_t j = 0; j < batch->n; j++) {
        enum cuzk_status status =
            verify_single(batch->vk, &batch->proofs[j], batch->inputs[j], n_inputs, err);
        if (status == CUZK_VERIFY_FAILED)
            return error_set(err, status, "proof %zu of %zu is not valid", j + 1, batch->n);
        if (status != CUZK_OK)
            return status;
    }
    return error_set(err, CUZK_VERIFY_FAILED, "%zu proofs are not valid together", batch->n);
}

enum cuzk_status verify_batch(const struct vk *vk, const struct proof *proofs,
                              const struct fr *const *inputs, size_t n, size_t n_inputs,
                              struct cuzk_error *err)
{
    if (n == 0)
        return error_set(err, CUZK_INVALID_ARGUMENT, "no proof to verify");
    if (n == 1)
        return verify_single(vk, proofs, inputs[0], n_inputs, err);
    TRY(check_count(vk, n_inputs, err));
    struct batch batch = {
        .vk = vk,
        .proofs = proofs,
        .inputs = inputs,
        .n = n,
        .random_bytes = mem_alloc(n, RANDOM_BYTES),
        .random = mem_alloc(n, sizeof *batch.random),
        .c = mem_alloc(n, sizeof *batch.c),
        .scalars = mem_zalloc(vk->n_ic, sizeof *batch.scalars),
        .product = pairing_product_new(),
    };
    enum cuzk_status status;
    if (batch.random_bytes && batch.random && batch.c && batch.scalars && batch.product)
        status = check_batch(&batch, err);
    else
        status = error_set(err, CUZK_NO_MEMORY, "no memory to verify %zu proofs", n);
    if (status == CUZK_VERIFY_FAILED)
        status = name_culprit(&batch, n_inputs, err);
    mem_free(batch.random_bytes);
    mem_free(batch.random);
    mem_free(batch.c);
    mem_free(batch.scalars);
    pairing_product_free(batch.product);
    return status;
}
