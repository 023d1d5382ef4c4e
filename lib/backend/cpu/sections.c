#include "backend/cpu/sections.h"

#include "base/error.h"
#include "base/mem.h"

static size_t words_of(size_t bits)
{
    return (bits + 63) / 64;
}

static bool bit_at(const uint64_t *bitmap, size_t i)
{
    return bitmap[i / 64] >> (i % 64) & 1;
}

static void map_free(struct section_map *map)
{
    mem_free(map->point);
    mem_free(map->source);
    mem_free(map->dense);
}

/* Numbers the points of one section. Takes ownership of `dense` (NULL: every aux variable has a
   point); input_dense NULL: no inputs at all. */
static enum cuzk_status map_init(struct section_map *map, const struct shape *shape,
                                 const uint64_t *full, uint64_t *dense, const uint64_t *input_dense,
                                 struct cuzk_error *err)
{
    *map = (struct section_map){.dense = dense};
    map->point = mem_alloc((size_t)shape->n_inputs + shape->n_full, sizeof *map->point);
    map->source = mem_alloc((size_t)shape->n_inputs + shape->n_full, sizeof *map->source);
    if (!map->point || !map->source)
        return error_set(err, CUZK_NO_MEMORY, "circuit of %u variables: out of memory",
                         shape->n_aux);
    for (uint32_t i = 0; input_dense && i < shape->n_inputs; i++) {
        if (bit_at(input_dense, i)) {
            map->point[map->n_scalars] = map->n_points++;
            map->source[map->n_scalars++] = i;
        }
    }
    map->n_inputs = map->n_points;
    uint32_t n_full = 0;
    for (uint32_t i = 0; i < shape->n_aux; i++) {
        const bool is_full = bit_at(full, i);
        if (!dense || bit_at(dense, i)) {
            if (is_full) {
                map->point[map->n_scalars] = map->n_points;
                map->source[map->n_scalars++] = shape->n_inputs + n_full;
            }
            map->n_points++;
        }
        n_full += is_full;
    }
    return CUZK_OK;
}

enum cuzk_status sections_init(struct sections *out, const struct shape *shape,
                               struct cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    struct density density;
    uint64_t *full = NULL;
    uint64_t *all_inputs = NULL;
    TRY(shape_density(shape, &density, err));
    enum cuzk_status status = shape_full_bitmap(shape, &full, err);
    if (status != CUZK_OK)
        goto out;
    all_inputs = mem_alloc(words_of(shape->n_inputs), sizeof *all_inputs);
    if (!all_inputs) {
        status =
            error_set(err, CUZK_NO_MEMORY, "circuit of %u variables: out of memory", shape->n_aux);
        goto out;
    }
    memset(all_inputs, 0xff, words_of(shape->n_inputs) * sizeof *all_inputs);
    status = map_init(&out->l, shape, full, NULL, NULL, err);
    if (status != CUZK_OK)
        goto out;
    uint64_t *dense = density.a_aux;
    density.a_aux = NULL;
    status = map_init(&out->a, shape, full, dense, all_inputs, err);
    if (status != CUZK_OK)
        goto out;
    dense = density.b_aux;
    density.b_aux = NULL;
    status = map_init(&out->b, shape, full, dense, density.b_input, err);
out:
    density_free(&density);
    mem_free(full);
    mem_free(all_inputs);
    if (status != CUZK_OK)
        sections_free(out);
    return status;
}

void sections_free(struct sections *sections)
{
    map_free(&sections->l);
    map_free(&sections->a);
    map_free(&sections->b);
    memset(sections, 0, sizeof *sections);
}

size_t sections_bytes(const struct sections *sections)
{
    const struct section_map *maps[] = {&sections->l, &sections->a, &sections->b};
    size_t bytes = 0;
    for (size_t i = 0; i < 3; i++)
        bytes += maps[i]->n_scalars * 2 * sizeof(uint32_t) + maps[i]->n_points / 8;
    return bytes;
}

/* The bits of the dense variables, closed up, behind the inputs' zeros. */
static void compact_bits(uint64_t *selected, const struct section_map *map,
                         const struct witness *witness)
{
    size_t rank = map->n_inputs;
    for (size_t i = 0; i < words_of(witness->n_aux); i++) {
        const uint64_t dense = map->dense ? map->dense[i] : UINT64_MAX;
        for (uint64_t set = witness->bits[i] & dense; set != 0; set &= set - 1) {
            const uint64_t below = (set & -set) - 1;
            const size_t point = rank + (size_t)__builtin_popcountll(dense & below);
            selected[point / 64] |= UINT64_C(1) << (point % 64);
        }
        rank += (size_t)__builtin_popcountll(dense);
    }
}

enum cuzk_status section_values_init(struct section_values *out, const struct section_map *map,
                                     const struct witness *witness, struct cuzk_error *err)
{
    *out = (struct section_values){
        .selected = mem_zalloc(words_of(map->n_points), sizeof *out->selected),
        .scalars = mem_alloc(map->n_scalars, sizeof *out->scalars),
    };
    if (!out->selected || !out->scalars) {
        section_values_free(out, map);
        return error_set(err, CUZK_NO_MEMORY, "partition of %u variables: out of memory",
                         witness->n_aux);
    }
    compact_bits(out->selected, map, witness);
    for (uint32_t i = 0; i < map->n_scalars; i++) {
        const uint32_t source = map->source[i];
        out->scalars[i] = source < witness->n_inputs ? witness->inputs[source]
                                                     : witness->full[source - witness->n_inputs];
    }
    return CUZK_OK;
}

void section_values_free(struct section_values *values, const struct section_map *map)
{
    if (values->selected)
        mem_wipe(values->selected, words_of(map->n_points) * sizeof *values->selected);
    if (values->scalars)
        mem_wipe(values->scalars, map->n_scalars * sizeof *values->scalars);
    mem_free(values->selected);
    mem_free(values->scalars);
}
