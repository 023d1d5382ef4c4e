/* Reading a C1: in pieces of any size, in any key order, with any allocation failing. Wrong
   input and the answers to it are in tests/vectors/test_c1_faults.c. */
#include "support/json_edit.h"
#include "support/support.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "base/text.h"
#include "c1_memory.h"

#include <stdio.h>
#include <string.h>

static enum cuzk_status parse_in_pieces(const void *bytes, size_t len, size_t piece,
                                        struct c1 **out, struct cuzk_error *err)
{
    struct c1_reader *reader = c1_reader_new();
    assert_non_null(reader);
    enum cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < len && status == CUZK_OK; i += piece)
        status = c1_reader_feed(reader, (const uint8_t *)bytes + i,
                                len - i < piece ? len - i : piece, err);
    if (status == CUZK_OK)
        status = c1_reader_finish(reader, out, err);
    c1_reader_free(reader);
    return status;
}

/* Everything that reading leaves behind must be the same. */
static void assert_same(const struct c1 *a, const struct c1 *b)
{
    assert_memory_equal(c1_public(a), c1_public(b), sizeof *c1_public(a));
    for (unsigned k = 0; k < c1_public(a)->config->partitions; k++) {
        const struct porep_partition *p = c1_partition(a, k);
        const struct porep_partition *q = c1_partition(b, k);
        const struct porep_config *config = p->config;
        size_t siblings =
            (config->tree_d.siblings + 16 * (size_t)config->tree_r.siblings) * config->challenges;
        assert_memory_equal(p->siblings, q->siblings, siblings * sizeof(struct fr));
        assert_true(fr_equal(&p->comm_r_last, &q->comm_r_last));
        assert_true(fr_equal(&p->comm_c, &q->comm_c));
        for (unsigned i = 0; i < config->challenges; i++)
            assert_int_equal(p->challenges[i].node, q->challenges[i].node);
    }
}

/* Reads the text, checks it and compares it with the C1 of the reference. */
static void assert_reads_like_the_reference(const void *bytes, size_t len, size_t piece)
{
    static struct c1 *reference;
    struct cuzk_error err;
    if (!reference) {
        size_t reference_len;
        uint8_t *text = vector_read_or_skip("reference/porep-2k/c1.json", &reference_len);
        assert_ok(c1_parse(text, reference_len, &reference, &err), err);
        assert_ok(c1_check(reference, NULL, NULL, &err), err);
        mem_free(text);
    }
    struct c1 *c1;
    assert_ok(parse_in_pieces(bytes, len, piece, &c1, &err), err);
    assert_ok(c1_check(c1, NULL, NULL, &err), err);
    assert_same(c1, reference);
    c1_free(c1);
}

static void pieces_of_any_size(void **state)
{
    (void)state;
    static const char *const names[] = {"reference/porep-2k/c1.json",
                                        "reference/porep-2k/c1-wrapped.json"};
    static const size_t pieces[] = {1, 2, 3, 4, 5, 7, 64, 1000, 4096, 8191, SIZE_MAX};
    for (size_t i = 0; i < 2; i++) {
        size_t len;
        uint8_t *text = vector_read_or_skip(names[i], &len);
        for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++)
            assert_reads_like_the_reference(text, len, pieces[p] < len ? pieces[p] : len);
        mem_free(text);
    }
}

/* A cut at every place of the wrapper's own text and of the first challenge's begin. */
static void cut_in_two_anywhere(void **state)
{
    (void)state;
    size_t len;
    uint8_t *text = vector_read_or_skip("reference/porep-2k/c1-wrapped.json", &len);
    for (size_t cut = 0; cut <= len; cut = cut == 100 ? len - 40 : cut + 1) {
        struct cuzk_error err;
        struct c1_reader *reader = c1_reader_new();
        struct c1 *c1;
        assert_ok(c1_reader_feed(reader, text, cut, &err), err);
        assert_ok(c1_reader_feed(reader, text + cut, len - cut, &err), err);
        assert_ok(c1_reader_finish(reader, &c1, &err), err);
        c1_reader_free(reader);
        c1_free(c1);
    }
    mem_free(text);
}

/* --- Order and what is ignored ---------------------------------------------------------------- */

/* Moves every member of the object at the pointer behind the others, one after the other: all
   rotations of the order are read. */
static void assert_any_order(const char *text, const char *pointer, const char *const *keys,
                             size_t n_keys)
{
    char *current = mem_strdup(text);
    for (size_t i = 0; i < n_keys; i++) {
        char place[256];
        char *value;
        snprintf(place, sizeof place, "%s/%s", pointer, keys[i]);
        value = json_copy(current, place);
        char *removed = json_remove(current, place);
        char *member = mem_alloc(strlen(value) + strlen(keys[i]) + 8, 1);
        snprintf(member, strlen(value) + strlen(keys[i]) + 8, "\"%s\":%s", keys[i], value);
        char *moved = json_append(removed, pointer, member);
        assert_reads_like_the_reference(moved, strlen(moved), strlen(moved));
        mem_free(value);
        mem_free(removed);
        mem_free(member);
        mem_free(current);
        current = moved;
    }
    assert_string_equal(current, text);
    mem_free(current);
}

static void keys_in_any_order(void **state)
{
    (void)state;
    static const struct {
        const char *pointer;
        const char *keys[8];
    } objects[] = {
        {"",
         {"registered_proof", "vanilla_proofs", "comm_r", "comm_d", "replica_id", "seed",
          "ticket"}},
        {"/vanilla_proofs/StackedDrg2KiBV1/0/1",
         {"comm_d_proofs", "comm_r_last_proof", "replica_column_proofs", "labeling_proofs",
          "encoding_proof"}},
        {"/vanilla_proofs/StackedDrg2KiBV1/0/0/replica_column_proofs",
         {"c_x", "drg_parents", "exp_parents"}},
        {"/vanilla_proofs/StackedDrg2KiBV1/0/0/replica_column_proofs/exp_parents/7/column",
         {"index", "rows", "_h"}},
        {"/vanilla_proofs/StackedDrg2KiBV1/0/0/comm_d_proofs/data/Single",
         {"root", "leaf", "path"}},
        {"/vanilla_proofs/StackedDrg2KiBV1/0/0/comm_d_proofs/data/Single/path/path/3",
         {"hashes", "index"}},
        {"/vanilla_proofs/StackedDrg2KiBV1/0/0/labeling_proofs/1",
         {"parents", "layer_index", "node"}},
    };
    size_t len;
    uint8_t *text = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        size_t n = 0;
        while (objects[i].keys[n])
            n++;
        assert_any_order((const char *)text, objects[i].pointer, objects[i].keys, n);
    }
    mem_free(text);
}

static void unknown_keys_are_ignored(void **state)
{
    (void)state;
    static const char *const places[] = {
        "",
        "/vanilla_proofs/StackedDrg2KiBV1/0/0",
        "/vanilla_proofs/StackedDrg2KiBV1/0/0/comm_d_proofs",
        "/vanilla_proofs/StackedDrg2KiBV1/0/0/comm_d_proofs/data/Single",
        "/vanilla_proofs/StackedDrg2KiBV1/0/0/comm_d_proofs/data/Single/path/path/0",
        "/vanilla_proofs/StackedDrg2KiBV1/0/0/replica_column_proofs/c_x/column",
        "/vanilla_proofs/StackedDrg2KiBV1/0/0/labeling_proofs/0",
    };
    static const char *const members[] = {
        "\"_x\":null",
        "\"_x\":-1.5e9",
        "\"_x\":\"comm_r\"",
        "\"_x\":true",
        "\"_x\":[[],{\"seed\":[1,{\"a\":[]}]},\"]\"]",
        "\"_x\":{\"comm_r\":{}},\"_x\":{}",
    };
    size_t len;
    uint8_t *text = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
            char *changed = json_append((const char *)text, places[i], members[m]);
            assert_reads_like_the_reference(changed, strlen(changed), strlen(changed));
            mem_free(changed);
        }
    }
    mem_free(text);
}

/* In front of everything, before any key has decided whether this is a wrapper. */
static void unknown_keys_before_known_ones(void **state)
{
    (void)state;
    static const char *const names[] = {"reference/porep-2k/c1.json",
                                        "reference/porep-2k/c1-wrapped.json"};
    for (size_t i = 0; i < 2; i++) {
        size_t len;
        uint8_t *text = vector_read_or_skip(names[i], &len);
        char *changed = json_splice((const char *)text, (struct span){0, 1},
                                    " {\"x\":[{\"Phase1Out\":\"\\\"\"}], \"y\\\"\":\"Phase1Out\",");
        assert_reads_like_the_reference(changed, strlen(changed), 1);
        assert_reads_like_the_reference(changed, strlen(changed), strlen(changed));
        mem_free(changed);
        mem_free(text);
    }
}

static void wrapper_keys_in_any_order(void **state)
{
    (void)state;
    size_t len;
    uint8_t *text = vector_read_or_skip("reference/porep-2k/c1-wrapped.json", &len);
    static const char *const keys[] = {"SectorNum", "Phase1Out", "SectorSize"};
    assert_any_order((const char *)text, "", keys, 3);
    mem_free(text);
}

static void the_sector_number_is_that_of_the_wrapper(void **state)
{
    (void)state;
    static const char *const names[] = {"reference/porep-2k/c1.json",
                                        "reference/porep-2k/c1-wrapped.json"};
    for (size_t i = 0; i < 2; i++) {
        size_t len;
        struct c1 *c1;
        struct cuzk_error err;
        uint8_t *text = vector_read_or_skip(names[i], &len);
        assert_ok(c1_parse(text, len, &c1, &err), err);
        /* Without a sector number, that is without the wrapper, replica_id cannot be checked. */
        struct c1_expect expect = {.has_miner_id = true, .miner_id = 1000};
        struct c1_expect other_miner = {.has_miner_id = true, .miner_id = 1001};
        struct c1_expect other_sector = {.has_sector_number = true, .sector_number = 43};
        assert_ok(c1_check_expected(c1, &expect, &err), err);
        assert_int_equal(c1_check_expected(c1, &other_miner, &err) == CUZK_OK, i == 0);
        assert_int_equal(c1_check_expected(c1, &other_sector, &err) == CUZK_OK, i == 0);
        c1_free(c1);
        mem_free(text);
    }
}

/* --- Arrays of bytes -------------------------------------------------------------------------- */

/* Text in a string is not read as an array of numbers. */
static void an_array_in_a_string_is_a_string(void **state)
{
    (void)state;
    size_t len;
    uint8_t *text = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    char *array = json_copy((const char *)text, "/comm_d");
    struct text value = {0};
    text_add(&value, "[\"%s\"]", array);
    char *changed = json_replace((const char *)text, "/comm_d", value.data);
    size_t end = json_find(changed, "/comm_d").end - 1;
    struct text expected = {0};
    text_add(&expected, "C1: comm_d[0]: expected a byte (0 to 255), got a string, at byte %zu",
             end);
    const size_t pieces[] = {1, strlen(changed)};
    for (size_t i = 0; i < 2; i++) {
        struct c1 *c1;
        struct cuzk_error err = {0};
        assert_int_equal(parse_in_pieces(changed, strlen(changed), pieces[i], &c1, &err),
                         CUZK_INVALID_ARGUMENT);
        assert_string_equal(err.text, expected.data);
    }
    text_free(&expected);
    text_free(&value);
    mem_free(array);
    mem_free(changed);
    mem_free(text);
}

/* --- Memory ----------------------------------------------------------------------------------- */

static void any_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const names[] = {"reference/porep-2k/c1.json",
                                        "reference/porep-2k/c1-wrapped.json"};
    for (size_t i = 0; i < 2; i++) {
        size_t len;
        uint8_t *text = vector_read_or_skip(names[i], &len);
        size_t before = mem_used_bytes();
        unsigned failures = 0;
        for (long after = 0;; after++) {
            struct cuzk_error err = {0};
            struct c1 *c1;
            mem_fail_after(after);
            enum cuzk_status status = c1_parse(text, len, &c1, &err);
            mem_fail_after(-1);
            if (status == CUZK_OK) {
                c1_free(c1);
                break;
            }
            failures++;
            assert_int_equal(status, CUZK_NO_MEMORY);
            assert_int_equal(err.status, CUZK_NO_MEMORY);
            assert_null(c1);
            assert_int_equal(mem_used_bytes(), before);
        }
        assert_true(failures >= 5);
        assert_int_equal(mem_used_bytes(), before);
        mem_free(text);
    }
}

/* Checking remembers hashes if there is memory for them, and works without that memory. */
static void checking_needs_no_memory(void **state)
{
    (void)state;
    size_t len;
    struct c1 *c1;
    struct cuzk_error err;
    uint8_t *text = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    assert_ok(c1_parse(text, len, &c1, &err), err);
    mem_fail_after(0);
    enum cuzk_status status = c1_check(c1, NULL, NULL, &err);
    mem_fail_after(-1);
    assert_ok(status, err);
    c1_free(c1);
    mem_free(text);
}

/* A quarter of a megabyte for the text, of any length, and what is kept. */
static void memory_is_bounded_by_what_is_kept(void **state)
{
    (void)state;
    size_t len;
    uint8_t *text = vector_read_or_skip("sparse/c1-32GiB.json.xz", &len);
    size_t before = mem_used_bytes();
    struct c1 *c1;
    struct cuzk_error err;
    mem_reset_peak();
    assert_ok(parse_in_pieces(text, len, 65536, &c1, &err), err);
    assert_true(mem_peak_bytes() - before < c1_kept_bytes(c1) + (256 << 10));
    assert_true(c1_kept_bytes(c1) < 9 << 20);
    assert_true(mem_used_bytes() - before < c1_kept_bytes(c1) + 65536);
    c1_free(c1);
    assert_int_equal(mem_used_bytes(), before);
    mem_free(text);
}

static void a_failed_reader_stays_failed(void **state)
{
    (void)state;
    struct c1_reader *reader = c1_reader_new();
    struct cuzk_error first = {0};
    struct cuzk_error again = {0};
    struct c1 *c1;
    assert_int_equal(c1_reader_feed(reader, "{]", 2, &first), CUZK_INVALID_ARGUMENT);
    assert_int_equal(c1_reader_feed(reader, "{}", 2, &again), CUZK_INVALID_ARGUMENT);
    assert_string_equal(first.text, again.text);
    assert_int_equal(c1_reader_finish(reader, &c1, NULL), CUZK_INVALID_ARGUMENT);
    assert_null(c1);
    c1_reader_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_any_size),
        cmocka_unit_test(cut_in_two_anywhere),
        cmocka_unit_test(keys_in_any_order),
        cmocka_unit_test(unknown_keys_are_ignored),
        cmocka_unit_test(unknown_keys_before_known_ones),
        cmocka_unit_test(wrapper_keys_in_any_order),
        cmocka_unit_test(the_sector_number_is_that_of_the_wrapper),
        cmocka_unit_test(an_array_in_a_string_is_a_string),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(checking_needs_no_memory),
        cmocka_unit_test(memory_is_bounded_by_what_is_kept),
        cmocka_unit_test(a_failed_reader_stays_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
