#include "whatif.h"

#include "whatif/whatif.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- text ------------------------------------------------------------------------------------- */

static void add_numbers(struct text *out, const char *what, unsigned was, unsigned then)
{
    text_add(out, "%-26s %14u %14u %14u\n", what, was, was, then);
}

static void add_figures(struct text *out, const char *what, int decimals, double measured,
                        double replayed, double predicted)
{
    text_add(out, "%-26s %14.*f %14.*f %14.*f\n", what, decimals, measured, decimals, replayed,
             decimals, predicted);
}

static void add_in_flight(struct text *out, unsigned was, unsigned then)
{
    char texts[2][16];
    const unsigned numbers[2] = {was, then};
    for (size_t i = 0; i < 2; i++) {
        if (numbers[i])
            snprintf(texts[i], sizeof texts[i], "%u", numbers[i]);
        else
            snprintf(texts[i], sizeof texts[i], "as recorded");
    }
    text_add(out, "%-26s %14s %14s %14s\n", "jobs in flight", texts[0], texts[0], texts[1]);
}

/* Words, broken into lines of at most 80 columns. */
static void add_wrapped(struct text *out, const char *words)
{
    size_t column = 0;
    while (*words) {
        size_t len = strcspn(words, " ");
        if (column && column + 1 + len > 80) {
            text_add(out, "\n");
            column = 0;
        }
        text_add(out, "%s%.*s", column ? " " : "", (int)len, words);
        column += len + (column > 0);
        words += len + strspn(words + len, " ");
    }
    text_add(out, "\n");
}

/* A replay that is farther off the measured throughput than this left out something that
   matters. */
#define REPLAY_OFF_MAX 0.1

static double change(double to, double from)
{
    return from > 0 ? to / from - 1 : 0;
}

static void add_conclusion(struct text *out, const struct whatif_answer *w)
{
    double gain = w->replayed.proofs_per_minute > 0
                      ? w->predicted.proofs_per_minute / w->replayed.proofs_per_minute
                      : 1;
    double off = change(w->replayed.proofs_per_minute, w->measured.proofs_per_minute);
    char line[256];
    snprintf(line, sizeof line,
             "Predicted: %.2f times the throughput. The replay of the run as it was is %.1f %% off "
             "the measured throughput%s.",
             gain, 100 * fabs(off),
             fabs(off) > REPLAY_OFF_MAX
                 ? ": something that the replay leaves out mattered, so be careful"
                 : "");
    text_add(out, "\n");
    add_wrapped(out, line);
    text_add(out, "\nThen: ");
    add_wrapped(out, w->verdict);
    if (w->left_out)
        text_add(out, "%u jobs without all their partitions were left out.\n", w->left_out);
}

static void add_text(struct text *out, const char *label, const char *knobs,
                     const struct whatif_answer *w)
{
    const struct whatif_figures *m = &w->measured, *r = &w->replayed, *p = &w->predicted;
    text_add(out, "%sRun %s: %u jobs, %u partitions; what if %s?\n\n", out->len ? "\n" : "", label,
             w->jobs, w->partitions, *knobs ? knobs : "nothing changes");
    text_add(out, "%-26s %14s %14s %14s\n", "", "measured", "replayed", "what if");
    add_numbers(out, "synthesis workers", w->was.synthesis_workers, w->then.synthesis_workers);
    add_numbers(out, "lookahead", w->was.lookahead, w->then.lookahead);
    add_numbers(out, "devices", w->was.devices, w->then.devices);
    add_numbers(out, "workers a device", w->was.workers_per_device, w->then.workers_per_device);
    add_in_flight(out, w->was.in_flight, w->then.in_flight);
    add_figures(out, "whole run, s", 1, m->wall_s, r->wall_s, p->wall_s);
    add_figures(out, "proofs a minute", 3, m->proofs_per_minute, r->proofs_per_minute,
                p->proofs_per_minute);
    add_figures(out, "a proof, median, s", 1, m->proof_p50_s, r->proof_p50_s, p->proof_p50_s);
    add_figures(out, "a proof, 95th percent., s", 1, m->proof_p95_s, r->proof_p95_s,
                p->proof_p95_s);
    add_figures(out, "device busy, %", 1, 100 * m->device_busy, 100 * r->device_busy,
                100 * p->device_busy);
    text_add(out, "%-26s %14s %14s %14s\n", "bottleneck", m->bottleneck, r->bottleneck,
             p->bottleneck);
    add_conclusion(out, w);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void add_json_run(struct text *out, const char *name, const struct whatif_figures *run)
{
    text_add(out,
             ",\"%s\":{\"wall_s\":%.3f,\"proofs_per_minute\":%.5f,\"proof_p50_s\":%.3f,"
             "\"proof_p95_s\":%.3f,\"device_busy\":%.4f,\"bottleneck\":\"%s\"}",
             name, run->wall_s, run->proofs_per_minute, run->proof_p50_s, run->proof_p95_s,
             run->device_busy, run->bottleneck);
}

static void add_json_settings(struct text *out, const char *name, const struct whatif_settings *s)
{
    text_add(out,
             ",\"%s\":{\"synthesis_workers\":%u,\"lookahead\":%u,\"devices\":%u,"
             "\"workers_per_device\":%u,\"in_flight\":%u}",
             name, s->synthesis_workers, s->lookahead, s->devices, s->workers_per_device,
             s->in_flight);
}

static void add_json(struct text *out, const char *label, const struct whatif_answer *w)
{
    text_add(out, "{\"label\":");
    text_add_json(out, label);
    text_add(out, ",\"jobs\":%u,\"partitions\":%u,\"left_out\":%u", w->jobs, w->partitions,
             w->left_out);
    add_json_settings(out, "was", &w->was);
    add_json_settings(out, "then", &w->then);
    add_json_run(out, "measured", &w->measured);
    add_json_run(out, "replayed", &w->replayed);
    add_json_run(out, "predicted", &w->predicted);
    text_add(out, ",\"verdict\":");
    text_add_json(out, w->verdict);
    text_add(out, "}");
}

enum cuzk_status whatif_render(const struct waterfall_report *report,
                               const struct waterfall_style *style, const char *knobs, bool json,
                               struct text *out, size_t *n_runs, struct cuzk_error *err)
{
    *n_runs = 0;
    text_add(out, "%s", json ? "{\"what_if\":[" : "");
    for (size_t i = 0; i < report->run_count; i++) {
        const char *label = report->runs[i].label.data;
        struct whatif_answer answer;
        if (style->run && strcmp(style->run, label) != 0)
            continue;
        enum cuzk_status status = whatif_run(report, i, knobs, &answer, err);
        if (status == CUZK_FAILED_PRECONDITION) {
            fprintf(stderr, "cuzk waterfall: %s\n", err->text);
            continue;
        }
        if (status != CUZK_OK)
            return status;
        text_add(out, "%s", json && *n_runs ? "," : "");
        if (json)
            add_json(out, label, &answer);
        else
            add_text(out, label, knobs, &answer);
        (*n_runs)++;
    }
    text_add(out, "%s", json ? "]}\n" : "");
    return CUZK_OK;
}
