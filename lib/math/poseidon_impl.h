/* Poseidon for several instances side by side, for any vectors. Included by poseidon_avx2.c and
   poseidon_ifma.c, which define

   - LANES, the instances of a group; GROUPS_MAX, the groups that go step by step together, because
     a single one would wait for its own S-boxes; BLOCK, the partial rounds of a block; and
     PRODUCTS_MAX = POSEIDON_WIDTH_MAX - 1 + BLOCK, the products of the longest sum
   - struct vec, LANES elements; struct factor, the same as a product wants it; struct
     single_factor, one factor for all lanes; struct sum, a number at full width in every lane
   - load_lanes, store_lanes (canonical), set_all, add_limbs (a constant), add, carry (after them),
     subtract_r and subtract_2r (if that leaves no negative number), to_factor, set_single_factor
   - multiply and square, 16 times the product; add_products, the sum of products with single
     factors; reduce, a sum divided by 2^260, without carries.

   Sums of products are accumulated at full width and reduced once. State elements keep their form
   x·2^256, constants are in the form w·2^260 (fr_limbs.h), and a product of two state elements is
   shifted by 4 bits before its reduction, so that every value leaves in the form in which it is
   stored.

   Partial rounds are taken in blocks. Inside a block only element 0 is computed, as a
   combination of the other elements at the block's start and of the S-boxes' outputs since; at its
   end the other elements are, each with one reduction instead of one for each round. (This is the
   substitution of the sparse matrices into each other: with y_u the output of the block's round u,
   s_j = s_j at the start + Σ v_u[j−1] y_u, and element 0 after round t is
   w_t[0] y_t + Σ_j w_t[j] s_j.)

   Bounds: 2^260 = 35.3r. A reduction leaves less than T/2^260 + r of a sum T. Everything that is
   called x below is less than 2r before and canonical after it is stored. */

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 20")

enum {
    WIDTH_MAX = POSEIDON_WIDTH_MAX,
    BLOCKS_MAX = (POSEIDON_PARTIAL_ROUNDS_MAX + BLOCK - 1) / BLOCK,
    BLOCK_FACTORS_MAX = 2 * BLOCK * (WIDTH_MAX - 1) + BLOCK * (BLOCK + 1) / 2,
    ARITIES = 4,
};

/* --- Constants -------------------------------------------------------------------------------- */

/* The constants of one arity in this arithmetic's form, in order of use. */
struct tables {
    unsigned width;
    unsigned partial_rounds;
    /* The first round's element 0 after its S-box, for each domain. */
    int64_t first_element[2][LIMBS];
    int64_t compressed[POSEIDON_COMPRESSED_MAX][LIMBS];
    struct single_factor mds[WIDTH_MAX][WIDTH_MAX];        /* [out][in] */
    struct single_factor pre_sparse[WIDTH_MAX][WIDTH_MAX]; /* [out][in] */
    /* For each block: for each of its rounds the factors of s_1 … and y_0 … of element 0; then
       for each other element those of y_0 … . */
    struct single_factor blocks[BLOCKS_MAX * BLOCK_FACTORS_MAX];
};

static struct tables tables[ARITIES];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void set_matrix(struct single_factor out[WIDTH_MAX][WIDTH_MAX], unsigned width,
                       const struct fr matrix[WIDTH_MAX][WIDTH_MAX])
{
    for (unsigned i = 0; i < width; i++) {
        for (unsigned j = 0; j < width; j++)
            set_single_factor(&out[j][i], &matrix[i][j]);
    }
}

/* How round t's element 0 depends on y_u of an earlier round. */
static struct fr dependence(const struct poseidon_constants *c, unsigned t, unsigned u)
{
    struct fr sum = fr_zero;
    for (unsigned j = 1; j < c->width; j++) {
        struct fr product;
        fr_mul(&product, &c->sparse_w[t][j], &c->sparse_v[u][j - 1]);
        fr_add(&sum, &sum, &product);
    }
    return sum;
}

static void set_blocks(struct single_factor *out, const struct poseidon_constants *c)
{
    for (unsigned first = 0; first < c->partial_rounds; first += BLOCK) {
        const unsigned left = c->partial_rounds - first;
        const unsigned end = first + (left < BLOCK ? left : BLOCK);
        for (unsigned t = first; t < end; t++) {
            for (unsigned j = 1; j < c->width; j++)
                set_single_factor(out++, &c->sparse_w[t][j]);
            for (unsigned u = first; u < t; u++) {
                const struct fr factor = dependence(c, t, u);
                set_single_factor(out++, &factor);
            }
            set_single_factor(out++, &c->sparse_w[t][0]);
        }
        for (unsigned j = 1; j < c->width; j++) {
            for (unsigned u = first; u < end; u++)
                set_single_factor(out++, &c->sparse_v[u][j - 1]);
        }
    }
}

static void set_tables(struct tables *t, const struct poseidon_constants *c)
{
    t->width = c->width;
    t->partial_rounds = c->partial_rounds;
    for (unsigned i = 0; i < c->n_compressed; i++)
        set_limbs(t->compressed[i], &c->compressed[i]);
    set_matrix(t->mds, c->width, c->mds);
    set_matrix(t->pre_sparse, c->width, c->pre_sparse);
    set_blocks(t->blocks, c);
    static const enum poseidon_domain domains[2] = {POSEIDON_TREE, POSEIDON_RANDOMNESS};
    for (unsigned i = 0; i < 2; i++) {
        struct fr tag;
        poseidon_tag(&tag, c->arity, domains[i]);
        fr_add(&tag, &tag, &c->compressed[0]);
        fr_pow(&tag, &tag, 5);
        fr_add(&tag, &tag, &c->compressed[c->width]);
        set_limbs(t->first_element[domains[i]], &tag);
    }
}

static void set_all_tables(void)
{
    static const unsigned arities[ARITIES] = {2, 4, 8, 11};
    for (unsigned i = 0; i < ARITIES; i++)
        set_tables(&tables[i], poseidon_constants(arities[i]));
}

static const struct tables *tables_of(unsigned arity)
{
    pthread_once(&tables_once, set_all_tables);
    unsigned i = 0;
    while (tables[i].width != arity + 1)
        i++;
    return &tables[i];
}

/* --- Permutations ----------------------------------------------------------------------------- */

/* A group's state and where its values go. */
struct group {
    struct vec elements[WIDTH_MAX];       /* below 2r */
    struct factor operands[PRODUCTS_MAX]; /* of the next sums */
    struct fr *out[LANES];
    size_t step; /* of out; 0 if only the last value counts */
};

/* The next value of each lane. */
INLINE void put(struct group *group, const struct vec *canonical)
{
    store_lanes(group->out, canonical);
    UNROLL
    for (unsigned i = 0; i < LANES; i++)
        group->out[i] += group->step;
}

/* The S-box of element `from`, constant NULL for none: puts x (not in the first round), x², x⁴ and
   x⁵ + constant; the last one, below 3r, becomes operand `to`. */
INLINE void sbox(struct group *group, unsigned from, unsigned to, const int64_t *constant,
                 bool first, const unsigned groups)
{
    struct factor base[GROUPS_MAX];
    struct factor power[GROUPS_MAX];
    struct vec value[GROUPS_MAX];
    struct sum sum[GROUPS_MAX];
    UNROLL
    for (unsigned g = 0; g < groups; g++) {
        value[g] = group[g].elements[from];
        subtract_r(&value[g]);
        to_factor(&base[g], &value[g]);
        square(&sum[g], &base[g]);
        if (!first)
            put(&group[g], &value[g]);
    }
    reduce(value, sum, groups);
    UNROLL
    for (unsigned g = 0; g < groups; g++) {
        carry(&value[g]);
        to_factor(&power[g], &value[g]);
        square(&sum[g], &power[g]);
        subtract_r(&value[g]); /* from 1.46r */
        put(&group[g], &value[g]);
    }
    reduce(value, sum, groups);
    UNROLL
    for (unsigned g = 0; g < groups; g++) {
        carry(&value[g]);
        to_factor(&power[g], &value[g]);
        multiply(&sum[g], &power[g], &base[g]);
        subtract_r(&value[g]); /* from 1.96r */
        put(&group[g], &value[g]);
    }
    reduce(value, sum, groups);
    UNROLL
    for (unsigned g = 0; g < groups; g++) {
        if (constant)
            add_limbs(&value[g], constant);
        carry(&value[g]);
        to_factor(&group[g].operands[to], &value[g]);
        subtract_2r(&value[g]); /* from 2.89r */
        subtract_r(&value[g]);
        put(&group[g], &value[g]);
    }
}

static __attribute__((noinline)) void sbox_of_one(struct group *group, unsigned from, unsigned to,
                                                  const int64_t *constant, bool first)
{
    sbox(group, from, to, constant, first, 1);
}

static __attribute__((noinline)) void sbox_of_two(struct group *group, unsigned from, unsigned to,
                                                  const int64_t *constant, bool first)
{
    sbox(group, from, to, constant, first, 2);
}

static void sboxes(struct group *group, unsigned groups, unsigned from, unsigned to,
                   const int64_t *constant, bool first)
{
    if (groups == 2)
        sbox_of_two(group, from, to, constant, first);
    else
        sbox_of_one(group, from, to, constant, first);
}

static __attribute__((noinline)) void reduce_one(struct vec *out, struct sum *sum)
{
    reduce(out, sum, 1);
}

static __attribute__((noinline)) void reduce_two(struct vec *out, struct sum *sum)
{
    reduce(out, sum, 2);
}

/* out[g] = Σ factors[m] · operand from + m, below 2r, without carries. */
static void combine(struct vec *out, const struct group *group, unsigned groups, unsigned from,
                    const struct single_factor *factors, unsigned n)
{
    struct sum sum[GROUPS_MAX];
    for (unsigned g = 0; g < groups; g++)
        add_products(&sum[g], &group[g].operands[from], factors, n);
    if (groups == 2)
        reduce_two(out, sum);
    else
        reduce_one(out, sum);
}

/* element = Σ factors[m] · operand m */
static void set_element(struct group *group, unsigned groups, unsigned element,
                        const struct single_factor *factors, unsigned n)
{
    struct vec out[GROUPS_MAX];
    combine(out, group, groups, 0, factors, n);
    for (unsigned g = 0; g < groups; g++) {
        carry(&out[g]);
        group[g].elements[element] = out[g];
    }
}

/* The S-boxes of a full round, from the elements to the operands. */
static void full_sboxes(struct group *group, unsigned groups, unsigned width,
                        const int64_t (*constants)[LIMBS])
{
    for (unsigned i = 0; i < width; i++)
        sboxes(group, groups, i, i, constants ? constants[i] : NULL, false);
}

static void mix(struct group *group, unsigned groups, unsigned width,
                const struct single_factor matrix[WIDTH_MAX][WIDTH_MAX])
{
    for (unsigned j = 0; j < width; j++)
        set_element(group, groups, j, matrix[j], width);
}

/* A block of n partial rounds; operands 0 … are elements 1 … . Returns where the next block's
   factors are. */
static const struct single_factor *partial_rounds(struct group *group, unsigned groups,
                                                  unsigned width, unsigned n,
                                                  const struct single_factor *factors,
                                                  const int64_t (*constants)[LIMBS])
{
    const unsigned others = width - 1;
    for (unsigned t = 0; t < n; t++) {
        sboxes(group, groups, 0, others + t, constants[t], false);
        set_element(group, groups, 0, factors, others + t + 1);
        factors += others + t + 1;
    }
    for (unsigned j = 1; j < width; j++, factors += n) {
        struct vec change[GROUPS_MAX];
        combine(change, group, groups, others, factors, n);
        for (unsigned g = 0; g < groups; g++) {
            struct vec *element = &group[g].elements[j];
            add(element, &change[g]);
            carry(element);
            subtract_2r(element); /* from 3.4r */
            to_factor(&group[g].operands[j - 1], element);
        }
    }
    return factors;
}

static void first_round(struct group *group, unsigned groups, const struct tables *t,
                        enum poseidon_domain domain, const struct fr *const inputs[])
{
    for (unsigned g = 0; g < groups; g++) {
        for (unsigned i = 1; i < t->width; i++) {
            const struct fr *from[LANES];
            for (unsigned lane = 0; lane < LANES; lane++)
                from[lane] = &inputs[LANES * g + lane][i - 1];
            struct vec *element = &group[g].elements[i];
            load_lanes(element, from);
            add_limbs(element, t->compressed[i]);
            carry(element);
        }
        struct vec constant;
        set_all(&constant, t->first_element[domain]);
        to_factor(&group[g].operands[0], &constant);
    }
    for (unsigned i = 1; i < t->width; i++)
        sboxes(group, groups, i, i, t->compressed[t->width + i], true);
}

static void put_digest(struct group *group, unsigned groups, const struct tables *t)
{
    set_element(group, groups, 1, t->mds[1], t->width);
    for (unsigned g = 0; g < groups; g++) {
        subtract_r(&group[g].elements[1]);
        put(&group[g], &group[g].elements[1]);
    }
}

static __attribute__((noinline)) void permute(struct group *group, unsigned groups,
                                              const struct tables *t, enum poseidon_domain domain,
                                              const struct fr *const inputs[])
{
    const unsigned width = t->width;
    const unsigned half = POSEIDON_FULL_ROUNDS / 2;
    first_round(group, groups, t, domain, inputs);
    const int64_t(*constants)[LIMBS] = &t->compressed[2 * width];
    for (unsigned round = 1; round < half; round++, constants += width) {
        mix(group, groups, width, t->mds);
        full_sboxes(group, groups, width, constants);
    }
    mix(group, groups, width, t->pre_sparse);
    for (unsigned g = 0; g < groups; g++) {
        for (unsigned i = 1; i < width; i++)
            to_factor(&group[g].operands[i - 1], &group[g].elements[i]);
    }
    const struct single_factor *factors = t->blocks;
    for (unsigned round = 0; round < t->partial_rounds; round += BLOCK, constants += BLOCK) {
        const unsigned left = t->partial_rounds - round;
        factors =
            partial_rounds(group, groups, width, left < BLOCK ? left : BLOCK, factors, constants);
    }
    constants = &t->compressed[(half + 1) * width + t->partial_rounds];
    for (unsigned round = 1; round < half; round++, constants += width) {
        full_sboxes(group, groups, width, constants);
        mix(group, groups, width, t->mds);
    }
    full_sboxes(group, groups, width, NULL);
    put_digest(group, groups, t);
}

/* Lanes without an instance repeat the first one and write to a trace that is thrown away, which
   is not worth it for a single instance. */
static void permute_lanes(unsigned arity, enum poseidon_domain domain, size_t n,
                          const struct fr *const inputs[], struct fr *const out[], bool trace)
{
    if (n == 1) {
        poseidon_arith_portable.permute(arity, domain, n, inputs, out, trace);
        return;
    }
    struct fr unused[POSEIDON_TRACE_MAX];
    struct group group[GROUPS_MAX];
    const struct fr *lane_inputs[GROUPS_MAX * LANES];
    for (size_t i = 0; i < GROUPS_MAX * LANES; i++) {
        lane_inputs[i] = inputs[i < n ? i : 0];
        group[i / LANES].out[i % LANES] = i < n ? out[i] : unused;
    }
    for (size_t g = 0; g < GROUPS_MAX; g++)
        group[g].step = trace ? 1 : 0;
    const struct tables *t = tables_of(arity);
    permute(group, n > LANES ? GROUPS_MAX : 1, t, domain, lane_inputs);
}
