#include "r1cs/template.h"

#include "base/bits.h"
#include "base/mem.h"
#include "r1cs/sort.h"

void row_list_free(struct row_list *list)
{
    mem_free(list->start);
    mem_free(list->var);
    mem_free(list->coeff);
    *list = (struct row_list){0};
}

bool row_list_sort(struct row_list *list, uint32_t n_rows)
{
    uint32_t longest = 0;
    for (uint32_t i = 0; i < n_rows; i++) {
        uint32_t len = list->start[i + 1] - list->start[i];
        longest = len > longest ? len : longest;
    }
    uint64_t *keys = mem_alloc(2 * (size_t)longest, sizeof *keys);
    if (!keys)
        return false;
    for (uint32_t i = 0; i < n_rows; i++) {
        uint32_t first = list->start[i];
        uint32_t len = list->start[i + 1] - first;
        for (uint32_t t = 0; t < len; t++)
            keys[t] = (uint64_t)list->var[first + t] << 16 | list->coeff[first + t];
        sort_keys(keys, len, keys + longest);
        for (uint32_t t = 0; t < len; t++) {
            list->var[first + t] = (uint32_t)(keys[t] >> 16);
            list->coeff[first + t] = (uint16_t)keys[t];
        }
    }
    mem_free(keys);
    return true;
}

bool template_make(const char *name, const struct row_list rows[MATRIX_COUNT], uint32_t n_rows,
                   uint32_t n_externals, uint32_t n_internal, const uint64_t *is_full,
                   struct shape_template *out)
{
    *out = (struct shape_template){
        .name = name,
        .n_rows = n_rows,
        .n_externals = n_externals,
        .n_internal = n_internal,
    };
    size_t words = bit_words(n_internal);
    out->is_full = mem_memdup(is_full, words * sizeof *is_full);
    bool made = out->is_full != NULL;
    for (int m = 0; m < MATRIX_COUNT; m++) {
        struct template_matrix *matrix = &out->matrix[m];
        size_t terms = rows[m].start[n_rows];
        matrix->start = mem_memdup(rows[m].start, ((size_t)n_rows + 1) * sizeof *matrix->start);
        matrix->local = mem_memdup(rows[m].var, terms * sizeof *matrix->local);
        matrix->coeff = mem_memdup(rows[m].coeff, terms * sizeof *matrix->coeff);
        made = made && matrix->start && matrix->local && matrix->coeff;
    }
    if (!made) {
        template_free(out);
        return false;
    }
    for (size_t i = 0; i < words; i++)
        out->n_full += (uint32_t)__builtin_popcountll(is_full[i]);
    return true;
}

void template_free(struct shape_template *template)
{
    mem_free(template->is_full);
    for (int m = 0; m < MATRIX_COUNT; m++) {
        mem_free(template->matrix[m].start);
        mem_free(template->matrix[m].local);
        mem_free(template->matrix[m].coeff);
    }
    *template = (struct shape_template){0};
}

size_t template_bytes(const struct shape_template *template)
{
    size_t bytes = sizeof *template + bit_words(template->n_internal) * sizeof(uint64_t);
    for (int m = 0; m < MATRIX_COUNT; m++) {
        const struct template_matrix *matrix = &template->matrix[m];
        size_t terms = matrix->start[template->n_rows];
        bytes += ((size_t) template->n_rows + 1) * sizeof *matrix->start;
        bytes += terms * (sizeof *matrix->local + sizeof *matrix->coeff);
    }
    return bytes;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

uint64_t template_hash(const struct shape_template *template)
{
    uint32_t counts[] = {template->n_rows, template->n_externals, template->n_internal};
    uint64_t hash = hash_bytes(0xcbf29ce484222325u, counts, sizeof counts);
    for (int m = 0; m < MATRIX_COUNT; m++) {
        const struct template_matrix *matrix = &template->matrix[m];
        size_t terms = matrix->start[template->n_rows];
        hash = hash_bytes(hash, matrix->local, terms * sizeof *matrix->local);
        hash = hash_bytes(hash, matrix->coeff, terms * sizeof *matrix->coeff);
    }
    return hash;
}

static bool same_layout(const struct template_matrix *x, const struct template_matrix *y,
                        uint32_t n_rows)
{
    return memcmp(x->start, y->start, ((size_t)n_rows + 1) * sizeof *x->start) == 0 &&
           memcmp(x->local, y->local, x->start[n_rows] * sizeof *x->local) == 0;
}

static bool same_variables(const struct shape_template *x, const struct shape_template *y)
{
    return x->n_rows == y->n_rows && x->n_externals == y->n_externals &&
           x->n_internal == y->n_internal &&
           memcmp(x->is_full, y->is_full, bit_words(x->n_internal) * sizeof *x->is_full) == 0;
}

static bool same_matrix(const struct shape_template *x, const struct shape_template *y,
                        enum matrix which)
{
    const struct template_matrix *mx = &x->matrix[which];
    const struct template_matrix *my = &y->matrix[which];
    return same_layout(mx, my, x->n_rows) &&
           memcmp(mx->coeff, my->coeff, mx->start[x->n_rows] * sizeof *mx->coeff) == 0;
}

bool template_equal(const struct shape_template *x, const struct shape_template *y)
{
    return same_variables(x, y) && same_matrix(x, y, MATRIX_A) && same_matrix(x, y, MATRIX_B) &&
           same_matrix(x, y, MATRIX_C);
}

bool template_diff(const struct shape_template *base, const struct shape_template *variant,
                   struct shape_patch *patches, uint32_t *n_patches)
{
    const struct template_matrix *x = &base->matrix[MATRIX_A];
    const struct template_matrix *y = &variant->matrix[MATRIX_A];
    *n_patches = 0;
    if (!same_variables(base, variant) || !same_matrix(base, variant, MATRIX_B) ||
        !same_matrix(base, variant, MATRIX_C) || !same_layout(x, y, base->n_rows))
        return false;
    for (uint32_t row = 0; row < base->n_rows; row++) {
        for (uint32_t t = x->start[row]; t < x->start[row + 1]; t++) {
            if (x->coeff[t] == y->coeff[t])
                continue;
            if (x->local[t] != 0)
                return false;
            patches[(*n_patches)++] = (struct shape_patch){.row = row, .coeff = y->coeff[t]};
        }
    }
    return true;
}
