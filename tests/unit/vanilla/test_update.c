/* Vanilla proofs of sector updates: made-up ones of every size are found true; each byte counts;
   what is wrong is named; memory may fail anywhere. */
#include "support/support.h"

#include "base/mem.h"
#include "circuits/sector.h"
#include "vanilla/made_up.h"

#include <string.h>

enum { PARTITIONS_MAX = 16 };

struct made {
    struct update_public values;
    struct update_vanilla proofs[PARTITIONS_MAX];
    uint8_t *bytes; /* of all proofs */
    size_t len;     /* of one */
};

static struct made make_proofs(uint64_t sector_bytes)
{
    struct made made;
    struct cuzk_error err;
    struct made_up_update update;
    const struct update_config *config = update_config(sector_bytes, false);
    assert_ok(made_up_update_init(&update, config, &err), err);
    made.values = update.values;
    made.len = update_vanilla_bytes(config);
    made.bytes = mem_alloc(config->partitions, made.len);
    for (unsigned k = 0; k < config->partitions; k++) {
        made_up_update_partition(&update, k, made.bytes + k * made.len);
        made.proofs[k] = (struct update_vanilla){made.bytes + k * made.len, made.len};
    }
    made_up_update_free(&update);
    return made;
}

static enum cuzk_status read_and_check(const struct made *made, size_t n, struct cuzk_error *err)
{
    struct update *update;
    enum cuzk_status status = update_read(&made->values, made->proofs, n, NULL, &update, err);
    if (status != CUZK_OK)
        return status;
    for (unsigned k = 0; k < n && status == CUZK_OK; k++)
        status = update_check_partition(update, k, NULL, err);
    update_free(update);
    return status;
}

static void assert_refused(const struct made *made, size_t n, const char *text)
{
    struct cuzk_error err = {0};
    assert_int_equal(read_and_check(made, n, &err), CUZK_INVALID_ARGUMENT);
    if (!strstr(err.text, text))
        fail_msg("\"%s\" does not say \"%s\"", err.text, text);
}

static void every_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < SECTOR_SIZES; i++) {
        const struct update_config *config = update_config(sector_sizes[i].bytes, false);
        if (!config)
            continue;
        struct cuzk_error err;
        struct made made = make_proofs(sector_sizes[i].bytes);
        assert_ok(read_and_check(&made, config->partitions, &err), err);
        mem_free(made.bytes);
    }
}

static void each_byte_counts(void **state)
{
    (void)state;
    struct made made = make_proofs(2 * KIB);
    for (size_t i = 0; i < made.len; i += 3) {
        struct cuzk_error err = {0};
        made.bytes[i] ^= (uint8_t)(1 << i % 8);
        if (read_and_check(&made, 1, &err) != CUZK_INVALID_ARGUMENT)
            fail_msg("byte %zu may be changed", i);
        assert_ptr_equal(strstr(err.text, "vanilla_proofs[0]"), err.text);
        made.bytes[i] ^= (uint8_t)(1 << i % 8);
    }
    mem_free(made.bytes);
}

static void each_commitment_counts(void **state)
{
    (void)state;
    struct made made = make_proofs(16 * KIB);
    made.values.comm_r_old[3] ^= 1;
    assert_refused(&made, 2,
                   "vanilla_proofs[0]: comm_r_old is not the hash of comm_c and the root");
    made.values.comm_r_old[3] ^= 1;
    made.values.comm_r_new[3] ^= 1;
    assert_refused(&made, 2,
                   "vanilla_proofs[0]: comm_r_new is not the hash of comm_c and the root");
    made.values.comm_r_new[3] ^= 1;
    made.values.comm_d_new[3] ^= 1;
    assert_refused(&made, 2, "challenge 0: proof_d_new: the root is not comm_d_new");
    memset(made.values.comm_d_new, 0xff, 32);
    assert_refused(&made, 2, "comm_d_new: not a canonical field element");
    mem_free(made.bytes);
}

/* Each partition has challenges of its own. */
static void partitions_are_not_mixed_up(void **state)
{
    (void)state;
    struct made made = make_proofs(16 * KIB);
    struct update_vanilla first = made.proofs[0];
    made.proofs[0] = made.proofs[1];
    made.proofs[1] = first;
    assert_refused(&made, 2, "vanilla_proofs[0]: challenge 0 (node ");
    mem_free(made.bytes);
}

static void lengths_and_counts(void **state)
{
    (void)state;
    struct made made = make_proofs(16 * KIB);
    assert_refused(&made, 0, "vanilla_proofs: 0 given, an update of this sector size has 2");
    assert_refused(&made, 1, "vanilla_proofs: 1 given");
    for (size_t len = 0; len < made.len; len += 101) {
        made.proofs[1].len = len;
        assert_refused(&made, 2, "vanilla_proofs[1]: ");
    }
    mem_free(made.bytes);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    struct made made = make_proofs(16 * KIB);
    enum cuzk_status status = CUZK_NO_MEMORY;
    size_t used = mem_used_bytes();
    for (long after = 0; status != CUZK_OK; after++) {
        mem_fail_after(after);
        status = read_and_check(&made, 2, NULL);
        mem_fail_after(-1);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        assert_int_equal(mem_used_bytes(), used);
    }
    mem_free(made.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size),
        cmocka_unit_test(each_byte_counts),
        cmocka_unit_test(each_commitment_counts),
        cmocka_unit_test(partitions_are_not_mixed_up),
        cmocka_unit_test(lengths_and_counts),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
