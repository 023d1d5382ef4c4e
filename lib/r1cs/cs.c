#include "r1cs/driver.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"

#include <stdio.h>

void cs_start(struct cs *cs, const struct cs_driver *driver)
{
    cs->driver = driver;
    cs_input(cs, &fr_one);
}

void cs_free(struct cs *cs)
{
    mem_free(cs->scopes);
    cs->scopes = NULL;
}

enum cuzk_status cs_run(struct cs *cs, const struct circuit_program *program,
                        struct cuzk_error *err)
{
    if (cs->status == CUZK_OK)
        program->synthesize(cs, program->input);
    if (cs->status == CUZK_OK) {
        CHECK(cs->template_depth == 0);
        return CUZK_OK;
    }
    char path[256];
    cs_path(cs, path, sizeof path);
    if (cs->n_scopes == 0)
        return error_set(err, cs->status, "circuit: %s", cuzk_status_text(cs->status));
    return error_set(err, cs->status, "circuit at %s: %s", path, cuzk_status_text(cs->status));
}

struct var cs_next_var(struct cs *cs, enum var_kind kind)
{
    uint32_t *count = kind == VAR_KIND_INPUT ? &cs->n_inputs : &cs->n_aux;
    if (*count == VAR_AUX - 1) {
        cs_fail(cs, CUZK_RESOURCE_EXHAUSTED);
        return VAR_ONE;
    }
    uint32_t index = (*count)++;
    return kind == VAR_KIND_INPUT ? (struct var){index} : var_aux(index);
}

void cs_path(const struct cs *cs, char *path, size_t size)
{
    size_t len = 0;
    path[0] = 0;
    for (size_t i = 0; i < cs->n_scopes && len < size; i++) {
        int written = snprintf(path + len, size - len, "%s%s", i ? " / " : "", cs->scopes[i]);
        len += written > 0 ? (size_t)written : 0;
    }
}

struct var cs_input(struct cs *cs, const struct fr *value)
{
    return cs->driver->alloc(cs, VAR_KIND_INPUT, value);
}

struct var cs_num(struct cs *cs, const struct fr *value)
{
    return cs->driver->alloc(cs, VAR_KIND_NUM, value);
}

struct var cs_bit(struct cs *cs, bool value)
{
    return cs->driver->alloc(cs, VAR_KIND_BIT, value ? &fr_one : &fr_zero);
}

void cs_enforce(struct cs *cs, struct lc *a, struct lc *b, struct lc *c)
{
    struct lc empty = {0};
    a = a ? a : &empty;
    b = b ? b : &empty;
    c = c ? c : &empty;
    if (a->failed || b->failed || c->failed)
        cs_fail(cs, CUZK_NO_MEMORY);
    if (cs->status == CUZK_OK) {
        cs->driver->enforce(cs, a, b, c);
        cs->n_rows++;
    }
}

bool cs_template_begin(struct cs *cs, const struct cs_template *use, struct var *outs,
                       size_t n_outs)
{
    bool run = cs->template_depth > 0 || cs->driver->template_begin(cs, use, outs, n_outs);
    if (run)
        cs->template_depth++;
    return run;
}

void cs_template_end(struct cs *cs, const struct var *outs, size_t n_outs)
{
    CHECK(cs->template_depth > 0);
    if (--cs->template_depth == 0)
        cs->driver->template_end(cs, outs, n_outs);
}

bool cs_template_begin_rows(struct cs *cs, const struct cs_template *use, struct var *outs,
                            size_t n_outs)
{
    (void)cs;
    (void)use;
    (void)outs;
    (void)n_outs;
    return true;
}

void cs_template_end_rows(struct cs *cs, const struct var *outs, size_t n_outs)
{
    (void)cs;
    (void)outs;
    (void)n_outs;
}

void cs_parts(struct cs *cs, size_t count, cs_part_fn *part, void *context)
{
    if (cs->driver->parts) {
        cs->driver->parts(cs, count, part, context);
        return;
    }
    for (size_t i = 0; i < count; i++)
        part(cs, context, i);
}

void cs_push(struct cs *cs, const char *text)
{
    if (!MEM_GROW(cs->scopes, cs->scopes_capacity, cs->n_scopes + 1)) {
        cs_fail(cs, CUZK_NO_MEMORY);
        cs->n_unnamed++;
        return;
    }
    cs->scopes[cs->n_scopes++] = text;
}

void cs_pop(struct cs *cs)
{
    if (cs->n_unnamed > 0) {
        cs->n_unnamed--;
        return;
    }
    CHECK(cs->n_scopes > 0);
    cs->n_scopes--;
}

void cs_fail(struct cs *cs, enum cuzk_status status)
{
    if (cs->status == CUZK_OK)
        cs->status = status;
}
