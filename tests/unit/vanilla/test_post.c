/* Vanilla proofs of PoSts: made-up ones of every size are found true; each byte counts; what is
   wrong is named; memory may fail anywhere. */
#include "support/support.h"

#include "base/mem.h"
#include "circuits/sector.h"
#include "vanilla/made_up.h"
#include "vanilla/post_proof.h"

#include <string.h>

static const uint8_t randomness[32] = {7, 1, 8, 2, 8};

static struct post_public public_of(bool winning, uint64_t sector_bytes)
{
    struct post_public values = {
        .config = winning ? post_winning_config(sector_bytes) : post_window_config(sector_bytes),
        .winning = winning,
        .api_v1_2 = !winning,
    };
    assert_non_null(values.config);
    memcpy(values.randomness, randomness, sizeof randomness);
    return values;
}

/* Vanilla proofs of n sectors with the numbers 100, 101, … */
static struct post_vanilla *make_proofs(const struct post_public *values, unsigned n)
{
    struct post_vanilla *proofs = mem_alloc(n, sizeof *proofs);
    for (unsigned i = 0; i < n; i++) {
        uint8_t *bytes = mem_alloc(1, post_vanilla_bytes(values));
        assert_true(made_up_post(values, 100 + i, i, bytes));
        proofs[i] = (struct post_vanilla){bytes, post_vanilla_bytes(values)};
    }
    return proofs;
}

static void free_proofs(struct post_vanilla *proofs, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        mem_free((void *)(uintptr_t)proofs[i].bytes);
    mem_free(proofs);
}

static enum cuzk_status read_and_check(const struct post_public *values,
                                       const struct post_vanilla *proofs, unsigned n,
                                       struct cuzk_error *err)
{
    struct post *post;
    enum cuzk_status status = post_read(values, proofs, n, NULL, &post, err);
    if (status != CUZK_OK)
        return status;
    status = post_check(post, NULL, err);
    post_free(post);
    return status;
}

static void assert_refused(const struct post_public *values, const struct post_vanilla *proofs,
                           unsigned n, const char *text)
{
    struct cuzk_error err = {0};
    assert_int_equal(read_and_check(values, proofs, n, &err), CUZK_INVALID_ARGUMENT);
    if (!strstr(err.text, text))
        fail_msg("\"%s\" does not say \"%s\"", err.text, text);
}

static void every_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < SECTOR_SIZES; i++) {
        uint64_t bytes = sector_sizes[i].bytes;
        if (!sector_is_sealed(bytes))
            continue;
        for (unsigned winning = 0; winning < 2; winning++) {
            struct post_public values = public_of(winning, bytes);
            unsigned n = winning ? 1 : 2;
            struct cuzk_error err;
            struct post_vanilla *proofs = make_proofs(&values, n);
            assert_ok(read_and_check(&values, proofs, n, &err), err);
            free_proofs(proofs, n);
        }
    }
}

/* In API 1.0.0 a sector's challenges depend on its place in the deadline. */
static void partitions_of_a_deadline(void **state)
{
    (void)state;
    struct post_public values = public_of(false, 2048);
    values.api_v1_2 = false;
    values.partition = 3;
    struct cuzk_error err;
    struct post_vanilla *proofs = make_proofs(&values, 2);
    assert_ok(read_and_check(&values, proofs, 2, &err), err);
    values.partition = 2;
    assert_refused(&values, proofs, 2,
                   "vanilla_proofs[0]: sector 100: challenge 0: the path leads");
    values.partition = 3;
    struct post_vanilla swapped[2] = {proofs[1], proofs[0]};
    assert_refused(&values, swapped, 2, "vanilla_proofs[0]: sector 101: challenge");
    free_proofs(proofs, 2);
}

static void missing_sectors_are_repeated_ones(void **state)
{
    (void)state;
    struct post_public values = public_of(false, 2048);
    struct post_vanilla *proofs = make_proofs(&values, 1);
    struct cuzk_error err;
    struct post *post;
    struct fr inputs[22];
    assert_ok(post_read(&values, proofs, 1, NULL, &post, &err), err);
    assert_ok(post_check(post, NULL, &err), err);
    assert_int_equal(post_inputs_count(values.config), 22);
    post_inputs(post, inputs);
    assert_memory_equal(inputs, inputs + 11, 11 * sizeof *inputs);
    const struct post_partition *partition = post_checked(post);
    assert_memory_equal(&partition->sectors[0], &partition->sectors[1], sizeof *partition->sectors);
    post_free(post);
    free_proofs(proofs, 1);
}

static void each_byte_counts(void **state)
{
    (void)state;
    for (unsigned winning = 0; winning < 2; winning++) {
        struct post_public values = public_of(winning, 2048);
        struct post_vanilla *proofs = make_proofs(&values, 1);
        uint8_t *bytes = (uint8_t *)(uintptr_t)proofs[0].bytes;
        for (size_t i = 0; i < proofs[0].len; i += winning ? 31 : 1) {
            struct cuzk_error err = {0};
            bytes[i] ^= (uint8_t)(1 << i % 8);
            if (read_and_check(&values, proofs, 1, &err) != CUZK_INVALID_ARGUMENT)
                fail_msg("byte %zu may be changed", i);
            assert_ptr_equal(strstr(err.text, "vanilla_proofs[0]"), err.text);
            bytes[i] ^= (uint8_t)(1 << i % 8);
        }
        free_proofs(proofs, 1);
    }
}

static void lengths_and_counts(void **state)
{
    (void)state;
    struct post_public values = public_of(false, 2048);
    struct post_vanilla *proofs = make_proofs(&values, 3);
    struct cuzk_error err;
    assert_refused(&values, proofs, 0,
                   "vanilla_proofs: 0 given, a WindowPoSt partition has 1 to 2");
    assert_refused(&values, proofs, 3, "vanilla_proofs: 3 given");
    for (size_t len = 0; len < proofs[1].len; len++) {
        struct post_vanilla cut[2] = {proofs[0], {proofs[1].bytes, len}};
        assert_refused(&values, cut, 2, "vanilla_proofs[1]: ");
    }
    free_proofs(proofs, 3);
    values = public_of(true, 2048);
    proofs = make_proofs(&values, 2);
    assert_refused(&values, proofs, 2, "vanilla_proofs: 2 given, a WinningPoSt has 1");
    /* Bytes behind the end do not matter. */
    struct post_vanilla longer = {mem_zalloc(1, proofs[0].len + 9), proofs[0].len + 9};
    memcpy((void *)(uintptr_t)longer.bytes, proofs[0].bytes, proofs[0].len);
    assert_ok(read_and_check(&values, &longer, 1, &err), err);
    mem_free((void *)(uintptr_t)longer.bytes);
    free_proofs(proofs, 2);
}

/* The proof of another sector size: its tree has another form, or its paths another length. */
static void other_sector_size(void **state)
{
    (void)state;
    struct post_public larger = public_of(false, 4096);
    struct post_public values = public_of(false, 2048);
    struct post_vanilla *proofs = make_proofs(&larger, 1);
    assert_refused(&values, proofs, 1,
                   "vanilla_proofs[0]: sector 100: challenge 0: proof: of form 1, expected 0");
    free_proofs(proofs, 1);
    proofs = make_proofs(&values, 1);
    assert_refused(&larger, proofs, 1, "vanilla_proofs[0]: 5680 bytes, the proof of a sector");
    free_proofs(proofs, 1);
}

static void randomness_is_canonical(void **state)
{
    (void)state;
    uint8_t bytes[32];
    struct cuzk_error err;
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(post_check_randomness(bytes, &err), CUZK_INVALID_ARGUMENT);
    bytes[31] = 0x3f;
    assert_ok(post_check_randomness(bytes, &err), err);
}

static void registered_proofs(void **state)
{
    (void)state;
    assert_int_equal(post_proof_count(), 15);
    for (uint32_t i = 0; i < post_proof_count(); i++) {
        const struct post_proof *proof = post_proof_by_number(i);
        assert_int_equal(proof->number, i);
        assert_int_equal(proof->winning, i < 5);
        assert_int_equal(proof->api_v1_2, i >= 10);
        assert_non_null(post_window_config(proof->sector_bytes));
    }
    assert_string_equal(post_proof_by_number(13)->name, "StackedDrgWindow32GiBV1_1");
    assert_null(post_proof_by_number(15));
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    struct post_public values = public_of(false, 2048);
    struct post_vanilla *proofs = make_proofs(&values, 2);
    enum cuzk_status status = CUZK_NO_MEMORY;
    size_t used = mem_used_bytes();
    for (long after = 0; status != CUZK_OK; after++) {
        mem_fail_after(after);
        status = read_and_check(&values, proofs, 2, NULL);
        mem_fail_after(-1);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        assert_int_equal(mem_used_bytes(), used);
    }
    free_proofs(proofs, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size),
        cmocka_unit_test(partitions_of_a_deadline),
        cmocka_unit_test(missing_sectors_are_repeated_ones),
        cmocka_unit_test(each_byte_counts),
        cmocka_unit_test(lengths_and_counts),
        cmocka_unit_test(other_sector_size),
        cmocka_unit_test(randomness_is_canonical),
        cmocka_unit_test(registered_proofs),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
