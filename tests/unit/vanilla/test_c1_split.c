/* A C1 whose partitions are read in parallel: the same result and the same failure as in order,
   for any number of threads, as it is and in a wrapper. */
#include "support/sparse.h"
#include "support/support.h"

#include "base/mem.h"
#include "base/pool.h"
#include "c1_memory.h"

#include <stdio.h>
#include <string.h>

enum { PARTITIONS = 10 };

/* A made-up 32 GiB sector: its text, and where its partitions begin; the last of the places is the
   bracket behind them. */
static struct text text;
static size_t seams[PARTITIONS + 1];
static struct pool *pools[4];
static const unsigned pool_sizes[4] = {1, 2, 3, 16};

static int set_up(void **state)
{
    (void)state;
    struct cuzk_error err;
    struct sparse_sector sector;
    assert_ok(sparse_make(&sector, seal_proof_by_number(8), NULL, &err), err);
    assert_ok(sparse_write(&sector, add_text, &text, &err), err);
    assert_false(text.failed);
    sparse_free(&sector);
    seams[0] = (size_t)(strchr(text.data, '[') - text.data) + 1;
    for (size_t k = 1; k < PARTITIONS; k++) {
        seams[k] = (size_t)(strstr(text.data + seams[k - 1], ",[{") - text.data) + 1;
        assert_true(seams[k] > seams[k - 1]);
    }
    seams[PARTITIONS] = (size_t)(strstr(text.data, "]]},\"comm_r\"") - text.data) + 1;
    for (size_t i = 0; i < 4; i++)
        pools[i] = pool_new(pool_sizes[i]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++)
        pool_free(pools[i]);
    text_free(&text);
    return 0;
}

/* --- Changed texts ---------------------------------------------------------------------------- */

/* The text with `with` instead of the bytes from … to. */
static struct text splice(size_t from, size_t to, const char *with)
{
    struct text out = {0};
    text_add_bytes(&out, text.data, from);
    text_add_bytes(&out, with, strlen(with));
    text_add_bytes(&out, text.data + to, text.len - to);
    assert_false(out.failed);
    return out;
}

static struct text wrap(const char *c1, size_t len)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t groups = (len + 2) / 3;
    char *chars = mem_alloc(groups, 4);
    for (size_t i = 0; i < groups; i++) {
        uint8_t bytes[3] = {0};
        const size_t n = len - 3 * i < 3 ? len - 3 * i : 3;
        memcpy(bytes, c1 + 3 * i, n);
        const uint32_t bits = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
        for (size_t j = 0; j < 4; j++)
            chars[4 * i + j] = j <= n ? alphabet[bits >> (18 - 6 * j) & 63] : '=';
    }
    struct text out = {0};
    text_add(&out, "{\"SectorNum\":42,\"Phase1Out\":\"");
    text_add_bytes(&out, chars, 4 * groups);
    text_add(&out, "\",\"SectorSize\":34359738368}");
    assert_false(out.failed);
    mem_free(chars);
    return out;
}

/* --- The same answer -------------------------------------------------------------------------- */

static void without_pointers(struct porep_challenge *out, const struct porep_challenge *challenge)
{
    memcpy(out, challenge, sizeof *out);
    out->tree_d.siblings = out->tree_r.siblings = out->tree_c.siblings = NULL;
    for (size_t p = 0; p < POREP_PARENTS; p++)
        out->parents[p].path.siblings = NULL;
}

static void assert_same(const struct c1 *a, const struct c1 *b)
{
    assert_memory_equal(&a->values, &b->values, sizeof a->values);
    assert_int_equal(a->wrapped, b->wrapped);
    assert_int_equal(a->sector_number, b->sector_number);
    for (size_t k = 0; k < PARTITIONS; k++) {
        const struct porep_partition *p = a->partitions[k];
        const struct porep_partition *q = b->partitions[k];
        const struct porep_config *config = p->config;
        size_t siblings =
            (config->tree_d.siblings + 16 * (size_t)config->tree_r.siblings) * config->challenges;
        assert_memory_equal(p->siblings, q->siblings, siblings * sizeof *p->siblings);
        assert_memory_equal(a->claims[k], b->claims[k], config->challenges * sizeof *a->claims[k]);
        assert_true(fr_equal(&p->comm_r_last, &q->comm_r_last));
        assert_true(fr_equal(&p->comm_c, &q->comm_c));
        for (size_t i = 0; i < config->challenges; i++) {
            static struct porep_challenge x, y;
            without_pointers(&x, &p->challenges[i]);
            without_pointers(&y, &q->challenges[i]);
            assert_memory_equal(&x, &y, sizeof x);
        }
    }
}

/* Reads with the pools from … to, and in order; returns that status. */
static enum cuzk_status read_alike(const char *bytes, size_t len, size_t from, size_t to)
{
    struct c1 *in_order;
    struct cuzk_error expected = {0};
    enum cuzk_status status = c1_parse(bytes, len, &in_order, &expected);
    size_t before = mem_used_bytes();
    for (size_t i = from; i < to; i++) {
        struct c1 *c1;
        struct cuzk_error err = {0};
        assert_int_equal(c1_parse_parallel(bytes, len, pools[i], &c1, &err), status);
        assert_string_equal(err.text, expected.text);
        if (status == CUZK_OK)
            assert_same(c1, in_order);
        else
            assert_null(c1);
        c1_free(c1);
        assert_int_equal(mem_used_bytes(), before);
    }
    c1_free(in_order);
    return status;
}

/* For a text with a fault. */
static void assert_refused_alike(const char *bytes, size_t len)
{
    assert_int_equal(read_alike(bytes, len, 1, 2), CUZK_INVALID_ARGUMENT);
}

static void assert_splice_refused_alike(size_t from, size_t to, const char *with)
{
    struct text changed = splice(from, to, with);
    assert_refused_alike(changed.data, changed.len);
    text_free(&changed);
}

/* --- Good texts ------------------------------------------------------------------------------- */

/* The length of the text behind the head that is read in parallel. */
static size_t split(const char *bytes, size_t len, bool base64)
{
    struct c1 *c1 = mem_zalloc(1, sizeof *c1);
    struct c1_source source = {bytes, len, base64};
    struct c1_parser parser = {.name = "C1", .c1 = c1};
    struct cuzk_error err;
    parser.text = json_text_new(c1_parser_event, &parser);
    assert_ok(c1_parser_feed(&parser, text.data, seams[0], &err), err);
    size_t taken = c1_split(&parser, &source, seams[0], pools[1]);
    for (size_t k = 0; k < PARTITIONS; k++)
        assert_true((c1->partitions[k] != NULL) == (taken > 0));
    json_text_free(parser.text);
    c1_free(c1);
    return taken;
}

/* Without this, the other tests would show nothing. */
static void usual_texts_are_split(void **state)
{
    (void)state;
    assert_int_equal(split(text.data, text.len, false), seams[PARTITIONS] - seams[0]);
    for (size_t spaces = 0; spaces < 3; spaces++) { /* every length of the padding */
        struct text longer = splice(text.len, text.len, "  " + 2 - spaces);
        struct text wrapped = wrap(longer.data, longer.len);
        const char *content = strstr(wrapped.data, "Out\":\"") + 6;
        size_t content_len = (size_t)(strchr(content, '"') - content);
        assert_int_equal(split(content, content_len, true), seams[PARTITIONS] - seams[0]);
        text_free(&longer);
        text_free(&wrapped);
    }
}

static void any_number_of_threads(void **state)
{
    (void)state;
    struct text wrapped = wrap(text.data, text.len);
    assert_int_equal(read_alike(text.data, text.len, 0, 4), CUZK_OK);
    assert_int_equal(read_alike(wrapped.data, wrapped.len, 0, 4), CUZK_OK);
    text_free(&wrapped);
}

/* Valid texts in an unusual form. */
static void other_forms_are_read_in_order(void **state)
{
    (void)state;
    struct text changed = splice(seams[4], seams[4], " ");
    assert_int_equal(split(changed.data, changed.len, false), 0);
    assert_int_equal(read_alike(changed.data, changed.len, 1, 2), CUZK_OK);
    text_free(&changed);
    changed = splice(seams[PARTITIONS], seams[PARTITIONS], "\n");
    assert_int_equal(split(changed.data, changed.len, false), 0);
    assert_int_equal(read_alike(changed.data, changed.len, 1, 2), CUZK_OK);
    text_free(&changed);
    changed = splice(1, 1, "\"x\":[1],");
    assert_int_equal(read_alike(changed.data, changed.len, 1, 2), CUZK_OK);
    text_free(&changed);
}

/* --- Faults ----------------------------------------------------------------------------------- */

static void cuts(void **state)
{
    (void)state;
    for (size_t len = 0; len <= seams[0] + 200; len++)
        assert_refused_alike(text.data, len);
    for (size_t len = seams[1] - 12; len <= seams[1] + 12; len++)
        assert_refused_alike(text.data, len);
    for (size_t len = seams[PARTITIONS] - 3; len < text.len; len += 150)
        assert_refused_alike(text.data, len);
}

static void changed_bytes_around_seams(void **state)
{
    (void)state;
    static const char other[] = "0,]";
    const size_t places[][2] = {
        {seams[0] - 3, seams[0] + 4}, {seams[1] - 5, seams[1] + 3}, {seams[10], seams[10] + 1}};
    for (size_t i = 0; i < 3; i++) {
        for (size_t at = places[i][0]; at < places[i][1]; at++) {
            const char original = text.data[at];
            for (const char *byte = other; *byte; byte++) {
                text.data[at] = *byte;
                read_alike(text.data, text.len, 1, 2);
            }
            text.data[at] = original;
        }
    }
}

/* A partition too many, one too few, two swapped; another thing in its place. */
static void changed_partitions(void **state)
{
    (void)state;
    struct text one = {0};
    text_add_bytes(&one, text.data + seams[8], seams[9] - seams[8]);
    assert_splice_refused_alike(seams[9], seams[9], one.data);
    assert_splice_refused_alike(seams[8], seams[9], "");
    assert_splice_refused_alike(seams[8], seams[9], "null,");
    assert_splice_refused_alike(seams[8], seams[9] - 1, "");
    assert_splice_refused_alike(seams[1] - 1, seams[1], "");
    assert_splice_refused_alike(seams[10] - 1, seams[10], ",]");
    struct text swapped = splice(seams[8], seams[9], "");
    struct text both = {0};
    text_add_bytes(&both, swapped.data, seams[5]);
    text_add_bytes(&both, one.data, one.len);
    text_add_bytes(&both, swapped.data + seams[5], swapped.len - seams[5]);
    assert_int_equal(read_alike(both.data, both.len, 1, 2), CUZK_OK);
    text_free(&one);
    text_free(&swapped);
    text_free(&both);
}

/* The answer does not depend on which thread finds which fault. */
static void the_first_of_several_faults(void **state)
{
    (void)state;
    char originals[PARTITIONS];
    for (size_t k = 1; k < PARTITIONS; k += 2) {
        char *byte = strstr(text.data + seams[k] + 5000 * k, "\"leaf\":[") + 8;
        originals[k] = *byte;
        *byte = '-';
    }
    struct cuzk_error err = {0};
    struct c1 *c1;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(c1_parse_parallel(text.data, text.len, pools[i], &c1, &err),
                         CUZK_INVALID_ARGUMENT);
        assert_non_null(strstr(err.text, "C1: partition 1, challenge 0: "));
    }
    assert_refused_alike(text.data, text.len);
    struct text wrapped = wrap(text.data, text.len);
    assert_refused_alike(wrapped.data, wrapped.len);
    text_free(&wrapped);
    for (size_t k = 1; k < PARTITIONS; k += 2)
        *(strstr(text.data + seams[k] + 5000 * k, "\"leaf\":[") + 8) = originals[k];
}

/* Each piece is decoded by itself, so padding at its end must be refused separately. */
static void faults_in_the_base64(void **state)
{
    (void)state;
    char buffer[C1_SOURCE_BYTES];
    const char *bytes;
    char chars[2 * C1_SOURCE_BYTES];
    const size_t piece_chars = C1_SOURCE_BYTES / 3 * 4;
    memset(chars, 'A', sizeof chars);
    memcpy(chars + piece_chars - 4, "Zg==", 4);
    struct c1_source source = {chars, piece_chars, true};
    assert_int_equal(c1_source_at(&source, 7, buffer, &bytes), C1_SOURCE_BYTES - 2 - 7);
    source.len += 4;
    assert_int_equal(c1_source_at(&source, 7, buffer, &bytes), 0);
    struct text wrapped = wrap(text.data, text.len);
    char *content = strstr(wrapped.data, "Out\":\"") + 6;
    size_t len = (size_t)(strchr(content, '"') - content);
    /* The pieces of the head, and of partitions. */
    const size_t pieces[] = {0, seams[0] / 3 * 4, seams[1] / 3 * 4};
    for (size_t i = 0; i < 3; i++) {
        char *end = content + pieces[i] + piece_chars - 4;
        char originals[4];
        memcpy(originals, end, 4);
        memcpy(end, "Zg==", 4);
        assert_refused_alike(wrapped.data, wrapped.len);
        memcpy(end, originals, 4);
    }
    content[len / 2] = '\\';
    assert_refused_alike(wrapped.data, wrapped.len);
    text_free(&wrapped);
}

/* --- Memory ----------------------------------------------------------------------------------- */

static void any_allocation_may_fail(void **state)
{
    (void)state;
    size_t before = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    unsigned failures = 0;
    for (long after = 0; status != CUZK_OK; after += 1 + after / 8) {
        struct cuzk_error err = {0};
        struct c1 *c1;
        mem_fail_after(after);
        status = c1_parse_parallel(text.data, text.len, pools[1], &c1, &err);
        mem_fail_after(-1);
        assert_int_equal(err.status, status);
        assert_true(status == CUZK_OK || status == CUZK_NO_MEMORY);
        failures += status != CUZK_OK;
        c1_free(c1);
        assert_int_equal(mem_used_bytes(), before);
    }
    assert_true(failures >= 10);
}

/* A quarter of a megabyte for each thread that reads, and what is kept. */
static void memory_is_bounded(void **state)
{
    (void)state;
    size_t before = mem_used_bytes();
    for (size_t i = 0; i < 4; i++) {
        struct cuzk_error err;
        struct c1 *c1;
        mem_reset_peak();
        assert_ok(c1_parse_parallel(text.data, text.len, pools[i], &c1, &err), err);
        assert_true(mem_peak_bytes() - before <
                    c1_kept_bytes(c1) + (1 + pool_sizes[i]) * ((size_t)256 << 10));
        c1_free(c1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_texts_are_split),         cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(other_forms_are_read_in_order), cmocka_unit_test(cuts),
        cmocka_unit_test(changed_bytes_around_seams),    cmocka_unit_test(changed_partitions),
        cmocka_unit_test(the_first_of_several_faults),   cmocka_unit_test(faults_in_the_base64),
        cmocka_unit_test(any_allocation_may_fail),       cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
