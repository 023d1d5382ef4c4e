/* The queries of a circuit against lists made from the gadgets' own rows, variable by variable. */
#include "toy.h"

#include "base/bits.h"
#include "r1cs/driver.h"
#include "r1cs/query.h"

/* A driver that only notes kinds and occurrences. */
struct notes {
    struct cs cs;
    bool *is_full; /* aux variables */
    bool *in_a, *in_b;
    bool *input_in_b;
};

enum { NOTES_MAX = 50000 };

static struct var note_alloc(struct cs *cs, enum var_kind kind, const struct fr *value)
{
    (void)value;
    struct notes *notes = (struct notes *)cs;
    assert_true(cs->n_aux < NOTES_MAX && cs->n_inputs < NOTES_MAX);
    if (kind == VAR_KIND_NUM)
        notes->is_full[cs->n_aux] = true;
    return cs_next_var(cs, kind);
}

static void note_enforce(struct cs *cs, struct lc *a, struct lc *b, struct lc *c)
{
    (void)c;
    struct notes *notes = (struct notes *)cs;
    lc_normalise(a);
    lc_normalise(b);
    for (size_t i = 0; i < a->len; i++) {
        if (var_is_aux(a->terms[i].var))
            notes->in_a[var_index(a->terms[i].var)] = true;
    }
    for (size_t i = 0; i < b->len; i++) {
        const struct var var = b->terms[i].var;
        (var_is_aux(var) ? notes->in_b : notes->input_in_b)[var_index(var)] = true;
    }
}

static const struct cs_driver note_driver = {
    .alloc = note_alloc,
    .enforce = note_enforce,
    .template_begin = cs_template_begin_rows,
    .template_end = cs_template_end_rows,
};

static struct notes notes_make(const struct circuit_program *program)
{
    struct cuzk_error err = {0};
    struct notes notes = {
        .is_full = mem_zalloc(NOTES_MAX, sizeof(bool)),
        .in_a = mem_zalloc(NOTES_MAX, sizeof(bool)),
        .in_b = mem_zalloc(NOTES_MAX, sizeof(bool)),
        .input_in_b = mem_zalloc(NOTES_MAX, sizeof(bool)),
    };
    cs_start(&notes.cs, &note_driver);
    assert_ok(cs_run(&notes.cs, program, &err), err);
    return notes;
}

static void notes_free(struct notes *notes)
{
    mem_free(notes->is_full);
    mem_free(notes->in_a);
    mem_free(notes->in_b);
    mem_free(notes->input_in_b);
    cs_free(&notes->cs);
}

/* Walks over the variables that have a point; NULL: every variable has one. */
static void assert_query(const struct query *query, const struct notes *notes, uint32_t n_inputs,
                         const bool *input_has, const bool *aux_has)
{
    uint32_t point = 0, scalar = 0, full = 0;
    for (uint32_t i = 0; i < n_inputs; i++) {
        if (input_has && !input_has[i])
            continue;
        assert_int_equal(query->source[scalar], i);
        assert_int_equal(query->point[scalar++], point++);
    }
    assert_int_equal(query->n_inputs, point);
    for (uint32_t i = 0; i < notes->cs.n_aux; i++) {
        const bool has = !aux_has || aux_has[i];
        assert_int_equal(!query->dense || bit_get(query->dense, i), has);
        if (has && notes->is_full[i]) {
            assert_int_equal(query->source[scalar], notes->cs.n_inputs + full);
            assert_int_equal(query->point[scalar++], point);
        }
        point += has;
        full += notes->is_full[i];
    }
    assert_int_equal(query->n_scalars, scalar);
    assert_int_equal(query->n_points, point);
    for (size_t i = notes->cs.n_aux; query->dense && i % 512 != 0; i++)
        assert_false(bit_get(query->dense, i)); /* the padding of the bit plane */
}

static void assert_queries(const struct circuit_program *program)
{
    struct cuzk_error err = {0};
    struct shape *shape;
    struct queries queries;
    struct notes notes = notes_make(program);
    assert_ok(shape_record(program, &shape, &err), err);
    assert_ok(queries_init(&queries, shape, &err), err);
    assert_null(queries.l.dense);
    assert_query(&queries.l, &notes, 0, NULL, NULL);
    assert_query(&queries.a, &notes, notes.cs.n_inputs, NULL, notes.in_a);
    assert_query(&queries.b, &notes, notes.cs.n_inputs, notes.input_in_b, notes.in_b);
    queries_free(&queries);
    shape_free(shape);
    notes_free(&notes);
}

static void test_templates(void **state)
{
    (void)state;
    for (unsigned rounds = 0; rounds < 40; rounds += 13) {
        struct toy toy = {.values = rounds, .rounds = rounds, .one_more_bit = rounds == 13};
        struct circuit_program program = toy_program(&toy);
        assert_queries(&program);
    }
}

/* Known circuits, with inputs that occur in B and variables that occur nowhere. */
static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint32_t n_inputs, n_aux;
    } texts[] = {
        {"reference/tiny/t1-mul.txt", 2, 2},
        {"reference/tiny/t2-density.txt", 3, 7},
        {"reference/tiny/t3-pow2.txt", 2, 6},
        {"reference/tiny/t4-pow2-plus1.txt", 2, 7},
        {"gadget-rows/to_bits_le_strict.txt.gz", 1, 388},
        {"gadget-rows/insert8.txt.gz", 1, 33},
        {"gadget-rows/pack_into_inputs_300_bits.txt.gz", 3, 300},
        {"gadget-rows/sha256_hash2.txt.gz", 1, 45333},
    };
    static const size_t tiny_rows[] = {1, 4, 6, 7};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const size_t n_rows = i < ARRAY_LEN(tiny_rows) ? tiny_rows[i] : 0;
        struct text_circuit circuit =
            text_circuit_load(texts[i].file, n_rows, texts[i].n_inputs, texts[i].n_aux);
        struct circuit_program program = text_program(&circuit);
        assert_queries(&program);
        text_circuit_free(&circuit);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    struct toy toy = {.values = 1, .rounds = 3};
    struct circuit_program program = toy_program(&toy);
    struct cuzk_error err = {0};
    struct shape *shape;
    assert_ok(shape_record(&program, &shape, &err), err);
    const size_t used = mem_used_bytes();
    enum cuzk_status status = CUZK_NO_MEMORY;
    for (long after = 0; status != CUZK_OK; after++) {
        struct queries queries;
        mem_fail_after(after);
        status = queries_init(&queries, shape, &err);
        mem_fail_after(-1);
        assert_true(status == CUZK_OK || (status == CUZK_NO_MEMORY && err.text[0]));
        queries_free(&queries); /* after a failure too */
        assert_int_equal(mem_used_bytes(), used);
    }
    shape_free(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_templates),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
