#include "r1cs/rows_program.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/mem.h"
#include "math/spread.h"
#include "r1cs/walk.h"

__extension__ typedef unsigned __int128 u128;

/* Rows of one task on the pool. */
enum { PIECE_ROWS = 1 << 15 };

/* The values of one placement's local variables. */
struct locals {
    uint64_t *bits;  /* one bit each, with a spare word */
    uint8_t *bytes;  /* one byte each, 0 or 1 */
    struct fr *full; /* by slot */
};

static bool locals_make(const struct row_evaluator *evaluator, struct locals *locals)
{
    size_t words = bit_words(evaluator->most_locals) + 1;
    *locals = (struct locals){
        .bits = mem_alloc(words, sizeof *locals->bits),
        .bytes = mem_alloc(words, 64),
        .full = mem_alloc(evaluator->most_slots, sizeof *locals->full),
    };
    return locals->bits && locals->bytes && locals->full;
}

static void workers_free(struct locals *workers, unsigned n)
{
    for (unsigned i = 0; workers && i < n; i++) {
        mem_free(workers[i].bits);
        mem_free(workers[i].bytes);
        mem_free(workers[i].full);
    }
    mem_free(workers);
}

/* Working memory of n workers; NULL without memory. */
static struct locals *workers_make(const struct row_evaluator *evaluator, unsigned n)
{
    struct locals *workers = mem_zalloc(n, sizeof *workers);
    bool made = workers != NULL;
    for (unsigned i = 0; made && i < n; i++)
        made = locals_make(evaluator, &workers[i]);
    if (made)
        return workers;
    workers_free(workers, n);
    return NULL;
}

static struct fr variable_value(const struct row_evaluator *evaluator,
                                const struct witness *witness, struct var var)
{
    if (!var_is_aux(var))
        return witness->inputs[var_index(var)];
    const struct shape *shape = evaluator->shape;
    uint32_t aux = var_index(var);
    const struct shape_placement *placement = &shape->placements[placement_of_aux(shape, aux)];
    const struct shape_template *template = &shape->templates[placement->template_index];
    uint32_t internal = aux - placement->first_aux;
    if (!bit_get(template->is_full, internal))
        return bit_get(witness->bits, aux) ? fr_one : fr_zero;
    const struct template_rows *rows = &evaluator->templates[placement->template_index];
    return witness->full[placement->first_full + full_rank(template, rows, internal)];
}

/* Fetches the values of the placement's local variables from the witness. */
static void gather_locals(const struct row_evaluator *evaluator, const struct witness *witness,
                          const struct shape_placement *placement, struct locals *locals)
{
    const struct shape *shape = evaluator->shape;
    const struct shape_template *template = &shape->templates[placement->template_index];
    const struct template_rows *rows = &evaluator->templates[placement->template_index];
    size_t words = bit_words(template_locals(template));
    size_t plane_bits = witness_plane_words(witness->n_aux) * 64;
    memset(locals->bits, 0, (words + 1) * sizeof *locals->bits);
    locals->bits[0] = 1; /* the constant */
    size_t at = 1;
    for (uint32_t i = 0; i < placement->n_bindings; i++) {
        struct shape_binding run = shape->bindings[placement->first_binding + i];
        if (var_is_aux(run.first))
            bits_or(locals->bits, at, witness->bits, plane_bits, var_index(run.first), run.count);
        for (uint32_t k = 0; rows->n_external_slots > 0 && k < run.count; k++) {
            uint32_t slot = rows->slot[at + k];
            if (slot != SLOT_BIT)
                locals->full[slot] =
                    variable_value(evaluator, witness, (struct var){run.first.id + k});
        }
        at += run.count;
    }
    bits_or(locals->bits, at, witness->bits, plane_bits, placement->first_aux,
            template->n_internal);
    if (template->n_full > 0)
        memcpy(locals->full + rows->n_external_slots, witness->full + placement->first_full,
               template->n_full * sizeof *locals->full);
    for (size_t i = 0; i < words; i++) {
        uint64_t word = locals->bits[i];
        for (unsigned byte = 0; byte < 8; byte++)
            memcpy(locals->bytes + 64 * i + 8 * byte, &evaluator->spread[word >> 8 * byte & 0xff],
                   8);
    }
}

/* --- One row ---------------------------------------------------------------------------------- */

/* Up to 64 bits of the map from bit `at` on. The map has one word more than its bits need. */
static uint64_t word_at(const uint64_t *words, size_t at)
{
    unsigned shift = at % 64;
    const uint64_t *word = words + at / 64;
    return word[0] >> shift | word[1] << 1 << (63 - shift);
}

/* A sum of words as an integer below 2^256. Each 128-bit accumulator adds up 32-bit words shifted
   by less than 64 bits, so any number of them fits; carries are propagated at the end. */
static void sum_words(const struct row_program *program, const struct word_sum *sum,
                      const uint64_t *bits, struct fr *out)
{
    u128 acc[4];
    for (int i = 0; i < 4; i++)
        acc[i] = sum->constant[i];
    const struct word_term *term = program->words + sum->first;
    for (uint32_t i = 0; i < sum->count; i++, term++) {
        uint64_t word = word_at(bits, term->local) & (((uint64_t)1 << term->bits) - 1);
        acc[term->shift / 64] += (u128)word << (term->shift % 64);
    }
    uint64_t limbs[4];
    u128 carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += acc[i];
        limbs[i] = (uint64_t)carry;
        carry >>= 64;
    }
    fr_from_limbs(out, limbs);
}

/* A row term by term. constant, unless NULL, replaces the coefficient of the constant 1. */
static void sum_terms(const struct row_evaluator *evaluator, const struct template_matrix *matrix,
                      const uint32_t *slot, uint32_t row, const struct fr *constant,
                      const struct locals *locals, struct fr *out)
{
    struct fr sum = fr_zero;
    for (uint32_t t = matrix->start[row]; t < matrix->start[row + 1]; t++) {
        uint32_t local = matrix->local[t];
        const struct fr *coeff = &evaluator->shape->coeffs[matrix->coeff[t]];
        if (slot[local] == SLOT_BIT) {
            if (locals->bytes[local])
                fr_add(&sum, &sum, local == 0 && constant ? constant : coeff);
            continue;
        }
        const struct fr *value = &locals->full[slot[local]];
        struct fr product;
        switch (evaluator->classes[matrix->coeff[t]].small) {
        case 1:
            fr_add(&sum, &sum, value);
            break;
        case -1:
            fr_sub(&sum, &sum, value);
            break;
        default:
            fr_mul(&product, value, coeff);
            fr_add(&sum, &sum, &product);
        }
    }
    *out = sum;
}

static inline int small_value(const struct small_term *term, uint32_t count, const uint8_t *bytes)
{
    int value = 0;
    for (uint32_t i = 0; i < count; i++)
        value += term[i].coeff * bytes[term[i].local];
    return value;
}

/* n_rows rows of `terms` small terms each, from program->small[first] on. */
static inline void small_rows(const struct row_evaluator *evaluator,
                              const struct row_program *program, uint32_t first, uint32_t terms,
                              uint32_t n_rows, const uint8_t *bytes, struct fr *out)
{
    const struct fr *table = evaluator->small + SMALL_MAX;
    const struct small_term *small = program->small + first;
    for (uint32_t i = 0; i < n_rows; i++, small += terms)
        out[i] = table[small_value(small, terms, bytes)];
}

/* Rows first_row … end_row - 1 of one matrix of the template, without patches. */
static void run_program(const struct row_evaluator *evaluator, uint32_t template_index,
                        enum matrix which, uint32_t first_row, uint32_t end_row,
                        const struct locals *locals, struct fr *out)
{
    const struct template_matrix *matrix =
        &evaluator->shape->templates[template_index].matrix[which];
    const struct template_rows *rows = &evaluator->templates[template_index];
    const struct row_program *program = &rows->program[which];
    const uint8_t *bytes = locals->bytes;
    uint32_t n_rows;
    for (uint32_t row = first_row; row < end_row; row += n_rows, out += n_rows) {
        struct row_op op = program->ops[row];
        n_rows = op.count < end_row - row ? op.count : end_row - row;
        switch ((enum row_kind)op.kind) {
        case ROW_ZERO:
            memset(out, 0, n_rows * sizeof *out);
            continue;
        case ROW_SMALL1:
            small_rows(evaluator, program, op.first, 1, n_rows, bytes, out);
            continue;
        case ROW_SMALL2:
            small_rows(evaluator, program, op.first, 2, n_rows, bytes, out);
            continue;
        case ROW_SMALL3:
            small_rows(evaluator, program, op.first, 3, n_rows, bytes, out);
            continue;
        case ROW_SMALL:
            small_rows(evaluator, program, op.first, op.count, 1, bytes, out);
            break;
        case ROW_COPY:
            *out = locals->full[op.first];
            break;
        case ROW_WORDS:
            sum_words(program, &program->sums[op.first], locals->bits, out);
            break;
        case ROW_TERMS:
            sum_terms(evaluator, matrix, rows->slot, row, NULL, locals, out);
            break;
        }
        n_rows = 1;
    }
}

/* --- Placements and pieces -------------------------------------------------------------------- */

/* Rows first_row … end_row - 1 of a placement, the first to out[m][0]. */
static void run_placement(const struct row_evaluator *evaluator,
                          const struct shape_placement *placement, uint32_t first_row,
                          uint32_t end_row, const struct locals *locals,
                          struct fr *const out[MATRIX_COUNT])
{
    const struct shape *shape = evaluator->shape;
    uint32_t index = placement->template_index;
    for (int m = 0; m < MATRIX_COUNT; m++) {
        if (out[m])
            run_program(evaluator, index, (enum matrix)m, first_row, end_row, locals, out[m]);
    }
    for (uint32_t i = 0; out[MATRIX_A] && i < placement->n_patches; i++) {
        struct shape_patch patch = shape->patches[placement->first_patch + i];
        if (patch.row >= first_row && patch.row < end_row)
            sum_terms(evaluator, &shape->templates[index].matrix[MATRIX_A],
                      evaluator->templates[index].slot, patch.row, &shape->coeffs[patch.coeff],
                      locals, out[MATRIX_A] + (patch.row - first_row));
    }
}

/* Index of the first placement that starts at or after the row. */
static uint32_t placement_from_row(const struct shape *shape, uint64_t row)
{
    uint32_t low = 0, high = shape->n_placements;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (shape->placements[middle].first_row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct run {
    const struct row_evaluator *evaluator;
    const struct witness *witness;
    uint64_t first;
    uint64_t end;
    struct fr *const *out;
    struct locals *workers;
};

/* Evaluates the rows of a placement that lie in [run->first, run->end). */
static void run_part(struct run *run, const struct shape_placement *placement,
                     struct locals *locals)
{
    uint32_t n_rows = run->evaluator->shape->templates[placement->template_index].n_rows;
    uint64_t start = placement->first_row, end = start + n_rows;
    uint64_t from = start > run->first ? start : run->first;
    uint64_t to = end < run->end ? end : run->end;
    if (from >= to)
        return;
    struct fr *out[MATRIX_COUNT];
    for (int m = 0; m < MATRIX_COUNT; m++)
        out[m] = run->out[m] ? run->out[m] + (from - run->first) : NULL;
    gather_locals(run->evaluator, run->witness, placement, locals);
    run_placement(run->evaluator, placement, (uint32_t)(from - start), (uint32_t)(to - start),
                  locals, out);
}

/* Writes input rows and the zero rows after them. */
static void run_tail(struct run *run, uint64_t from, uint64_t to)
{
    const struct shape *shape = run->evaluator->shape;
    for (int m = 0; m < MATRIX_COUNT; m++) {
        if (!run->out[m])
            continue;
        for (uint64_t row = from; row < to; row++) {
            bool input = m == MATRIX_A && row - shape->n_rows < shape->n_inputs;
            run->out[m][row - run->first] =
                input ? run->witness->inputs[row - shape->n_rows] : fr_zero;
        }
    }
}

/* Evaluates all placements that start in the piece's window of rows. The first piece also takes the
   placement that starts before it. */
static void run_piece(void *context, unsigned worker, size_t piece)
{
    struct run *run = context;
    const struct shape *shape = run->evaluator->shape;
    uint64_t window = run->first + (uint64_t)piece * PIECE_ROWS;
    uint64_t window_end = window + PIECE_ROWS < run->end ? window + PIECE_ROWS : run->end;
    uint32_t index = placement_from_row(shape, window);
    uint32_t end = placement_from_row(shape, window_end);
    if (piece == 0 && window < shape->n_rows) {
        while (index > 0 &&
               (index == shape->n_placements || shape->placements[index].first_row > window))
            index--;
    }
    for (; index < end; index++)
        run_part(run, &shape->placements[index], &run->workers[worker]);
    if (window_end > shape->n_rows)
        run_tail(run, window > shape->n_rows ? window : shape->n_rows, window_end);
}

enum cuzk_status row_evaluator_run(const struct row_evaluator *evaluator,
                                   const struct witness *witness, struct pool *pool, uint64_t first,
                                   size_t count, struct fr *const out[MATRIX_COUNT],
                                   struct cuzk_error *err)
{
    struct run run = {
        .evaluator = evaluator,
        .witness = witness,
        .first = first,
        .end = first + count,
        .out = out,
    };
    unsigned n_workers = spread_workers(pool);
    run.workers = workers_make(evaluator, n_workers);
    if (!run.workers)
        return error_set(err, CUZK_NO_MEMORY, "row evaluation: no memory");
    spread(pool, (count + PIECE_ROWS - 1) / PIECE_ROWS, run_piece, &run);
    workers_free(run.workers, n_workers);
    return CUZK_OK;
}

enum cuzk_status shape_eval_rows(const struct shape *shape, const struct witness *witness,
                                 struct pool *pool, struct fr *a, struct fr *b, size_t domain,
                                 struct cuzk_error *err)
{
    struct row_evaluator *evaluator;
    TRY(row_evaluator_new(shape, &evaluator, err));
    struct fr *const out[MATRIX_COUNT] = {a, b, NULL};
    enum cuzk_status status = row_evaluator_run(evaluator, witness, pool, 0, domain, out, err);
    row_evaluator_free(evaluator);
    return status;
}
