#include "backend/cuda/rows/rows.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/mem.h"
#include "r1cs/rows_program.h"

/* A growing array that becomes a part of the image. */
struct list {
    void *data;
    size_t n, capacity, element;
};

struct builder {
    const struct shape *shape;
    const struct row_evaluator *rows;
    struct list small, coeffs, templates, codes, terms, wide, wide_terms, placements, runs, sources,
        parts;
    bool no_memory;
};

static void append(struct builder *builder, struct list *list, const void *elements, size_t count)
{
    if (count == 0 || builder->no_memory)
        return;
    if (!mem_reserve(&list->data, &list->capacity, list->n + count, list->element)) {
        builder->no_memory = true;
        return;
    }
    memcpy((char *)list->data + list->n * list->element, elements, count * list->element);
    list->n += count;
}

static uint32_t wide_term_variable(const struct template_rows *rows, uint32_t local)
{
    return rows->slot[local] == SLOT_BIT ? local : ROWS_SLOT | rows->slot[local];
}

/* Appends the row's terms; constant, unless NULL, replaces the coefficient of the constant 1. */
static void append_wide(struct builder *builder, uint32_t template_index, enum matrix side,
                        uint32_t row, const uint16_t *constant)
{
    const struct template_matrix *matrix = &builder->shape->templates[template_index].matrix[side];
    const struct template_rows *rows = &builder->rows->templates[template_index];
    const struct rows_wide wide = {
        .row = row,
        .side = side == MATRIX_A ? 0 : 1,
        .first = (uint32_t)builder->wide_terms.n,
        .count = matrix->start[row + 1] - matrix->start[row],
    };
    append(builder, &builder->wide, &wide, 1);
    for (uint32_t t = matrix->start[row]; t < matrix->start[row + 1]; t++) {
        const bool replaced = constant && matrix->local[t] == 0;
        const struct rows_wide_term term = {
            .variable = wide_term_variable(rows, matrix->local[t]),
            .coeff = replaced ? *constant : matrix->coeff[t],
        };
        append(builder, &builder->wide_terms, &term, 1);
    }
}

static uint32_t row_code(struct builder *builder, uint32_t template_index, enum matrix side,
                         uint32_t row)
{
    const struct row_program *program = &builder->rows->templates[template_index].program[side];
    const struct template_matrix *matrix = &builder->shape->templates[template_index].matrix[side];
    const struct row_op *op = &program->ops[row];
    const uint32_t count = matrix->start[row + 1] - matrix->start[row];
    const uint32_t first = (uint32_t)builder->terms.n;
    switch ((enum row_kind)op->kind) {
    case ROW_ZERO:
    case ROW_SMALL1:
    case ROW_SMALL2:
    case ROW_SMALL3:
    case ROW_SMALL:
        for (uint32_t i = 0; i < count; i++) {
            const struct small_term *term = &program->small[op->first + i];
            const uint32_t packed = ROWS_TERM((uint8_t)term->coeff, term->local);
            append(builder, &builder->terms, &packed, 1);
        }
        return (uint32_t)ROWS_SMALL << 30 | count << 23 | first;
    case ROW_COPY:
        return (uint32_t)ROWS_COPY << 30 | op->first;
    case ROW_WORDS:
    case ROW_TERMS:
        append_wide(builder, template_index, side, row, NULL);
        break;
    }
    return (uint32_t)ROWS_WIDE << 30;
}

static void add_template(struct builder *builder, uint32_t index)
{
    const struct shape_template *from = &builder->shape->templates[index];
    struct rows_template to = {
        .n_rows = from->n_rows,
        .n_externals = from->n_externals,
        .n_internal = from->n_internal,
        .n_external_slots = builder->rows->templates[index].n_external_slots,
        .first_code = (uint32_t)builder->codes.n,
        .first_wide = (uint32_t)builder->wide.n,
    };
    for (uint32_t row = 0; row < from->n_rows; row++) {
        const uint32_t codes[2] = {row_code(builder, index, MATRIX_A, row),
                                   row_code(builder, index, MATRIX_B, row)};
        append(builder, &builder->codes, codes, 2);
    }
    to.n_wide = (uint32_t)builder->wide.n - to.first_wide;
    append(builder, &builder->templates, &to, 1);
}

/* Where the value of a variable is that some placement of the template has full-size. */
static uint32_t source_of(const struct builder *builder, struct var var)
{
    const struct shape *shape = builder->shape;
    if (!var_is_aux(var))
        return (uint32_t)ROWS_FROM_INPUT << 30 | var_index(var);
    const struct shape_placement *placement =
        &shape->placements[placement_of_aux(shape, var_index(var))];
    const uint32_t internal = var_index(var) - placement->first_aux;
    const struct shape_template *template = &shape->templates[placement->template_index];
    if (!bit_get(template->is_full, internal))
        return (uint32_t)ROWS_FROM_BIT << 30 | var_index(var);
    const struct template_rows *rows = &builder->rows->templates[placement->template_index];
    return (uint32_t)ROWS_FROM_FULL << 30 |
           (placement->first_full + full_rank(template, rows, internal));
}

static void add_externals(struct builder *builder, const struct shape_placement *placement)
{
    const uint32_t *slot = builder->rows->templates[placement->template_index].slot;
    uint32_t local = 1;
    for (uint32_t i = 0; i < placement->n_bindings; i++) {
        const struct shape_binding run = builder->shape->bindings[placement->first_binding + i];
        if (var_is_aux(run.first)) {
            const struct rows_run bits = {var_index(run.first), run.count, local};
            append(builder, &builder->runs, &bits, 1);
        }
        for (uint32_t k = 0; k < run.count; k++) {
            if (slot[local + k] == SLOT_BIT)
                continue;
            const uint32_t source = source_of(builder, (struct var){run.first.id + k});
            append(builder, &builder->sources, &source, 1);
        }
        local += run.count;
    }
}

static void add_placement(struct builder *builder, uint32_t index)
{
    const struct shape *shape = builder->shape;
    const struct shape_placement *from = &shape->placements[index];
    struct rows_placement to = {
        .template_index = from->template_index,
        .first_row = from->first_row,
        .first_aux = from->first_aux,
        .first_full = from->first_full,
        .first_run = (uint32_t)builder->runs.n,
        .first_source = (uint32_t)builder->sources.n,
        .first_patch = (uint32_t)builder->wide.n,
        .n_patches = from->n_patches,
    };
    add_externals(builder, from);
    to.n_runs = (uint32_t)builder->runs.n - to.first_run;
    for (uint32_t i = 0; i < from->n_patches; i++) {
        const struct shape_patch *patch = &shape->patches[from->first_patch + i];
        append_wide(builder, from->template_index, MATRIX_A, patch->row, &patch->coeff);
    }
    append(builder, &builder->placements, &to, 1);
    const uint32_t n_rows = shape->templates[from->template_index].n_rows;
    for (uint32_t row = 0; row < n_rows; row += ROWS_PART_ROWS) {
        const struct rows_part part = {index, row};
        append(builder, &builder->parts, &part, 1);
    }
}

/* Appends the list to the image, if there is one yet, and returns its offset. */
static size_t place_list(struct rows_image *image, const struct list *list)
{
    const size_t at = image->n_bytes;
    const size_t bytes = list->n * list->element;
    if (image->bytes && bytes > 0)
        memcpy(image->bytes + at, list->data, bytes);
    image->n_bytes += (bytes + 63) / 64 * 64;
    return at;
}

static void place_lists(struct rows_image *image, const struct builder *builder)
{
    image->n_bytes = 0;
    image->small = place_list(image, &builder->small);
    image->coeffs = place_list(image, &builder->coeffs);
    image->templates = place_list(image, &builder->templates);
    image->codes = place_list(image, &builder->codes);
    image->terms = place_list(image, &builder->terms);
    image->wide = place_list(image, &builder->wide);
    image->wide_terms = place_list(image, &builder->wide_terms);
    image->placements = place_list(image, &builder->placements);
    image->runs = place_list(image, &builder->runs);
    image->sources = place_list(image, &builder->sources);
    image->parts = place_list(image, &builder->parts);
}

static void add_circuit(struct builder *builder)
{
    const struct shape *shape = builder->shape;
    append(builder, &builder->small, builder->rows->small, 2 * SMALL_MAX + 1);
    append(builder, &builder->coeffs, shape->coeffs, shape->n_coeffs);
    for (uint32_t i = 0; i < shape->n_templates; i++)
        add_template(builder, i);
    for (uint32_t i = 0; i < shape->n_placements; i++)
        add_placement(builder, i);
}

static enum cuzk_status make_image(const struct builder *builder, struct rows_image *image,
                                   struct cuzk_error *err)
{
    if (builder->terms.n > ROWS_TERMS_MAX || builder->rows->most_locals > ROWS_LOCALS_MAX)
        return error_set(err, CUZK_RESOURCE_EXHAUSTED,
                         "circuit with %zu terms and %zu variables in a template; the device takes "
                         "%d and %d",
                         builder->terms.n, builder->rows->most_locals, ROWS_TERMS_MAX,
                         ROWS_LOCALS_MAX);
    place_lists(image, builder);
    if (!builder->no_memory)
        image->bytes = mem_zalloc(image->n_bytes, 1);
    if (!image->bytes)
        return error_set(err, CUZK_NO_MEMORY, "rows of the circuit: out of memory");
    place_lists(image, builder);
    image->n_parts = (uint32_t)builder->parts.n;
    image->most_locals = (uint32_t)builder->rows->most_locals;
    image->n_rows = (uint32_t)builder->shape->n_rows;
    image->n_inputs = builder->shape->n_inputs;
    return CUZK_OK;
}

enum cuzk_status rows_image_make(const struct shape *shape, struct rows_image *out,
                                 struct cuzk_error *err)
{
    *out = (struct rows_image){0};
    struct row_evaluator *rows;
    TRY(row_evaluator_new(shape, &rows, err));
    struct builder builder = {
        .shape = shape,
        .rows = rows,
        .small = {.element = sizeof(struct fr)},
        .coeffs = {.element = sizeof(struct fr)},
        .templates = {.element = sizeof(struct rows_template)},
        .codes = {.element = sizeof(uint32_t)},
        .terms = {.element = sizeof(uint32_t)},
        .wide = {.element = sizeof(struct rows_wide)},
        .wide_terms = {.element = sizeof(struct rows_wide_term)},
        .placements = {.element = sizeof(struct rows_placement)},
        .runs = {.element = sizeof(struct rows_run)},
        .sources = {.element = sizeof(uint32_t)},
        .parts = {.element = sizeof(struct rows_part)},
    };
    add_circuit(&builder);
    enum cuzk_status status = make_image(&builder, out, err);
    struct list *lists[] = {&builder.small,      &builder.coeffs,     &builder.templates,
                            &builder.codes,      &builder.terms,      &builder.wide,
                            &builder.wide_terms, &builder.placements, &builder.runs,
                            &builder.sources,    &builder.parts};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        mem_free(lists[i]->data);
    row_evaluator_free(rows);
    return status;
}

void rows_image_free(struct rows_image *image)
{
    mem_free(image->bytes);
    *image = (struct rows_image){0};
}
