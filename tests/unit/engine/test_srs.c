/* The table of parameters: what is loaded, what has to go, and who is spared. */
#include "support/support.h"

#include "engine/srs.h"

#include <stdio.h>

static struct srs srs;
static struct loaded parameters = {.host_bytes = 3, .mapped_bytes = 4, .partition_bytes = 10};

static int empty(void **state)
{
    (void)state;
    srs = (struct srs){0};
    return 0;
}

/* Loaded and ready, last used at that time, and used by nobody. */
static struct srs_entry *ready(const char *circuit_id, uint64_t used_ns)
{
    struct srs_entry *entry = srs_find_or_add(&srs, circuit_id);
    srs_reference(entry, false, used_ns);
    assert_int_equal(srs_next_step(entry), SRS_LOAD);
    srs_load_started(entry, used_ns);
    srs_load_ended(entry, &parameters, used_ns);
    assert_int_equal(srs_next_step(entry), SRS_TAKE_BUDGET);
    srs_budget_taken(entry);
    srs_release(entry, used_ns);
    assert_int_equal(srs_next_step(entry), SRS_NOTHING);
    return entry;
}

static struct srs_entry *wanted(const char *circuit_id, bool critical)
{
    struct srs_entry *entry = srs_find_or_add(&srs, circuit_id);
    srs_reference(entry, critical, 100);
    return entry;
}

static void the_least_recently_used_one_goes_first(void **state)
{
    (void)state;
    struct srs_entry *b = ready("b", 2);
    struct srs_entry *a = ready("a", 1);
    struct srs_entry *c = wanted("c", false);
    assert_ptr_equal(srs_pick_eviction(&srs, c), a);
    srs_reference(a, false, 3);
    assert_ptr_equal(srs_pick_eviction(&srs, c), b); /* a is in use */
    srs_reference(b, false, 4);
    assert_null(srs_pick_eviction(&srs, c));
    srs_release(a, 6);
    srs_release(b, 5);
    assert_ptr_equal(srs_pick_eviction(&srs, c), b);
}

static void winning_post_is_only_given_up_for_critical_work(void **state)
{
    (void)state;
    struct srs_entry *winning = ready("winning-32g", 1);
    assert_null(srs_pick_eviction(&srs, wanted("porep-32g", false)));
    assert_ptr_equal(srs_pick_eviction(&srs, wanted("window-32g", true)), winning);
}

static void a_load_that_others_are_in_the_way_of_waits_until_one_has_gone(void **state)
{
    (void)state;
    struct srs_entry *a = ready("a", 1);
    struct srs_entry *b = wanted("b", false);
    srs_load_started(b, 2);
    assert_true(srs_load_failed(&srs, b, CUZK_RESOURCE_EXHAUSTED, 3));
    assert_int_equal(srs_next_step(b), SRS_NOTHING);
    assert_ptr_equal(srs_unload_started(a), &parameters);
    assert_int_equal(a->freed_bytes, 7);
    assert_true(srs_is_leaving(a));
    assert_int_equal(srs_next_step(b), SRS_NOTHING);
    srs_unload_ended(&srs, a);
    assert_int_equal(srs_next_step(b), SRS_LOAD);
    /* Now nothing is in the way. */
    srs_load_started(b, 4);
    assert_false(srs_load_failed(&srs, b, CUZK_RESOURCE_EXHAUSTED, 5));
}

static void a_failed_load_is_tried_again_for_the_next_job_only(void **state)
{
    (void)state;
    struct srs_entry *a = wanted("a", false);
    ready("b", 1);
    srs_load_started(a, 2);
    assert_false(srs_load_failed(&srs, a, CUZK_BAD_PARAMS, 3));
    assert_int_equal(srs_next_step(a), SRS_NOTHING);
    srs_reference(a, false, 4);
    assert_int_equal(srs_next_step(a), SRS_LOAD);
}

static void stale_parameters_stay_until_the_last_job_has_ended(void **state)
{
    (void)state;
    struct srs_entry *a = ready("a", 1);
    srs_reference(a, true, 2);
    srs_reference(a, false, 3);
    a->stale = true;
    assert_true(srs_is_leaving(a));
    srs_release(a, 4);
    assert_int_equal(srs_next_step(a), SRS_NOTHING);
    assert_true(a->critical);
    srs_release(a, 5);
    assert_false(a->critical);
    assert_int_equal(srs_next_step(a), SRS_UNLOAD);
    srs_unload_started(a);
    srs_unload_ended(&srs, a);
    assert_false(srs_is_leaving(a));
}

static void a_full_table_takes_no_other_circuit_until_one_is_free(void **state)
{
    (void)state;
    char id[WORK_CIRCUIT_ID_BYTES];
    for (unsigned i = 0; i < SRS_CIRCUITS_MAX; i++) {
        snprintf(id, sizeof id, "circuit-%u", i);
        assert_non_null(wanted(id, false));
    }
    assert_null(srs_find_or_add(&srs, "another"));
    assert_non_null(srs_find_or_add(&srs, "circuit-7"));
    srs_release(srs_find(&srs, "circuit-7"), 200);
    assert_non_null(srs_find_or_add(&srs, "another"));
    assert_null(srs_find(&srs, "circuit-7"));
}

static void the_floor_is_the_largest_partition_of_those_that_are_ready(void **state)
{
    (void)state;
    struct loaded small = {.partition_bytes = 2};
    struct srs_entry *b = wanted("b", false);
    srs_load_started(b, 1);
    srs_load_ended(b, &small, 2);
    assert_int_equal(srs_partition_floor(&srs, b), 2);
    ready("a", 3);
    assert_int_equal(srs_partition_floor(&srs, b), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_least_recently_used_one_goes_first, empty),
        cmocka_unit_test_setup(winning_post_is_only_given_up_for_critical_work, empty),
        cmocka_unit_test_setup(a_load_that_others_are_in_the_way_of_waits_until_one_has_gone,
                               empty),
        cmocka_unit_test_setup(a_failed_load_is_tried_again_for_the_next_job_only, empty),
        cmocka_unit_test_setup(stale_parameters_stay_until_the_last_job_has_ended, empty),
        cmocka_unit_test_setup(a_full_table_takes_no_other_circuit_until_one_is_free, empty),
        cmocka_unit_test_setup(the_floor_is_the_largest_partition_of_those_that_are_ready, empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
