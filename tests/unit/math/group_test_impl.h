/* Tests of one group. test_group.c includes this file for each group and defines G, JACOBIAN,
   GROUP_BYTES, COMPRESSED_BYTES, POINT_OP (blst's functions on points) and FIELD_NEGATE before. */

static void G(multiple)(struct G(affine) * out, uint64_t k)
{
    struct JACOBIAN point;
    struct fr scalar;
    fr_from_u64(&scalar, k);
    G(from_affine)(&point, G(generator)());
    G(mul)(&point, &point, &scalar);
    G(to_affine)(out, &point);
}

static void G(encodings)(void **state)
{
    (void)state;
    for (uint64_t k = 1; k < 20; k++) {
        struct G(affine) point;
        struct G(affine) back;
        uint8_t bytes[GROUP_BYTES];
        uint8_t compressed[COMPRESSED_BYTES];
        G(multiple)(&point, k * k);
        G(encode)(bytes, &point);
        for (int check = POINT_CHECK_NONE; check <= POINT_CHECK_SUBGROUP; check++) {
            assert_true(G(decode)(&back, bytes, (enum point_check)check));
            assert_memory_equal(&back, &point, sizeof point);
        }
        G(compress)(compressed, &point);
        assert_true(G(decode_compressed)(&back, compressed));
        assert_memory_equal(&back, &point, sizeof point);
    }
}

static void G(malformed_points)(void **state)
{
    (void)state;
    struct G(affine) point;
    struct G(affine) kept;
    uint8_t good[GROUP_BYTES];
    uint8_t bytes[GROUP_BYTES];
    uint8_t compressed[COMPRESSED_BYTES];
    G(multiple)(&point, 5);
    G(encode)(good, &point);
    G(multiple)(&kept, 6);
    point = kept;
    /* Flags, and a first coordinate of at least q. */
    for (unsigned flag = 0x20; flag <= 0x80; flag *= 2) {
        memcpy(bytes, good, sizeof bytes);
        bytes[0] |= (uint8_t)flag;
        assert_false(G(decode)(&point, bytes, POINT_CHECK_NONE));
    }
    /* Every 48-byte coordinate must be below q. */
    for (size_t at = 0; at < GROUP_BYTES; at += 48) {
        memcpy(bytes, good, sizeof bytes);
        bytes[at] = 0x1b;
        assert_false(G(decode)(&point, bytes, POINT_CHECK_NONE));
    }
    memset(bytes, 0, sizeof bytes);
    assert_false(G(decode)(&point, bytes, POINT_CHECK_NONE));
    bytes[0] = 0x40; /* infinity */
    assert_false(G(decode)(&point, bytes, POINT_CHECK_NONE));
    memcpy(bytes, good, sizeof bytes);
    bytes[GROUP_BYTES - 1] ^= 1; /* off the curve */
    assert_true(G(decode)(&point, bytes, POINT_CHECK_NONE));
    point = kept;
    assert_false(G(decode)(&point, bytes, POINT_CHECK_CURVE));
    assert_false(G(decode)(&point, bytes, POINT_CHECK_SUBGROUP));
    memset(compressed, 0, sizeof compressed);
    assert_false(G(decode_compressed)(&point, compressed));
    compressed[0] = 0xc0; /* infinity */
    assert_false(G(decode_compressed)(&point, compressed));
    assert_memory_equal(&point, &kept, sizeof point);
}

/* A compressed point on the curve is seldom in the subgroup: found by trying x. */
static void G(points_outside_the_subgroup)(void **state)
{
    (void)state;
    unsigned outside = 0;
    for (unsigned x = 1; x < 200; x++) {
        uint8_t compressed[COMPRESSED_BYTES] = {0x80};
        uint8_t bytes[GROUP_BYTES];
        struct G(affine) raw;
        struct G(affine) point;
        compressed[COMPRESSED_BYTES - 1] = (uint8_t)x;
        if (POINT_OP(uncompress)(&raw.p, compressed) != BLST_SUCCESS)
            continue;
        assert_false(G(decode_compressed)(&point, compressed));
        G(encode)(bytes, &raw);
        assert_true(G(decode)(&point, bytes, POINT_CHECK_CURVE));
        assert_false(G(decode)(&point, bytes, POINT_CHECK_SUBGROUP));
        outside++;
    }
    assert_true(outside > 10);
}

/* All sums of a·G and b·G, |a|, |b| ≤ 3: equal, opposite and infinite operands. */
static void G(additions_are_complete)(void **state)
{
    (void)state;
    enum { MOST = 3, COUNT = 4 * MOST + 1 };
    struct JACOBIAN multiples[COUNT]; /* (i - 2·MOST)·G */
    struct JACOBIAN generator;
    G(from_affine)(&generator, G(generator)());
    for (int i = 0; i < COUNT; i++) {
        struct fr scalar;
        fr_from_u64(&scalar, (uint64_t)abs(i - 2 * MOST));
        G(mul)(&multiples[i], &generator, &scalar);
        if (i < 2 * MOST)
            POINT_OP(cneg)(&multiples[i].p, true);
    }
    assert_true(G(is_infinity)(&multiples[2 * MOST]));
    for (int a = -MOST; a <= MOST; a++) {
        for (int b = -MOST; b <= MOST; b++) {
            const struct JACOBIAN *expected = &multiples[a + b + 2 * MOST];
            struct JACOBIAN sum;
            struct G(affine) affine;
            G(add)(&sum, &multiples[a + 2 * MOST], &multiples[b + 2 * MOST]);
            assert_true(G(equal)(&sum, expected));
            G(to_affine)(&affine, &multiples[b + 2 * MOST]);
            assert_true(G(affine_is_infinity)(&affine) == (b == 0));
            G(add_affine)(&sum, &multiples[a + 2 * MOST], &affine);
            assert_true(G(equal)(&sum, expected));
        }
    }
}

/* --- Kernels ---------------------------------------------------------------------------------- */

/* Every kind of pair in every position of a batch, with the result beside or over an operand. */
static void G(check_pairs)(const struct G(kernel) * kernel, size_t n, unsigned seed)
{
    enum { MOST = 40 };
    struct G(affine) a[MOST];
    struct G(affine) b[MOST];
    struct G(affine) out[MOST];
    struct G(pair) pairs[MOST];
    struct JACOBIAN expected[MOST];
    _Alignas(AFFINE_SCRATCH_ALIGN) static uint8_t
        scratch[MOST * AFFINE_SCRATCH_BYTES + AFFINE_SCRATCH_EXTRA];
    assert_true(sizeof scratch >= affine_scratch_bytes(n));
    for (size_t i = 0; i < n; i++) {
        const uint64_t kind = pseudo_random() % 4 == 0 ? pseudo_random() % 4 : seed % 5;
        struct G(affine) points[2];
        G(multiple)(&points[0], 1 + pseudo_random() % 1000);
        G(multiple)(&points[1], 1 + pseudo_random() % 1000);
        if (kind == 1 || kind == 3)
            points[1] = points[0];
        if (kind == 3)
            FIELD_NEGATE(&points[1].p.y, &points[1].p.y, true);
        const bool negate = pseudo_random() & 1;
        struct JACOBIAN signed_b;
        uint8_t bytes[2 * GROUP_BYTES];
        G(encode)(bytes, &points[0]);
        G(encode)(bytes + GROUP_BYTES, &points[1]);
        struct G(affine) own[2];
        assert_int_equal(kernel->decode(own, bytes, NULL, 2), 2);
        a[i] = own[0];
        b[i] = own[1];
        if (kind == 2) { /* an infinite operand, or two */
            if (pseudo_random() & 1)
                memset(&a[i], 0, sizeof a[i]);
            else
                memset(&b[i], 0, sizeof b[i]);
            if (pseudo_random() % 3 == 0)
                memset(&b[i], 0, sizeof b[i]);
        }
        struct G(affine) standard;
        kernel->to_standard(&standard, &a[i]);
        G(from_affine)(&expected[i], &standard);
        kernel->to_standard(&standard, &b[i]);
        G(from_affine)(&signed_b, &standard);
        if (negate)
            POINT_OP(cneg)(&signed_b.p, true);
        G(add)(&expected[i], &expected[i], &signed_b);
        struct G(affine) *const to[] = {&out[i], &a[i], &b[i]};
        pairs[i] = (struct G(pair)){&a[i], &b[i], to[pseudo_random() % 3], negate};
    }
    kernel->add_pairs(pairs, n, scratch, NULL);
    for (size_t i = 0; i < n; i++) {
        struct G(affine) standard;
        struct JACOBIAN sum;
        kernel->to_standard(&standard, pairs[i].out);
        G(from_affine)(&sum, &standard);
        if (!G(equal)(&sum, &expected[i]))
            fail_msg("kernel %s: pair %zu of %zu is wrong", kernel->name, i, n);
    }
}

static void G(pairs_of_every_kind)(void **state)
{
    (void)state;
    for (const struct G(kernel) *const *kernel = G(kernels)(); *kernel; kernel++) {
        for (size_t n = 0; n <= 40; n++) {
            for (unsigned seed = 0; seed < 5; seed++)
                G(check_pairs)(*kernel, n, seed);
        }
    }
}

/* Coordinates whose components are 0, 1, 2, -2 or -1 modulo q. Such points are on other
   curves y² = x³ + b, each on its own: the formulas of an addition do not contain b. */
static size_t G(edge_points)(uint8_t bytes[][GROUP_BYTES])
{
    enum { EDGES = 5, FP_BYTES = 48, DEGREE = GROUP_BYTES / FP_BYTES / 2 };
    uint8_t edge[EDGES][FP_BYTES] = {{0}};
    for (unsigned k = 1; k < EDGES; k++) {
        const uint64_t words[6] = {k < 3 ? k : EDGES - k};
        blst_fp number;
        blst_fp_from_uint64(&number, words);
        blst_fp_cneg(&number, &number, k >= 3);
        blst_bendian_from_fp(edge[k], &number);
    }
    const size_t n = DEGREE == 1 ? EDGES : (size_t)EDGES * EDGES;
    for (size_t k = 0; k < n; k++) {
        for (size_t j = 0, digits = k; j < DEGREE; j++, digits /= EDGES) {
            /* Points of different number have different x. */
            memcpy(bytes[k] + j * FP_BYTES, edge[digits % EDGES], FP_BYTES);
            memcpy(bytes[k] + (DEGREE + j) * FP_BYTES, edge[(digits + 2 + j) % EDGES], FP_BYTES);
        }
    }
    return n;
}

static void G(pairs_of_edge_values)(void **state)
{
    (void)state;
    enum { MOST = 25 };
    _Alignas(AFFINE_SCRATCH_ALIGN) static uint8_t
        scratch[MOST * AFFINE_SCRATCH_BYTES + AFFINE_SCRATCH_EXTRA];
    static uint8_t bytes[MOST][GROUP_BYTES];
    const size_t n = G(edge_points)(bytes);
    for (const struct G(kernel) *const *kernel = G(kernels)(); *kernel; kernel++) {
        struct G(affine) points[MOST];
        struct G(affine) standard[MOST];
        struct G(affine) out[MOST];
        assert_int_equal((*kernel)->decode(points, bytes[0], NULL, n), n);
        for (size_t i = 0; i < n; i++) {
            (*kernel)->to_standard(&standard[i], &points[i]);
            struct G(affine) expected;
            assert_true(G(decode)(&expected, bytes[i], POINT_CHECK_NONE));
            assert_memory_equal(&standard[i], &expected, sizeof expected);
        }
        for (size_t turn = 0; turn < 2 * n; turn++) {
            struct G(pair) pairs[MOST];
            for (size_t i = 0; i < n; i++)
                pairs[i] = (struct G(pair)){&points[i], &points[(i + turn) % n], &out[i], turn < n};
            (*kernel)->add_pairs(pairs, n, scratch, NULL);
            for (size_t i = 0; i < n; i++) {
                struct JACOBIAN expected;
                struct JACOBIAN b;
                struct JACOBIAN sum;
                G(from_affine)(&expected, &standard[i]);
                G(from_affine)(&b, &standard[(i + turn) % n]);
                if (turn < n)
                    POINT_OP(cneg)(&b.p, true);
                G(add)(&expected, &expected, &b);
                struct G(affine) affine;
                (*kernel)->to_standard(&affine, &out[i]);
                G(from_affine)(&sum, &affine);
                if (!G(equal)(&sum, &expected))
                    fail_msg("kernel %s: points %zu and %zu", (*kernel)->name, i, (i + turn) % n);
            }
        }
    }
}
