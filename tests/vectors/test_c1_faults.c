/* Bad input and its answers: every row of tests/vectors/c1-faults.md, which explains the edits, is
   applied to the C1 of a real 2 KiB sector, read, checked and compared with the answer there. */
#include "support/json_edit.h"
#include "support/support.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "vanilla/c1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define C1 "reference/porep-2k/c1.json"
#define WRAPPER "reference/porep-2k/c1-wrapped.json"

/* --- The table -------------------------------------------------------------------------------- */

struct row {
    char edit[256];
    char answer[CUZK_ERROR_TEXT_BYTES];
    bool reference_accepts;
};

struct table {
    struct row rows[256];
    size_t n_rows;
};

/* Rows are "| `edit` | answer | accepts or refuses | remark |". */
static void read_table(struct table *table)
{
    uint8_t *data;
    size_t len;
    struct cuzk_error err;
    assert_ok(file_read("tests/vectors/c1-faults.md", 1 << 20, &data, &len, &err), err);
    table->n_rows = 0;
    char *next;
    for (char *line = (char *)data; *line; line = next) {
        size_t line_len = strcspn(line, "\n");
        next = line + line_len + (line[line_len] == '\n');
        line[line_len] = '\0';
        if (strncmp(line, "| `", 3) != 0)
            continue;
        char *end = strstr(line, "` | ");
        assert_non_null(end);
        char *answer_end = strstr(end + 4, " |");
        assert_non_null(answer_end);
        assert_true(table->n_rows < sizeof table->rows / sizeof table->rows[0]);
        struct row *row = &table->rows[table->n_rows++];
        snprintf(row->edit, sizeof row->edit, "%.*s", (int)(end - line - 3), line + 3);
        snprintf(row->answer, sizeof row->answer, "%.*s", (int)(answer_end - end - 4), end + 4);
        row->reference_accepts = strncmp(answer_end, " | accepts |", 12) == 0;
        assert_true(row->reference_accepts || strncmp(answer_end, " | refuses |", 12) == 0);
    }
    mem_free(data);
}

/* --- Edits ------------------------------------------------------------------------------------ */

/* The next word of the edit; empty at its end. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " ");
    char *end = word + strcspn(word, " ");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/* Adds what the shorthand at s stands for; how long that is there, or 0 if there is none at s. */
static int add_shorthand(struct text *value, const char *s)
{
    unsigned long number;
    unsigned byte;
    char c;
    int len = 0;
    if (sscanf(s, "repeat(%lu,%c)%n", &number, &c, &len) == 2 && len > 0) {
        for (unsigned long i = 0; i < number; i++)
            text_add_bytes(value, &c, 1);
    } else if (sscanf(s, "bytes(%lu)%n", &number, &len) == 1 && len > 0) {
        for (unsigned i = 0; i < 32; i++)
            text_add(value, "%s%lu", i ? "," : "[", number);
        text_add(value, "]");
    } else if (strncmp(s, "modulus", 7) == 0) {
        len = 7;
        text_add(value, "[1,0,0,0,255,255,255,255,254,91,254,255,2,164,189,83,5,216,161,9,8,216,"
                        "57,51,72,125,157,41,83,167,237,115]");
    } else if (sscanf(s, "\\x%2x%n", &byte, &len) == 1) {
        text_add_bytes(value, (char[]){(char)byte}, 1);
    }
    return len;
}

/* What is left of the edit, with shorthands written out. */
static void rest_as_value(const char *rest, struct text *value)
{
    *value = (struct text){0};
    text_add(value, "%s", "");
    while (*rest) {
        int len = add_shorthand(value, rest);
        if (len == 0) {
            text_add_bytes(value, rest, 1);
            len = 1;
        }
        rest += len;
    }
}

/* "@" stands for challenge 0, "." for the whole. */
static void expand_pointer(const char *short_form, char out[256])
{
    bool shorthand = short_form[0] == '@' || short_form[0] == '.';
    snprintf(out, 256, "%s%s", short_form[0] == '@' ? "/vanilla_proofs/StackedDrg2KiBV1/0/0" : "",
             short_form + shorthand);
}

/* The member written twice. */
static char *repeat_member(const char *text, const char *pointer)
{
    char parent[256];
    snprintf(parent, sizeof parent, "%s", pointer);
    char *key = strrchr(parent, '/');
    *key++ = '\0';
    struct text member = {0};
    char *value = json_copy(text, pointer);
    text_add(&member, "\"%s\":%s", key, value);
    char *out = json_append(text, parent, member.data);
    text_free(&member);
    mem_free(value);
    return out;
}

/* The edit on the text; takes the text over. */
static char *edit_text(char *text, char *edit)
{
    char pointer[256];
    struct text value;
    char *out = NULL;
    size_t len = strlen(text);
    char *verb = next_word(&edit);
    if (strcmp(verb, "begin") != 0 && strcmp(verb, "end") != 0 && strcmp(verb, "whole") != 0 &&
        strcmp(verb, "cut") != 0)
        expand_pointer(next_word(&edit), pointer);
    unsigned long position = strcmp(verb, "insert") == 0 ? strtoul(next_word(&edit), NULL, 10) : 0;
    rest_as_value(edit, &value);
    if (strcmp(verb, "set") == 0) {
        out = json_replace(text, pointer, value.data);
    } else if (strcmp(verb, "add") == 0) {
        out = json_append(text, pointer, value.data);
    } else if (strcmp(verb, "rename") == 0) {
        out = json_rename(text, pointer, value.data);
    } else if (strcmp(verb, "remove") == 0) {
        out = json_remove(text, pointer);
    } else if (strcmp(verb, "twice") == 0) {
        out = repeat_member(text, pointer);
    } else if (strcmp(verb, "insert") == 0) {
        size_t at = json_find(text, pointer).begin + 1 + position;
        out = json_splice(text, (struct span){at, at}, value.data);
    } else if (strcmp(verb, "overwrite") == 0) {
        size_t at = json_find(text, pointer).begin + 1;
        out = json_splice(text, (struct span){at, at + strlen(value.data)}, value.data);
    } else if (strcmp(verb, "chop") == 0) {
        size_t at = json_find(text, pointer).end - 1;
        out = json_splice(text, (struct span){at - strtoul(value.data, NULL, 10), at}, "");
    } else if (strcmp(verb, "cut") == 0) {
        out = json_splice(text, (struct span){len - strtoul(value.data, NULL, 10), len}, "");
    } else if (strcmp(verb, "begin") == 0) {
        out = json_splice(text, (struct span){0, 0}, value.data);
    } else if (strcmp(verb, "end") == 0) {
        out = json_splice(text, (struct span){len, len}, value.data);
    } else if (strcmp(verb, "whole") == 0) {
        out = json_splice(text, (struct span){0, len}, value.data);
    } else {
        fail_msg("unknown verb %s", verb);
    }
    text_free(&value);
    mem_free(text);
    return out;
}

/* --- Variants of the reference ---------------------------------------------------------------- */

/* One operation of a variant's patch (RFC 6902); takes the text over. */
static char *patch_text(char *text, const char *variants, const char *op_pointer)
{
    struct span span;
    char place[160];
    char *fields[4] = {NULL};
    static const char *const names[] = {"op", "path", "value", "from"};
    for (int i = 0; i < 4; i++) {
        snprintf(place, sizeof place, "%s/%s", op_pointer, names[i]);
        if (!json_try_find(variants, place, &span))
            continue;
        char *raw = json_copy(variants, place);
        fields[i] = json_compact(raw);
        mem_free(raw);
        if (i != 2) { /* the string without its quotes */
            size_t len = strlen(fields[i]);
            memmove(fields[i], fields[i] + 1, len - 2);
            fields[i][len - 2] = '\0';
        }
    }
    char *op = fields[0];
    char *path = fields[1];
    char *value = strcmp(op, "copy") == 0 ? json_copy(text, fields[3])
                                          : mem_strdup(fields[2] ? fields[2] : "");
    char *last = strrchr(path, '/');
    char *out;
    if (strcmp(op, "remove") == 0) {
        out = json_remove(text, path);
    } else if (strcmp(op, "replace") == 0) {
        out = json_replace(text, path, value);
    } else {
        struct text item = {0};
        if (strcmp(last, "/-") != 0)
            text_add(&item, "\"%s\":", last + 1);
        text_add(&item, "%s", value);
        *last = '\0';
        out = json_append(text, path, item.data);
        text_free(&item);
    }
    for (int i = 0; i < 4; i++)
        mem_free(fields[i]);
    mem_free(value);
    mem_free(text);
    return out;
}

/* Index of a variant of reference/negative/c1-variants.json. */
static unsigned find_variant(const char *variants, const char *name)
{
    for (unsigned i = 0;; i++) {
        char place[64];
        struct span found;
        snprintf(place, sizeof place, "/variants/%u/name", i);
        if (!json_try_find(variants, place, &found))
            fail_msg("no variant %s", name);
        if (found.end - found.begin == strlen(name) + 2 &&
            memcmp(variants + found.begin + 1, name, strlen(name)) == 0)
            return i;
    }
}

static char *apply_variant(char *text, const char *name)
{
    size_t len;
    char *variants = (char *)vector_read_or_skip("reference/negative/c1-variants.json", &len);
    unsigned index = find_variant(variants, name);
    for (unsigned i = 0;; i++) {
        char place[64];
        struct span op;
        snprintf(place, sizeof place, "/variants/%u/patch/%u", index, i);
        if (!json_try_find(variants, place, &op))
            break;
        text = patch_text(text, variants, place);
    }
    mem_free(variants);
    return text;
}

/* --- Reading and checking --------------------------------------------------------------------- */

/* The text of a row, and what the request says. */
static char *make_input(const struct row *row, struct c1_expect *expect)
{
    char edit[256];
    char *rest = edit;
    size_t len;
    memcpy(edit, row->edit, sizeof edit);
    *expect = (struct c1_expect){.sector_bytes = 2048,
                                 .has_registered_proof = true,
                                 .registered_proof = 5,
                                 .has_sector_number = true,
                                 .sector_number = 42,
                                 .has_miner_id = true,
                                 .miner_id = 1000};
    char *kind = next_word(&rest);
    char *text = (char *)vector_read_or_skip(
        strcmp(kind, "wrapper") == 0 || strcmp(kind, "request") == 0 ? WRAPPER : C1, &len);
    if (strcmp(kind, "variant") == 0)
        return apply_variant(text, next_word(&rest));
    if (strcmp(kind, "request") != 0)
        return edit_text(text, rest);
    char *field = next_word(&rest);
    uint64_t value = strtoull(rest, NULL, 10);
    if (strcmp(field, "sector_size") == 0)
        expect->sector_bytes = value;
    else if (strcmp(field, "registered_proof") == 0)
        expect->registered_proof = value;
    else if (strcmp(field, "sector_number") == 0)
        expect->sector_number = value;
    else if (strcmp(field, "miner_id") == 0)
        expect->miner_id = value;
    else
        fail_msg("unknown field %s", field);
    return text;
}

static void answer(const char *text, size_t piece, const struct c1_expect *expect,
                   char out[CUZK_ERROR_TEXT_BYTES])
{
    struct cuzk_error err = {0};
    struct c1 *c1 = NULL;
    size_t len = strlen(text);
    struct c1_reader *reader = c1_reader_new();
    enum cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < len && status == CUZK_OK; i += piece)
        status = c1_reader_feed(reader, text + i, len - i < piece ? len - i : piece, &err);
    if (status == CUZK_OK)
        status = c1_reader_finish(reader, &c1, &err);
    if (status == CUZK_OK)
        status = c1_check(c1, expect, NULL, &err);
    assert_true(status == CUZK_OK || status == CUZK_INVALID_ARGUMENT || status == CUZK_UNSUPPORTED);
    snprintf(out, CUZK_ERROR_TEXT_BYTES, "%s", status == CUZK_OK ? "accepted" : err.text);
    c1_free(c1);
    c1_reader_free(reader);
}

static void every_row_gets_its_answer(void **state)
{
    (void)state;
    static const size_t pieces[] = {SIZE_MAX / 2, 1000, 1};
    static struct table table;
    unsigned wrong = 0;
    unsigned refused = 0;
    read_table(&table);
    for (size_t i = 0; i < table.n_rows; i++) {
        const struct row *row = &table.rows[i];
        struct c1_expect expect;
        size_t before = mem_used_bytes();
        char *text = make_input(row, &expect);
        for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
            char got[CUZK_ERROR_TEXT_BYTES];
            answer(text, pieces[p], &expect, got);
            if (strcmp(got, row->answer) == 0)
                continue;
            print_error("| `%s` | %s | in pieces of %zu\n", row->edit, got, pieces[p]);
            wrong++;
        }
        refused += strcmp(row->answer, "accepted") != 0;
        mem_free(text);
        assert_int_equal(mem_used_bytes(), before);
    }
    assert_int_equal(wrong, 0);
    assert_true(refused >= 40);
}

/* No variant of the reference is left out of the table. */
static void every_variant_has_a_row(void **state)
{
    (void)state;
    static struct table table;
    size_t len;
    char *variants = (char *)vector_read_or_skip("reference/negative/c1-variants.json", &len);
    read_table(&table);
    unsigned count = 0;
    for (;; count++) {
        char place[64];
        char edit[256];
        struct span name;
        snprintf(place, sizeof place, "/variants/%u/name", count);
        if (!json_try_find(variants, place, &name))
            break;
        snprintf(edit, sizeof edit, "variant %.*s", (int)(name.end - name.begin - 2),
                 variants + name.begin + 1);
        bool found = false;
        for (size_t i = 0; i < table.n_rows; i++)
            found = found || strcmp(table.rows[i].edit, edit) == 0;
        if (!found)
            fail_msg("no row for %s", edit);
    }
    assert_int_equal(count, 64);
    mem_free(variants);
}

/* --- The reference as judge ------------------------------------------------------------------- */

/* Writes the text to a file and asks the reference, as a program, whether it is a good C1. */
static bool reference_accepts(const char *program, const char *folder, const char *text)
{
    char path[256];
    char command[600];
    struct cuzk_error err;
    snprintf(path, sizeof path, "%s/c1.json", folder);
    assert_ok(file_write(path, text, strlen(text), &err), err);
    snprintf(command, sizeof command, "%s c1-check %s --prover-id e807 --sector 42 2>&1", program,
             path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char line[256];
    while (fgets(line, sizeof line, pipe))
        continue;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 2);
    return WEXITSTATUS(status) == 0;
}

/* The third column of the table: what the reference's own checks say to the same text. Long tier;
   where the reference's program is present. */
static void the_reference_says_what_the_table_says(void **state)
{
    (void)state;
    static struct table table;
    static const char packed[] = "../shared/oracle/filref/filref.xz";
    if (!getenv("CUZK_TEST_LONG") || access(packed, R_OK) != 0) {
        print_message("SKIP: needs CUZK_TEST_LONG=1 and %s\n", packed);
        skip();
    }
    char folder[] = "/tmp/cuzk-judge-XXXXXX";
    char program[64];
    char command[256];
    unsigned wrong = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(program, sizeof program, "%s/filref", folder);
    snprintf(command, sizeof command, "xz -dc %s > %s && chmod +x %s", packed, program, program);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(pclose(pipe), 0);
    read_table(&table);
    for (size_t i = 0; i < table.n_rows; i++) {
        struct c1_expect expect;
        if (strncmp(table.rows[i].edit, "request", 7) == 0)
            continue;
        char *text = make_input(&table.rows[i], &expect);
        if (reference_accepts(program, folder, text) != table.rows[i].reference_accepts) {
            print_error("`%s`: not what the reference says\n", table.rows[i].edit);
            wrong++;
        }
        mem_free(text);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(pclose(pipe), 0);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_gets_its_answer),
        cmocka_unit_test(every_variant_has_a_row),
        cmocka_unit_test(the_reference_says_what_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
