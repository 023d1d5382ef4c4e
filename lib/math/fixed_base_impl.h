/* Fixed-base products of one group; included by fixed_base.c once for G1 and once for G2, with the
   names G(), API(), TABLE, PROJECTIVE, POINT_BYTES and WIDTH_MAX set. No guard: it is meant to be
   included twice. */

struct TABLE {
    const struct G(kernel) * kernel;
    unsigned width;
    struct G(affine) * entries; /* window k, multiple d at k · 2^(width-1) + d - 1; kernel's form */
};

/* Additions to different targets that share one inversion. */
struct G(batch) {
    const struct G(kernel) * kernel;
    size_t n;
    struct G(pair) pairs[BATCH];
    alignas(
        AFFINE_SCRATCH_ALIGN) uint8_t scratch[BATCH * AFFINE_SCRATCH_BYTES + AFFINE_SCRATCH_EXTRA];
};

static void G(flush)(struct G(batch) * batch)
{
    batch->kernel->add_pairs(batch->pairs, batch->n, batch->scratch, NULL);
    batch->n = 0;
}

/* *target += ±point, at the next flush at the latest. A target may be pending once only. */
static void G(add_later)(struct G(batch) * batch, struct G(affine) * target,
                         const struct G(affine) * point, bool negative)
{
    /* The table is larger than the near caches, so the entry is prefetched. */
    for (size_t line = 0; line < sizeof *point; line += 64)
        __builtin_prefetch((const char *)point + line, 0, 2);
    batch->pairs[batch->n++] = (struct G(pair)){target, point, target, negative};
    if (batch->n == BATCH)
        G(flush)(batch);
}

struct G(build) {
    struct TABLE *table;
    struct G(affine) bases[DIGIT_BITS]; /* 2^(width·k) times the base, kernel's form */
    struct G(batch) * batches;          /* one for each window */
};

/* Fills window k: from the multiples 1 … t of its base those up to 2t come by adding the t-th. */
static void G(build_window)(void *context, size_t k)
{
    struct G(build) *build = context;
    size_t count = (size_t)1 << (build->table->width - 1);
    struct G(affine) *entries = build->table->entries + k * count;
    struct G(batch) *batch = &build->batches[k];
    batch->kernel = build->table->kernel;
    batch->n = 0;
    entries[0] = build->bases[k];
    for (size_t t = 1; t < count; t *= 2) {
        for (size_t j = 0; j < t; j++) {
            entries[t + j] = entries[j];
            G(add_later)(batch, &entries[t + j], &entries[t - 1], false);
        }
        G(flush)(batch);
    }
}

static void G(make_bases)(struct G(build) * build, const struct G(affine) * base)
{
    struct PROJECTIVE power;
    G(from_affine)(&power, base);
    for (unsigned k = 0; k < window_count(build->table->width); k++) {
        uint8_t bytes[POINT_BYTES];
        struct G(affine) affine;
        G(to_affine)(&affine, &power);
        G(encode)(bytes, &affine);
        CHECK(build->table->kernel->decode(&build->bases[k], bytes, NULL, 1) == 1);
        for (unsigned i = 0; i < build->table->width; i++)
            G(add)(&power, &power, &power);
    }
}

void API(free)(struct TABLE *table)
{
    if (!table)
        return;
    mem_free(table->entries);
    mem_free(table);
}

enum cuzk_status API(new)(const struct G(affine) * base, size_t uses, struct pool *pool,
                          struct TABLE **out, struct cuzk_error *err)
{
    CHECK(!G(affine_is_infinity)(base));
    unsigned width = choose_width(uses, WIDTH_MAX);
    unsigned windows = window_count(width);
    size_t count = (size_t)windows << (width - 1);
    struct G(build) *build = mem_zalloc(1, sizeof *build);
    struct TABLE *table = mem_zalloc(1, sizeof *table);
    struct G(affine) *entries = mem_alloc(count, sizeof *entries);
    struct G(batch) *batches = mem_alloc(windows, sizeof *batches);
    enum cuzk_status status = CUZK_OK;
    if (build && table && entries && batches) {
        *table = (struct TABLE){.kernel = G(kernels)()[0], .width = width, .entries = entries};
        build->table = table;
        build->batches = batches;
        G(make_bases)(build, base);
        if (pool)
            pool_run(pool, windows, G(build_window), build);
        else
            for (size_t k = 0; k < windows; k++)
                G(build_window)(build, k);
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

struct G(block) {
    struct recoded scalars[BLOCK];
    struct G(batch) batch;
};

static void G(mul_block)(const struct TABLE *table, const struct fr *scalars, size_t n,
                         struct G(affine) * out, struct G(block) * block)
{
    unsigned width = table->width;
    block->batch.kernel = table->kernel;
    block->batch.n = 0;
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        recode(&block->scalars[i], &scalars[i], width);
    for (unsigned k = 0; k < window_count(width); k++) {
        const struct G(affine) *entries = table->entries + ((size_t)k << (width - 1));
        for (size_t i = 0; i < n; i++) {
            int64_t d = digit(&block->scalars[i], k, width);
            bool negative = (d < 0) != block->scalars[i].negative;
            if (d != 0)
                G(add_later)(&block->batch, &out[i], &entries[(d < 0 ? -d : d) - 1], negative);
        }
        G(flush)(&block->batch);
    }
    for (size_t i = 0; i < n; i++)
        table->kernel->to_standard(&out[i], &out[i]);
}

enum cuzk_status API(mul)(const struct TABLE *table, const struct fr *scalars, size_t n,
                          struct G(affine) * out, struct cuzk_error *err)
{
    struct G(block) *block = mem_alloc(1, sizeof *block);
    if (!block)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a block of products");
    for (size_t done = 0; done < n; done += BLOCK) {
        size_t count = n - done < BLOCK ? n - done : BLOCK;
        G(mul_block)(table, scalars + done, count, out + done, block);
    }
    mem_free(block);
    return CUZK_OK;
}
