/* The tile of a transform, for any arithmetic. Included by ntt_portable.c, ntt_avx2.c and
   ntt_ifma.c, which define

     NTT_LANES            the number of transforms side by side in a tile
     struct vec           NTT_LANES elements, one of each transform of the tile
     struct twiddle       an element of a stage table, for all lanes
     vec_load, vec_store  between a vec and canonical elements that are lane_stride apart
     vec_set              makes a factor for vec_mul from canonical elements
     vec_mul              element times factor, or factor times factor
     dif2, dif4           the last radix-2 stage and a radix-4 stage, from values to coefficients
     dit2, dit4           the same from coefficients to values

   The radix-4 stages multiply by twiddle[0 … 2] = w, w^2, w^3. They do not multiply if twiddle is
   NULL. */

/* Stage tables: element 0 is i = sqrt(-1); then for block sizes 4, 8, … the triples w^j, w^2j,
   w^3j, j < size / 4, w of that order. */
static const struct twiddle *stage_triples(const struct twiddle *stages, size_t size)
{
    return stages + 1 + 3 * (size / 4 - 1);
}

/* Values in natural order to coefficients in bit-reversed order. */
static void tile_dif(struct vec *tile, size_t rows, const struct twiddle *stages)
{
    size_t size = rows;
    for (; size >= 4; size /= 4) {
        const struct twiddle *triples = stage_triples(stages, size);
        const size_t quarter = size / 4;
        for (struct vec *block = tile; block < tile + rows; block += size) {
            dif4(block, quarter, &stages[0], NULL);
            for (size_t j = 1; j < quarter; j++)
                dif4(block + j, quarter, &stages[0], triples + 3 * j);
        }
    }
    if (size == 2) {
        for (size_t j = 0; j < rows; j += 2)
            dif2(tile + j);
    }
}

/* Coefficients in bit-reversed order to values in natural order. */
static void tile_dit(struct vec *tile, size_t rows, const struct twiddle *stages)
{
    size_t size = 4;
    if (__builtin_ctzll(rows) % 2 == 1) {
        for (size_t j = 0; j < rows; j += 2)
            dit2(tile + j);
        size = 8;
    }
    for (; size <= rows; size *= 4) {
        const struct twiddle *triples = stage_triples(stages, size);
        const size_t quarter = size / 4;
        for (struct vec *block = tile; block < tile + rows; block += size) {
            dit4(block, quarter, &stages[0], NULL);
            for (size_t j = 1; j < quarter; j++)
                dit4(block + j, quarter, &stages[0], triples + 3 * j);
        }
    }
}

/* The places of a tile's elements, and the factor of row k: start·ratio^k, by lanes. */
struct place {
    struct fr *base;
    size_t rows, row_stride, lane_stride;
    bool has_factors;
    struct fr start;
    struct fr ratio[NTT_LANES];
};

static void find_place(struct place *place, const struct ntt_transform *t, unsigned level,
                       size_t number)
{
    unsigned log2_block = t->log2_n;
    struct fr shift = t->shift;
    struct fr root = t->omega;
    for (unsigned l = 0; l < level; l++) {
        log2_block -= t->log2_rows[l];
        for (unsigned i = 0; i < t->log2_rows[l]; i++) {
            fr_sqr(&shift, &shift);
            fr_sqr(&root, &root);
        }
    }
    const size_t rows = (size_t)1 << t->log2_rows[level];
    const size_t columns = ((size_t)1 << log2_block) / rows;
    place->rows = rows;
    place->start = t->to_coefficients && level == 0 ? t->scale : fr_one;
    if (columns == 1) {
        place->base = t->elements + number * NTT_LANES * rows;
        place->row_stride = 1;
        place->lane_stride = rows;
        for (unsigned lane = 0; lane < NTT_LANES; lane++)
            place->ratio[lane] = shift;
    } else {
        const size_t tiles_in_block = columns / NTT_LANES;
        const size_t column = number % tiles_in_block * NTT_LANES;
        place->base = t->elements + (number / tiles_in_block << log2_block) + column;
        place->row_stride = columns;
        place->lane_stride = 1;
        fr_pow(&place->ratio[0], &root, column);
        fr_mul(&place->ratio[0], &place->ratio[0], &shift);
        for (unsigned lane = 1; lane < NTT_LANES; lane++)
            fr_mul(&place->ratio[lane], &place->ratio[lane - 1], &root);
    }
    place->has_factors = columns > 1 || !fr_is_one(&place->ratio[0]) || !fr_is_one(&place->start);
}

/* The factors of rows k + j·rows/4, j < 4, for k = 0, 1, …: four independent progressions, so that
   the products of one do not wait for those of another. */
struct factors {
    struct vec now[4];
    struct vec ratio;
};

static void factors_start(struct factors *f, const struct place *place)
{
    struct fr start[NTT_LANES];
    for (unsigned lane = 0; lane < NTT_LANES; lane++)
        start[lane] = place->start;
    vec_set(&f->now[0], start);
    vec_set(&f->ratio, place->ratio);
    struct vec step = f->ratio;
    for (size_t rows = 4; rows < place->rows; rows *= 2)
        vec_mul(&step, &step, &step);
    for (unsigned j = 1; j < 4; j++)
        vec_mul(&f->now[j], &f->now[j - 1], &step);
}

/* out = in · (factor j), which then steps on. */
static inline void factors_apply(struct vec *out, const struct vec *in, struct factors *f,
                                 unsigned j)
{
    vec_mul(out, in, &f->now[j]);
    vec_mul(&f->now[j], &f->now[j], &f->ratio);
}

/* The next number in bit-reversed counting below 4^…·limit: limit is half the range. */
static size_t reversed_next(size_t reversed, size_t limit)
{
    size_t bit = limit;
    while (bit != 0 && (reversed & bit) != 0) {
        reversed ^= bit;
        bit >>= 1;
    }
    return reversed | bit;
}

static void transform_tile(const struct ntt_transform *t, unsigned level, size_t number,
                           const void *stages, void *room)
{
    /* The two bits of the quarter j come last in a bit-reversed row number, reversed. */
    static const size_t reversed_quarter[4] = {0, 2, 1, 3};
    struct vec *tile = room;
    struct place place;
    struct factors factors;
    find_place(&place, t, level, number);
    if (place.has_factors)
        factors_start(&factors, &place);
    const size_t quarter = place.rows / 4;
    if (t->to_coefficients) {
        for (size_t k = 0; k < place.rows; k++)
            vec_load(&tile[k], place.base + k * place.row_stride, place.lane_stride);
        tile_dif(tile, place.rows, stages);
    }
    size_t reversed = 0;
    for (size_t k = 0; k < quarter; k++) {
        for (unsigned j = 0; j < 4; j++) {
            struct fr *elements = place.base + (k + j * quarter) * place.row_stride;
            struct vec *slot = &tile[4 * reversed + reversed_quarter[j]];
            if (!t->to_coefficients)
                vec_load(slot, elements, place.lane_stride);
            if (place.has_factors)
                factors_apply(slot, slot, &factors, j);
            if (t->to_coefficients)
                vec_store(elements, place.lane_stride, slot);
        }
        reversed = reversed_next(reversed, quarter / 2);
    }
    if (!t->to_coefficients) {
        tile_dit(tile, place.rows, stages);
        for (size_t k = 0; k < place.rows; k++)
            vec_store(place.base + k * place.row_stride, place.lane_stride, &tile[k]);
    }
}
