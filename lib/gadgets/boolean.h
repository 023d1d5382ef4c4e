/* Booleans: constants, bit variables and negated bit variables (docs/spec/gadgets.md, part B.1).

   The order of the tests inside xor, and, ch and maj decides which rows exist; it is part of the
   circuit. */
#ifndef GADGETS_BOOLEAN_H
#define GADGETS_BOOLEAN_H

#include "r1cs/cs.h"

enum boolean_kind { BOOLEAN_CONSTANT, BOOLEAN_PLAIN, BOOLEAN_NEGATED };

struct boolean {
    struct var var; /* has no meaning in a constant */
    uint8_t kind;   /* enum boolean_kind */
    bool value;     /* of the Boolean itself, after negation */
};

static inline struct boolean boolean_constant(bool value)
{
    return (struct boolean){.kind = BOOLEAN_CONSTANT, .value = value};
}

static inline struct boolean boolean_plain(struct var var, bool value)
{
    return (struct boolean){.var = var, .kind = BOOLEAN_PLAIN, .value = value};
}

static inline bool boolean_is_constant(struct boolean a)
{
    return a.kind == BOOLEAN_CONSTANT;
}

static inline bool boolean_is(struct boolean a, bool value)
{
    return a.kind == BOOLEAN_CONSTANT && a.value == value;
}

static inline struct boolean boolean_not(struct boolean a)
{
    a.value = !a.value;
    if (a.kind != BOOLEAN_CONSTANT)
        a.kind = a.kind == BOOLEAN_PLAIN ? BOOLEAN_NEGATED : BOOLEAN_PLAIN;
    return a;
}

/* lc += coeff · a */
void boolean_add_to(struct lc *lc, const struct fr *coeff, struct boolean a);

/* A new bit variable with the row that makes it 0 or 1. */
struct boolean boolean_bit(struct cs *cs, bool value);

struct boolean boolean_xor(struct cs *cs, struct boolean a, struct boolean b);
struct boolean boolean_and(struct cs *cs, struct boolean a, struct boolean b);
/* a ? b : c, the choice function of SHA-256 */
struct boolean boolean_ch(struct cs *cs, struct boolean a, struct boolean b, struct boolean c);
/* the majority of a, b and c, a function of SHA-256 */
struct boolean boolean_maj(struct cs *cs, struct boolean a, struct boolean b, struct boolean c);

#endif
