/* The recorder: runs the gadgets once for each template and records every further use as a
   placement.

   Rows are collected, with global variable numbers, from the start of the current use of a template
   or of the current stretch of rows outside templates. At its end the variables get local numbers
   and the rows become a template. A stretch that equals an earlier one becomes a placement of that
   one. */
#include "r1cs/coeffs.h"
#include "r1cs/driver.h"
#include "r1cs/sort.h"
#include "r1cs/template.h"

#include "base/bits.h"
#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"

#include <stdio.h>

/* The local number of an external variable. Entries of other generations are empty. */
struct id_slot {
    uint32_t id;
    uint32_t local;
    uint32_t generation;
};

/* A (name, variant) that was recorded. */
struct known {
    const char *name;
    uint32_t variant;
    uint32_t n_externals;
    uint32_t *order; /* external k of the shape is external order[k] of the gadget */
    uint32_t n_outs;
    uint32_t *outs; /* local numbers */
    uint32_t template_index;
    uint32_t first_patch;
    uint32_t n_patches;
};

struct recorder {
    struct cs cs;
    struct shape *shape;
    size_t templates_capacity;
    size_t placements_capacity;
    size_t bindings_capacity;
    size_t patches_capacity;
    uint64_t *hashes; /* of the templates */
    size_t hashes_capacity;
    struct coeffs coeffs;
    struct known *known;
    size_t n_known;
    size_t known_capacity;

    /* The current use or stretch. */
    struct row_list rows[MATRIX_COUNT];
    uint32_t n_rows;
    uint64_t first_row;
    uint32_t first_aux;
    struct bitmap is_full;
    uint32_t *externals; /* global ids, external k + 1 has local number k + 1 */
    size_t n_externals;
    size_t externals_capacity;
    struct id_slot *slots;
    size_t n_slots;
    uint32_t generation;
    struct known *recording; /* NULL in a stretch */

    char failure[160]; /* details beyond the status, or "" */
};

static struct recorder *recorder_of(struct cs *cs)
{
    return CONTAINER_OF(cs, struct recorder, cs);
}

/* Passes on whether an allocation succeeded, and marks the system as failed if it did not. */
static bool check_room(struct recorder *r, bool allocated)
{
    if (!allocated)
        cs_fail(&r->cs, CUZK_NO_MEMORY);
    return allocated;
}

static void fail_limit(struct recorder *r, const char *what)
{
    if (r->cs.status == CUZK_OK)
        snprintf(r->failure, sizeof r->failure, "%s", what);
    cs_fail(&r->cs, CUZK_RESOURCE_EXHAUSTED);
}

/* --- Variables and rows ----------------------------------------------------------------------- */

static struct var record_alloc(struct cs *cs, enum var_kind kind, const struct fr *value)
{
    (void)value;
    struct recorder *r = recorder_of(cs);
    if (cs->status != CUZK_OK)
        return VAR_ONE;
    if (kind == VAR_KIND_INPUT) {
        CHECK(!r->recording);
        return cs_next_var(cs, kind);
    }
    uint32_t internal = cs->n_aux - r->first_aux;
    if (!bitmap_reserve(&r->is_full, (size_t)internal + 1)) {
        cs_fail(cs, CUZK_NO_MEMORY);
        return VAR_ONE;
    }
    if (kind == VAR_KIND_NUM)
        bit_set(r->is_full.words, internal);
    return cs_next_var(cs, kind);
}

static bool add_terms(struct recorder *r, struct row_list *list, struct lc *lc)
{
    lc_normalise(lc);
    size_t len = list->start[r->n_rows];
    if (len + lc->len > UINT32_MAX) {
        fail_limit(r, "more than 2^32 terms outside templates");
        return false;
    }
    if (!check_room(r, MEM_GROW(list->var, list->var_capacity, len + lc->len) &&
                           MEM_GROW(list->coeff, list->coeff_capacity, len + lc->len) &&
                           MEM_GROW(list->start, list->start_capacity, (size_t)r->n_rows + 2)))
        return false;
    for (size_t i = 0; i < lc->len; i++) {
        list->var[len + i] = lc->terms[i].var.id;
        enum cuzk_status status =
            coeffs_index(&r->coeffs, &lc->terms[i].coeff, &list->coeff[len + i]);
        if (status == CUZK_OK)
            continue;
        if (status == CUZK_RESOURCE_EXHAUSTED)
            fail_limit(r, "more than 65,536 different coefficients");
        cs_fail(&r->cs, status);
        return false;
    }
    list->start[r->n_rows + 1] = (uint32_t)(len + lc->len);
    return true;
}

static void record_enforce(struct cs *cs, struct lc *a, struct lc *b, struct lc *c)
{
    struct recorder *r = recorder_of(cs);
    if (cs->n_rows == UINT32_MAX) {
        fail_limit(r, "more than 2^32 rows");
        return;
    }
    if (add_terms(r, &r->rows[MATRIX_A], a) && add_terms(r, &r->rows[MATRIX_B], b) &&
        add_terms(r, &r->rows[MATRIX_C], c))
        r->n_rows++;
}

/* Starts to collect rows after what was recorded so far. */
static void start_collecting(struct recorder *r)
{
    r->n_rows = 0;
    r->first_row = r->cs.n_rows;
    r->first_aux = r->cs.n_aux;
    if (r->is_full.words)
        memset(r->is_full.words, 0, r->is_full.capacity * sizeof *r->is_full.words);
    r->n_externals = 0;
    r->generation++;
}

/* --- Local numbers ---------------------------------------------------------------------------- */

static struct id_slot *find_slot(struct recorder *r, uint32_t id)
{
    size_t mask = r->n_slots - 1;
    size_t at = (id * 0x9e3779b1u >> 7) & mask;
    while (r->slots[at].generation == r->generation && r->slots[at].id != id)
        at = (at + 1) & mask;
    return &r->slots[at];
}

static bool add_external(struct recorder *r, uint32_t id)
{
    if (2 * (r->n_externals + 1) > r->n_slots) {
        size_t n_slots = r->n_slots ? 2 * r->n_slots : 1024;
        struct id_slot *slots = mem_zalloc(n_slots, sizeof *slots);
        if (!check_room(r, slots))
            return false;
        mem_free(r->slots);
        r->slots = slots;
        r->n_slots = n_slots;
        for (uint32_t i = 0; i < r->n_externals; i++)
            *find_slot(r, r->externals[i]) =
                (struct id_slot){r->externals[i], i + 1, r->generation};
    }
    if (!check_room(r, MEM_GROW(r->externals, r->externals_capacity, r->n_externals + 1)))
        return false;
    r->externals[r->n_externals++] = id;
    *find_slot(r, id) = (struct id_slot){id, (uint32_t)r->n_externals, r->generation};
    return true;
}

static bool is_internal(const struct recorder *r, uint32_t id)
{
    return (id & VAR_AUX) != 0 && (id & ~VAR_AUX) >= r->first_aux;
}

static bool is_known_external(struct recorder *r, uint32_t id)
{
    return r->n_slots > 0 && find_slot(r, id)->generation == r->generation;
}

/* Numbers the externals of the collected rows in the order of their first occurrence, so that equal
   stretches get equal numbers. A template has its externals already, and may use no others. */
static bool number_externals(struct recorder *r)
{
    for (uint32_t row = 0; row < r->n_rows; row++) {
        for (int m = 0; m < MATRIX_COUNT; m++) {
            const struct row_list *list = &r->rows[m];
            for (uint32_t t = list->start[row]; t < list->start[row + 1]; t++) {
                uint32_t id = list->var[t];
                if (id == VAR_ONE.id || is_internal(r, id) || is_known_external(r, id))
                    continue;
                if (r->recording) {
                    snprintf(r->failure, sizeof r->failure,
                             "template %s uses variable %#x, which is none of its externals",
                             r->recording->name, id);
                    cs_fail(&r->cs, CUZK_INTERNAL);
                    return false;
                }
                if (!add_external(r, id))
                    return false;
            }
        }
    }
    return true;
}

static uint32_t local_of(struct recorder *r, uint32_t id)
{
    if (id == VAR_ONE.id)
        return 0;
    if (is_internal(r, id))
        return 1 + (uint32_t)r->n_externals + ((id & ~VAR_AUX) - r->first_aux);
    return find_slot(r, id)->local;
}

/* Makes a template of the collected rows. */
static bool make_template(struct recorder *r, const char *name, struct shape_template *out)
{
    if (!number_externals(r))
        return false;
    for (int m = 0; m < MATRIX_COUNT; m++) {
        struct row_list *list = &r->rows[m];
        for (uint32_t t = 0; t < list->start[r->n_rows]; t++)
            list->var[t] = local_of(r, list->var[t]);
        if (!row_list_sort(list, r->n_rows)) {
            cs_fail(&r->cs, CUZK_NO_MEMORY);
            return false;
        }
    }
    uint32_t n_internal = r->cs.n_aux - r->first_aux;
    if (!bitmap_reserve(&r->is_full, n_internal) ||
        !template_make(name, r->rows, r->n_rows, (uint32_t)r->n_externals, n_internal,
                       r->is_full.words, out)) {
        cs_fail(&r->cs, CUZK_NO_MEMORY);
        return false;
    }
    return true;
}

/* --- Placements ------------------------------------------------------------------------------- */

/* Takes over the template; on failure it is freed. */
static bool add_template(struct recorder *r, struct shape_template *template, uint64_t hash)
{
    struct shape *shape = r->shape;
    if (!check_room(r, MEM_GROW(shape->templates, r->templates_capacity, shape->n_templates + 1) &&
                           MEM_GROW(r->hashes, r->hashes_capacity, shape->n_templates + 1))) {
        template_free(template);
        return false;
    }
    r->hashes[shape->n_templates] = hash;
    shape->templates[shape->n_templates++] = *template;
    return true;
}

/* Stores the externals as runs of consecutive variables. */
static bool add_bindings(struct recorder *r, const uint32_t *ids, size_t n_ids,
                         struct shape_placement *placement)
{
    struct shape *shape = r->shape;
    placement->first_binding = shape->n_bindings;
    for (size_t i = 0; i < n_ids; i++) {
        if (i > 0 && ids[i] == ids[i - 1] + 1) {
            shape->bindings[shape->n_bindings - 1].count++;
            continue;
        }
        if (!check_room(r, MEM_GROW(shape->bindings, r->bindings_capacity, shape->n_bindings + 1)))
            return false;
        shape->bindings[shape->n_bindings++] =
            (struct shape_binding){.first = {ids[i]}, .count = 1};
    }
    placement->n_bindings = shape->n_bindings - placement->first_binding;
    return true;
}

static bool add_placement(struct recorder *r, const struct shape_placement *placement)
{
    struct shape *shape = r->shape;
    if (!check_room(r,
                    MEM_GROW(shape->placements, r->placements_capacity, shape->n_placements + 1)))
        return false;
    shape->placements[shape->n_placements++] = *placement;
    shape->n_full += shape->templates[placement->template_index].n_full;
    return true;
}

static struct shape_placement placement_here(const struct recorder *r, uint32_t template_index)
{
    return (struct shape_placement){
        .template_index = template_index,
        .first_row = (uint32_t)r->first_row,
        .first_aux = r->first_aux,
        .first_full = r->shape->n_full,
    };
}

/* Index of a stretch template that equals the given one, or n_templates. */
static uint32_t find_stretch(const struct recorder *r, const struct shape_template *template,
                             uint64_t hash)
{
    const struct shape *shape = r->shape;
    uint32_t i = 0;
    while (i < shape->n_templates && !(r->hashes[i] == hash && shape->templates[i].name[0] == 0 &&
                                       template_equal(&shape->templates[i], template)))
        i++;
    return i;
}

/* Ends the stretch before a template or the end of the circuit. */
static void close_stretch(struct recorder *r)
{
    struct shape_template template;
    if (r->cs.status != CUZK_OK || (r->n_rows == 0 && r->cs.n_aux == r->first_aux) ||
        !make_template(r, "", &template))
        return;
    uint64_t hash = template_hash(&template);
    uint32_t index = find_stretch(r, &template, hash);
    if (index < r->shape->n_templates)
        template_free(&template);
    else if (!add_template(r, &template, hash))
        return;
    struct shape_placement placement = placement_here(r, index);
    if (add_bindings(r, r->externals, r->n_externals, &placement) && add_placement(r, &placement))
        start_collecting(r);
}

/* --- Templates -------------------------------------------------------------------------------- */

/* Copies the gadget's externals into r->externals in the order of the shape. False if they do not
   fit a template, because two are the same or one is the constant 1; the use is then recorded as a
   part of the stretch around it. */
static bool take_externals(struct recorder *r, const struct cs_template *use, const uint32_t *order)
{
    r->n_externals = 0;
    if (!check_room(r, MEM_GROW(r->externals, r->externals_capacity, use->n_externals)))
        return false;
    enum { RUNS_MAX = 256 };
    struct shape_binding runs[RUNS_MAX];
    size_t n_runs = 0;
    for (size_t k = 0; k < use->n_externals; k++) {
        uint32_t id = use->externals[order[k]].id;
        r->externals[k] = id;
        if (id == VAR_ONE.id)
            return false;
        if (n_runs > 0 && id == runs[n_runs - 1].first.id + runs[n_runs - 1].count) {
            runs[n_runs - 1].count++;
            continue;
        }
        if (n_runs == RUNS_MAX)
            return false; /* more scattered than any gadget's externals are */
        runs[n_runs++] = (struct shape_binding){.first = {id}, .count = 1};
    }
    for (size_t i = 0; i < n_runs; i++) {
        for (size_t j = 0; j < i; j++) {
            if (runs[i].first.id < runs[j].first.id + runs[j].count &&
                runs[j].first.id < runs[i].first.id + runs[i].count)
                return false;
        }
    }
    r->n_externals = use->n_externals;
    return true;
}

static struct known *find_known(const struct recorder *r, const struct cs_template *use,
                                bool any_variant)
{
    for (size_t i = 0; i < r->n_known; i++) {
        struct known *known = &r->known[i];
        if (known != r->recording && (any_variant || known->variant == use->variant) &&
            known->n_externals == use->n_externals &&
            (known->name == use->name || strcmp(known->name, use->name) == 0))
            return known;
    }
    return NULL;
}

/* Adds a use of a known template; take_externals has been called. */
static bool place_known(struct recorder *r, const struct known *known, struct var *outs)
{
    struct cs *cs = &r->cs;
    const struct shape_template *template = &r->shape->templates[known->template_index];
    if (template->n_internal >= VAR_AUX - 1 - cs->n_aux ||
        template->n_rows > UINT32_MAX - cs->n_rows) {
        fail_limit(r, "more than 2^31 variables or 2^32 rows");
        return false;
    }
    struct shape_placement placement = placement_here(r, known->template_index);
    placement.first_patch = known->first_patch;
    placement.n_patches = known->n_patches;
    if (!add_bindings(r, r->externals, r->n_externals, &placement) || !add_placement(r, &placement))
        return false;
    for (uint32_t i = 0; i < known->n_outs; i++) {
        uint32_t local = known->outs[i];
        if (local == 0)
            outs[i] = VAR_ONE;
        else if (local <= known->n_externals)
            outs[i] = (struct var){r->externals[local - 1]};
        else
            outs[i] = var_aux(r->first_aux + local - 1 - known->n_externals);
    }
    cs->n_aux += template->n_internal;
    cs->n_rows += template->n_rows;
    start_collecting(r);
    return true;
}

/* The order of externals that makes the fewest runs: that of their ids. Variants of one name share
   the order of the first. */
static uint32_t *choose_order(const struct known *sibling, const struct cs_template *use)
{
    size_t n = use->n_externals;
    if (sibling)
        return mem_memdup(sibling->order, n * sizeof *sibling->order);
    uint32_t *order = mem_alloc(n, sizeof *order);
    uint64_t *keys = mem_alloc(2 * n, sizeof *keys);
    if (order && keys) {
        for (size_t k = 0; k < n; k++)
            keys[k] = (uint64_t)use->externals[k].id << 32 | k;
        sort_keys(keys, n, keys + n);
        for (size_t k = 0; k < n; k++)
            order[k] = (uint32_t)keys[k];
    } else {
        mem_free(order);
        order = NULL;
    }
    mem_free(keys);
    return order;
}

static void start_recording(struct recorder *r, const struct cs_template *use)
{
    const struct known *sibling = find_known(r, use, true);
    uint32_t *order = choose_order(sibling, use);
    if (!order) {
        cs_fail(&r->cs, CUZK_NO_MEMORY);
        return;
    }
    if (!take_externals(r, use, order) ||
        !check_room(r, MEM_GROW(r->known, r->known_capacity, r->n_known + 1))) {
        mem_free(order);
        return;
    }
    r->recording = &r->known[r->n_known++];
    *r->recording = (struct known){
        .name = use->name,
        .variant = use->variant,
        .n_externals = (uint32_t)use->n_externals,
        .order = order,
    };
    r->n_externals = 0;
    for (size_t k = 0; k < use->n_externals; k++) {
        if (!add_external(r, r->externals[k]))
            return;
    }
}

static bool record_begin(struct cs *cs, const struct cs_template *use, struct var *outs,
                         size_t n_outs)
{
    struct recorder *r = recorder_of(cs);
    close_stretch(r);
    if (cs->status != CUZK_OK)
        return true;
    const struct known *known = find_known(r, use, false);
    if (!known) {
        start_recording(r, use);
        return true;
    }
    CHECK(known->n_outs == n_outs);
    return !take_externals(r, use, known->order) || !place_known(r, known, outs);
}

static bool set_outs(struct recorder *r, const struct var *outs, size_t n_outs)
{
    struct known *known = r->recording;
    known->outs = mem_alloc(n_outs, sizeof *known->outs);
    if (!known->outs) {
        cs_fail(&r->cs, CUZK_NO_MEMORY);
        return false;
    }
    known->n_outs = (uint32_t)n_outs;
    for (size_t i = 0; i < n_outs; i++) {
        uint32_t id = outs[i].id;
        if (id != VAR_ONE.id && !is_internal(r, id) && !is_known_external(r, id)) {
            snprintf(r->failure, sizeof r->failure,
                     "template %s hands out variable %#x, which is not its own", known->name, id);
            cs_fail(&r->cs, CUZK_INTERNAL);
            return false;
        }
        known->outs[i] = local_of(r, id);
    }
    return true;
}

/* Finds a template of the same name of which the new one is a patched form. The new one is then
   freed, and known refers to the other one with patches. */
static bool reuse_variant(struct recorder *r, struct shape_template *template, struct known *known)
{
    struct shape *shape = r->shape;
    size_t needed = (size_t)shape->n_patches + template->n_rows;
    for (size_t i = 0; i < r->n_known; i++) {
        const struct known *base = &r->known[i];
        if (base == known || base->n_patches > 0 || strcmp(base->name, known->name) != 0 ||
            memcmp(base->order, known->order, known->n_externals * sizeof *known->order) != 0)
            continue;
        if (!check_room(r, MEM_GROW(shape->patches, r->patches_capacity, needed)))
            return false;
        if (template_diff(&shape->templates[base->template_index], template,
                          shape->patches + shape->n_patches, &known->n_patches)) {
            known->template_index = base->template_index;
            known->first_patch = shape->n_patches;
            shape->n_patches += known->n_patches;
            template_free(template);
            return true;
        }
    }
    return false;
}

static void record_end(struct cs *cs, const struct var *outs, size_t n_outs)
{
    struct recorder *r = recorder_of(cs);
    struct known *known = r->recording;
    struct shape_template template;
    if (cs->status == CUZK_OK && known && set_outs(r, outs, n_outs) &&
        make_template(r, known->name, &template)) {
        known->template_index = r->shape->n_templates;
        bool kept = reuse_variant(r, &template, known) || add_template(r, &template, 0);
        struct shape_placement placement = placement_here(r, known->template_index);
        placement.first_patch = known->first_patch;
        placement.n_patches = known->n_patches;
        if (kept && add_bindings(r, r->externals, r->n_externals, &placement) &&
            add_placement(r, &placement))
            start_collecting(r);
    }
    r->recording = NULL;
}

/* --- The whole -------------------------------------------------------------------------------- */

static const struct cs_driver record_driver = {
    .alloc = record_alloc,
    .enforce = record_enforce,
    .template_begin = record_begin,
    .template_end = record_end,
};

static bool recorder_start(struct recorder *r)
{
    r->shape = mem_zalloc(1, sizeof *r->shape);
    if (!r->shape)
        cs_fail(&r->cs, CUZK_NO_MEMORY);
    for (int m = 0; m < MATRIX_COUNT && r->cs.status == CUZK_OK; m++) {
        struct row_list *list = &r->rows[m];
        if (check_room(r, MEM_GROW(list->start, list->start_capacity, 1) &&
                              MEM_GROW(list->var, list->var_capacity, 1) &&
                              MEM_GROW(list->coeff, list->coeff_capacity, 1)))
            list->start[0] = 0;
    }
    cs_start(&r->cs, &record_driver);
    start_collecting(r);
    return r->cs.status == CUZK_OK;
}

static void recorder_free(struct recorder *r)
{
    for (size_t i = 0; i < r->n_known; i++) {
        mem_free(r->known[i].order);
        mem_free(r->known[i].outs);
    }
    for (int m = 0; m < MATRIX_COUNT; m++)
        row_list_free(&r->rows[m]);
    mem_free(r->known);
    mem_free(r->hashes);
    mem_free(r->externals);
    mem_free(r->slots);
    bitmap_free(&r->is_full);
    coeffs_free(&r->coeffs);
    cs_free(&r->cs);
    shape_free(r->shape);
}

/* Returns unused capacity. An array that was never used becomes an empty block. */
static bool shrink_array(void **array, size_t len, size_t size)
{
    void *exact = mem_realloc(*array, len, size);
    if (exact)
        *array = exact;
    return exact != NULL;
}

#define SHRINK(array, len) shrink_array((void **)(void *)&(array), len, sizeof *(array))

static enum cuzk_status finish_shape(struct recorder *r, struct cuzk_error *err)
{
    struct shape *shape = r->shape;
    shape->n_inputs = r->cs.n_inputs;
    shape->n_aux = r->cs.n_aux;
    shape->n_rows = r->cs.n_rows;
    while ((uint64_t)1 << shape->log2_domain < shape->n_rows + shape->n_inputs)
        shape->log2_domain++;
    shape->coeffs = r->coeffs.values;
    shape->n_coeffs = (uint32_t)r->coeffs.len;
    r->coeffs.values = NULL;
    if (!SHRINK(shape->coeffs, shape->n_coeffs) || !SHRINK(shape->templates, shape->n_templates) ||
        !SHRINK(shape->placements, shape->n_placements) ||
        !SHRINK(shape->bindings, shape->n_bindings) || !SHRINK(shape->patches, shape->n_patches))
        return error_set(err, CUZK_NO_MEMORY, "recording: no memory");
    TRY(shape_check_bits(shape, err));
    return shape_count_dense(shape, err);
}

enum cuzk_status shape_record(const struct circuit_program *program, struct shape **out,
                              struct cuzk_error *err)
{
    struct recorder r = {0};
    enum cuzk_status status = CUZK_NO_MEMORY;
    if (recorder_start(&r)) {
        status = cs_run(&r.cs, program, err);
        close_stretch(&r);
        if (status == CUZK_OK && r.cs.status != CUZK_OK)
            status = error_set(err, r.cs.status, "circuit: %s", cuzk_status_text(r.cs.status));
        if (r.failure[0])
            status = error_set(err, status, "recording: %s", r.failure);
        if (status == CUZK_OK)
            status = finish_shape(&r, err);
    } else {
        error_set(err, status, "recording: no memory");
    }
    if (status == CUZK_OK) {
        *out = r.shape;
        r.shape = NULL;
    }
    recorder_free(&r);
    return status;
}
