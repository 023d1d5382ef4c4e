#include "gadgets/insertion.h"

#include "base/check.h"
#include "gadgets/row.h"

struct num num_pick(struct cs *cs, struct boolean condition, struct num a, struct num b)
{
    struct num picked = condition.value ? a : b;
    picked.var = cs_num(cs, &picked.value);
    if (row_wanted(cs)) {
        struct row row;
        row_start(&row);
        lc_add_var(&row.a, b.var);
        lc_sub_var(&row.a, a.var);
        boolean_add_to(&row.b, &fr_one, condition);
        lc_add_var(&row.c, b.var);
        lc_sub_var(&row.c, picked.var);
        row_enforce(cs, &row);
    }
    return picked;
}

struct num num_select(struct cs *cs, struct num *values, const struct boolean *bits, size_t n_bits)
{
    for (size_t i = n_bits; i-- > 0;) {
        size_t half = (size_t)1 << i;
        for (size_t j = 0; j < half; j++)
            values[j] = num_pick(cs, bits[i], values[half + j], values[j]);
    }
    return values[0];
}

static void insert2(struct cs *cs, struct num x, struct boolean bit, struct num sibling,
                    struct num out[2])
{
    out[0] = num_pick(cs, bit, sibling, x);
    out[1] = num_pick(cs, bit, x, sibling);
}

/* Sibling e[i] is at position i if x comes after it, else at i + 1. The order of the picks is part
   of the circuit. */
static void insert4(struct cs *cs, struct num x, const struct boolean b[2], const struct num e[3],
                    struct num out[4])
{
    struct num t = num_pick(cs, b[0], e[0], x);
    out[0] = num_pick(cs, b[1], e[0], t);
    t = num_pick(cs, b[0], x, e[0]);
    out[1] = num_pick(cs, b[1], e[1], t);
    t = num_pick(cs, b[0], e[2], x);
    out[2] = num_pick(cs, b[1], t, e[1]);
    t = num_pick(cs, b[0], x, e[2]);
    out[3] = num_pick(cs, b[1], t, e[2]);
}

static void insert8(struct cs *cs, struct num x, const struct boolean b[3], const struct num e[7],
                    struct num out[8])
{
    struct boolean neither = boolean_and(cs, boolean_not(b[0]), boolean_not(b[1]));
    struct boolean both = boolean_and(cs, b[0], b[1]);
    struct num t = num_pick(cs, neither, x, e[0]);
    out[0] = num_pick(cs, b[2], e[0], t);
    t = num_pick(cs, b[0], x, e[0]);
    t = num_pick(cs, b[1], e[1], t);
    out[1] = num_pick(cs, b[2], e[1], t);
    t = num_pick(cs, b[0], e[2], x);
    t = num_pick(cs, b[1], t, e[1]);
    out[2] = num_pick(cs, b[2], e[2], t);
    t = num_pick(cs, both, x, e[2]);
    out[3] = num_pick(cs, b[2], e[3], t);
    t = num_pick(cs, neither, x, e[4]);
    out[4] = num_pick(cs, b[2], t, e[3]);
    t = num_pick(cs, b[0], x, e[4]);
    t = num_pick(cs, b[1], e[5], t);
    out[5] = num_pick(cs, b[2], t, e[4]);
    t = num_pick(cs, b[0], e[6], x);
    t = num_pick(cs, b[1], t, e[5]);
    out[6] = num_pick(cs, b[2], t, e[5]);
    t = num_pick(cs, both, x, e[6]);
    out[7] = num_pick(cs, b[2], t, e[6]);
}

void num_insert(struct cs *cs, unsigned arity, struct num x, const struct boolean *bits,
                const struct num *siblings, struct num *out)
{
    CHECK(arity == 2 || arity == 4 || arity == 8);
    if (arity == 2)
        insert2(cs, x, bits[0], siblings[0], out);
    else if (arity == 4)
        insert4(cs, x, bits, siblings, out);
    else
        insert8(cs, x, bits, siblings, out);
}

struct insertion_size num_insert_size(unsigned arity)
{
    CHECK(arity == 2 || arity == 4 || arity == 8);
    if (arity == 2)
        return (struct insertion_size){.n_full = 2};
    if (arity == 4)
        return (struct insertion_size){.n_full = 8};
    return (struct insertion_size){.n_bits = 2, .n_full = 20};
}
