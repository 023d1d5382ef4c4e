/* The kernel of math/affine.h for AVX-512 IFMA: eight pairs at a time. Included by affine_ifma.c
   and affine_g2_ifma.c, which define G, FIELD, FIELD_OP and POINT_BYTES as for affine_impl.h,
   DEGREE, the components of a coordinate, and multiply and square on

   struct coordinate { struct fp8 c[DEGREE]; };

   with results below 2p + p/2^5, those of square below p + p/2^5. */

#include "math/affine_case_impl.h"

/* Of a point. */
enum { NUMBERS = 2 * DEGREE };

_Static_assert(sizeof(struct G(affine)) == NUMBERS * sizeof(blst_fp), "a point is its numbers");

/* --- Coordinates ------------------------------------------------------------------------------ */

/* Their components are numbers of fp_ifma.h, and so are the loops. */
static const blst_fp *components(const FIELD *a)
{
    return (const blst_fp *)a;
}

static void load_from(struct coordinate *out, const FIELD *const from[LANES])
{
    for (unsigned k = 0; k < DEGREE; k++) {
        const blst_fp *component[LANES];
        IFMA_UNROLL
        for (unsigned i = 0; i < LANES; i++)
            component[i] = components(from[i]) + k;
        fp8_load(&out->c[k], component);
    }
}

/* a is canonical. */
static void store_to(FIELD *const to[LANES], const struct coordinate *a)
{
    for (unsigned k = 0; k < DEGREE; k++) {
        blst_fp *component[LANES];
        IFMA_UNROLL
        for (unsigned i = 0; i < LANES; i++)
            component[i] = (blst_fp *)to[i] + k;
        fp8_store(component, &a->c[k]);
    }
}

static void set_one(struct coordinate *out)
{
    static const int64_t zero[LIMBS] = {0};
    for (unsigned k = 0; k < DEGREE; k++)
        fp8_set(&out->c[k], k == 0 ? one : zero);
}

/* a - b + m in every component. */
static void subtract(struct coordinate *out, const struct coordinate *a, const struct coordinate *b,
                     const int64_t m[LIMBS])
{
    for (unsigned k = 0; k < DEGREE; k++)
        fp8_subtract(&out->c[k], &a->c[k], &b->c[k], m);
}

/* Canonical, from below 4p. */
static void reduce(struct coordinate *a)
{
    for (unsigned k = 0; k < DEGREE; k++)
        fp8_reduce(&a->c[k]);
}

/* a times a small number. */
static void scale(struct coordinate *a, unsigned times)
{
    for (unsigned k = 0; k < DEGREE; k++)
        fp8_scale(&a->c[k], times);
}

static void blend(struct coordinate *a, const struct coordinate *b, __mmask8 lanes)
{
    for (unsigned k = 0; k < DEGREE; k++)
        fp8_blend(&a->c[k], &b->c[k], lanes);
}

static __mmask8 zero_lanes(const struct coordinate *a)
{
    __mmask8 lanes = 0xff;
    for (unsigned k = 0; k < DEGREE; k++)
        lanes &= fp8_zero_lanes(&a->c[k]);
    return lanes;
}

static __mmask8 equal_lanes(const struct coordinate *a, const struct coordinate *b)
{
    __mmask8 lanes = 0xff;
    for (unsigned k = 0; k < DEGREE; k++)
        lanes &= fp8_equal_lanes(&a->c[k], &b->c[k]);
    return lanes;
}

/* --- Pairs ------------------------------------------------------------------------------------ */

/* Eight pairs at work. */
struct group {
    const struct G(pair) * pairs;
    struct coordinate x_a, x_b;
    struct coordinate d; /* to be inverted */
    bool rare;           /* some lane does not take the plain formula: kind tells */
    enum pair_case kind[LANES];
    __mmask8 doubles, others; /* lanes of kind PAIR_DOUBLE, and of the remaining rare ones */
};

static void load(struct coordinate *out, const struct group *group, bool of_b, bool y)
{
    const FIELD *from[LANES];
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES; i++) {
        const struct G(affine) *point = of_b ? group->pairs[i].b : group->pairs[i].a;
        from[i] = y ? &point->p.y : &point->p.x;
    }
    load_from(out, from);
}

/* Sorts out the lanes with equal x or infinite operands, and gives them a d that has an inverse. */
static __attribute__((noinline)) void treat_rare(struct group *group)
{
    unsigned doubles = 0;
    unsigned others = 0;
    for (unsigned i = 0; i < LANES; i++) {
        group->kind[i] = classify_rare(&group->pairs[i]);
        if (group->kind[i] == PAIR_DOUBLE)
            doubles |= 1u << i;
        else if (group->kind[i] != PAIR_PLAIN)
            others |= 1u << i;
    }
    group->doubles = (__mmask8)doubles;
    group->others = (__mmask8)others;
    struct coordinate y;
    struct coordinate unit;
    load(&y, group, false, true);
    scale(&y, 2);
    set_one(&unit);
    blend(&group->d, &y, group->doubles);
    blend(&group->d, &unit, group->others);
}

static void load_group(struct group *group, const struct G(pair) * pairs)
{
    group->pairs = pairs;
    load(&group->x_a, group, false, false);
    load(&group->x_b, group, true, false);
    subtract(&group->d, &group->x_b, &group->x_a, modulus);
    group->rare = (equal_lanes(&group->x_a, &group->x_b) | zero_lanes(&group->x_a) |
                   zero_lanes(&group->x_b)) != 0;
    if (group->rare)
        treat_rare(group);
}

/* ±y_b - y_a, or 3·x_a² where the point is doubled. */
static void numerator(struct coordinate *out, const struct group *group,
                      const struct coordinate *y_a)
{
    unsigned negated = 0;
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES; i++)
        negated |= (unsigned)group->pairs[i].negate_b << i;
    struct coordinate y;
    load(&y, group, true, true);
    for (unsigned k = 0; k < DEGREE; k++)
        fp8_negate(&y.c[k], (__mmask8)negated);
    subtract(out, &y, y_a, modulus_2);
    if (group->rare) {
        struct coordinate x;
        square(&x, &group->x_a);
        scale(&x, 3);
        blend(out, &x, group->doubles);
    }
}

/* Results of the lanes that are no additions of two different finite points; a and b are copies of
   their operands, as out may be one of them. */
static void store_rare(const struct group *group, const struct G(affine) * a,
                       const struct G(affine) * b)
{
    for (unsigned i = 0; i < LANES; i++) {
        struct G(affine) *out = group->pairs[i].out;
        if (group->kind[i] == PAIR_A) {
            *out = a[i];
        } else if (group->kind[i] == PAIR_B) {
            *out = b[i];
            FIELD_OP(cneg)(&out->p.y, &out->p.y, group->pairs[i].negate_b);
        } else if (group->kind[i] == PAIR_INFINITY) {
            memset(out, 0, sizeof *out);
        }
    }
}

/* Given 1/d. */
static void add_group(const struct group *group, const struct coordinate *inverse)
{
    struct G(affine) a[LANES];
    struct G(affine) b[LANES];
    for (unsigned i = 0; group->rare && i < LANES; i++) {
        a[i] = *group->pairs[i].a;
        b[i] = *group->pairs[i].b;
    }
    struct coordinate y_a;
    struct coordinate slope;
    load(&y_a, group, false, true);
    numerator(&slope, group, &y_a);
    multiply(&slope, &slope, inverse);

    struct coordinate x;
    square(&x, &slope);
    for (unsigned k = 0; k < DEGREE; k++)
        fp8_subtract_two(&x.c[k], &group->x_a.c[k], &group->x_b.c[k]);
    reduce(&x);

    struct coordinate y;
    subtract(&y, &group->x_a, &x, modulus);
    multiply(&y, &slope, &y);
    subtract(&y, &y, &y_a, modulus);
    reduce(&y);

    FIELD *to_x[LANES];
    FIELD *to_y[LANES];
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES; i++) {
        to_x[i] = &group->pairs[i].out->p.x;
        to_y[i] = &group->pairs[i].out->p.y;
    }
    store_to(to_x, &x);
    store_to(to_y, &y);
    if (group->rare)
        store_rare(group, a, b);
}

/* 1/a in every lane, with one inversion. */
static void invert(struct coordinate *a)
{
    /* 2^64 in blst's form: read there, a lane is x·2^32, whose inverse lacks that factor twice. */
    static const blst_fp two_64 = {{0x42b7fde37dba9366, 0x7784894e27525bc3, 0xb2b91b9dc1f5b1e9,
                                    0x206f497dfcafb872, 0x594137cc89a9b0bb, 0x0411cd9d20d7e399}};
    FIELD factor = {0};
    FIELD lane[LANES];
    FIELD before[LANES]; /* product of the lanes before */
    FIELD *lanes[LANES];
    const FIELD *const_lanes[LANES];
    for (unsigned i = 0; i < LANES; i++) {
        lanes[i] = &lane[i];
        const_lanes[i] = &lane[i];
    }
    memcpy(&factor, &two_64, sizeof two_64);
    reduce(a);
    store_to(lanes, a);
    FIELD product = lane[0];
    for (unsigned i = 1; i < LANES; i++) {
        before[i] = product;
        FIELD_OP(mul)(&product, &product, &lane[i]);
    }
    FIELD_OP(eucl_inverse)(&product, &product);
    for (unsigned i = LANES; i-- > 1;) {
        FIELD own;
        FIELD_OP(mul)(&own, &product, &before[i]);
        FIELD_OP(mul)(&product, &product, &lane[i]);
        FIELD_OP(mul)(&lane[i], &own, &factor);
    }
    FIELD_OP(mul)(&lane[0], &product, &factor);
    load_from(a, const_lanes);
}

/* The pairs of group number i; a last, incomplete one is filled up with copies of `filler`. */
static const struct G(pair) * group_pairs(const struct G(pair) * pairs, size_t n, size_t i,
                                          struct G(pair) last[LANES], const struct G(pair) * filler)
{
    if ((i + 1) * LANES <= n)
        return &pairs[i * LANES];
    for (size_t j = 0; j < LANES; j++)
        last[j] = i * LANES + j < n ? pairs[i * LANES + j] : *filler;
    return last;
}

static void add_pairs(const struct G(pair) * pairs, size_t n, void *scratch,
                      struct affine_ahead *ahead)
{
    /* Any two points with different x. */
    static const blst_fp x[2] = {{{1}}, {{2}}};
    struct G(affine) fill[3] = {0};
    memcpy(&fill[0].p.x, &x[0], sizeof x[0]);
    memcpy(&fill[1].p.x, &x[1], sizeof x[1]);
    const struct G(pair) filler = {&fill[0], &fill[1], &fill[2], false};
    struct G(pair) last[LANES];
    struct coordinate *prefix = scratch;
    const size_t n_groups = (n + LANES - 1) / LANES;
    struct group group;
    struct coordinate product;
    _Static_assert(sizeof *prefix <= LANES * AFFINE_SCRATCH_BYTES, "room for a prefix a group");
    set_one(&product);
    for (size_t i = 0; i < n_groups; i++) {
        load_group(&group, group_pairs(pairs, n, i, last, &filler));
        prefix[i] = product;
        multiply(&product, &product, &group.d);
    }
    invert(&product);
    for (size_t i = n_groups; i-- > 0;) {
        struct coordinate own;
        affine_fetch(ahead, 2 * LANES, sizeof(struct G(affine)));
        load_group(&group, group_pairs(pairs, n, i, last, &filler));
        multiply(&own, &prefix[i], &product);
        multiply(&product, &product, &group.d);
        add_group(&group, &own);
    }
}

/* --- In and out ------------------------------------------------------------------------------- */

/* Canonical integers to the kernel's form. */
static void enter_form(struct G(affine) * points, size_t n)
{
    struct fp8 factor;
    fp8_set(&factor, to_form);
    /* A point is a row of numbers; beyond the end the last one is done again. */
    blst_fp *numbers = (blst_fp *)points;
    const size_t n_numbers = n * NUMBERS;
    for (size_t i = 0; i < n_numbers; i += LANES) {
        blst_fp *to[LANES];
        const blst_fp *from[LANES];
        for (size_t j = 0; j < LANES; j++) {
            to[j] = &numbers[i + j < n_numbers ? i + j : n_numbers - 1];
            from[j] = to[j];
        }
        struct fp8 value;
        fp8_load(&value, from);
        fp8_multiply(&value, &value, &factor);
        fp8_reduce(&value);
        fp8_store(to, &value);
    }
}

static size_t decode(struct G(affine) * out, const uint8_t *points, const uint32_t *index, size_t n)
{
    size_t good = 0;
    for (; good < n; good++) {
        const uint8_t *bytes = points + (index ? index[good] : good) * (size_t)POINT_BYTES;
        if (!G(read_integers)(&out[good], bytes))
            break;
    }
    enter_form(out, good);
    return good;
}

static void to_standard(struct G(affine) * out, const struct G(affine) * a)
{
    /* blst's product divides by 2^384: 2^352 takes the factor 2^32 away. */
    static const blst_fp factor = {{0, 0, 0, 0, 0, UINT64_C(1) << 32}};
    for (size_t i = 0; i < NUMBERS; i++)
        blst_fp_mul((blst_fp *)out + i, (const blst_fp *)a + i, &factor);
}
