/* Multi-scalar multiplication by signed buckets and subset sums. Included by msm_g1.c and msm_g2.c,
   which define G, FIELD_OP and POINT_BYTES as for affine_impl.h and JACOBIAN as the tag of a
   projective point.

   Points are decoded in chunks, and each chunk is spread over the buckets of all windows before the
   next one is looked at: the decoded points need a fixed, small room however many there are, and a
   window's part of a chunk (digits, sorted references) stays in the cache. */

enum {
    CHUNK_POINTS = 1 << 18,
    DECODE_BLOCK = 1 << 12,
    SUMMER_ITEMS = 1 << 11,
    SELECTED_LANES = 64, /* independent partial sums of a subset sum: keeps its batches large */
    SELECTED_BLOCK_WORDS = 512 /* words of the bitmap that a worker takes at a time */
};
#define BUCKET_BYTES_MAX ((size_t)128 << 20)

/* The working memory of one thread. */
struct worker {
    struct summer summer;
    uint32_t *start; /* buckets of one task + 1 */
    uint32_t *refs;  /* sorted references: index into the chunk × 2 + sign */
    uint32_t *index; /* points of a subset sum that are decoded next */
    struct G(affine) lanes[SELECTED_LANES];
};

struct msm {
    const struct msm_terms *terms;
    const struct G(kernel) * kernel;
    struct pool *pool;
    struct msm_plan plan;
    struct worker *workers;
    unsigned n_workers;
    unsigned n_parts; /* each window's buckets are cut into that many tasks */
    struct G(affine) * chunk;
    int32_t *digits; /* of the chunk, window by window, digits_stride apart */
    size_t digits_stride;
    size_t chunk_first, chunk_count;
    struct G(affine) * buckets;
    struct G(affine) * lines; /* row and column sums, lines_max of them for each window */
    size_t lines_max;
    struct JACOBIAN windows[MSM_WINDOWS_MAX];
    atomic_uint_least64_t bad_point; /* the first malformed one, UINT64_MAX if none */
};

static void note_bad_point(struct msm *msm, uint64_t number)
{
    uint64_t seen = atomic_load(&msm->bad_point);
    while (number < seen && !atomic_compare_exchange_weak(&msm->bad_point, &seen, number))
        ;
}

static enum cuzk_status check_points(struct msm *msm, struct cuzk_error *err)
{
    const uint64_t bad = atomic_load(&msm->bad_point);
    if (bad == UINT64_MAX)
        return CUZK_OK;
    return error_set(err, CUZK_BAD_PARAMS,
                     "section %s, point %llu: not an uncompressed finite point with canonical "
                     "coordinates",
                     msm->terms->name, (unsigned long long)bad);
}

/* Returns the pages of points first … end - 1 to the system. */
static void release_points(const struct msm_terms *terms, size_t first, size_t end)
{
    if (!terms->release_pages)
        return;
    const uintptr_t page = 4096;
    const uintptr_t from = (uintptr_t)(terms->points + first * POINT_BYTES) / page * page;
    const uintptr_t to = (uintptr_t)(terms->points + end * POINT_BYTES) / page * page;
    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED); /* only a hint: a failure is harmless */
}

/* --- Scalars: buckets ------------------------------------------------------------------------- */

static void decode_task(void *context, unsigned worker_number, size_t number)
{
    struct msm *msm = context;
    (void)worker_number;
    const size_t first = number * DECODE_BLOCK;
    const size_t left = msm->chunk_count - first;
    const size_t count = left < DECODE_BLOCK ? left : DECODE_BLOCK;
    const size_t global = msm->chunk_first + first;
    const struct msm_terms *terms = msm->terms;
    const uint32_t *index = terms->index ? terms->index + global : NULL;
    const uint8_t *points = index ? terms->points : terms->points + global * POINT_BYTES;
    const size_t good = msm->kernel->decode(msm->chunk + first, points, index, count);
    if (good < count)
        note_bad_point(msm, index ? index[good] : global + good);
    for (size_t i = 0; i < count; i++) {
        struct msm_digits digits;
        msm_digits_make(&digits, &msm->plan, &terms->scalars[global + i]);
        for (unsigned w = 0; w < msm->plan.n_windows; w++) {
            const struct msm_window window = msm_window(&msm->plan, w);
            msm->digits[w * msm->digits_stride + first + i] = (int32_t)msm_digit(&digits, &window);
        }
    }
    if (!index)
        release_points(terms, global, global + count);
}

/* Sorts the chunk's digits of one window that fall into n_buckets buckets from first_bucket on:
   bucket b's references are refs[start[b]] … refs[start[b + 1] - 1]. */
static void sort_digits(const struct msm *msm, struct worker *worker, unsigned window,
                        size_t first_bucket, size_t n_buckets)
{
    const int32_t *digits = msm->digits + window * msm->digits_stride;
    uint32_t *start = worker->start;
    memset(start, 0, (n_buckets + 1) * sizeof *start);
    for (size_t i = 0; i < msm->chunk_count; i++) {
        /* Digit 0 wraps around to no bucket at all. */
        const size_t bucket = (size_t)labs(digits[i]) - 1 - first_bucket;
        if (bucket < n_buckets)
            start[bucket]++;
    }
    for (size_t b = 1; b <= n_buckets; b++)
        start[b] += start[b - 1];
    /* start[b] is now bucket b's end, and its begin once it has been filled from behind. */
    for (size_t i = msm->chunk_count; i-- > 0;) {
        const size_t bucket = (size_t)labs(digits[i]) - 1 - first_bucket;
        if (bucket < n_buckets)
            worker->refs[--start[bucket]] = (uint32_t)(i << 1) | (digits[i] < 0);
    }
}

static void bucket_task(void *context, unsigned worker_number, size_t number)
{
    struct msm *msm = context;
    struct worker *worker = &msm->workers[worker_number];
    const unsigned window = (unsigned)(number / msm->n_parts);
    const size_t part = number % msm->n_parts;
    const size_t in_window = msm_buckets(&msm->plan, window);
    const size_t first = part * in_window / msm->n_parts;
    const size_t count = (part + 1) * in_window / msm->n_parts - first;
    uint32_t *start = worker->start;
    sort_digits(msm, worker, window, first, count);
    struct G(affine) *buckets = msm->buckets + msm->plan.first_bucket[window] + first;
    for (size_t b = 0; b < count; b++) {
        if (start[b] == start[b + 1])
            continue;
        summer_begin(&worker->summer, &buckets[b]);
        for (uint32_t j = start[b]; j < start[b + 1]; j++) {
            const uint32_t left = start[count] - j;
            worker->summer.ahead = (struct affine_ahead){
                .points = msm->chunk,
                .refs = &worker->refs[j],
                .n = left < worker->summer.capacity ? left : worker->summer.capacity,
            };
            summer_add(&worker->summer, &msm->chunk[worker->refs[j] >> 1], worker->refs[j] & 1);
        }
    }
    summer_flush(&worker->summer);
}

/* out = Σ i·points[i], i < n. */
static void weighted_sum(struct JACOBIAN *out, const struct msm *msm,
                         const struct G(affine) * points, size_t n)
{
    struct JACOBIAN running;
    G(set_infinity)(&running);
    G(set_infinity)(out);
    for (size_t i = n; i-- > 1;) {
        struct G(affine) point;
        msm->kernel->to_standard(&point, &points[i]);
        G(add_affine)(&running, &running, &point);
        G(add)(out, out, &running);
    }
}

/* Rows and columns of the matrix into which the reduction of a window arranges its digits. */
static size_t matrix_columns(const struct msm_plan *plan, unsigned window)
{
    return (size_t)1 << ((msm_width(plan, window) - 1) / 2);
}

static size_t matrix_rows(const struct msm_plan *plan, unsigned window)
{
    /* The last row holds nothing but the largest digit. */
    return msm_buckets(plan, window) / matrix_columns(plan, window) + 1;
}

/* Sum of the digits first, first + step, … (length of them) into *target. */
static void sum_line(struct summer *summer, struct G(affine) * target,
                     const struct G(affine) * buckets, size_t n_buckets, size_t first, size_t step,
                     size_t length)
{
    memset(target, 0, sizeof *target);
    summer_begin(summer, target);
    for (size_t j = 0, digit = first; j < length && digit <= n_buckets; j++, digit += step) {
        if (digit != 0 && !G(affine_is_infinity)(&buckets[digit - 1]))
            summer_add(summer, &buckets[digit - 1], false);
    }
}

/* A window's buckets to Σ digit·bucket. With digit = row·n_columns + column the sum is
   n_columns·Σ row·(sum of the row) + Σ column·(sum of the column): two batched additions a bucket
   instead of two projective ones. */
static void reduce_task(void *context, unsigned worker_number, size_t number)
{
    struct msm *msm = context;
    struct worker *worker = &msm->workers[worker_number];
    const unsigned window = (unsigned)number;
    const size_t n_buckets = msm_buckets(&msm->plan, window);
    const struct G(affine) *buckets = msm->buckets + msm->plan.first_bucket[window];
    const size_t n_columns = matrix_columns(&msm->plan, window);
    const size_t n_rows = matrix_rows(&msm->plan, window);
    struct G(affine) *rows = msm->lines + number * msm->lines_max;
    struct G(affine) *columns = rows + n_rows;
    for (size_t row = 1; row < n_rows; row++)
        sum_line(&worker->summer, &rows[row], buckets, n_buckets, row * n_columns, 1, n_columns);
    for (size_t column = 1; column < n_columns; column++)
        sum_line(&worker->summer, &columns[column], buckets, n_buckets, column, n_columns, n_rows);
    summer_flush(&worker->summer);
    struct JACOBIAN *out = &msm->windows[window];
    struct JACOBIAN sum;
    weighted_sum(out, msm, rows, n_rows);
    for (size_t i = 1; i < n_columns; i *= 2)
        G(add)(out, out, out);
    weighted_sum(&sum, msm, columns, n_columns);
    G(add)(out, out, &sum);
}

/* Σ 2^position·window, from the top. */
static void join_windows(struct JACOBIAN *out, const struct msm *msm)
{
    G(set_infinity)(out);
    for (unsigned w = msm->plan.n_windows; w-- > 0;) {
        for (unsigned i = 0; i < msm_width(&msm->plan, w); i++)
            G(add)(out, out, out);
        G(add)(out, out, &msm->windows[w]);
    }
}

static enum cuzk_status sum_scalars(struct JACOBIAN *out, struct msm *msm, struct cuzk_error *err)
{
    const size_t n = msm->terms->n_scalars;
    for (size_t first = 0; first < n; first += msm->chunk_count) {
        const size_t left = n - first;
        msm->chunk_first = first;
        msm->chunk_count = left < CHUNK_POINTS ? left : CHUNK_POINTS;
        spread(msm->pool, (msm->chunk_count + DECODE_BLOCK - 1) / DECODE_BLOCK, decode_task, msm);
        TRY(check_points(msm, err));
        spread(msm->pool, msm->plan.n_windows * msm->n_parts, bucket_task, msm);
    }
    spread(msm->pool, msm->plan.n_windows, reduce_task, msm);
    join_windows(out, msm);
    return CUZK_OK;
}

/* --- Bits: subset sums ------------------------------------------------------------------------ */

/* Adds the points of worker->index to the worker's lanes. */
static void add_selected(struct msm *msm, struct worker *worker, size_t n)
{
    struct summer *summer = &worker->summer;
    const size_t good = msm->kernel->decode(summer->slots, msm->terms->points, worker->index, n);
    if (good < n) {
        note_bad_point(msm, worker->index[good]);
        return;
    }
    for (size_t lane = 0; lane < SELECTED_LANES; lane++) {
        summer_begin(summer, &worker->lanes[lane]);
        for (size_t i = lane * n / SELECTED_LANES; i < (lane + 1) * n / SELECTED_LANES; i++)
            summer_add(summer, &summer->slots[i], false);
    }
    summer_flush(summer);
}

static void selected_task(void *context, unsigned worker_number, size_t number)
{
    struct msm *msm = context;
    struct worker *worker = &msm->workers[worker_number];
    /* Lanes' own values take items too, so that a filling never overflows into a second one. */
    const size_t fill = worker->summer.capacity - SELECTED_LANES - 2;
    const size_t n_points = msm->terms->n_points;
    const size_t first = number * SELECTED_BLOCK_WORDS;
    const size_t last = (n_points + 63) / 64;
    const size_t end = last - first < SELECTED_BLOCK_WORDS ? last : first + SELECTED_BLOCK_WORDS;
    size_t n = 0;
    for (size_t i = first; i < end; i++) {
        for (uint64_t word = msm->terms->selected[i]; word != 0; word &= word - 1) {
            worker->index[n++] = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(word);
            if (n == fill) {
                add_selected(msm, worker, n);
                n = 0;
            }
        }
    }
    add_selected(msm, worker, n);
    release_points(msm->terms, first * 64, end * 64 < n_points ? end * 64 : n_points);
}

static enum cuzk_status sum_selected(struct JACOBIAN *out, struct msm *msm, struct cuzk_error *err)
{
    const size_t n_words = ((size_t)msm->terms->n_points + 63) / 64;
    G(set_infinity)(out);
    spread(msm->pool, (n_words + SELECTED_BLOCK_WORDS - 1) / SELECTED_BLOCK_WORDS, selected_task,
           msm);
    TRY(check_points(msm, err));
    for (unsigned i = 0; i < msm->n_workers; i++) {
        for (unsigned lane = 0; lane < SELECTED_LANES; lane++) {
            struct G(affine) point;
            msm->kernel->to_standard(&point, &msm->workers[i].lanes[lane]);
            G(add_affine)(out, out, &point);
        }
    }
    return CUZK_OK;
}

/* --- Both ------------------------------------------------------------------------------------- */

static void msm_free(struct msm *msm)
{
    if (msm->workers) {
        for (unsigned i = 0; i < msm->n_workers; i++) {
            summer_free(&msm->workers[i].summer);
            mem_free(msm->workers[i].start);
            mem_free(msm->workers[i].refs);
            mem_free(msm->workers[i].index);
        }
    }
    mem_free(msm->workers);
    mem_free(msm->chunk);
    mem_free(msm->digits);
    mem_free(msm->buckets);
    mem_free(msm->lines);
}

static bool msm_allocate(struct msm *msm)
{
    const size_t n = msm->terms->n_scalars;
    const size_t chunk_points = n < CHUNK_POINTS ? n : CHUNK_POINTS;
    const unsigned n_windows = msm->plan.n_windows;
    size_t buckets_in_task = 0;
    if (n > 0) {
        for (unsigned w = 0; w < n_windows; w++) {
            const size_t lines = matrix_rows(&msm->plan, w) + matrix_columns(&msm->plan, w);
            msm->lines_max = lines > msm->lines_max ? lines : msm->lines_max;
        }
        msm->lines = mem_alloc(n_windows * msm->lines_max, sizeof *msm->lines);
        msm->chunk = mem_alloc(chunk_points, sizeof *msm->chunk);
        msm->digits_stride = chunk_points;
        msm->digits = mem_alloc(chunk_points * n_windows, sizeof *msm->digits);
        msm->buckets = mem_zalloc(msm->plan.first_bucket[n_windows], sizeof *msm->buckets);
        if (!msm->lines || !msm->chunk || !msm->digits || !msm->buckets)
            return false;
        buckets_in_task = msm_buckets(&msm->plan, n_windows - 1) / msm->n_parts + 2;
    }
    msm->workers = mem_zalloc(msm->n_workers, sizeof *msm->workers);
    if (!msm->workers)
        return false;
    for (unsigned i = 0; i < msm->n_workers; i++) {
        struct worker *worker = &msm->workers[i];
        worker->start = mem_alloc(buckets_in_task + 1, sizeof *worker->start);
        worker->refs = mem_alloc(chunk_points, sizeof *worker->refs);
        worker->index = mem_alloc(SUMMER_ITEMS, sizeof *worker->index);
        if (!worker->start || !worker->refs || !worker->index ||
            !summer_init(&worker->summer, msm->kernel, SUMMER_ITEMS))
            return false;
    }
    return true;
}

enum cuzk_status G(msm)(struct JACOBIAN *out, const struct msm_terms *terms,
                        const struct G(kernel) * kernel, struct pool *pool, struct cuzk_error *err)
{
    struct msm msm = {
        .terms = terms,
        .kernel = kernel ? kernel : G(kernels)()[0],
        .pool = pool,
        .n_workers = spread_workers(pool),
        .n_parts = 1,
    };
    atomic_init(&msm.bad_point, UINT64_MAX);
    msm_plan_make(&msm.plan, terms->n_scalars, BUCKET_BYTES_MAX / sizeof *msm.buckets);
    /* Enough tasks that the last one running does not matter. */
    while (msm.n_workers > 1 && msm.plan.n_windows * msm.n_parts < 8 * msm.n_workers)
        msm.n_parts *= 2;

    G(set_infinity)(out);
    enum cuzk_status status = CUZK_OK;
    struct JACOBIAN part;
    if (!msm_allocate(&msm)) {
        status = error_set(err, CUZK_NO_MEMORY, "sum over section %s: out of memory for %u points",
                           terms->name, terms->n_points);
        goto out;
    }
    if (terms->selected) {
        status = sum_selected(&part, &msm, err);
        if (status != CUZK_OK)
            goto out;
        G(add)(out, out, &part);
    }
    if (terms->n_scalars > 0) {
        status = sum_scalars(&part, &msm, err);
        if (status != CUZK_OK)
            goto out;
        G(add)(out, out, &part);
    }
out:
    msm_free(&msm);
    return status;
}
