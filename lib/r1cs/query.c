#include "r1cs/query.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/mem.h"

static void query_free(struct query *query)
{
    mem_free(query->point);
    mem_free(query->source);
    mem_free(query->dense);
}

static uint32_t bits_count(uint64_t bits)
{
    return (uint32_t)__builtin_popcountll(bits);
}

/* The mask of the bits of a word that belong to the first n. */
static uint64_t word_mask(size_t n, size_t word)
{
    return n - word * 64 < 64 ? ((uint64_t)1 << (n - word * 64)) - 1 : UINT64_MAX;
}

/* Numbers the points of one query. Takes ownership of `dense` (NULL: every aux variable has a
   point). input_dense NULL: no input has a point. */
static enum cuzk_status query_init(struct query *query, const struct shape *shape,
                                   const uint64_t *full, uint64_t *dense,
                                   const uint64_t *input_dense, struct cuzk_error *err)
{
    *query = (struct query){.dense = dense};
    const size_t most = (size_t)shape->n_inputs + shape->n_full;
    query->point = mem_alloc(most, sizeof *query->point);
    query->source = mem_alloc(most, sizeof *query->source);
    if (!query->point || !query->source)
        return error_set(err, CUZK_NO_MEMORY, "circuit of %u variables: out of memory",
                         shape->n_aux);
    for (uint32_t i = 0; input_dense && i < shape->n_inputs; i++) {
        if (bit_get(input_dense, i)) {
            query->point[query->n_scalars] = query->n_points++;
            query->source[query->n_scalars++] = i;
        }
    }
    query->n_inputs = query->n_points;
    uint32_t before = 0; /* full-size variables in earlier words */
    for (size_t word = 0; word < bit_words(shape->n_aux); word++) {
        const uint64_t is_dense = dense ? dense[word] : word_mask(shape->n_aux, word);
        for (uint64_t left = is_dense & full[word]; left != 0; left &= left - 1) {
            const uint64_t below = (left & -left) - 1;
            query->point[query->n_scalars] = query->n_points + bits_count(is_dense & below);
            query->source[query->n_scalars++] =
                shape->n_inputs + before + bits_count(full[word] & below);
        }
        query->n_points += bits_count(is_dense);
        before += bits_count(full[word]);
    }
    return CUZK_OK;
}

static uint64_t *take_bitmap(uint64_t **from)
{
    uint64_t *taken = *from;
    *from = NULL;
    return taken;
}

enum cuzk_status queries_init(struct queries *out, const struct shape *shape,
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
    all_inputs = mem_alloc(bit_words(shape->n_inputs), sizeof *all_inputs);
    if (!all_inputs) {
        status =
            error_set(err, CUZK_NO_MEMORY, "circuit of %u variables: out of memory", shape->n_aux);
        goto out;
    }
    memset(all_inputs, 0xff, bit_words(shape->n_inputs) * sizeof *all_inputs);
    status = query_init(&out->l, shape, full, NULL, NULL, err);
    if (status == CUZK_OK)
        status = query_init(&out->a, shape, full, take_bitmap(&density.a_aux), all_inputs, err);
    if (status == CUZK_OK)
        status =
            query_init(&out->b, shape, full, take_bitmap(&density.b_aux), density.b_input, err);
out:
    density_free(&density);
    mem_free(full);
    mem_free(all_inputs);
    if (status != CUZK_OK)
        queries_free(out);
    return status;
}

void queries_free(struct queries *queries)
{
    query_free(&queries->l);
    query_free(&queries->a);
    query_free(&queries->b);
    memset(queries, 0, sizeof *queries);
}

size_t queries_bytes(const struct queries *queries)
{
    const struct query *all[] = {&queries->l, &queries->a, &queries->b};
    size_t bytes = 0;
    for (size_t i = 0; i < 3; i++)
        bytes += all[i]->n_scalars * 2 * sizeof(uint32_t) + all[i]->n_points / 8;
    return bytes;
}
