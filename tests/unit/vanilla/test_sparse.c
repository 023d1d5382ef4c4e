/* The sparse C1 generator against the digests and values of vectors/sparse/README.md. */
#include "support/support.h"

#include <cuzk/dev.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/bytes.h"
#include "vanilla/sparse.h"

#include <string.h>

static enum cuzk_status hash_text(void *context, const void *bytes, size_t len,
                                  struct cuzk_error *err)
{
    (void)err;
    hasher_update(context, bytes, len);
    return CUZK_OK;
}

static void assert_text(uint64_t sector_bytes, const uint8_t *seed, const char *digest)
{
    struct cuzk_error err;
    uint8_t bytes[SHA256_BYTES];
    struct hasher *hasher = sha256_new();
    assert_ok(sparse_gen_c1(sector_bytes, seed, hash_text, hasher, &err), err);
    hasher_final(hasher, bytes);
    assert_hex_equal(bytes, sizeof bytes, digest);
}

static void all_sizes_are_byte_identical(void **state)
{
    (void)state;
    const uint64_t mib = 1 << 20;
    assert_text(2048, NULL, "93cb070c4a2da46b5f33bdf7263f09d205fbe22bf0856eaeecdcaf157f72a291");
    assert_text(8 * mib, NULL, "85fd3f0d3d6a98951b1dc47f9ccedf31907275bc02086c4b8292e2199e05cc1f");
    assert_text(512 * mib, NULL,
                "69d0a3f8d81ef460d8f4dc7fb6b0a8246bea13fe349d3205e29ab5520ed64d3f");
    assert_text(32768 * mib, NULL,
                "4dd048693f71305ff9a4a5ce17cd352fd524ed60251082e17e4b4b0dd14b7edf");
    assert_text(65536 * mib, NULL,
                "c401eaf7c3ef4f80487160fedf32c18fcf0606548d84092e6299388bb5fa9c2e");
}

static void other_seeds_are_byte_identical(void **state)
{
    (void)state;
    static const struct {
        uint8_t seed;
        const char *digest;
    } cases[] = {
        {0x03, "88c71c9e93e33206bb9abb5966b66d744925f67f2371df9f733ac0b51231cade"},
        {0x13, "5896178ae2e363e6c801224b20752274c98aef05ebdfeb9746c83667fd06fada"},
        {0x1c, "9ccc706652942af09d9588332a981feb3e4979985c8f44b3dbe38a1ed14ab97f"},
        {0x2b, "1b80591aa5cee7c1aa444b5707613329d35719badcd2dcf7471eefd83509a4ba"},
        {0x62, "a4b15a12bcd1a3720d80be54b51db1368b098ea4f775da441aa1af21bbaeb37f"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t seed[32];
        memset(seed, cases[i].seed, sizeof seed);
        assert_text(2048, seed, cases[i].digest);
    }
}

static void filler_values(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t tail; /* one u32, or none */
        bool has_tail;
        const char *hex;
    } cases[] = {
        {"data", 0, false, "ed6d22dd4aa51ede5f3308e2ad522f575ac38ae21dd57cbed2b805acb9abdd04"},
        {"ticket", 0, false, "5493161a2b3d95e719c68a701e93796b4350c1a5033656c819f3bb1c6a178a39"},
        {"seed", 0, false, "53da4a3526859beff461cfb638f7be51cb1bf8db564df526630e5427e3888625"},
        {"tree-c", 0, true, "e7293002aa275b9aad963f2aa839b85caf5ec7c6e1ffc5f9cca41dc916d4aa32"},
        {"tree-c", 9, true, "864b7963e5de5d48c09ce14f449f2eb42cb7ccdab48d70e95e2ab09791eacc11"},
        {"tree-r-last", 9, true,
         "0bf708a755426add9a886588df7efa171e6a92c7e33a74877d3827f5f3b9e738"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t tail[4];
        uint8_t out[32];
        store_u32_le(tail, cases[i].tail);
        sparse_prf(cases[i].name, tail, cases[i].has_tail ? 4 : 0, out);
        assert_hex_equal(out, sizeof out, cases[i].hex);
    }
}

static void wrong_arguments(void **state)
{
    (void)state;
    static const uint8_t zero[32];
    struct cuzk_error err = {0};
    assert_int_equal(sparse_gen_c1(4096, NULL, hash_text, NULL, &err), CUZK_INVALID_ARGUMENT);
    assert_string_equal(err.text, "sector size 4096, expected that of 2KiB, 8MiB, 512MiB, 32GiB or "
                                  "64GiB");
    assert_int_equal(sparse_gen_c1(2048, zero, hash_text, NULL, &err), CUZK_INVALID_ARGUMENT);
    assert_string_equal(err.text, "seed: all zero, expected a value");
}

static enum cuzk_status refuse(void *context, const void *bytes, size_t len, struct cuzk_error *err)
{
    (void)bytes, (void)len;
    ++*(unsigned *)context;
    return error_set(err, CUZK_IO, "disk full");
}

static void a_failed_write_ends_it(void **state)
{
    (void)state;
    unsigned calls = 0;
    struct cuzk_error err = {0};
    assert_int_equal(sparse_gen_c1(2048, NULL, refuse, &calls, &err), CUZK_IO);
    assert_string_equal(err.text, "disk full");
    assert_int_equal(calls, 1);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    size_t before = mem_used_bytes();
    enum cuzk_status status;
    long after = 0;
    do {
        struct hasher *hasher = sha256_new();
        mem_fail_after(after++);
        status = sparse_gen_c1(2048, NULL, hash_text, hasher, NULL);
        mem_fail_after(-1);
        hasher_final(hasher, NULL);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        assert_int_equal(mem_used_bytes(), before);
    } while (status != CUZK_OK);
    assert_true(after > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sizes_are_byte_identical),
        cmocka_unit_test(other_seeds_are_byte_identical),
        cmocka_unit_test(filler_values),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(a_failed_write_ends_it),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
