/* Fixed-base products of one group; included by fixed_base.c once for G1 and once for G2, with the
   names GROUP(), API(), TABLE, PROJECTIVE, AFFINE, FIELD, FIELD_OP() and WIDTH_MAX set. No guard: it is meant to
   be included twice. */

TABLE {
    unsigned width;
    AFFINE *entries; /* window k, multiple d at k · 2^(width-1) + d - 1 */
};

/* An addition whose division is still to come. */
struct GROUP(pending) {
    FIELD denominator;
    FIELD before; /* product of all earlier denominators of the batch */
    AFFINE *target;
    const AFFINE *point;
    bool negative; /* add the point's negative */
    bool doubles;  /* what is added equals *target */
};

/* Additions to different targets that will share one inversion. */
struct GROUP(batch) {
    size_t n;
    FIELD product;
    struct GROUP(pending) items[BATCH];
};

static bool GROUP(field_is_zero)(const FIELD *a)
{
    static const FIELD zero;
    return memcmp(a, &zero, sizeof zero) == 0;
}

/* Finishes all pending additions. */
static void GROUP(flush)(struct GROUP(batch) *batch)
{
    if (batch->n == 0)
        return;
    FIELD inverse;
    FIELD_OP(eucl_inverse)(&inverse, &batch->product);
    while (batch->n > 0) {
        struct GROUP(pending) *item = &batch->items[--batch->n];
        AFFINE *target = item->target;
        FIELD slope, rise, x, y;
        if (batch->n > 0)
            FIELD_OP(mul)(&slope, &inverse, &item->before);
        else
            slope = inverse;
        FIELD_OP(mul)(&inverse, &inverse, &item->denominator);
        if (item->doubles) {
            FIELD_OP(sqr)(&rise, &target->p.x);
            FIELD_OP(mul_by_3)(&rise, &rise);
        } else {
            FIELD_OP(cneg)(&rise, &item->point->p.y, item->negative);
            FIELD_OP(sub)(&rise, &rise, &target->p.y);
        }
        FIELD_OP(mul)(&slope, &slope, &rise);
        FIELD_OP(sqr)(&x, &slope);
        FIELD_OP(sub)(&x, &x, &target->p.x);
        FIELD_OP(sub)(&x, &x, &item->point->p.x);
        FIELD_OP(sub)(&y, &target->p.x, &x);
        FIELD_OP(mul)(&y, &y, &slope);
        FIELD_OP(sub)(&target->p.y, &y, &target->p.y);
        target->p.x = x;
    }
}

/* *target += ±point, at once where no division is needed, else with the next flush. No target may be
   pending twice. The point is finite and, like *target, in the subgroup: no y is zero. */
static void GROUP(add_later)(struct GROUP(batch) *batch, AFFINE *target, const AFFINE *point,
                             bool negative)
{
    struct GROUP(pending) *item = &batch->items[batch->n];
    if (GROUP(affine_is_infinity)(target)) {
        target->p.x = point->p.x;
        FIELD_OP(cneg)(&target->p.y, &point->p.y, negative);
        return;
    }
    FIELD_OP(sub)(&item->denominator, &point->p.x, &target->p.x);
    item->doubles = GROUP(field_is_zero)(&item->denominator);
    if (item->doubles) {
        FIELD y;
        FIELD_OP(cneg)(&y, &point->p.y, negative);
        if (memcmp(&y, &target->p.y, sizeof y) != 0) {
            memset(target, 0, sizeof *target);
            return;
        }
        FIELD_OP(add)(&item->denominator, &y, &y);
    }
    item->target = target;
    item->point = point;
    item->negative = negative;
    if (batch->n == 0) {
        batch->product = item->denominator;
    } else {
        item->before = batch->product;
        FIELD_OP(mul)(&batch->product, &batch->product, &item->denominator);
    }
    if (++batch->n == BATCH)
        GROUP(flush)(batch);
}

struct GROUP(build) {
    TABLE *table;
    AFFINE bases[DIGIT_BITS];           /* 2^(width·k) times the base */
    struct GROUP(batch) *batches; /* one for each window */
};

/* Fills window k: from the multiples 1 … t of its base those up to 2t come by adding the t-th. */
static void GROUP(build_window)(void *context, size_t k)
{
    struct GROUP(build) *build = context;
    size_t count = (size_t)1 << (build->table->width - 1);
    AFFINE *entries = build->table->entries + k * count;
    struct GROUP(batch) *batch = &build->batches[k];
    batch->n = 0;
    entries[0] = build->bases[k];
    for (size_t t = 1; t < count; t *= 2) {
        for (size_t j = 0; j < t; j++) {
            entries[t + j] = entries[j];
            GROUP(add_later)(batch, &entries[t + j], &entries[t - 1], false);
        }
        GROUP(flush)(batch);
    }
}

static void GROUP(make_bases)(AFFINE *bases, unsigned windows, unsigned width, const AFFINE *base)
{
    PROJECTIVE power;
    GROUP(from_affine)(&power, base);
    for (unsigned k = 0; k < windows; k++) {
        GROUP(to_affine)(&bases[k], &power);
        for (unsigned i = 0; i < width; i++)
            GROUP(add)(&power, &power, &power);
    }
}

void API(free)(TABLE *table)
{
    if (!table)
        return;
    mem_free(table->entries);
    mem_free(table);
}

enum cuzk_status API(new)(const AFFINE *base, size_t uses, struct pool *pool, TABLE **out,
                          struct cuzk_error *err)
{
    CHECK(!GROUP(affine_is_infinity)(base));
    unsigned width = choose_width(uses, WIDTH_MAX);
    unsigned windows = window_count(width);
    size_t count = (size_t)windows << (width - 1);
    struct GROUP(build) *build = mem_zalloc(1, sizeof *build);
    TABLE *table = mem_zalloc(1, sizeof *table);
    AFFINE *entries = mem_alloc(count, sizeof *entries);
    struct GROUP(batch) *batches = mem_alloc(windows, sizeof *batches);
    enum cuzk_status status = CUZK_OK;
    if (build && table && entries && batches) {
        *table = (TABLE){ .width = width, .entries = entries };
        build->table = table;
        build->batches = batches;
        GROUP(make_bases)(build->bases, windows, width, base);
        if (pool)
            pool_run(pool, windows, GROUP(build_window), build);
        else
            for (size_t k = 0; k < windows; k++)
                GROUP(build_window)(build, k);
        *out = table;
    } else {
        mem_free(table);
        mem_free(entries);
        status = error_set(err, CUZK_NO_MEMORY, "no memory for a table of %zu multiples", count);
    }
    mem_free(batches);
    mem_free(build);
    return status;
}

struct GROUP(scratch) {
    struct recoded scalars[BLOCK];
    struct GROUP(batch) batch;
};

static void GROUP(mul_block)(const TABLE *table, const struct fr *scalars, size_t n, AFFINE *out,
                             struct GROUP(scratch) *scratch)
{
    unsigned width = table->width;
    scratch->batch.n = 0;
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        recode(&scratch->scalars[i], &scalars[i], width);
    for (unsigned k = 0; k < window_count(width); k++) {
        const AFFINE *entries = table->entries + ((size_t)k << (width - 1));
        for (size_t i = 0; i < n; i++) {
            /* Not in a function of its own: compilers take one for free of effects and drop it. */
            if (i + PREFETCH_AHEAD < n) {
                int64_t next = digit(&scratch->scalars[i + PREFETCH_AHEAD], k, width);
                const char *entry = (const char *)&entries[(next < 0 ? -next : next + !next) - 1];
                for (size_t line = 0; line < sizeof *entries; line += 64)
                    __builtin_prefetch(entry + line);
            }
            int64_t d = digit(&scratch->scalars[i], k, width);
            if (d != 0)
                GROUP(add_later)(&scratch->batch, &out[i], &entries[(d < 0 ? -d : d) - 1],
                                 (d < 0) != scratch->scalars[i].negative);
        }
        GROUP(flush)(&scratch->batch);
    }
}

enum cuzk_status API(mul)(const TABLE *table, const struct fr *scalars, size_t n, AFFINE *out,
                          struct cuzk_error *err)
{
    struct GROUP(scratch) *scratch = mem_alloc(1, sizeof *scratch);
    if (!scratch)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a block of products");
    for (size_t done = 0; done < n; done += BLOCK) {
        size_t count = n - done < BLOCK ? n - done : BLOCK;
        GROUP(mul_block)(table, scalars + done, count, out + done, scratch);
    }
    mem_free(scratch);
    return CUZK_OK;
}
