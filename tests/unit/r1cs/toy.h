/* Circuits for the tests of lib/r1cs: one made of made-up templates and loose rows, and circuits
   read from the row texts of the known answers. */
#ifndef TESTS_UNIT_R1CS_TOY_H
#define TESTS_UNIT_R1CS_TOY_H

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "r1cs/cs.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Numbers that look random ----------------------------------------------------------------- */

static inline uint64_t toy_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t toy_below(uint64_t *state, uint64_t bound)
{
    return toy_next(state) % bound;
}

static inline struct fr toy_element(uint64_t *state)
{
    uint64_t limbs[4];
    struct fr element;
    switch (toy_below(state, 4)) { /* edge cases are as frequent as all other values */
    case 0:
        fr_from_u64(&element, toy_below(state, 3));
        return element;
    case 1:
        fr_from_u64(&element, toy_below(state, 3));
        fr_neg(&element, &element);
        return element;
    default:
        for (size_t i = 0; i < 4; i++)
            limbs[i] = toy_next(state);
        fr_from_limbs(&element, limbs);
        return element;
    }
}

/* --- A circuit of made-up templates ----------------------------------------------------------- */

struct toy {
    uint64_t values;   /* seed of the values; the rows do not depend on it */
    unsigned rounds;   /* how often the sequence of gadgets is repeated */
    bool one_more_bit; /* another circuit: one variable at the end */
    bool bits_only;    /* all values of bits are ones */
};

enum { TOY_WORD = 32, TOY_EXTERNALS = 2 * TOY_WORD };

static inline bool toy_bit_value(const struct toy *toy, uint64_t *values)
{
    return toy->bits_only || (toy_next(values) & 1) != 0;
}

/* A bit and the row that forces it to be one. */
static inline struct var toy_forced_bit(struct cs *cs, bool value)
{
    struct var bit = cs_bit(cs, value);
    struct lc a = {0}, b = {0};
    lc_add_var(&a, VAR_ONE);
    lc_sub_var(&a, bit);
    lc_add_var(&b, bit);
    cs_enforce(cs, &a, &b, NULL);
    lc_free(&a);
    lc_free(&b);
    return bit;
}

static inline struct var toy_bit(struct cs *cs, const struct toy *toy, uint64_t *values)
{
    return toy_forced_bit(cs, toy_bit_value(toy, values));
}

/* A sum of words as in a modular addition: coefficients are powers of two, A and C wide, B = 1. */
static inline void toy_sum_row(struct cs *cs, const struct var *x, const struct var *y,
                               unsigned shift, uint32_t constant)
{
    struct lc a = {0}, b = {0}, c = {0};
    struct fr coeff;
    for (unsigned i = 0; i < TOY_WORD; i++) {
        fr_pow2(&coeff, shift + i);
        lc_add(&a, x[i], &coeff);
        lc_add(&a, y[(i + 5) % TOY_WORD], &coeff);
        lc_add(&c, y[TOY_WORD - 1 - i], &coeff);
    }
    fr_from_u64(&coeff, constant);
    lc_add(&a, VAR_ONE, &coeff);
    lc_add_var(&b, VAR_ONE);
    cs_enforce(cs, &a, &b, &c);
    lc_free(&a);
    lc_free(&b);
    lc_free(&c);
}

/* A row of random terms; equal seeds give equal rows on other variables. */
static inline void toy_random_row(struct cs *cs, uint64_t *rows, const struct var *vars,
                                  size_t n_vars)
{
    struct lc combos[3] = {{0}, {0}, {0}};
    for (int m = 0; m < 3; m++) {
        size_t len = toy_below(rows, 6);
        for (size_t i = 0; i < len; i++) {
            struct fr coeff = toy_element(rows);
            lc_add(&combos[m], vars[toy_below(rows, n_vars)], &coeff);
        }
        if (toy_below(rows, 4) == 0)
            lc_add_var(&combos[m], VAR_ONE);
    }
    cs_enforce(cs, &combos[0], &combos[1], &combos[2]);
    for (int m = 0; m < 3; m++)
        lc_free(&combos[m]);
}

/* 64 external bits in; 32 bits and one number out. The variant is a constant in two rows. */
static inline void toy_mix(struct cs *cs, const struct toy *toy, uint64_t *values,
                           const struct var *in, uint32_t variant, struct var *out)
{
    struct cs_template use = {"toy mix", variant, in, TOY_EXTERNALS};
    if (!cs_template_begin(cs, &use, out, TOY_WORD + 1))
        return;
    for (unsigned i = 0; i < TOY_WORD; i++)
        out[i] = toy_bit(cs, toy, values);
    toy_sum_row(cs, in, in + TOY_WORD, 100, 7);
    toy_sum_row(cs, in, out, 0, 1000 + variant);
    struct fr number = toy_element(values);
    out[TOY_WORD] = cs_num(cs, &number);
    toy_sum_row(cs, out, in, 60, 0x80000000u + variant);
    uint64_t rows = 1;
    for (unsigned i = 0; i < 10; i++) {
        struct var vars[] = {in[3], in[40], out[1], out[31], out[TOY_WORD]};
        toy_random_row(cs, &rows, vars, ARRAY_LEN(vars));
    }
    cs_template_end(cs, out, TOY_WORD + 1);
}

/* Numbers only. Its uses inside toy_pair are part of that one. */
static inline struct var toy_hash(struct cs *cs, uint64_t *values, const struct var *in, size_t n)
{
    struct cs_template use = {n == 2 ? "toy hash 2" : "toy hash 3", 0, in, n};
    struct var out;
    if (!cs_template_begin(cs, &use, &out, 1))
        return out;
    struct var vars[4];
    memcpy(vars, in, n * sizeof *in);
    struct fr number = toy_element(values);
    vars[n] = cs_num(cs, &number);
    uint64_t rows = n;
    for (unsigned i = 0; i < 12; i++)
        toy_random_row(cs, &rows, vars, n + 1);
    out = vars[n];
    cs_template_end(cs, &out, 1);
    return out;
}

static inline struct var toy_pair(struct cs *cs, uint64_t *values, const struct var *in)
{
    struct cs_template use = {"toy pair", 0, in, 3};
    struct var out;
    if (!cs_template_begin(cs, &use, &out, 1))
        return out;
    struct var inner[] = {toy_hash(cs, values, in, 2), in[2]};
    out = toy_hash(cs, values, inner, 2);
    cs_template_end(cs, &out, 1);
    return out;
}

/* Exposes a variable as a public input, outside any template. */
static inline struct var toy_publish(struct cs *cs, uint64_t *values, struct var var)
{
    struct fr number = toy_element(values);
    struct var input = cs_input(cs, &number);
    struct lc a = {0}, b = {0}, c = {0};
    lc_add_var(&a, input);
    lc_add_var(&b, VAR_ONE);
    lc_add_var(&c, var);
    cs_enforce(cs, &a, &b, &c);
    lc_free(&a);
    lc_free(&b);
    lc_free(&c);
    return input;
}

/* A template with rows only, or with nothing at all; what comes in goes out. */
static inline struct var toy_pass(struct cs *cs, struct var in, bool rows)
{
    struct cs_template use = {rows ? "toy rows" : "toy nothing", 0, &in, 1};
    struct var outs[2];
    if (!cs_template_begin(cs, &use, outs, 2))
        return outs[0];
    uint64_t seed = 3;
    for (unsigned i = 0; rows && i < 3; i++)
        toy_random_row(cs, &seed, &in, 1);
    outs[0] = in;
    outs[1] = VAR_ONE;
    cs_template_end(cs, outs, 2);
    assert_int_equal(outs[1].id, VAR_ONE.id);
    return outs[0];
}

static inline void toy_synthesize(struct cs *cs, const void *input)
{
    const struct toy *toy = input;
    uint64_t values = toy->values;
    struct fr number = toy_element(&values);
    struct var nums[3] = {cs_num(cs, &number), cs_num(cs, &number), {0}};
    struct var words[TOY_EXTERNALS];
    struct var out[TOY_WORD + 1];
    cs_push(cs, "toy");
    toy_publish(cs, &values, nums[0]);
    for (unsigned round = 0; round < toy->rounds; round++) {
        cs_push(cs, "round");
        for (unsigned i = 0; i < TOY_EXTERNALS; i++) /* descending inside bytes, as digests are */
            words[i / 8 * 8 + 7 - i % 8] = toy_bit(cs, toy, &values);
        toy_mix(cs, toy, &values, words, round % 3, out);
        memcpy(words + (round % 2) * TOY_WORD, out, TOY_WORD * sizeof *out);
        toy_mix(cs, toy, &values, words, 1, out);
        nums[2] = out[TOY_WORD];
        nums[0] = toy_hash(cs, &values, nums, 3);
        nums[1] = toy_pair(cs, &values, (struct var[]){nums[0], nums[2], nums[1]});
        if (round % 4 == 2) { /* not distinct: recorded as loose rows */
            struct var same[] = {nums[1], nums[1]};
            nums[1] = toy_hash(cs, &values, same, 2);
        }
        struct var published = toy_publish(cs, &values, nums[1]);
        if (round % 3 == 1) { /* a bit and an input where numbers are elsewhere */
            struct var mixed[] = {nums[0], out[round % TOY_WORD], published};
            nums[0] = toy_hash(cs, &values, mixed, 3);
        }
        nums[1] = toy_pass(cs, toy_pass(cs, nums[1], round % 2 == 0), round % 5 == 0);
        cs_pop(cs);
    }
    cs_pop(cs);
    if (toy->one_more_bit)
        toy_bit(cs, toy, &values);
}

static inline struct circuit_program toy_program(const struct toy *toy)
{
    return (struct circuit_program){toy_synthesize, toy};
}

/* --- Circuits from row texts ------------------------------------------------------------------ */

/* Rows "N A: k*v k*v …" (three lines each); variables iN and aN. Variables that a row 1 − v ; v ; 0
   forces to be bits are bits, the others numbers; values are random and do not satisfy the rows. */
struct text_circuit {
    char *text;
    size_t n_rows; /* rows beyond are not part of the circuit */
    uint32_t n_inputs;
    uint32_t n_aux;
    bool *is_bit;
    uint64_t values;
    bool given_values; /* the text's own witness, lines "iN hex" and "aN hex" */
};

static inline struct fr text_coeff(const char *word, char **end)
{
    struct fr coeff = fr_zero, digit;
    bool negative = *word == '-';
    word += negative;
    if (strncmp(word, "2^", 2) == 0) {
        fr_pow2(&coeff, (unsigned)strtoul(word + 2, end, 10));
    } else {
        int base = strncmp(word, "0x", 2) == 0 ? 16 : 10;
        struct fr radix;
        fr_from_u64(&radix, (uint64_t)base);
        for (word += base == 16 ? 2 : 0; *word != '*'; word++) {
            char one[2] = {*word, 0};
            fr_mul(&coeff, &coeff, &radix);
            fr_from_u64(&digit, strtoul(one, NULL, base));
            fr_add(&coeff, &coeff, &digit);
        }
        *end = (char *)(uintptr_t)word;
    }
    if (negative)
        fr_neg(&coeff, &coeff);
    return coeff;
}

/* Reads "N A: terms" up to the end of the line; returns the next line. */
static inline const char *text_combination(const char *line, struct lc *lc)
{
    const char *next = strchr(line, '\n') + 1;
    const char *at = strchr(line, ':') + 1;
    lc_clear(lc);
    while (at[0] == ' ' && at[1] != '\n') {
        char *end;
        struct fr coeff = text_coeff(at + 1, &end);
        assert_int_equal(*end, '*');
        bool aux = end[1] == 'a';
        uint32_t index = (uint32_t)strtoul(end + 2, &end, 10);
        lc_add(lc, aux ? var_aux(index) : (struct var){index}, &coeff);
        at = end;
    }
    return next;
}

static inline const char *text_first_row(const struct text_circuit *circuit)
{
    const char *rows = strstr(circuit->text, "0 A:");
    assert_non_null(rows);
    return rows;
}

/* n_rows 0: all rows of the text. */
static inline struct text_circuit text_circuit_load(const char *name, size_t n_rows,
                                                    uint32_t n_inputs, uint32_t n_aux)
{
    size_t len;
    struct text_circuit circuit = {
        .text = (char *)vector_read_or_skip(name, &len),
        .n_rows = n_rows,
        .n_inputs = n_inputs,
        .n_aux = n_aux,
        .is_bit = mem_zalloc(n_aux, sizeof(bool)),
        .values = 1,
    };
    assert_non_null(circuit.is_bit);
    const char *at = text_first_row(&circuit);
    struct lc a = {0}, b = {0}, c = {0};
    for (size_t row = 0; *at && (n_rows == 0 || row < n_rows); row++) {
        at = text_combination(text_combination(text_combination(at, &a), &b), &c);
        circuit.n_rows = row + 1;
        if (a.len == 2 && a.terms[0].var.id == 0 && fr_is_one(&a.terms[0].coeff) &&
            fr_equal(&a.terms[1].coeff, &fr_minus_one) && b.len == 1 &&
            b.terms[0].var.id == a.terms[1].var.id && c.len == 0)
            circuit.is_bit[var_index(b.terms[0].var)] = true;
    }
    lc_free(&a);
    lc_free(&b);
    lc_free(&c);
    return circuit;
}

static inline void text_circuit_free(struct text_circuit *circuit)
{
    mem_free(circuit->text);
    mem_free(circuit->is_bit);
}

static inline struct fr text_value(const struct text_circuit *circuit, char kind, uint32_t index,
                                   uint64_t *values)
{
    if (!circuit->given_values)
        return toy_element(values);
    char key[16], hex[65];
    snprintf(key, sizeof key, "\n%c%u ", kind, index);
    const char *at = strstr(circuit->text, key);
    assert_non_null(at);
    snprintf(hex, sizeof hex, "%s", at + strlen(key));
    uint8_t bytes[FR_BYTES];
    struct fr value;
    assert_true(hex_decode(hex, bytes, sizeof bytes) && fr_from_bytes(&value, bytes));
    return value;
}

static inline void text_synthesize(struct cs *cs, const void *input)
{
    const struct text_circuit *circuit = input;
    uint64_t values = circuit->values;
    for (uint32_t i = 1; i < circuit->n_inputs; i++) {
        struct fr value = text_value(circuit, 'i', i, &values);
        cs_input(cs, &value);
    }
    for (uint32_t i = 0; i < circuit->n_aux; i++) {
        struct fr value = text_value(circuit, 'a', i, &values);
        if (circuit->is_bit[i])
            cs_bit(cs, (values >> 40 & 1) != 0);
        else
            cs_num(cs, &value);
    }
    const char *at = text_first_row(circuit);
    struct lc a = {0}, b = {0}, c = {0};
    for (size_t row = 0; row < circuit->n_rows; row++) {
        at = text_combination(text_combination(text_combination(at, &a), &b), &c);
        cs_enforce(cs, &a, &b, &c);
    }
    lc_free(&a);
    lc_free(&b);
    lc_free(&c);
}

static inline struct circuit_program text_program(const struct text_circuit *circuit)
{
    return (struct circuit_program){text_synthesize, circuit};
}

#endif
