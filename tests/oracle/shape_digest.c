/* The R1CS digest of the compiled form (docs/spec/parameters.md, part I.1): the only walk over a
   shape whose order of terms inside a row matters. */
#include "oracle/digest.h"

#include "base/error.h"
#include "base/mem.h"
#include "oracle/digest_stream.h"
#include "r1cs/sort.h"
#include "r1cs/walk.h"

struct digest_walk {
    const struct shape *shape;
    struct digest_stream stream;
    uint8_t *coeff_bytes; /* canonical form of all coefficients */
    uint32_t *globals;
    uint64_t *keys; /* twice the longest row */
    size_t longest;
};

static size_t longest_row(const struct shape *shape)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < shape->n_templates; i++) {
        const struct shape_template *template = &shape->templates[i];
        for (int m = 0; m < MATRIX_COUNT; m++) {
            const uint32_t *start = template->matrix[m].start;
            for (uint32_t row = 0; row < template->n_rows; row++) {
                size_t len = start[row + 1] - start[row];
                longest = len > longest ? len : longest;
            }
        }
    }
    return longest;
}

static bool walk_start(struct digest_walk *walk, const struct shape *shape)
{
    *walk = (struct digest_walk){.shape = shape, .longest = longest_row(shape)};
    walk->coeff_bytes = mem_alloc(shape->n_coeffs, FR_BYTES);
    walk->globals = shape_alloc_globals(shape);
    walk->keys = mem_alloc(2 * walk->longest, sizeof *walk->keys);
    if (!walk->coeff_bytes || !walk->globals || !walk->keys || !digest_start(&walk->stream))
        return false;
    for (uint32_t i = 0; i < shape->n_coeffs; i++)
        fr_to_bytes(walk->coeff_bytes + (size_t)i * FR_BYTES, &shape->coeffs[i]);
    return true;
}

static void walk_free(struct digest_walk *walk)
{
    mem_free(walk->coeff_bytes);
    mem_free(walk->globals);
    mem_free(walk->keys);
    digest_drop(&walk->stream);
}

/* One combination; constant_coeff replaces the coefficient of the constant 1 unless negative. */
static void add_combination(struct digest_walk *walk, const struct template_matrix *matrix,
                            uint32_t row, int32_t constant_coeff)
{
    uint32_t first = matrix->start[row];
    uint32_t len = matrix->start[row + 1] - first;
    uint64_t *keys = walk->keys;
    bool sorted = true;
    for (uint32_t t = 0; t < len; t++) {
        uint32_t local = matrix->local[first + t];
        uint32_t coeff = matrix->coeff[first + t];
        if (local == 0 && constant_coeff >= 0)
            coeff = (uint32_t)constant_coeff;
        keys[t] = (uint64_t)walk->globals[local] << 16 | coeff;
        sorted = sorted && (t == 0 || keys[t - 1] < keys[t]);
    }
    if (!sorted)
        sort_keys(keys, len, keys + walk->longest);
    digest_add_u32(&walk->stream, len);
    for (uint32_t t = 0; t < len; t++)
        digest_add_term(&walk->stream, (uint32_t)(keys[t] >> 16),
                        walk->coeff_bytes + (keys[t] & 0xffff) * FR_BYTES);
}

static void add_placement(struct digest_walk *walk, const struct shape_placement *placement)
{
    const struct shape *shape = walk->shape;
    const struct shape_template *template = &shape->templates[placement->template_index];
    const struct shape_patch *patches = shape->patches + placement->first_patch;
    uint32_t next_patch = 0;
    placement_globals(shape, placement, walk->globals);
    for (uint32_t row = 0; row < template->n_rows; row++) {
        int32_t constant_coeff = -1;
        if (next_patch < placement->n_patches && patches[next_patch].row == row)
            constant_coeff = patches[next_patch++].coeff;
        add_combination(walk, &template->matrix[MATRIX_A], row, constant_coeff);
        add_combination(walk, &template->matrix[MATRIX_B], row, -1);
        add_combination(walk, &template->matrix[MATRIX_C], row, -1);
    }
}

enum cuzk_status shape_digest(const struct shape *shape, uint8_t digest[32], struct cuzk_error *err)
{
    struct digest_walk walk;
    enum cuzk_status status = CUZK_OK;
    if (walk_start(&walk, shape)) {
        for (uint32_t i = 0; i < shape->n_placements; i++)
            add_placement(&walk, &shape->placements[i]);
        digest_finish(&walk.stream, shape->n_inputs, shape->n_aux, shape->n_rows, digest);
    } else {
        status = error_set(err, CUZK_NO_MEMORY, "digest: no memory");
    }
    walk_free(&walk);
    return status;
}
