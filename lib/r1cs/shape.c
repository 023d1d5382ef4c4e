#include "r1cs/shape.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/mem.h"
#include "r1cs/template.h"
#include "r1cs/walk.h"

void shape_free(struct shape *shape)
{
    if (!shape)
        return;
    for (uint32_t i = 0; i < shape->n_templates; i++)
        template_free(&shape->templates[i]);
    mem_free(shape->coeffs);
    mem_free(shape->templates);
    mem_free(shape->placements);
    mem_free(shape->bindings);
    mem_free(shape->patches);
    mem_free(shape);
}

size_t shape_bytes(const struct shape *shape)
{
    size_t bytes = sizeof *shape + shape->n_coeffs * sizeof *shape->coeffs +
                   shape->n_placements * sizeof *shape->placements +
                   shape->n_bindings * sizeof *shape->bindings +
                   shape->n_patches * sizeof *shape->patches;
    for (uint32_t i = 0; i < shape->n_templates; i++)
        bytes += template_bytes(&shape->templates[i]);
    return bytes;
}

/* --- Densities -------------------------------------------------------------------------------- */

/* Marks the locals that occur in one matrix of a template. */
static void mark_locals(const struct shape_template *template, enum matrix which, uint64_t *locals)
{
    const struct template_matrix *matrix = &template->matrix[which];
    for (uint32_t t = 0; t < matrix->start[template->n_rows]; t++)
        bit_set(locals, matrix->local[t]);
}

static void mark_globals(const struct shape *shape, const struct shape_placement *placement,
                         const uint64_t *locals, uint64_t *aux, uint64_t *inputs)
{
    const struct shape_template *template = &shape->templates[placement->template_index];
    size_t n_locals = template_locals(template);
    size_t at = 1;
    for (uint32_t i = 0; i < placement->n_bindings; i++) {
        struct shape_binding run = shape->bindings[placement->first_binding + i];
        uint64_t *to = var_is_aux(run.first) ? aux : inputs;
        if (to)
            bits_or(to, var_index(run.first), locals, n_locals, at, run.count);
        at += run.count;
    }
    bits_or(aux, placement->first_aux, locals, n_locals, at, template->n_internal);
    if (inputs && (locals[0] & 1) != 0)
        bit_set(inputs, 0);
}

/* Fills the bitmaps of the variables that occur in the matrix. inputs may be NULL. */
static bool mark_matrix(const struct shape *shape, enum matrix which, uint64_t *aux,
                        uint64_t *inputs)
{
    uint64_t **locals = mem_zalloc(shape->n_templates, sizeof *locals);
    bool done = locals != NULL;
    for (uint32_t i = 0; done && i < shape->n_templates; i++) {
        size_t words = bit_words(template_locals(&shape->templates[i]));
        locals[i] = mem_zalloc(words, sizeof *locals[i]);
        done = locals[i] != NULL;
        if (done)
            mark_locals(&shape->templates[i], which, locals[i]);
    }
    for (uint32_t i = 0; done && i < shape->n_placements; i++) {
        const struct shape_placement *placement = &shape->placements[i];
        mark_globals(shape, placement, locals[placement->template_index], aux, inputs);
    }
    for (uint32_t i = 0; locals && i < shape->n_templates; i++)
        mem_free(locals[i]);
    mem_free(locals);
    return done;
}

enum cuzk_status shape_density(const struct shape *shape, struct density *out,
                               struct cuzk_error *err)
{
    size_t words = witness_plane_words(shape->n_aux);
    *out = (struct density){
        .a_aux = mem_zalloc(words, sizeof *out->a_aux),
        .b_aux = mem_zalloc(words, sizeof *out->b_aux),
        .b_input = mem_zalloc(bit_words(shape->n_inputs), sizeof *out->b_input),
    };
    if (out->a_aux && out->b_aux && out->b_input &&
        mark_matrix(shape, MATRIX_A, out->a_aux, NULL) &&
        mark_matrix(shape, MATRIX_B, out->b_aux, out->b_input))
        return CUZK_OK;
    density_free(out);
    return error_set(err, CUZK_NO_MEMORY, "densities: no memory");
}

void density_free(struct density *density)
{
    mem_free(density->a_aux);
    mem_free(density->b_aux);
    mem_free(density->b_input);
    *density = (struct density){0};
}

static uint32_t count_bits(const uint64_t *words, size_t n)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (uint32_t)__builtin_popcountll(words[i]);
    return count;
}

enum cuzk_status shape_count_dense(struct shape *shape, struct cuzk_error *err)
{
    struct density density;
    TRY(shape_density(shape, &density, err));
    size_t words = witness_plane_words(shape->n_aux);
    shape->a_dense_aux = count_bits(density.a_aux, words);
    shape->b_dense_aux = count_bits(density.b_aux, words);
    shape->b_dense_inputs = count_bits(density.b_input, bit_words(shape->n_inputs));
    density_free(&density);
    return CUZK_OK;
}

enum cuzk_status shape_full_bitmap(const struct shape *shape, uint64_t **out,
                                   struct cuzk_error *err)
{
    uint64_t *map = mem_zalloc(witness_plane_words(shape->n_aux), sizeof *map);
    if (!map)
        return error_set(err, CUZK_NO_MEMORY, "full-size bitmap: no memory");
    for (uint32_t i = 0; i < shape->n_placements; i++) {
        const struct shape_placement *placement = &shape->placements[i];
        const struct shape_template *template = &shape->templates[placement->template_index];
        bits_or(map, placement->first_aux, template->is_full, template->n_internal, 0,
                template->n_internal);
    }
    *out = map;
    return CUZK_OK;
}

/* --- Rows ------------------------------------------------------------------------------------- */

void placement_globals(const struct shape *shape, const struct shape_placement *placement,
                       uint32_t *globals)
{
    const struct shape_template *template = &shape->templates[placement->template_index];
    *globals++ = VAR_ONE.id;
    for (uint32_t i = 0; i < placement->n_bindings; i++) {
        struct shape_binding run = shape->bindings[placement->first_binding + i];
        for (uint32_t k = 0; k < run.count; k++)
            *globals++ = run.first.id + k;
    }
    for (uint32_t k = 0; k < template->n_internal; k++)
        *globals++ = var_aux(placement->first_aux + k).id;
}

size_t shape_most_locals(const struct shape *shape)
{
    size_t most = 0;
    for (uint32_t i = 0; i < shape->n_templates; i++) {
        size_t n = template_locals(&shape->templates[i]);
        most = n > most ? n : most;
    }
    return most;
}

uint32_t *shape_alloc_globals(const struct shape *shape)
{
    return mem_alloc(shape_most_locals(shape), sizeof(uint32_t));
}

const struct fr *patched_constant(const struct shape *shape,
                                  const struct shape_placement *placement, uint32_t *next_patch,
                                  uint32_t row)
{
    const struct shape_patch *patches = shape->patches + placement->first_patch;
    while (*next_patch < placement->n_patches && patches[*next_patch].row < row)
        ++*next_patch;
    if (*next_patch == placement->n_patches || patches[*next_patch].row != row)
        return NULL;
    return &shape->coeffs[patches[*next_patch].coeff];
}

static void fill_row(const struct shape *shape, const struct shape_placement *placement,
                     const uint32_t *globals, uint32_t row, const struct fr *constant,
                     struct lc combos[MATRIX_COUNT])
{
    const struct shape_template *template = &shape->templates[placement->template_index];
    for (int m = 0; m < MATRIX_COUNT; m++) {
        const struct template_matrix *matrix = &template->matrix[m];
        lc_clear(&combos[m]);
        for (uint32_t t = matrix->start[row]; t < matrix->start[row + 1]; t++) {
            const struct fr *coeff = &shape->coeffs[matrix->coeff[t]];
            if (m == MATRIX_A && matrix->local[t] == 0 && constant)
                coeff = constant;
            lc_add(&combos[m], (struct var){globals[matrix->local[t]]}, coeff);
        }
    }
}

enum cuzk_status shape_visit_rows(const struct shape *shape, shape_row_fn *fn, void *context,
                                  struct cuzk_error *err)
{
    struct lc combos[MATRIX_COUNT] = {0};
    uint32_t *globals = shape_alloc_globals(shape);
    bool failed = !globals;
    for (uint32_t i = 0; i < shape->n_placements && !failed; i++) {
        const struct shape_placement *placement = &shape->placements[i];
        uint32_t n_rows = shape->templates[placement->template_index].n_rows;
        uint32_t next_patch = 0;
        placement_globals(shape, placement, globals);
        for (uint32_t row = 0; row < n_rows && !failed; row++) {
            const struct fr *constant = patched_constant(shape, placement, &next_patch, row);
            fill_row(shape, placement, globals, row, constant, combos);
            failed = combos[MATRIX_A].failed || combos[MATRIX_B].failed || combos[MATRIX_C].failed;
            if (!failed)
                fn(context, (uint64_t)placement->first_row + row, combos);
        }
    }
    for (int m = 0; m < MATRIX_COUNT; m++)
        lc_free(&combos[m]);
    mem_free(globals);
    return failed ? error_set(err, CUZK_NO_MEMORY, "rows: no memory") : CUZK_OK;
}
