/* Compiles the recorded rows of each template into programs: rows of bits with small coefficients
   are looked up in a table, sums of words are integers, all other rows are field operations. The
   programs follow from the rows alone. */
#include "r1cs/rows_program.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/mem.h"
#include "r1cs/walk.h"

/* --- Coefficients ----------------------------------------------------------------------------- */

static int16_t exact_log2(const uint64_t limbs[4])
{
    int16_t log2 = -1;
    for (int i = 0; i < 4; i++) {
        if (limbs[i] == 0)
            continue;
        if (log2 >= 0 || (limbs[i] & (limbs[i] - 1)) != 0)
            return -1;
        log2 = (int16_t)(64 * i + __builtin_ctzll(limbs[i]));
    }
    return log2;
}

static struct coeff_class classify_coeff(const struct fr *coeff)
{
    uint64_t limbs[4];
    fr_to_limbs(limbs, coeff);
    return (struct coeff_class){.small = coeff_small(coeff), .log2 = exact_log2(limbs)};
}

/* --- Slots ------------------------------------------------------------------------------------ */

uint32_t placement_of_aux(const struct shape *shape, uint32_t aux)
{
    /* the last placement that starts at or before aux and is not empty */
    uint32_t low = 0, high = shape->n_placements;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (shape->placements[middle].first_aux <= aux)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t full_rank(const struct shape_template *template, const struct template_rows *rows,
                   uint32_t i)
{
    uint64_t below = template->is_full[i / 64] & (((uint64_t)1 << (i % 64)) - 1);
    return rows->full_rank[i / 64] + (uint32_t)__builtin_popcountll(below);
}

/* Marks in slot[0 … count) which of the variables from aux on are full-size (any value but
   SLOT_BIT). */
static void mark_full_run(const struct shape *shape, uint32_t aux, uint32_t count, uint32_t *slot)
{
    uint32_t index = placement_of_aux(shape, aux);
    for (uint32_t k = 0; k < count; k++, aux++) {
        const struct shape_placement *placement = &shape->placements[index];
        const struct shape_template *template = &shape->templates[placement->template_index];
        while (aux - placement->first_aux >= template->n_internal) {
            placement = &shape->placements[++index];
            template = &shape->templates[placement->template_index];
        }
        if (bit_get(template->is_full, aux - placement->first_aux))
            slot[k] = 0;
    }
}

/* An external counts as full-size if any placement binds it to an input or a full-size variable. */
static void mark_externals(struct row_evaluator *evaluator, const struct shape_placement *placement)
{
    const struct shape *shape = evaluator->shape;
    uint32_t *slot = evaluator->templates[placement->template_index].slot + 1;
    for (uint32_t i = 0; i < placement->n_bindings; i++) {
        struct shape_binding run = shape->bindings[placement->first_binding + i];
        if (var_is_aux(run.first)) {
            mark_full_run(shape, var_index(run.first), run.count, slot);
        } else {
            for (uint32_t k = 0; k < run.count; k++)
                slot[k] = 0;
        }
        slot += run.count;
    }
}

static bool prepare_slots(const struct shape_template *template, struct template_rows *rows)
{
    size_t n_locals = template_locals(template);
    size_t words = bit_words(template->n_internal);
    rows->slot = mem_alloc(n_locals, sizeof *rows->slot);
    rows->full_rank = mem_alloc(words, sizeof *rows->full_rank);
    if (!rows->slot || !rows->full_rank)
        return false;
    for (size_t i = 0; i < n_locals; i++)
        rows->slot[i] = SLOT_BIT;
    uint32_t rank = 0;
    for (size_t i = 0; i < words; i++) {
        rows->full_rank[i] = rank;
        rank += (uint32_t)__builtin_popcountll(template->is_full[i]);
    }
    return true;
}

/* Numbers the slots: externals first, then internals in order. */
static void number_slots(const struct shape_template *template, struct template_rows *rows)
{
    uint32_t next = 0;
    for (uint32_t i = 1; i <= template->n_externals; i++) {
        if (rows->slot[i] != SLOT_BIT)
            rows->slot[i] = next++;
    }
    rows->n_external_slots = next;
    uint32_t *internal = rows->slot + 1 + template->n_externals;
    for (uint32_t i = 0; i < template->n_internal; i++) {
        if (bit_get(template->is_full, i))
            internal[i] = next++;
    }
}

/* --- Rows ------------------------------------------------------------------------------------- */

struct compiler {
    const struct row_evaluator *evaluator;
    const struct template_matrix *matrix;
    const uint32_t *slot;
    struct row_program *program;
};

/* The quickest kind of operation that the terms of a row allow. */
static enum row_kind kind_of_row(const struct compiler *compiler, uint32_t row)
{
    const struct template_matrix *matrix = compiler->matrix;
    uint32_t first = matrix->start[row], end = matrix->start[row + 1];
    int small_sum = 0;
    bool small = true, words = true;
    for (uint32_t t = first; t < end; t++) {
        struct coeff_class class = compiler->evaluator->classes[matrix->coeff[t]];
        bool bit = compiler->slot[matrix->local[t]] == SLOT_BIT;
        if (!bit && end - first == 1 && class.small == 1)
            return ROW_COPY;
        small = small && bit && class.small != SMALL_NONE;
        if (small)
            small_sum += class.small < 0 ? -class.small : class.small;
        small = small && small_sum <= SMALL_MAX;
        words = words && bit && (class.log2 >= 0 || matrix->local[t] == 0);
    }
    if (first == end)
        return ROW_ZERO;
    if (small)
        return end - first <= 3 ? ROW_SMALL1 + (enum row_kind)(end - first - 1) : ROW_SMALL;
    return words ? ROW_WORDS : ROW_TERMS;
}

static bool add_small(struct compiler *compiler, uint32_t row, struct row_op *op)
{
    const struct template_matrix *matrix = compiler->matrix;
    struct row_program *program = compiler->program;
    uint32_t first = matrix->start[row], count = matrix->start[row + 1] - first;
    if (!MEM_GROW(program->small, program->small_capacity, program->n_small + count))
        return false;
    op->first = (uint32_t)program->n_small;
    op->count = (uint16_t)count; /* ≤ SMALL_MAX: each coefficient is at least 1 */
    for (uint32_t t = first; t < first + count; t++)
        program->small[program->n_small++] = (struct small_term){
            .local = matrix->local[t],
            .coeff = compiler->evaluator->classes[matrix->coeff[t]].small,
        };
    return true;
}

/* sum += 2^log2. False once the sum is 2^255 or more: below that, a constant below r still fits. */
static bool add_power(uint64_t sum[4], unsigned log2)
{
    uint64_t carry = (uint64_t)1 << (log2 % 64);
    for (unsigned i = log2 / 64; i < 4 && carry; i++) {
        sum[i] += carry;
        carry = sum[i] < carry;
    }
    return !carry && sum[3] >> 63 == 0;
}

static bool add_word_bit(struct row_program *program, struct word_sum *sum, uint32_t local,
                         unsigned log2)
{
    struct word_term *last = sum->count ? &program->words[program->n_words - 1] : NULL;
    if (last && local == last->local + last->bits && log2 == (unsigned)last->shift + last->bits &&
        last->bits < WORD_BITS_MAX) {
        last->bits++;
        return true;
    }
    if (!MEM_GROW(program->words, program->words_capacity, program->n_words + 1))
        return false;
    program->words[program->n_words++] =
        (struct word_term){.local = local, .bits = 1, .shift = (uint16_t)log2};
    sum->count++;
    return true;
}

/* Compiles the row to a sum of words; *fits is false if its value could be too large. */
static bool add_sum(struct compiler *compiler, uint32_t row, struct row_op *op, bool *fits)
{
    const struct template_matrix *matrix = compiler->matrix;
    struct row_program *program = compiler->program;
    struct word_sum sum = {.first = (uint32_t)program->n_words};
    uint64_t most[4] = {0};
    *fits = true;
    for (uint32_t t = matrix->start[row]; t < matrix->start[row + 1] && *fits; t++) {
        uint16_t coeff = matrix->coeff[t];
        if (matrix->local[t] == 0) {
            fr_to_limbs(sum.constant, &compiler->evaluator->shape->coeffs[coeff]);
            continue;
        }
        unsigned log2 = (unsigned)compiler->evaluator->classes[coeff].log2;
        *fits = add_power(most, log2);
        if (*fits && !add_word_bit(program, &sum, matrix->local[t], log2))
            return false;
    }
    if (!MEM_GROW(program->sums, program->sums_capacity, program->n_sums + 1))
        return false;
    op->first = (uint32_t)program->n_sums;
    if (*fits)
        program->sums[program->n_sums++] = sum;
    else
        program->n_words = sum.first;
    return true;
}

static bool compile_row(struct compiler *compiler, uint32_t row)
{
    struct row_op *op = &compiler->program->ops[row];
    bool fits = true;
    *op = (struct row_op){.kind = (uint8_t)kind_of_row(compiler, row)};
    switch ((enum row_kind)op->kind) {
    case ROW_SMALL1:
    case ROW_SMALL2:
    case ROW_SMALL3:
    case ROW_SMALL:
        return add_small(compiler, row, op);
    case ROW_COPY:
        op->first = compiler->slot[compiler->matrix->local[compiler->matrix->start[row]]];
        return true;
    case ROW_WORDS:
        if (!add_sum(compiler, row, op, &fits))
            return false;
        if (!fits)
            op->kind = ROW_TERMS;
        return true;
    case ROW_ZERO:
    case ROW_TERMS:
        break;
    }
    return true;
}

/* Finds the rows that are evaluated together; their terms follow each other. */
static void find_runs(struct row_op *ops, uint32_t n_rows)
{
    for (uint32_t row = n_rows; row-- > 0;) {
        struct row_op *op = &ops[row];
        const struct row_op *next = op + 1;
        if (op->kind > ROW_SMALL3)
            continue;
        op->count = 1;
        if (row + 1 < n_rows && next->kind == op->kind && next->count < UINT16_MAX)
            op->count = (uint16_t)(next->count + 1);
    }
}

static bool compile_template(struct row_evaluator *evaluator, uint32_t index)
{
    const struct shape_template *template = &evaluator->shape->templates[index];
    struct template_rows *rows = &evaluator->templates[index];
    number_slots(template, rows);
    for (int m = 0; m < MATRIX_COUNT; m++) {
        struct row_program *program = &rows->program[m];
        struct compiler compiler = {evaluator, &template->matrix[m], rows->slot, program};
        program->ops = mem_alloc(template->n_rows, sizeof *program->ops);
        if (!program->ops)
            return false;
        for (uint32_t row = 0; row < template->n_rows; row++) {
            if (!compile_row(&compiler, row))
                return false;
        }
        find_runs(program->ops, template->n_rows);
    }
    size_t n_locals = template_locals(template);
    size_t n_slots = rows->n_external_slots + template->n_full;
    evaluator->most_locals = n_locals > evaluator->most_locals ? n_locals : evaluator->most_locals;
    evaluator->most_slots = n_slots > evaluator->most_slots ? n_slots : evaluator->most_slots;
    return true;
}

/* --- The evaluator ---------------------------------------------------------------------------- */

static void fill_tables(struct row_evaluator *evaluator)
{
    for (int i = 0; i <= SMALL_MAX; i++) {
        struct fr *positive = &evaluator->small[SMALL_MAX + i];
        fr_from_u64(positive, (uint64_t)i);
        fr_neg(&evaluator->small[SMALL_MAX - i], positive);
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t bytes[8];
        for (unsigned i = 0; i < 8; i++)
            bytes[i] = byte >> i & 1;
        memcpy(&evaluator->spread[byte], bytes, sizeof bytes);
    }
    for (uint32_t i = 0; i < evaluator->shape->n_coeffs; i++)
        evaluator->classes[i] = classify_coeff(&evaluator->shape->coeffs[i]);
}

static bool compile_templates(struct row_evaluator *evaluator)
{
    const struct shape *shape = evaluator->shape;
    evaluator->classes = mem_alloc(shape->n_coeffs, sizeof *evaluator->classes);
    evaluator->templates = mem_zalloc(shape->n_templates, sizeof *evaluator->templates);
    if (!evaluator->classes || !evaluator->templates)
        return false;
    fill_tables(evaluator);
    for (uint32_t i = 0; i < shape->n_templates; i++) {
        if (!prepare_slots(&shape->templates[i], &evaluator->templates[i]))
            return false;
    }
    for (uint32_t i = 0; i < shape->n_placements; i++)
        mark_externals(evaluator, &shape->placements[i]);
    for (uint32_t i = 0; i < shape->n_templates; i++) {
        if (!compile_template(evaluator, i))
            return false;
    }
    return true;
}

enum cuzk_status row_evaluator_new(const struct shape *shape, struct row_evaluator **out,
                                   struct cuzk_error *err)
{
    struct row_evaluator *evaluator = mem_zalloc(1, sizeof *evaluator);
    if (evaluator) {
        evaluator->shape = shape;
        if (compile_templates(evaluator)) {
            *out = evaluator;
            return CUZK_OK;
        }
        row_evaluator_free(evaluator);
    }
    return error_set(err, CUZK_NO_MEMORY, "row evaluation: no memory");
}

void row_evaluator_free(struct row_evaluator *evaluator)
{
    if (!evaluator)
        return;
    for (uint32_t i = 0; evaluator->templates && i < evaluator->shape->n_templates; i++) {
        struct template_rows *rows = &evaluator->templates[i];
        mem_free(rows->slot);
        mem_free(rows->full_rank);
        for (int m = 0; m < MATRIX_COUNT; m++) {
            mem_free(rows->program[m].ops);
            mem_free(rows->program[m].small);
            mem_free(rows->program[m].words);
            mem_free(rows->program[m].sums);
        }
    }
    mem_free(evaluator->templates);
    mem_free(evaluator->classes);
    mem_free(evaluator);
}
