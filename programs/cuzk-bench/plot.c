/* The picture of a sweep: throughput above, times below, the runs side by side in their order. */
#include "bench.h"

#include <math.h>
#include <stdio.h>

/* Pixels. */
enum { WIDTH = 760, LEFT = 70, RIGHT = 20, PANEL = 200, TOP = 50, GAP = 60 };

struct series {
    const char *name, *class;
    double (*value)(const struct figures *run);
};

static double per_minute(const struct figures *run)
{
    return run->per_minute;
}

static double wall_p50(const struct figures *run)
{
    return run->wall_p50;
}

static double wall_p95(const struct figures *run)
{
    return run->wall_p95;
}

static double prove(const struct figures *run)
{
    return run->prove_avg;
}

static const struct series throughput[] = {{"proofs a minute", "a", per_minute}};
static const struct series times[] = {
    {"wall p50", "a", wall_p50}, {"wall p95", "b", wall_p95}, {"prove", "c", prove}};

struct panel {
    const char *title;
    const struct series *series;
    size_t n_series;
    int top;
    double max;
};

/* 1, 2 or 5 times a power of ten: at most five lines up to the value. */
static double step_of(double max)
{
    double power = pow(10, floor(log10(max / 5)));
    double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < 4; i++) {
        if (max / (steps[i] * power) <= 5)
            return steps[i] * power;
    }
    return 10 * power;
}

static double x_of(size_t i, size_t count)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * ((double)i + 0.5) / (double)count;
}

static double y_of(const struct panel *panel, double value)
{
    return panel->top + PANEL * (1 - value / panel->max);
}

static void add_grid(const struct panel *panel, const struct figures *runs, size_t count,
                     struct text *out)
{
    double step = step_of(panel->max);
    text_add(out, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT, panel->top - 12,
             panel->title);
    for (unsigned k = 0; k * step <= panel->max * 1.0001; k++) {
        double y = y_of(panel, k * step);
        text_add(out,
                 "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                 "<text class=\"end\" x=\"%d\" y=\"%.1f\">%g</text>\n",
                 LEFT, WIDTH - RIGHT, y, y, LEFT - 8, y + 4, k * step);
    }
    size_t every = 1 + count / 12; /* more names than that do not fit */
    for (size_t i = 0; i < count; i += every)
        text_add(out, "<text class=\"middle\" x=\"%.1f\" y=\"%d\">c=%u j=%u</text>\n",
                 x_of(i, count), panel->top + PANEL + 18, runs[i].count, runs[i].concurrency);
}

static void add_series(const struct panel *panel, size_t s, const struct figures *runs,
                       size_t count, struct text *out)
{
    const struct series *series = &panel->series[s];
    text_add(out, "<polyline class=\"line %s\" points=\"", series->class);
    for (size_t i = 0; i < count; i++)
        text_add(out, "%.1f,%.1f ", x_of(i, count), y_of(panel, series->value(&runs[i])));
    text_add(out, "\"/>\n");
    for (size_t i = 0; i < count; i++)
        text_add(out,
                 "<circle class=\"dot %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>c=%u j=%u: %s "
                 "%.3g</title></circle>\n",
                 series->class, x_of(i, count), y_of(panel, series->value(&runs[i])), runs[i].count,
                 runs[i].concurrency, series->name, series->value(&runs[i]));
    if (panel->n_series > 1)
        text_add(out,
                 "<circle class=\"dot %s\" cx=\"%d\" cy=\"%d\" r=\"4\"/><text x=\"%d\" y=\"%d\">%s"
                 "</text>\n",
                 series->class, LEFT + 250 + 110 * (int)s, panel->top - 16,
                 LEFT + 260 + 110 * (int)s, panel->top - 12, series->name);
}

static void add_panel(struct panel *panel, const struct figures *runs, size_t count,
                      struct text *out)
{
    for (size_t s = 0; s < panel->n_series; s++)
        for (size_t i = 0; i < count; i++)
            panel->max = fmax(panel->max, 1.05 * panel->series[s].value(&runs[i]));
    if (panel->max <= 0)
        panel->max = 1;
    add_grid(panel, runs, count, out);
    for (size_t s = 0; s < panel->n_series; s++)
        add_series(panel, s, runs, count, out);
}

void plot_runs(const struct figures *runs, size_t count, struct text *out)
{
    /* Colours of the palette of Okabe and Ito, which colour-blind people can tell apart. */
    static const char style[] =
        "<style>svg{background:#fff;color:#222;font:12px sans-serif}text{fill:currentColor}"
        ".title{font-weight:bold}.end{text-anchor:end}.middle{text-anchor:middle}"
        ".grid{stroke:currentColor;opacity:.2}.line{fill:none;stroke-width:2}"
        ".line.a{stroke:#0072b2}.line.b{stroke:#d55e00;stroke-dasharray:6 3}"
        ".line.c{stroke:#009e73;stroke-dasharray:2 3}"
        ".dot.a{fill:#0072b2}.dot.b{fill:#d55e00}.dot.c{fill:#009e73}"
        "@media(prefers-color-scheme:dark){svg{background:#1b1b1b;color:#ddd}"
        ".line.a{stroke:#56b4e9}.dot.a{fill:#56b4e9}}</style>\n";
    int height = TOP + 2 * PANEL + GAP + 50;
    text_add(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
             "aria-labelledby=\"t\">\n<title id=\"t\">cuzk-bench sweep of %s: throughput and times "
             "of %zu runs</title>\n%s",
             WIDTH, height, count ? runs[0].type : "nothing", count, style);
    struct panel above = {"Throughput, proofs a minute", throughput, 1, TOP, 0};
    struct panel below = {"Time of a proof, seconds", times, sizeof times / sizeof times[0],
                          TOP + PANEL + GAP, 0};
    add_panel(&above, runs, count, out);
    add_panel(&below, runs, count, out);
    text_add(out, "</svg>\n");
}
