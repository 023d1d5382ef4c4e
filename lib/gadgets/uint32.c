#include "gadgets/uint32.h"

#include "base/check.h"
#include "gadgets/row.h"

void multieq_start(struct multieq *equations, struct cs *cs)
{
    *equations = (struct multieq){.cs = cs};
}

static void emit_equations(struct multieq *equations)
{
    struct row row;
    row_start(&row);
    lc_add_var(&row.b, VAR_ONE);
    cs_enforce(equations->cs, &equations->lhs, &row.b, &equations->rhs);
    lc_clear(&equations->lhs);
    lc_clear(&equations->rhs);
    equations->used = 0;
}

void multieq_finish(struct multieq *equations)
{
    if (equations->used > 0)
        emit_equations(equations);
    lc_free(&equations->lhs);
    lc_free(&equations->rhs);
}

struct uint32 uint32_constant(uint32_t value)
{
    struct uint32 out;
    for (unsigned i = 0; i < 32; i++)
        out.bit[i] = boolean_constant(value >> i & 1);
    return out;
}

uint32_t uint32_value(const struct uint32 *a)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 32; i++)
        value |= (uint32_t)a->bit[i].value << i;
    return value;
}

bool uint32_is_constant(const struct uint32 *a)
{
    for (unsigned i = 0; i < 32; i++) {
        if (!boolean_is_constant(a->bit[i]))
            return false;
    }
    return true;
}

struct uint32 uint32_from_be_bits(const struct boolean bits[32])
{
    struct uint32 out;
    for (unsigned i = 0; i < 32; i++)
        out.bit[i] = bits[31 - i];
    return out;
}

void uint32_to_be_bits(const struct uint32 *a, struct boolean bits[32])
{
    for (unsigned i = 0; i < 32; i++)
        bits[i] = a->bit[31 - i];
}

struct uint32 uint32_rotr(const struct uint32 *a, unsigned by)
{
    struct uint32 out;
    for (unsigned i = 0; i < 32; i++)
        out.bit[i] = a->bit[(i + by) % 32];
    return out;
}

struct uint32 uint32_shr(const struct uint32 *a, unsigned by)
{
    struct uint32 out;
    for (unsigned i = 0; i < 32; i++)
        out.bit[i] = i + by < 32 ? a->bit[i + by] : boolean_constant(false);
    return out;
}

struct uint32 uint32_xor(struct cs *cs, const struct uint32 *a, const struct uint32 *b)
{
    struct uint32 out;
    for (unsigned i = 0; i < 32; i++)
        out.bit[i] = boolean_xor(cs, a->bit[i], b->bit[i]);
    return out;
}

struct uint32 uint32_ch(struct cs *cs, const struct uint32 *a, const struct uint32 *b,
                        const struct uint32 *c)
{
    struct uint32 out;
    for (unsigned i = 0; i < 32; i++)
        out.bit[i] = boolean_ch(cs, a->bit[i], b->bit[i], c->bit[i]);
    return out;
}

struct uint32 uint32_maj(struct cs *cs, const struct uint32 *a, const struct uint32 *b,
                         const struct uint32 *c)
{
    struct uint32 out;
    for (unsigned i = 0; i < 32; i++)
        out.bit[i] = boolean_maj(cs, a->bit[i], b->bit[i], c->bit[i]);
    return out;
}

struct uint32 uint32_add(struct multieq *equations, const struct uint32 *const *addends, size_t n)
{
    CHECK(n >= 2 && n <= UINT32_ADDENDS_MAX);
    bool constant = true;
    uint64_t sum = 0;
    for (size_t k = 0; k < n; k++) {
        constant = constant && uint32_is_constant(addends[k]);
        sum += uint32_value(addends[k]);
    }
    if (constant)
        return uint32_constant((uint32_t)sum);

    struct boolean bits[36];
    unsigned n_bits = uint32_sum_bits(n);
    for (unsigned i = 0; i < n_bits; i++)
        bits[i] = boolean_bit(equations->cs, sum >> i & 1);

    /* A full accumulator is emitted only now, when the bits of this sum have their rows. */
    if (equations->used + n_bits >= FR_CAPACITY)
        emit_equations(equations);
    if (row_wanted(equations->cs)) {
        for (size_t k = 0; k < n; k++) {
            for (unsigned i = 0; i < 32; i++)
                boolean_add_to(&equations->lhs, row_pow2(equations->used + i), addends[k]->bit[i]);
        }
        for (unsigned i = 0; i < n_bits; i++)
            lc_add(&equations->rhs, bits[i].var, row_pow2(equations->used + i));
    }
    equations->used += n_bits;

    struct uint32 out;
    for (unsigned i = 0; i < 32; i++)
        out.bit[i] = bits[i];
    return out;
}
