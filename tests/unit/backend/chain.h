/* A circuit with values that satisfy its rows: numbers that follow from one another in a template
   that is used again and again, with 1, -1 and other coefficients in C, bits that are not in C, and
   inputs in C and not. */
#ifndef TESTS_UNIT_BACKEND_CHAIN_H
#define TESTS_UNIT_BACKEND_CHAIN_H

#include "r1cs/shape.h"
#include "unit/r1cs/toy.h"

struct chain {
    uint64_t first;  /* value of the first number */
    unsigned rounds; /* with 0 and n_inputs 1 there is a single row */
    unsigned n_inputs;
};

struct chain_number {
    struct var var;
    struct fr value;
};

/* Rows (terms a)·(terms b) = (terms c), each a sum of coefficient times variable. */
struct chain_term {
    int coeff;
    struct var var;
};

static inline void chain_add(struct lc *lc, const struct chain_term *terms, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct fr coeff;
        fr_from_u64(&coeff, (uint64_t)abs(terms[i].coeff));
        if (terms[i].coeff < 0)
            fr_neg(&coeff, &coeff);
        lc_add(lc, terms[i].var, &coeff);
    }
}

static inline void chain_row(struct cs *cs, const struct chain_term a[2],
                             const struct chain_term b[1], const struct chain_term c[3])
{
    struct lc combos[3] = {{0}, {0}, {0}};
    chain_add(&combos[0], a, 2);
    chain_add(&combos[1], b, 1);
    chain_add(&combos[2], c, 3);
    cs_enforce(cs, &combos[0], &combos[1], &combos[2]);
    for (int m = 0; m < 3; m++)
        lc_free(&combos[m]);
}

/* y with (x + 3)·x = 5·y - 2·x + 7, then z = -x·y, then y + z. */
static inline struct chain_number chain_step(struct cs *cs, struct chain_number x)
{
    struct fr y, z, five, number;
    fr_from_u64(&five, 5);
    fr_add(&y, &x.value, &five); /* 5·y = x·(x + 5) - 7 */
    fr_mul(&y, &y, &x.value);
    fr_from_u64(&number, 7);
    fr_sub(&y, &y, &number);
    fr_inv(&number, &five);
    fr_mul(&y, &y, &number);
    fr_mul(&z, &x.value, &y);
    fr_neg(&z, &z);
    struct chain_number next = {.value = z};
    fr_add(&next.value, &next.value, &y);
    const struct cs_template use = {"chain step", 0, &x.var, 1};
    if (!cs_template_begin(cs, &use, &next.var, 1))
        return next;
    const struct var vy = cs_num(cs, &y);
    const struct var vz = cs_num(cs, &z);
    next.var = cs_num(cs, &next.value);
    chain_row(cs, (struct chain_term[]){{1, x.var}, {3, VAR_ONE}},
              (struct chain_term[]){{1, x.var}},
              (struct chain_term[]){{5, vy}, {-2, x.var}, {7, VAR_ONE}});
    chain_row(cs, (struct chain_term[]){{1, x.var}, {0, VAR_ONE}}, (struct chain_term[]){{1, vy}},
              (struct chain_term[]){{-1, vz}, {0, VAR_ONE}, {0, VAR_ONE}});
    chain_row(cs, (struct chain_term[]){{1, vy}, {1, vz}}, (struct chain_term[]){{1, VAR_ONE}},
              (struct chain_term[]){{1, next.var}, {0, VAR_ONE}, {0, VAR_ONE}});
    cs_template_end(cs, &next.var, 1);
    return next;
}

static inline void chain_synthesize(struct cs *cs, const void *input)
{
    const struct chain *chain = input;
    struct chain_number x;
    fr_from_u64(&x.value, chain->first);
    x.var = cs_num(cs, &x.value);
    for (unsigned i = 0; i < chain->rounds; i++) {
        x = chain_step(cs, x);
        toy_forced_bit(cs, i % 3 == 0);
    }
    for (unsigned i = 1; i < chain->n_inputs; i++) { /* inputs with an odd number are not in C */
        const struct var var = cs_input(cs, &x.value);
        const struct var left = i % 2 ? var : x.var, right = i % 2 ? x.var : var;
        chain_row(cs, (struct chain_term[]){{1, left}, {0, VAR_ONE}},
                  (struct chain_term[]){{1, VAR_ONE}},
                  (struct chain_term[]){{1, right}, {0, VAR_ONE}, {0, VAR_ONE}});
    }
    chain_row(cs, (struct chain_term[]){{2, x.var}, {0, VAR_ONE}},
              (struct chain_term[]){{1, VAR_ONE}},
              (struct chain_term[]){{2, x.var}, {0, VAR_ONE}, {0, VAR_ONE}});
}

static inline struct shape *chain_shape(const struct chain *chain)
{
    const struct circuit_program program = {chain_synthesize, chain};
    struct shape *shape;
    struct cuzk_error err;
    assert_ok(shape_record(&program, &shape, &err), err);
    return shape;
}

#endif
