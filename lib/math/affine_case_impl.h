/* Which formula a pair takes. Included by every kernel, which defines G(name) as the group's
   prefix, FIELD as the coordinates' type and FIELD_OP(name) as blst's function on it. Only sums and
   signs of canonical residues are used, so that any Montgomery form will do. */

static bool field_is_zero(const FIELD *a)
{
    const uint64_t *limbs = (const uint64_t *)a;
    uint64_t any = 0;
    for (size_t i = 0; i < sizeof *a / sizeof *limbs; i++)
        any |= limbs[i];
    return any == 0;
}

static bool field_equal(const FIELD *a, const FIELD *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static bool is_infinity(const struct G(affine) * a)
{
    return field_is_zero(&a->p.x) && field_is_zero(&a->p.y);
}

/* What a pair needs besides the plain formula. */
enum pair_case { PAIR_PLAIN, PAIR_A, PAIR_B, PAIR_DOUBLE, PAIR_INFINITY };

/* y of the second operand with its sign. */
static void signed_y(FIELD *out, const struct G(pair) * pair)
{
    *out = pair->b->p.y;
    FIELD_OP(cneg)(out, out, pair->negate_b);
}

static enum pair_case classify_rare(const struct G(pair) * pair)
{
    if (is_infinity(pair->b))
        return PAIR_A;
    if (is_infinity(pair->a))
        return PAIR_B;
    if (!field_equal(&pair->a->p.x, &pair->b->p.x))
        return PAIR_PLAIN;
    FIELD y;
    signed_y(&y, pair);
    FIELD_OP(add)(&y, &y, &pair->a->p.y);
    /* A point of order 2 is its own opposite, so this test comes before that for doubling. */
    return field_is_zero(&y) ? PAIR_INFINITY : PAIR_DOUBLE;
}
