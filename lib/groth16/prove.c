#include "groth16/prove.h"

#include "base/error.h"
#include "base/mem.h"

enum cuzk_status blinding_random(struct blinding *out, struct cuzk_error *err)
{
    TRY(fr_random(&out->r, err));
    return fr_random(&out->s, err);
}

/* out += scalar · point */
static void add_multiple(struct g1 *out, const struct g1 *point, const struct fr *scalar)
{
    struct g1 product;
    g1_mul(&product, point, scalar);
    g1_add(out, out, &product);
    mem_wipe(&product, sizeof product);
}

static void add_affine_multiple(struct g1 *out, const struct g1_affine *point,
                                const struct fr *scalar)
{
    struct g1 projective;
    g1_from_affine(&projective, point);
    add_multiple(out, &projective, scalar);
}

/* Step 4 of part A.9. */
static void assemble(struct g1 *a, struct g2 *b, struct g1 *c, const struct vk *vk,
                     const struct backend_sums *sums, const struct blinding *blinding)
{
    g1_add_affine(a, &sums->a, &vk->alpha_g1);
    add_affine_multiple(a, &vk->delta_g1, &blinding->r);

    struct g2 delta;
    g2_from_affine(&delta, &vk->delta_g2);
    g2_mul(&delta, &delta, &blinding->s);
    g2_add_affine(b, &sums->b_g2, &vk->beta_g2);
    g2_add(b, b, &delta);
    mem_wipe(&delta, sizeof delta);

    struct fr rs;
    fr_mul(&rs, &blinding->r, &blinding->s);
    g1_add(c, &sums->h, &sums->l);
    add_multiple(c, &sums->a, &blinding->s);
    add_multiple(c, &sums->b_g1, &blinding->r);
    add_affine_multiple(c, &vk->alpha_g1, &blinding->s);
    add_affine_multiple(c, &vk->beta_g1, &blinding->r);
    add_affine_multiple(c, &vk->delta_g1, &rs);
    mem_wipe(&rs, sizeof rs);
}

enum cuzk_status prove_partition(const struct backend *backend, struct backend_circuit *circuit,
                                 const struct vk *vk, const struct backend_partition *partition,
                                 const struct blinding *blinding, struct proof *out,
                                 uint64_t *device_ns, struct cuzk_error *err)
{
    struct backend_sums sums;
    TRY(backend->prove(circuit, partition, &sums, err));
    if (device_ns)
        *device_ns = sums.device_ns;
    if (!backend->makes_proofs) {
        memset(out, 0, sizeof *out);
        return CUZK_OK;
    }
    const uint64_t start = trace_begin(&partition->scope, TRACE_SPAN_FINISH);
    struct g1 a;
    struct g2 b;
    struct g1 c;
    assemble(&a, &b, &c, vk, &sums, blinding);
    /* The sums without blinding would tell about the witness. */
    mem_wipe(&sums, sizeof sums);
    enum cuzk_status status = CUZK_OK;
    if (g1_is_infinity(&a) || g2_is_infinity(&b) || g1_is_infinity(&c)) {
        /* Happens once in 2^255 with random blinding. */
        status = error_set(err, CUZK_INTERNAL,
                           "proof with a point at infinity: expected finite A, B and C");
    } else {
        g1_to_affine(&out->a, &a);
        g2_to_affine(&out->b, &b);
        g1_to_affine(&out->c, &c);
    }
    trace_end_timed(&partition->scope, TRACE_SPAN_FINISH, start);
    return status;
}
