/* The scalar field: constants, the door for outside bytes, inversions, roots of unity. */
#include "support/support.h"

#include "base/check.h"
#include "math/fr.h"

#include "pseudo_random.h"

/* r - 1 and r, little-endian. */
static const uint8_t largest[FR_BYTES] = {
    0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0x02, 0xa4, 0xbd, 0x53,
    0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8, 0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73,
};
static const uint8_t modulus[FR_BYTES] = {
    0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0x02, 0xa4, 0xbd, 0x53,
    0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8, 0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73,
};

static void constants_are_what_they_are_called(void **state)
{
    (void)state;
    struct fr value;
    struct fr other;
    fr_from_u64(&value, 0);
    assert_true(fr_equal(&value, &fr_zero) && fr_is_zero(&value));
    fr_from_u64(&value, 1);
    assert_true(fr_equal(&value, &fr_one) && fr_is_one(&value));
    fr_neg(&value, &value);
    assert_true(fr_equal(&value, &fr_minus_one));
    fr_from_u64(&value, 7);
    assert_true(fr_equal(&value, &fr_generator));
    /* 7^((r - 1) / 2^32): the exponent by its 64-bit words. */
    static const uint64_t exponent[] = {0xfffe5bfeffffffff, 0x09a1d80553bda402, 0x299d7d483339d808,
                                        0x73eda753};
    value = fr_one;
    for (size_t i = 4; i-- > 0;) {
        for (unsigned bit = 0; bit < 64; bit++)
            fr_sqr(&value, &value);
        fr_pow(&other, &fr_generator, exponent[i]);
        fr_mul(&value, &value, &other);
    }
    assert_true(fr_equal(&value, &fr_root_of_unity));
}

static void only_canonical_bytes_come_in(void **state)
{
    (void)state;
    uint8_t bytes[FR_BYTES];
    struct fr value = fr_generator;
    assert_true(fr_from_bytes(&value, largest));
    assert_true(fr_equal(&value, &fr_minus_one));
    value = fr_generator;
    assert_false(fr_from_bytes(&value, modulus));
    memset(bytes, 0xff, sizeof bytes);
    assert_false(fr_from_bytes(&value, bytes));
    assert_true(fr_equal(&value, &fr_generator));
    fr_make_safe(bytes);
    assert_true(fr_from_bytes(&value, bytes));
    uint64_t integer[4];
    memcpy(integer, modulus, sizeof integer);
    fr_from_limbs(&value, integer);
    assert_true(fr_is_zero(&value));
    for (unsigned i = 0; i < 100; i++) {
        struct fr back;
        uint64_t limbs[4];
        pseudo_random_fr(&value);
        fr_to_bytes(bytes, &value);
        assert_true(fr_from_bytes(&back, bytes));
        assert_true(fr_equal(&back, &value));
        fr_to_limbs(limbs, &value);
        assert_memory_equal(limbs, bytes, sizeof bytes); /* x86-64 and arm64 are little-endian */
    }
}

static void powers(void **state)
{
    (void)state;
    struct fr two;
    struct fr power = fr_one;
    struct fr value;
    fr_from_u64(&two, 2);
    for (unsigned i = 0; i < 256; i++) {
        fr_pow2(&value, i);
        assert_true(fr_equal(&value, &power));
        fr_pow(&value, &two, i);
        assert_true(fr_equal(&value, &power));
        fr_mul(&power, &power, &two);
    }
}

static void inverses(void **state)
{
    (void)state;
    enum { N = 50 };
    struct fr values[N];
    struct fr inverses[N];
    struct fr scratch[N];
    for (unsigned i = 0; i < N; i++) {
        pseudo_random_fr(&values[i]);
        if (i % 7 == 0)
            values[i] = fr_zero;
    }
    memcpy(inverses, values, sizeof values);
    fr_batch_inv(inverses, N, scratch);
    for (unsigned i = 0; i < N; i++) {
        struct fr single;
        fr_inv(&single, &values[i]);
        assert_true(fr_equal(&single, &inverses[i]));
        fr_mul(&single, &single, &values[i]);
        assert_true(fr_equal(&single, i % 7 == 0 ? &fr_zero : &fr_one));
    }
    fr_batch_inv(NULL, 0, NULL);
}

static void roots_of_unity_have_their_order(void **state)
{
    (void)state;
    for (unsigned k = 0; k <= FR_TWO_ADICITY; k++) {
        struct fr root;
        fr_omega(&root, k);
        for (unsigned i = 0; i + 1 < k; i++)
            fr_sqr(&root, &root);
        assert_true(fr_equal(&root, k == 0 ? &fr_one : &fr_minus_one));
    }
}

static void random_elements_differ(void **state)
{
    (void)state;
    struct fr a;
    struct fr b;
    struct cuzk_error err;
    assert_ok(fr_random(&a, &err), err);
    assert_ok(fr_random(&b, &err), err);
    assert_false(fr_equal(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_what_they_are_called),
        cmocka_unit_test(only_canonical_bytes_come_in),
        cmocka_unit_test(powers),
        cmocka_unit_test(inverses),
        cmocka_unit_test(roots_of_unity_have_their_order),
        cmocka_unit_test(random_elements_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
