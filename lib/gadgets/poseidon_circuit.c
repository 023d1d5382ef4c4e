#include "gadgets/poseidon_circuit.h"

#include "base/check.h"
#include "base/mem.h"
#include "gadgets/row.h"
#include "r1cs/witness.h"

enum {
    WIDTH_MAX = POSEIDON_WIDTH_MAX,
    /* Between S-boxes every state element is a combination of these: the outputs of the last full
       round (one of which may be the constant 1), then one for each partial round. */
    BASIS_MAX = POSEIDON_WIDTH_MAX + POSEIDON_PARTIAL_ROUNDS_MAX,
};

struct symbolic {
    struct cs *cs;
    const struct poseidon_constants *constants;
    const struct fr *next_constant; /* into the compressed constants */
    unsigned width;
    struct num basis[BASIS_MAX];
    size_t n_basis;
    struct fr coeff[WIDTH_MAX][BASIS_MAX]; /* element i = Σ coeff[i][k] · basis[k] */
    struct lc lc;
};

/* Mixes after a full round; the outputs of the S-boxes are the new basis. */
static void mix(struct symbolic *s, const struct fr matrix[WIDTH_MAX][WIDTH_MAX])
{
    s->n_basis = s->width;
    for (unsigned j = 0; j < s->width; j++) {
        for (unsigned i = 0; i < s->width; i++)
            s->coeff[j][i] = matrix[i][j];
    }
}

/* Mixes after a partial round: element 0 is the last of the basis, and no other element contains it
   yet. */
static void mix_sparse(struct symbolic *s, const struct fr *w, const struct fr *v)
{
    size_t last = s->n_basis - 1;
    for (size_t k = 0; k < last; k++) {
        struct fr sum = fr_zero, product;
        for (unsigned i = 1; i < s->width; i++) {
            fr_mul(&product, &w[i], &s->coeff[i][k]);
            fr_add(&sum, &sum, &product);
        }
        s->coeff[0][k] = sum;
    }
    s->coeff[0][last] = w[0];
    for (unsigned i = 1; i < s->width; i++)
        s->coeff[i][last] = v[i - 1];
}

/* A new variable that equals element i. */
static struct num allocate_element(struct symbolic *s, unsigned i)
{
    struct fr value = fr_zero, product;
    lc_clear(&s->lc);
    for (size_t k = 0; k < s->n_basis; k++) {
        fr_mul(&product, &s->coeff[i][k], &s->basis[k].value);
        fr_add(&value, &value, &product);
        lc_add(&s->lc, s->basis[k].var, &s->coeff[i][k]);
    }
    struct num element = num_alloc(s->cs, &value);
    struct row row;
    row_start(&row);
    lc_add_var(&row.b, VAR_ONE);
    lc_add_var(&row.c, element.var);
    cs_enforce(s->cs, &s->lc, &row.b, &row.c);
    return element;
}

/* (x + before)^5 + after; either constant may be NULL. */
static struct num sbox(struct cs *cs, struct num x, const struct fr *before, const struct fr *after)
{
    struct fr base = x.value, value;
    struct row row;
    row_start(&row);
    lc_add_var(&row.a, x.var);
    if (before) {
        lc_add(&row.a, VAR_ONE, before);
        fr_add(&base, &base, before);
    }
    lc_add_scaled(&row.b, &fr_one, &row.a);
    fr_sqr(&value, &base);
    struct num square = num_alloc(cs, &value);
    lc_add_var(&row.c, square.var);
    row_enforce(cs, &row);

    struct num fourth = num_square(cs, square);

    fr_mul(&value, &base, &fourth.value);
    if (after)
        fr_add(&value, &value, after);
    struct num fifth = num_alloc(cs, &value);
    lc_clear(&row.b);
    lc_clear(&row.c);
    lc_add_var(&row.b, fourth.var);
    lc_add_var(&row.c, fifth.var);
    if (after) {
        struct fr minus;
        fr_neg(&minus, after);
        lc_add(&row.c, VAR_ONE, &minus);
    }
    row_enforce(cs, &row);
    return fifth;
}

static void first_round(struct symbolic *s, enum poseidon_domain domain, const struct num *inputs)
{
    const struct fr *before = s->constants->compressed;
    const struct fr *after = before + s->width;
    /* Element 0 is a constant: (tag + before)^5 + after times the variable 1. */
    struct fr tag, constant;
    poseidon_tag(&tag, s->constants->arity, domain);
    fr_add(&tag, &tag, &before[0]);
    fr_pow(&constant, &tag, 5);
    fr_add(&constant, &constant, &after[0]);
    s->basis[0] = (struct num){.var = VAR_ONE, .value = fr_one};
    for (unsigned i = 1; i < s->width; i++)
        s->basis[i] = sbox(s->cs, inputs[i - 1], &before[i], &after[i]);
    mix(s, s->constants->mds);
    for (unsigned j = 0; j < s->width; j++)
        fr_mul(&s->coeff[j][0], &s->coeff[j][0], &constant);
    s->next_constant = after + s->width;
}

static void full_round(struct symbolic *s, bool add_constants,
                       const struct fr matrix[WIDTH_MAX][WIDTH_MAX])
{
    struct num outputs[WIDTH_MAX];
    for (unsigned i = 0; i < s->width; i++) {
        struct num element = allocate_element(s, i);
        outputs[i] = sbox(s->cs, element, NULL, add_constants ? s->next_constant++ : NULL);
    }
    memcpy(s->basis, outputs, s->width * sizeof *outputs);
    mix(s, matrix);
}

static struct num permutation(struct symbolic *s, enum poseidon_domain domain,
                              const struct num *inputs)
{
    const struct poseidon_constants *c = s->constants;
    unsigned half = POSEIDON_FULL_ROUNDS / 2;
    first_round(s, domain, inputs);
    for (unsigned round = 1; round < half; round++)
        full_round(s, true, round == half - 1 ? c->pre_sparse : c->mds);
    for (unsigned round = 0; round < c->partial_rounds; round++) {
        struct num element = allocate_element(s, 0);
        s->basis[s->n_basis++] = sbox(s->cs, element, NULL, s->next_constant++);
        mix_sparse(s, c->sparse_w[round], c->sparse_v[round]);
    }
    for (unsigned round = 0; round < half; round++)
        full_round(s, round < half - 1, c->mds);
    CHECK(s->next_constant == c->compressed + c->n_compressed);
    return allocate_element(s, 1);
}

static struct num poseidon_rows(struct cs *cs, enum poseidon_domain domain, unsigned arity,
                                const struct num *inputs)
{
    struct num digest = {.var = VAR_ONE};
    struct symbolic *s = mem_alloc(1, sizeof *s);
    if (!s) {
        cs_fail(cs, CUZK_NO_MEMORY);
        return digest;
    }
    s->cs = cs;
    s->constants = poseidon_constants(arity);
    s->width = s->constants->width;
    s->lc = (struct lc){0};
    digest = permutation(s, domain, inputs);
    lc_free(&s->lc);
    mem_free(s);
    return digest;
}

static struct num poseidon_witness(struct cs *cs, enum poseidon_domain domain, unsigned arity,
                                   const struct num *inputs)
{
    struct fr values[POSEIDON_ARITY_MAX];
    size_t len = poseidon_trace_len(arity);
    struct fr *trace = witness_extend_full(cs->witness, (uint32_t)len);
    if (!trace)
        return (struct num){.var = VAR_ONE};
    for (unsigned i = 0; i < arity; i++)
        values[i] = inputs[i].value;
    poseidon_trace(trace, arity, domain, values);
    return (struct num){.var = var_aux(cs->witness->n_aux - 1), .value = trace[len - 1]};
}

static const char *template_name(enum poseidon_domain domain, unsigned arity)
{
    if (domain == POSEIDON_RANDOMNESS)
        return "poseidon2-randomness";
    return arity == 2   ? "poseidon2"
           : arity == 4 ? "poseidon4"
           : arity == 8 ? "poseidon8"
                        : "poseidon11";
}

struct num poseidon_circuit(struct cs *cs, enum poseidon_domain domain, unsigned arity,
                            const struct num *inputs)
{
    CHECK(arity <= POSEIDON_ARITY_MAX);
    if (!row_wanted(cs))
        return poseidon_witness(cs, domain, arity, inputs);
    struct var externals[POSEIDON_ARITY_MAX];
    for (unsigned i = 0; i < arity; i++)
        externals[i] = inputs[i].var;
    struct cs_template use = {
        .name = template_name(domain, arity),
        .externals = externals,
        .n_externals = arity,
    };
    struct num digest = {.var = VAR_ONE};
    if (cs_template_begin(cs, &use, &digest.var, 1)) {
        digest = poseidon_rows(cs, domain, arity, inputs);
        cs_template_end(cs, &digest.var, 1);
    }
    return digest;
}
