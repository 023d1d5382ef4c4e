#include "r1cs/cs.h"

#include "base/mem.h"

#include <stdlib.h>

void lc_clear(struct lc *lc)
{
    lc->len = 0;
    lc->failed = false;
}

void lc_free(struct lc *lc)
{
    mem_free(lc->terms);
    *lc = (struct lc){0};
}

static bool make_room(struct lc *lc, size_t needed)
{
    if (needed <= lc->capacity || MEM_GROW(lc->terms, lc->capacity, needed))
        return true;
    lc->failed = true;
    return false;
}

void lc_add(struct lc *lc, struct var var, const struct fr *coeff)
{
    if (make_room(lc, lc->len + 1))
        lc->terms[lc->len++] = (struct term){.var = var, .coeff = *coeff};
}

void lc_add_var(struct lc *lc, struct var var)
{
    lc_add(lc, var, &fr_one);
}

void lc_sub_var(struct lc *lc, struct var var)
{
    lc_add(lc, var, &fr_minus_one);
}

void lc_add_scaled(struct lc *lc, const struct fr *coeff, const struct lc *other)
{
    if (other->failed)
        lc->failed = true;
    size_t len = other->len; /* other may be lc */
    if (!make_room(lc, lc->len + len))
        return;
    bool one = fr_is_one(coeff);
    for (size_t i = 0; i < len; i++) {
        struct term *term = &lc->terms[lc->len++];
        *term = other->terms[i];
        if (!one)
            fr_mul(&term->coeff, coeff, &other->terms[i].coeff);
    }
}

static int compare_terms(const void *x, const void *y)
{
    uint32_t a = ((const struct term *)x)->var.id;
    uint32_t b = ((const struct term *)y)->var.id;
    return (a > b) - (a < b);
}

/* Most combinations have at most a handful of terms: those are sorted by insertion. */
static void sort_terms(struct term *terms, size_t len)
{
    enum { INSERTION_MAX = 12 };
    if (len > INSERTION_MAX) {
        qsort(terms, len, sizeof *terms, compare_terms);
        return;
    }
    for (size_t i = 1; i < len; i++) {
        struct term moving = terms[i];
        size_t at = i;
        for (; at > 0 && terms[at - 1].var.id > moving.var.id; at--)
            terms[at] = terms[at - 1];
        terms[at] = moving;
    }
}

void lc_normalise(struct lc *lc)
{
    bool sorted = true;
    for (size_t i = 1; i < lc->len && sorted; i++)
        sorted = lc->terms[i - 1].var.id <= lc->terms[i].var.id;
    if (!sorted)
        sort_terms(lc->terms, lc->len);

    size_t kept = 0;
    for (size_t i = 0; i < lc->len;) {
        struct term sum = lc->terms[i++];
        for (; i < lc->len && lc->terms[i].var.id == sum.var.id; i++)
            fr_add(&sum.coeff, &sum.coeff, &lc->terms[i].coeff);
        if (!fr_is_zero(&sum.coeff))
            lc->terms[kept++] = sum;
    }
    lc->len = kept;
}
