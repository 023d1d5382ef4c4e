/* Poseidon against the known answers of part I.3. */
#include "support/support.h"

#include "base/hash.h"
#include "math/poseidon.h"
#include "pseudo_random.h"

static void feed(struct hasher *hasher, const struct fr *elements, size_t n)
{
    uint8_t bytes[FR_BYTES];
    for (size_t i = 0; i < n; i++) {
        fr_to_bytes(bytes, &elements[i]);
        hasher_update(hasher, bytes, sizeof bytes);
    }
}

static void assert_digest(struct hasher *hasher, const char *hex)
{
    uint8_t digest[SHA256_BYTES];
    hasher_final(hasher, digest);
    assert_hex_equal(digest, sizeof digest, hex);
}

static void assert_fr_hex(const struct fr *a, const char *hex)
{
    uint8_t bytes[FR_BYTES];
    fr_to_bytes(bytes, a);
    assert_hex_equal(bytes, sizeof bytes, hex);
}

static void constants_are_those_of_the_reference(void **state)
{
    (void)state;
    static const struct {
        unsigned arity;
        const char *first, *compressed, *matrices;
    } known[] = {
        {2, "d8d36e9d000a32a7368b75a292ac1e50244abb1d8651bd237ae13afa4b069f66",
         "b768b730ce5198394d948d76421ab53b08cc16ec1ac082cf503f370192253e16",
         "a33201d9e9370922641f21a7fd2b6870c544f9a20b5e08f41477a4b401dde6d6"},
        {4, NULL, "3e4ec19ded2c86a89f3d6bddc13d9571a0cc5473e7207cfbaf6a8169a69f5709",
         "b4b3d58cb29b95278249633519d4bb4cc10e9f476f4db85ecd563919947b1846"},
        {8, "f9c2f4f25441984394d48ce4e74a2bc54ad86d77dbad3c8ce05f04c4120de96c",
         "f5a94aea73a583d080abdf7d71259fab9107f5523a4a1eddc41468f94564dd16",
         "b214cbdf475db05677739b129172f62a37893379c0c8ba90fa43e13e692661e2"},
        {11, "e4bc89d06b09dee67db73a0f8ef106d5e00289f3c5bf997304b548e676956c1f",
         "2d7c0e4e9b98eda82102b69f1a964ae59ccf98b0008b6d3d632d86f4fea79d1d",
         "776744c46f0ef36b95efa57347d8c4ab29daf9cf1809d014b37af2bcc9775a11"},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        const struct poseidon_constants *c = poseidon_constants(known[k].arity);
        if (known[k].first)
            assert_fr_hex(&c->compressed[0], known[k].first);
        struct hasher *hasher = sha256_new();
        feed(hasher, c->compressed, c->n_compressed);
        assert_digest(hasher, known[k].compressed);
        hasher = sha256_new();
        for (unsigned i = 0; i < c->width; i++)
            feed(hasher, c->pre_sparse[i], c->width);
        for (unsigned i = 0; i < c->partial_rounds; i++) {
            feed(hasher, c->sparse_w[i], c->width);
            feed(hasher, c->sparse_v[i], c->arity);
        }
        assert_digest(hasher, known[k].matrices);
    }
}

static void hashes_of_counting_inputs(void **state)
{
    (void)state;
    static const struct {
        unsigned arity;
        const char *hash;
    } known[] = {
        {2, "ffe7029a363c202e9da6059d33a9fba661e1ef02d90f9e736ba5765ed7086539"},
        {4, "5d076266ff149801ec2713bf05466bfb99932279653cdb008a84e5a9104ba558"},
        {8, "e6a5386df534992ad9aec49c9d2e684b777067114200011255dea5a31d619423"},
        {11, "6331692bc3bbe3cec18fb0ccd8dcf3097ae8eb32e237a56c287f22e5b2c10f0c"},
    };
    struct fr inputs[POSEIDON_ARITY_MAX], hash;
    for (unsigned i = 0; i < POSEIDON_ARITY_MAX; i++)
        fr_from_u64(&inputs[i], i);
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        poseidon_hash(&hash, known[k].arity, inputs);
        assert_fr_hex(&hash, known[k].hash);
    }
    poseidon_hash_randomness(&hash, inputs);
    assert_fr_hex(&hash, "587707bcc44ea7e5c7677339ea0b58e325fea03481c51fad4e92f0e7c4354a31");
}

/* The mixes add up to twelve full-size products before they reduce: inputs near r make the sums as
   large as they get. */
static void traces_satisfy_the_rows_of_the_circuit(void **state)
{
    (void)state;
    static const unsigned arities[] = {2, 4, 8, 11};
    struct fr inputs[POSEIDON_ARITY_MAX], trace[POSEIDON_TRACE_MAX], hash, product;
    for (unsigned i = 0; i < POSEIDON_ARITY_MAX; i++)
        inputs[i] = fr_minus_one;
    for (size_t k = 0; k < 4; k++) {
        unsigned arity = arities[k];
        size_t len = poseidon_trace_len(arity);
        poseidon_trace(trace, arity, POSEIDON_TREE, inputs);
        poseidon_hash(&hash, arity, inputs);
        assert_true(fr_equal(&hash, &trace[len - 1]));
        /* v, v², v⁴ of every S-box after the first round */
        for (size_t i = 3 * arity; i + 1 < len; i += 4) {
            fr_sqr(&product, &trace[i]);
            assert_true(fr_equal(&product, &trace[i + 1]));
            fr_sqr(&product, &product);
            assert_true(fr_equal(&product, &trace[i + 2]));
        }
    }
}

/* --- Several at once -------------------------------------------------------------------------- */

enum { INSTANCES_MAX = 2 * POSEIDON_LANES + 1, GUARD = 2 };

static struct fr instance_inputs[INSTANCES_MAX][POSEIDON_ARITY_MAX];
static struct fr expected_traces[INSTANCES_MAX][POSEIDON_TRACE_MAX];
static struct fr traces[INSTANCES_MAX][POSEIDON_TRACE_MAX + GUARD];

/* Instances of different kinds side by side: none may disturb its neighbours. */
static void fill_instance(size_t k)
{
    for (unsigned i = 0; i < POSEIDON_ARITY_MAX; i++) {
        struct fr *input = &instance_inputs[k][i];
        switch (k % 6) {
        case 0:
            *input = fr_minus_one;
            break;
        case 1:
            *input = fr_zero;
            break;
        case 2:
            *input = i % 2 ? fr_minus_one : fr_one;
            break;
        default:
            pseudo_random_fr(input);
        }
    }
}

/* The n instances from `first` on; everything else stays as it was. */
static void check_traces(const struct poseidon_arith *arith, unsigned arity,
                         enum poseidon_domain domain, size_t first, size_t n)
{
    const struct fr *in[INSTANCES_MAX];
    struct fr *out[INSTANCES_MAX];
    size_t len = poseidon_trace_len(arity);
    memset(traces, 0xa5, sizeof traces);
    struct fr untouched = traces[0][0];
    for (size_t k = 0; k < n; k++) {
        in[k] = instance_inputs[first + k];
        out[k] = traces[first + k];
    }
    poseidon_traces(arith, arity, domain, n, in, out);
    for (size_t k = 0; k < INSTANCES_MAX; k++) {
        bool made = k >= first && k < first + n;
        for (size_t i = 0; i < POSEIDON_TRACE_MAX + GUARD; i++) {
            const struct fr *wanted = made && i < len ? &expected_traces[k][i] : &untouched;
            if (!fr_equal(&traces[k][i], wanted))
                fail_msg("%s, arity %u, %zu instances: value %zu of instance %zu is wrong",
                         poseidon_arith_name(arith), arity, n, i, k - first);
        }
    }
}

/* Each hash in the place of an input of its own. */
static void check_hashes(const struct poseidon_arith *arith, unsigned arity, size_t n)
{
    static struct fr inputs[INSTANCES_MAX][POSEIDON_ARITY_MAX];
    const struct fr *in[INSTANCES_MAX];
    struct fr *out[INSTANCES_MAX];
    size_t len = poseidon_trace_len(arity);
    memcpy(inputs, instance_inputs, sizeof inputs);
    for (size_t k = 0; k < n; k++) {
        in[k] = inputs[k];
        out[k] = &inputs[k][k % arity];
    }
    poseidon_hashes(arith, arity, n, in, out);
    for (size_t k = 0; k < n; k++)
        assert_true(fr_equal(out[k], &expected_traces[k][len - 1]));
    for (size_t k = 0; k < INSTANCES_MAX; k++) {
        for (size_t i = 0; i < POSEIDON_ARITY_MAX; i++)
            assert_true((k < n && i == k % arity) ||
                        fr_equal(&inputs[k][i], &instance_inputs[k][i]));
    }
}

static void traces_do_not_depend_on_the_batch(void **state)
{
    (void)state;
    static const unsigned arities[] = {2, 4, 8, 11};
    for (size_t k = 0; k < INSTANCES_MAX; k++)
        fill_instance(k);
    for (unsigned kind = 0; kind < 5; kind++) {
        unsigned arity = kind < 4 ? arities[kind] : 2;
        enum poseidon_domain domain = kind < 4 ? POSEIDON_TREE : POSEIDON_RANDOMNESS;
        for (size_t k = 0; k < INSTANCES_MAX; k++)
            poseidon_trace(expected_traces[k], arity, domain, instance_inputs[k]);
        for (const struct poseidon_arith *const *arith = poseidon_ariths(); *arith; arith++) {
            for (size_t n = 0; n <= INSTANCES_MAX; n++) {
                check_traces(*arith, arity, domain, (INSTANCES_MAX - n) / 2, n);
                if (domain == POSEIDON_TREE)
                    check_hashes(*arith, arity, n);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_those_of_the_reference),
        cmocka_unit_test(hashes_of_counting_inputs),
        cmocka_unit_test(traces_satisfy_the_rows_of_the_circuit),
        cmocka_unit_test(traces_do_not_depend_on_the_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
