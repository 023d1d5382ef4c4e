/* Tests of sums in one group. test_msm.c includes this file for each group and defines G, JACOBIAN
   and GROUP_BYTES before. Points are known multiples of the generator, so the expected sum is one
   multiplication. */

struct G(sample) {
    uint8_t *points;
    struct fr *logs; /* point i is logs[i] times the generator */
    uint64_t *selected;
    uint32_t *index;
    struct fr *scalars;
    uint32_t n_points, n_scalars;
};

static void G(times_generator)(struct JACOBIAN *out, const struct fr *log)
{
    struct JACOBIAN generator;
    G(from_affine)(&generator, G(generator)());
    G(mul)(out, &generator, log);
}

/* Points (first + step·i)·G: neighbours share nothing; steps of 0 and small cycles give
 * repetitions. */
static void G(sample_init)(struct G(sample) * s, uint32_t n, uint64_t first, uint64_t step,
                           uint64_t cycle)
{
    memset(s, 0, sizeof *s);
    s->n_points = n;
    s->points = mem_alloc(n, GROUP_BYTES);
    s->logs = mem_alloc(n, sizeof *s->logs);
    s->selected = mem_zalloc(n / 64 + 1, sizeof *s->selected);
    s->index = mem_alloc(n, sizeof *s->index);
    s->scalars = mem_zalloc(n, sizeof *s->scalars);
    for (uint32_t i = 0; i < n; i++) {
        struct JACOBIAN point;
        struct G(affine) affine;
        fr_from_u64(&s->logs[i], first + step * (i % cycle));
        if (cycle < n && i / cycle % 2 == 1)
            fr_neg(&s->logs[i], &s->logs[i]);
        G(times_generator)(&point, &s->logs[i]);
        G(to_affine)(&affine, &point);
        G(encode)(s->points + (size_t)i * GROUP_BYTES, &affine);
    }
}

static void G(sample_free)(struct G(sample) * s)
{
    mem_free(s->points);
    mem_free(s->logs);
    mem_free(s->selected);
    mem_free(s->index);
    mem_free(s->scalars);
}

/* Sums with every kernel and several thread counts and compares with the known logarithm. */
static void G(check)(const struct G(sample) * s, bool use_bits, bool use_index)
{
    struct fr expected_log = fr_zero;
    for (uint32_t i = 0; use_bits && i < s->n_points; i++) {
        if (s->selected[i / 64] >> (i % 64) & 1)
            fr_add(&expected_log, &expected_log, &s->logs[i]);
    }
    for (uint32_t i = 0; i < s->n_scalars; i++) {
        struct fr term;
        fr_mul(&term, &s->scalars[i], &s->logs[use_index ? s->index[i] : i]);
        fr_add(&expected_log, &expected_log, &term);
    }
    struct JACOBIAN expected;
    G(times_generator)(&expected, &expected_log);
    const struct msm_terms terms = {
        .name = "test",
        .points = s->points,
        .n_points = s->n_points,
        .selected = use_bits ? s->selected : NULL,
        .index = use_index ? s->index : NULL,
        .scalars = s->scalars,
        .n_scalars = s->n_scalars,
    };
    for (const struct G(kernel) *const *kernel = G(kernels)(); *kernel; kernel++) {
        for (unsigned threads = 0; threads <= 3; threads++) {
            struct pool *pool = threads ? pool_new(threads) : NULL;
            struct JACOBIAN sum;
            struct cuzk_error err;
            assert_ok(G(msm)(&sum, &terms, *kernel, pool, &err), err);
            if (!G(equal)(&sum, &expected))
                fail_msg("kernel %s, %u threads: wrong sum", (*kernel)->name, threads);
            pool_free(pool);
        }
    }
}

/* Scalars that an implementation with windows and signs may get wrong, and random ones. */
static void G(set_scalars)(struct G(sample) * s, uint32_t n)
{
    s->n_scalars = n;
    for (uint32_t i = 0; i < n; i++) {
        switch (i % 7) {
        case 0:
            s->scalars[i] = fr_zero;
            break;
        case 1:
            s->scalars[i] = fr_one;
            break;
        case 2:
            s->scalars[i] = fr_minus_one;
            break;
        case 3:
            fr_pow2(&s->scalars[i], i % 255);
            break;
        default:
            pseudo_random_fr(&s->scalars[i]);
        }
    }
}

static void G(test_small_sizes)(void **state)
{
    (void)state;
    for (uint32_t n = 0; n <= 20; n++) {
        struct G(sample) s;
        G(sample_init)(&s, n, 3, 5, UINT64_MAX);
        G(set_scalars)(&s, n);
        G(check)(&s, false, false);
        G(sample_free)(&s);
    }
}

static void G(test_single_scalars)(void **state)
{
    (void)state;
    struct G(sample) s;
    G(sample_init)(&s, 1, 1, 0, 1);
    s.n_scalars = 1;
    for (unsigned bit = 0; bit < 255; bit += 23) {
        fr_pow2(&s.scalars[0], bit);
        G(check)(&s, false, false);
        fr_sub(&s.scalars[0], &fr_zero, &s.scalars[0]);
        G(check)(&s, false, false);
    }
    G(sample_free)(&s);
}

static void G(test_random)(void **state)
{
    (void)state;
    struct G(sample) s;
    G(sample_init)(&s, 1500, 1000003, 7919, UINT64_MAX);
    G(set_scalars)(&s, 1500);
    G(check)(&s, false, false);
    for (uint32_t i = 0; i < 300; i++)
        s.index[i] = (i * 37) % 1500;
    s.n_scalars = 300;
    G(check)(&s, false, true);
    G(sample_free)(&s);
}

/* Equal and opposite points meet in buckets and in subset sums, and sums vanish. */
static void G(test_repeated_points)(void **state)
{
    (void)state;
    for (uint64_t cycle = 1; cycle <= 4; cycle++) {
        struct G(sample) s;
        G(sample_init)(&s, 400, 1, 1, cycle);
        G(set_scalars)(&s, 400);
        memset(s.selected, 0xff, 400 / 8);
        G(check)(&s, false, false);
        G(check)(&s, true, false);
        s.n_scalars = 0;
        G(check)(&s, true, false);
        s.n_scalars = 400;
        for (uint32_t i = 0; i < 400; i++)
            s.scalars[i] = fr_one;
        G(check)(&s, false, false);
        G(sample_free)(&s);
    }
}

static void G(test_skewed_scalars)(void **state)
{
    (void)state;
    struct G(sample) s;
    G(sample_init)(&s, 700, 11, 13, UINT64_MAX);
    s.n_scalars = 700;
    struct fr same;
    pseudo_random_fr(&same);
    for (uint32_t i = 0; i < 700; i++)
        s.scalars[i] = same;
    G(check)(&s, false, false);
    for (uint32_t i = 0; i < 700; i++)
        s.scalars[i] = i % 2 ? fr_one : fr_minus_one;
    G(check)(&s, false, false);
    for (uint32_t i = 0; i < 700; i++)
        fr_from_u64(&s.scalars[i], i % 100 == 0 ? 0xffffffffffffffff : i & 1);
    G(check)(&s, false, false);
    G(sample_free)(&s);
}

static void G(test_selected)(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 63, 64, 65, 200, 1000};
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        const uint32_t n = sizes[k];
        struct G(sample) s;
        G(sample_init)(&s, n, 99, 101, UINT64_MAX);
        G(check)(&s, true, false); /* none selected: infinity */
        for (uint32_t i = 0; i < n; i++) {
            if (pseudo_random() & 1)
                s.selected[i / 64] |= UINT64_C(1) << (i % 64);
        }
        G(check)(&s, true, false);
        G(set_scalars)(&s, n / 3);
        for (uint32_t i = 0; i < n / 3; i++)
            s.index[i] = i * 3;
        G(check)(&s, true, true);
        G(sample_free)(&s);
    }
}

static void G(test_malformed_point)(void **state)
{
    (void)state;
    struct G(sample) s;
    G(sample_init)(&s, 100, 5, 1, UINT64_MAX);
    G(set_scalars)(&s, 100);
    memset(s.selected, 0xff, 12);
    uint8_t *bad = s.points + 70 * GROUP_BYTES;
    static const uint8_t firsts[] = {0x40, 0x80, 0x20, 0x1b};
    for (size_t k = 0; k < ARRAY_LEN(firsts); k++) {
        for (int bits = 0; bits <= 1; bits++) {
            bad[0] = firsts[k];
            struct msm_terms terms = {.name = "h", .points = s.points, .n_points = 100};
            if (bits) {
                terms.selected = s.selected;
            } else {
                terms.scalars = s.scalars;
                terms.n_scalars = 100;
            }
            struct JACOBIAN sum;
            struct cuzk_error err;
            for (const struct G(kernel) *const *kernel = G(kernels)(); *kernel; kernel++) {
                assert_int_equal(G(msm)(&sum, &terms, *kernel, NULL, &err), CUZK_BAD_PARAMS);
                assert_non_null(strstr(err.text, "section h, point 70"));
            }
        }
    }
    memset(bad, 0, GROUP_BYTES); /* (0, 0) is how infinity looks in memory, not a point */
    const struct msm_terms zero = {
        .name = "h", .points = s.points, .n_points = 100, .scalars = s.scalars, .n_scalars = 100};
    struct JACOBIAN sum;
    assert_int_equal(G(msm)(&sum, &zero, NULL, NULL, NULL), CUZK_BAD_PARAMS);
    G(sample_free)(&s);
}

static void G(test_no_memory)(void **state)
{
    (void)state;
    struct G(sample) s;
    G(sample_init)(&s, 50, 5, 1, UINT64_MAX);
    G(set_scalars)(&s, 50);
    s.selected[0] = 0xf0f;
    const struct msm_terms terms = {.name = "h",
                                    .points = s.points,
                                    .n_points = 50,
                                    .selected = s.selected,
                                    .scalars = s.scalars,
                                    .n_scalars = 50};
    enum cuzk_status status = CUZK_NO_MEMORY;
    long after = 0;
    for (; status == CUZK_NO_MEMORY; after++) {
        const size_t before = mem_used_bytes();
        struct JACOBIAN sum;
        mem_fail_after(after);
        status = G(msm)(&sum, &terms, NULL, NULL, NULL);
        mem_fail_after(-1);
        assert_int_equal(mem_used_bytes(), before);
    }
    assert_int_equal(status, CUZK_OK);
    assert_true(after > 5);
    G(sample_free)(&s);
}
