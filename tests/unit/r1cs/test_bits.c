/* Only variables that the rows force to be 0 or 1 are kept as bits. A circuit whose rows do not is
   refused when it is recorded. */
#include "toy.h"

#include "r1cs/shape.h"

/* --- Circuits of a few rows in text ----------------------------------------------------------- */

/* Rows "A B C" with a semicolon between them; combinations such as "1-b", "2b" or "b+c-2x", 0 is
   the empty one. Variables are single letters, allocated at their first use: the input i, numbers
   x, y, z, all others bits. With variants the last row is a template that is used in each of them;
   $ is the constant 1 in variant 0, 2 in variant 1. */
struct few_rows {
    const char *text;
    uint32_t variants;
};

struct names {
    struct var var[128];
    bool known[128];
    uint32_t variant;
};

static struct var name_to_var(struct cs *cs, struct names *names, char name)
{
    const size_t at = (size_t)name;
    if (!names->known[at]) {
        names->known[at] = true;
        if (name == 'i')
            names->var[at] = cs_input(cs, &fr_one);
        else
            names->var[at] = name >= 'x' ? cs_num(cs, &fr_one) : cs_bit(cs, false);
    }
    return names->var[at];
}

static const char *read_combination(struct cs *cs, struct names *names, const char *at,
                                    struct lc *lc)
{
    while (*at && *at != ' ' && *at != ';') {
        struct fr coeff = fr_one;
        const bool minus = *at == '-';
        at += *at == '-' || *at == '+';
        struct var var = VAR_ONE;
        if (*at == '$') {
            fr_from_u64(&coeff, 1 + names->variant);
            at++;
        } else if (*at >= '0' && *at <= '9') {
            char *end;
            fr_from_u64(&coeff, strtoul(at, &end, 10));
            at = end;
            if (*at >= 'a' && *at <= 'z')
                var = name_to_var(cs, names, *at++);
        } else {
            var = name_to_var(cs, names, *at++);
        }
        if (minus)
            fr_neg(&coeff, &coeff);
        lc_add(lc, var, &coeff);
    }
    return at + (*at == ' ');
}

static const char *read_row(struct cs *cs, struct names *names, const char *at)
{
    struct lc sides[3] = {{0}, {0}, {0}};
    for (size_t m = 0; m < 3; m++)
        at = read_combination(cs, names, at, &sides[m]);
    cs_enforce(cs, &sides[0], &sides[1], &sides[2]);
    for (size_t m = 0; m < 3; m++)
        lc_free(&sides[m]);
    return at + (*at == ';');
}

/* The row as a template with all variables so far as externals; its own are new in each use. */
static void use_template(struct cs *cs, const struct names *before, const char *row,
                         uint32_t variant)
{
    struct names names = *before;
    struct var externals[8];
    size_t n = 0;
    for (size_t name = 'a'; name <= 'z'; name++) {
        if (names.known[name])
            externals[n++] = names.var[name];
    }
    names.variant = variant;
    struct cs_template use = {"last row", variant, externals, n};
    if (!cs_template_begin(cs, &use, NULL, 0))
        return;
    read_row(cs, &names, row);
    cs_template_end(cs, NULL, 0);
}

static void few_synthesize(struct cs *cs, const void *input)
{
    const struct few_rows *few = input;
    struct names names = {0};
    const char *at = few->text;
    const char *last = few->variants > 0 ? strrchr(at, ';') + 1 : at + strlen(at);
    while (at != last)
        at = read_row(cs, &names, at);
    for (uint32_t variant = 0; variant < few->variants; variant++)
        use_template(cs, &names, last, variant);
}

/* expected NULL: it is recorded. */
static void assert_recorded(const struct few_rows *few, const char *expected)
{
    struct circuit_program program = {few_synthesize, few};
    struct cuzk_error err = {0};
    struct shape *shape = NULL;
    enum cuzk_status status = shape_record(&program, &shape, &err);
    if (status != (expected ? CUZK_INTERNAL : CUZK_OK) ||
        strcmp(err.text, expected ? expected : "") != 0)
        fail_msg("%s: %s", few->text, err.text[0] ? err.text : "recorded");
    shape_free(shape);
}

static void test_forced(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1-b b 0",                                        /* the boolean row */
        "b b b",                                          /* the same */
        "2b b b+b",                                       /* the same, doubled */
        "b b 0",                                          /* always 0 */
        "1-b 1-b 0",                                      /* always 1 */
        "1 1 b",                                          /* a constant */
        "b b b;c c c;2b c b+c-d",                         /* exclusive or */
        "b b b;c c c;b c d",                              /* and */
        "b b b;c c c;1-b 1-c d",                          /* nor */
        "b b b;c c c;b c b+c-d",                          /* or */
        "b b b;1-b-c c 0",                                /* a bit, 0 if b */
        "b b b;c c c;d d d;c-d b e-d",                    /* b ? c : d */
        "b b b;c c c;d d d;c d e;2e-c-d b e-f",           /* majority */
        "b b b;c c c;d d d;c d e;2e-c-d b e-f;1-f 1-c g", /* made of a result */
        "x y z;b b b;b x y",                              /* beside numbers */
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_recorded(&(struct few_rows){.text = texts[i]}, NULL);
}

struct refusal {
    const char *text;
    unsigned aux; /* the first that is not proven */
};

static void assert_unforced(const struct refusal *refusals, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char expected[160];
        snprintf(expected, sizeof expected,
                 "recording: aux %u (outside templates) is kept as a bit, but no row forces it to "
                 "be 0 or 1",
                 refusals[i].aux);
        assert_recorded(&(struct few_rows){.text = refusals[i].text}, expected);
    }
}

static void test_not_forced(void **state)
{
    (void)state;
    static const struct refusal refusals[] = {
        {"b b 2b", 0},                               /* 0 or 2 */
        {"2-b b 0", 0},                              /* the same */
        {"b b -1", 0},                               /* roots of -1 */
        {"b b 1", 0},                                /* 1 or -1 */
        {"1 1 2b", 0},                               /* one half */
        {"b 0 0", 0},                                /* anything */
        {"x b y", 1},                                /* anything */
        {"b c 1", 0},                                /* anything but 0 */
        {"b b b;1-b-2c c 0", 1},                     /* 0 or one half */
        {"b b b;c c c;1 b+c d", 2},                  /* 0, 1 or 2 */
        {"b b b;c c c;2b c b+c+d", 2},               /* 0 or -1 */
        {"b b b;c c c;3b c b+c-d", 2},               /* 0, 1 or -1 */
        {"b b b;c c c;1-b 1-c d+e;e e e", 2},        /* 0, 1 or -1 */
        {"b b b;c c c;d d d;e e e;2e-c-d b e-f", 4}, /* a majority whose e is any bit: 0, 1 or 2 */
    };
    assert_unforced(refusals, ARRAY_LEN(refusals));
}

/* Bits all the same, but the proof looks only at one row after the other, at small coefficients,
   and never at numbers. */
static void test_beyond_the_proof(void **state)
{
    (void)state;
    static const struct refusal refusals[] = {
        {"1 b c;c c c", 0},
        {"b b b;200b 1 200c", 1},
        {"b x 0;1-b 1-x 0", 0},
    };
    assert_unforced(refusals, ARRAY_LEN(refusals));
}

/* --- Templates -------------------------------------------------------------------------------- */

static void test_externals(void **state)
{
    (void)state;
    assert_recorded(&(struct few_rows){"b b b;c c c;2b c b+c-w", 1}, NULL);
    assert_recorded(&(struct few_rows){"b b b;1 1 x;1-w w 0", 1}, NULL);
    assert_recorded(&(struct few_rows){"b b b;1 1 x;2b x b+x-w", 1},
                    "recording: rows (last row) take full-size aux 1 for a bit");
    assert_recorded(&(struct few_rows){"b b b;1 1 i;2b i b+i-w", 1},
                    "recording: rows (last row) take input 1 for a bit");
    assert_recorded(&(struct few_rows){"b b b;c c c;1 b+c w", 1},
                    "recording: aux 2 (last row) is kept as a bit, but no row forces it to be 0 "
                    "or 1");
}

/* A row that proves a bit in one variant only proves nothing. */
static void test_variants(void **state)
{
    (void)state;
    assert_recorded(&(struct few_rows){"b b b;$-w w 0", 1}, NULL);
    assert_recorded(&(struct few_rows){"b b b;$-w w 0", 2},
                    "recording: aux 1 (last row) is kept as a bit, but no row forces it to be 0 "
                    "or 1");
}

static void use_and(struct cs *cs, struct var x, struct var y)
{
    struct var externals[] = {x, y};
    struct cs_template use = {"and", 0, externals, 2};
    if (!cs_template_begin(cs, &use, NULL, 0))
        return;
    struct lc a = {0}, b = {0}, c = {0};
    lc_add_var(&a, x);
    lc_add_var(&b, y);
    lc_add_var(&c, cs_bit(cs, false));
    cs_enforce(cs, &a, &b, &c);
    lc_free(&a);
    lc_free(&b);
    lc_free(&c);
    cs_template_end(cs, NULL, 0);
}

static void use_and_twice(struct cs *cs, const void *input)
{
    struct var bit = toy_forced_bit(cs, false), other = toy_forced_bit(cs, false);
    struct var number = cs_num(cs, &fr_zero);
    use_and(cs, bit, other);
    use_and(cs, other, input ? number : bit);
}

/* All uses count, not only the recorded one. */
static void test_later_uses(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    struct shape *shape;
    struct circuit_program program = {use_and_twice, NULL};
    assert_ok(shape_record(&program, &shape, &err), err);
    shape_free(shape);
    program.input = "";
    assert_int_equal(shape_record(&program, &shape, &err), CUZK_INTERNAL);
    assert_string_equal(err.text, "recording: rows (and) take full-size aux 2 for a bit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forced),           cmocka_unit_test(test_not_forced),
        cmocka_unit_test(test_beyond_the_proof), cmocka_unit_test(test_externals),
        cmocka_unit_test(test_variants),         cmocka_unit_test(test_later_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
