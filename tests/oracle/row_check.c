#include "oracle/row_check.h"

#include "base/error.h"
#include "base/mem.h"
#include "r1cs/rows_program.h"

enum { PIECE_ROWS = 1 << 18 }; /* 24 MiB of values */

static void locate_row(const struct shape *shape, uint64_t row, struct row_check *result)
{
    uint32_t i = shape->n_placements - 1;
    while (shape->placements[i].first_row > row)
        i--;
    const struct shape_placement *placement = &shape->placements[i];
    result->first_unsatisfied = row;
    result->template_name = shape->templates[placement->template_index].name;
    result->template_row = (uint32_t)(row - placement->first_row);
}

static void check_piece(const struct shape *shape, uint64_t first, size_t count,
                        struct fr *const values[MATRIX_COUNT], struct row_check *result)
{
    for (size_t i = 0; i < count; i++) {
        struct fr product;
        fr_mul(&product, &values[MATRIX_A][i], &values[MATRIX_B][i]);
        if (!fr_equal(&product, &values[MATRIX_C][i]) && result->unsatisfied++ == 0)
            locate_row(shape, first + i, result);
    }
}

enum cuzk_status row_check_run(const struct row_evaluator *evaluator, const struct witness *witness,
                               struct pool *pool, struct row_check *result, struct cuzk_error *err)
{
    const struct shape *shape = evaluator->shape;
    *result = (struct row_check){0};
    size_t room = shape->n_rows < PIECE_ROWS ? (size_t)shape->n_rows : PIECE_ROWS;
    struct fr *block = mem_alloc(MATRIX_COUNT * room, sizeof *block);
    if (!block)
        return error_set(err, CUZK_NO_MEMORY, "row check: no memory");
    struct fr *const values[MATRIX_COUNT] = {block, block + room, block + 2 * room};
    enum cuzk_status status = CUZK_OK;
    for (uint64_t row = 0; row < shape->n_rows && status == CUZK_OK; row += room) {
        size_t count = shape->n_rows - row < room ? (size_t)(shape->n_rows - row) : room;
        status = row_evaluator_run(evaluator, witness, pool, row, count, values, err);
        if (status == CUZK_OK)
            check_piece(shape, row, count, values, result);
    }
    mem_free(block);
    return status;
}
