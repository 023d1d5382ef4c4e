/* Rows of a few terms, built on the stack, and the powers of two that most coefficients are. */
#ifndef GADGETS_ROW_H
#define GADGETS_ROW_H

#include "r1cs/cs.h"

/* Most terms of one side of such a row, repetitions included. */
enum { ROW_TERMS_MAX = 8 };

/* Must not be copied, because the combinations point into `terms`. Exceeding ROW_TERMS_MAX is a
   bug. */
struct row {
    struct lc a, b, c;
    struct term terms[3][ROW_TERMS_MAX];
};

static inline void row_start(struct row *row)
{
    row->a = (struct lc){.terms = row->terms[0], .capacity = ROW_TERMS_MAX};
    row->b = (struct lc){.terms = row->terms[1], .capacity = ROW_TERMS_MAX};
    row->c = (struct lc){.terms = row->terms[2], .capacity = ROW_TERMS_MAX};
}

static inline void row_enforce(struct cs *cs, struct row *row)
{
    cs_enforce(cs, &row->a, &row->b, &row->c);
}

/* False in the witness driver, which keeps values only: gadgets need not build rows then, and may
   take a fast path (r1cs/cs.h). */
static inline bool row_wanted(const struct cs *cs)
{
    return cs->witness == NULL;
}

/* 2^exponent, exponent < 256, from a table that is never freed. */
const struct fr *row_pow2(unsigned exponent);

#endif
