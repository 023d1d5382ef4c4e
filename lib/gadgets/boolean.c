#include "gadgets/boolean.h"

#include "gadgets/row.h"

void boolean_add_to(struct lc *lc, const struct fr *coeff, struct boolean a)
{
    if (a.kind == BOOLEAN_PLAIN) {
        lc_add(lc, a.var, coeff);
    } else if (a.kind == BOOLEAN_NEGATED) {
        struct fr minus;
        fr_neg(&minus, coeff);
        lc_add(lc, VAR_ONE, coeff);
        lc_add(lc, a.var, &minus);
    } else if (a.value) {
        lc_add(lc, VAR_ONE, coeff);
    }
}

struct boolean boolean_bit(struct cs *cs, bool value)
{
    struct boolean bit = boolean_plain(cs_bit(cs, value), value);
    if (row_wanted(cs)) {
        struct row row;
        row_start(&row);
        lc_add_var(&row.a, VAR_ONE);
        lc_sub_var(&row.a, bit.var);
        lc_add_var(&row.b, bit.var);
        row_enforce(cs, &row);
    }
    return bit;
}

struct boolean boolean_xor(struct cs *cs, struct boolean a, struct boolean b)
{
    if (boolean_is(a, false))
        return b;
    if (boolean_is(b, false))
        return a;
    if (boolean_is(a, true))
        return boolean_not(b);
    if (boolean_is(b, true))
        return boolean_not(a);

    bool negated = a.kind != b.kind;
    /* The plain one of two different operands goes first: it gets the coefficient 2. */
    struct var x = negated && a.kind == BOOLEAN_NEGATED ? b.var : a.var;
    struct var y = negated && a.kind == BOOLEAN_NEGATED ? a.var : b.var;
    bool value = a.value ^ b.value ^ negated;
    struct var result = cs_bit(cs, value);
    if (row_wanted(cs)) {
        struct row row;
        row_start(&row);
        lc_add(&row.a, x, row_pow2(1));
        lc_add_var(&row.b, y);
        lc_add_var(&row.c, x);
        lc_add_var(&row.c, y);
        lc_sub_var(&row.c, result);
        row_enforce(cs, &row);
    }
    struct boolean plain = boolean_plain(result, value);
    return negated ? boolean_not(plain) : plain;
}

struct boolean boolean_and(struct cs *cs, struct boolean a, struct boolean b)
{
    if (boolean_is(a, false) || boolean_is(b, false))
        return boolean_constant(false);
    if (boolean_is(a, true))
        return b;
    if (boolean_is(b, true))
        return a;

    bool value = a.value && b.value;
    struct var result = cs_bit(cs, value);
    if (row_wanted(cs)) {
        bool swap = a.kind == BOOLEAN_NEGATED && b.kind == BOOLEAN_PLAIN;
        struct row row;
        row_start(&row);
        boolean_add_to(&row.a, &fr_one, swap ? b : a);
        boolean_add_to(&row.b, &fr_one, swap ? a : b);
        lc_add_var(&row.c, result);
        row_enforce(cs, &row);
    }
    return boolean_plain(result, value);
}

struct boolean boolean_ch(struct cs *cs, struct boolean a, struct boolean b, struct boolean c)
{
    bool value = a.value ? b.value : c.value;
    if (boolean_is_constant(a) && boolean_is_constant(b) && boolean_is_constant(c))
        return boolean_constant(value);
    if (boolean_is(a, false))
        return c;
    if (boolean_is(b, false))
        return boolean_and(cs, boolean_not(a), c);
    if (boolean_is(c, false))
        return boolean_and(cs, a, b);
    if (boolean_is(c, true))
        return boolean_not(boolean_and(cs, a, boolean_not(b)));
    if (boolean_is(b, true))
        return boolean_not(boolean_and(cs, boolean_not(a), boolean_not(c)));

    struct var result = cs_bit(cs, value);
    if (row_wanted(cs)) {
        struct row row;
        row_start(&row);
        boolean_add_to(&row.a, &fr_one, b);
        boolean_add_to(&row.a, &fr_minus_one, c);
        boolean_add_to(&row.b, &fr_one, a);
        lc_add_var(&row.c, result);
        boolean_add_to(&row.c, &fr_minus_one, c);
        row_enforce(cs, &row);
    }
    return boolean_plain(result, value);
}

struct boolean boolean_maj(struct cs *cs, struct boolean a, struct boolean b, struct boolean c)
{
    bool value = a.value + b.value + c.value >= 2;
    if (boolean_is_constant(a) && boolean_is_constant(b) && boolean_is_constant(c))
        return boolean_constant(value);
    if (boolean_is(a, false))
        return boolean_and(cs, b, c);
    if (boolean_is(b, false))
        return boolean_and(cs, a, c);
    if (boolean_is(c, false))
        return boolean_and(cs, a, b);
    if (boolean_is(c, true))
        return boolean_not(boolean_and(cs, boolean_not(a), boolean_not(b)));
    if (boolean_is(b, true))
        return boolean_not(boolean_and(cs, boolean_not(a), boolean_not(c)));
    if (boolean_is(a, true))
        return boolean_not(boolean_and(cs, boolean_not(b), boolean_not(c)));

    /* The result is allocated before b ∧ c, its row comes after. */
    struct var result = cs_bit(cs, value);
    struct boolean both = boolean_and(cs, b, c);
    if (row_wanted(cs)) {
        struct row row;
        row_start(&row);
        boolean_add_to(&row.a, row_pow2(1), both);
        boolean_add_to(&row.a, &fr_minus_one, b);
        boolean_add_to(&row.a, &fr_minus_one, c);
        boolean_add_to(&row.b, &fr_one, a);
        boolean_add_to(&row.c, &fr_one, both);
        lc_sub_var(&row.c, result);
        row_enforce(cs, &row);
    }
    return boolean_plain(result, value);
}
