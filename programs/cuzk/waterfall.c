/* cuzk waterfall: reads TIMELINE lines and says where the time went. */
#include "commands.h"
#include "exit_codes.h"
#include "whatif.h"

#include "base/error.h"
#include "base/log.h"
#include "base/number.h"
#include "waterfall/analyse.h"
#include "waterfall/render.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void renderer(const struct waterfall_report *report, const struct waterfall_style *style,
                      struct text *out);

static const struct {
    const char *name;
    renderer *render;
} formats[] = {
    {"text", waterfall_render_text}, {"html", waterfall_render_html},
    {"json", waterfall_render_json}, {"perfetto", waterfall_render_perfetto},
    {"csv", waterfall_render_csv},
};

struct request {
    renderer *render;
    struct waterfall_style style;
    struct waterfall_options options;
    const char *run_b, *output;
    const char *what_if; /* knobs; NULL: only explain */
    const char *colour;  /* auto, always, never */
};

static void print_help(FILE *out)
{
    fputs("Usage: cuzk waterfall [options] LOG...            explain one log (its parts in order)\n"
          "       cuzk waterfall compare [options] A B        two logs side by side\n"
          "       cuzk waterfall compare --run R --run-b S LOG   two runs of one log\n\n"
          "LOG is the stderr of a daemon: lines TIMELINE,<offset_ms>,<event>,<job_id>,<detail>\n"
          "among any others, of cuzk or of the Rust cuzk; '-' is standard input. Says what the\n"
          "bottleneck is, how sure that is and what would change it, where each job's time went,\n"
          "why each device was idle, and what is missing in the log.\n\n"
          "      --what-if KNOBS        replay the log's durations with other settings and say\n"
          "                             what would have come out: synth=4,lookahead=3,devices=2,\n"
          "                             workers=2,jobs=20,faster=synth:2 (any of them; formats\n"
          "                             text and json)\n"
          "  -f, --format F             text (default), html, json, perfetto, csv\n"
          "  -o, --output FILE          write there instead of to standard output\n"
          "      --run LABEL            only this run (its RUN_START label, else 1, 2, ...)\n"
          "      --job ID               only jobs whose id contains ID\n"
          "      --jobs N               draw at most N jobs of a run (default 60)\n"
          "      --gap SECONDS          quiet time that separates runs without label (default 10)\n"
          "      --workers-per-device N for logs that do not say (default 2)\n"
          "      --width N              columns of the text (default 80)\n"
          "      --colour WHEN          auto (default: on a terminal), always, never\n"
          "  -h, --help\n\n"
          "The html needs no network and no other file. The perfetto file opens in\n"
          "https://ui.perfetto.dev and chrome://tracing.\n"
          "Exit code: 0, also when lines were skipped or events had no partner (they are counted\n"
          "and listed); 1 when nothing in the log could be used; 2 wrong usage.\n",
          out);
}

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "cuzk waterfall: %s '%s'; see cuzk waterfall --help\n", what, value);
    return EXIT_CODE_USAGE;
}

/* Sets one option; 0, or the exit code of a usage error. */
static int set_option(struct request *request, int option, const char *value)
{
    uint64_t number = 0;
    switch (option) {
    case 'f':
        request->render = NULL;
        for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
            if (strcmp(formats[i].name, value) == 0)
                request->render = formats[i].render;
        return request->render ? 0 : usage_error("no format", value);
    case 'o':
        request->output = value;
        return 0;
    case 'r':
        request->style.run = value;
        return 0;
    case 'b':
        request->run_b = value;
        return 0;
    case 'W':
        request->what_if = value;
        return 0;
    case 'j':
        request->style.job = value;
        return 0;
    case 'n':
        request->style.jobs_max = number_parse(value, 1, 1000000, &number) ? number : 0;
        return number ? 0 : usage_error("--jobs: not a number from 1:", value);
    case 'g':
        request->options.gap_us =
            number_parse(value, 1, 1000000, &number) ? (int64_t)number * 1000000 : 0;
        return number ? 0 : usage_error("--gap: not a number of seconds from 1:", value);
    case 'w':
        request->options.workers_per_device =
            number_parse(value, 1, 64, &number) ? (int32_t)number : 0;
        return number ? 0 : usage_error("--workers-per-device: not a number from 1 to 64:", value);
    case 'c':
        request->style.width = number_parse(value, 1, 400, &number) ? (unsigned)number : 0;
        return number ? 0 : usage_error("--width: not a number from 1 to 400:", value);
    case 'C':
        request->colour = value;
        if (strcmp(value, "auto") == 0 || strcmp(value, "always") == 0 ||
            strcmp(value, "never") == 0)
            return 0;
        return usage_error("--colour: not auto, always or never:", value);
    default:
        fprintf(stderr, "see cuzk waterfall --help\n");
        return EXIT_CODE_USAGE;
    }
}

static enum cuzk_status read_log(const char *path, struct waterfall_log *log,
                                 struct cuzk_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *stream = is_stdin ? stdin : fopen(path, "rb");
    if (!stream)
        return error_errno(err, CUZK_NOT_FOUND, errno, "%s", path);
    enum cuzk_status status = waterfall_log_read(log, stream, err);
    if (status != CUZK_OK)
        status = error_prefix(err, "%s", path);
    if (!is_stdin)
        fclose(stream);
    return status;
}

static enum cuzk_status write_output(const char *path, const struct text *out,
                                     struct cuzk_error *err)
{
    if (out->failed)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the output");
    FILE *stream = path ? fopen(path, "wb") : stdout;
    if (!stream)
        return error_errno(err, CUZK_IO, errno, "%s", path);
    bool ok = fwrite(out->data ? out->data : "", 1, out->len, stream) == out->len;
    ok = (path ? fclose(stream) : fflush(stream)) == 0 && ok;
    if (!ok)
        return error_errno(err, CUZK_IO, errno, "%s", path ? path : "standard output");
    return CUZK_OK;
}

/* The picture, or the answer to --what-if. */
static enum cuzk_status render(const struct request *request, const struct waterfall_report *report,
                               struct text *out, struct cuzk_error *err)
{
    size_t runs = 0;
    if (!request->what_if) {
        request->render(report, &request->style, out);
        return CUZK_OK;
    }
    log_set_level(LOG_WARN); /* an engine of our own runs, and would tell of each job */
    TRY(whatif_render(report, &request->style, request->what_if,
                      request->render == waterfall_render_json, out, &runs, err));
    return runs ? CUZK_OK : error_set(err, CUZK_NOT_FOUND, "no run to replay");
}

static int explain(const struct request *request, char **paths, size_t count)
{
    struct waterfall_log log = {0};
    struct waterfall_report report = {0};
    struct text out = {0};
    struct cuzk_error err = {0};
    enum cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < count && status == CUZK_OK; i++)
        status = read_log(paths[i], &log, &err);
    if (status == CUZK_OK)
        status = waterfall_analyse(&log, &request->options, &report, &err);
    if (status == CUZK_OK)
        status = render(request, &report, &out, &err);
    if (status == CUZK_OK)
        status = write_output(request->output, &out, &err);
    int code = status == CUZK_OK ? EXIT_CODE_OK : exit_with_error("cuzk waterfall", &err);
    if (status == CUZK_OK && report.job_count == 0) {
        fprintf(stderr, "cuzk waterfall: no job in %llu lines (%llu TIMELINE lines)\n",
                (unsigned long long)log.lines_total, (unsigned long long)log.lines_timeline);
        code = EXIT_CODE_FAILED;
    } else if (status == CUZK_OK && request->style.run) {
        bool found = false;
        for (size_t i = 0; i < report.run_count; i++)
            found |= strcmp(report.runs[i].label.data, request->style.run) == 0;
        if (!found)
            code = usage_error("the log has no run", request->style.run);
    }
    text_free(&out);
    waterfall_report_free(&report);
    waterfall_log_free(&log);
    return code;
}

static int compare(const struct request *request, char **paths, size_t count)
{
    struct waterfall_log logs[2] = {{0}, {0}};
    struct waterfall_report reports[2] = {{0}, {0}};
    struct text out = {0};
    struct cuzk_error err = {0};
    enum cuzk_status status = CUZK_OK;
    size_t pairs = 0;
    for (size_t i = 0; i < count && status == CUZK_OK; i++) {
        status = read_log(paths[i], &logs[i], &err);
        if (status == CUZK_OK)
            status = waterfall_analyse(&logs[i], &request->options, &reports[i], &err);
    }
    if (status == CUZK_OK) {
        pairs = waterfall_render_compare(&reports[0], request->style.run, &reports[count - 1],
                                         request->run_b, &out);
        status = write_output(request->output, &out, &err);
    }
    int code = status == CUZK_OK ? EXIT_CODE_OK : exit_with_error("cuzk waterfall", &err);
    if (status == CUZK_OK && pairs == 0) {
        fprintf(stderr, "cuzk waterfall: no two runs to compare\n");
        code = EXIT_CODE_FAILED;
    }
    text_free(&out);
    for (size_t i = 0; i < 2; i++) {
        waterfall_report_free(&reports[i]);
        waterfall_log_free(&logs[i]);
    }
    return code;
}

int command_waterfall(int argc, char **argv)
{
    static const struct option options[] = {
        {"format", required_argument, NULL, 'f'},
        {"output", required_argument, NULL, 'o'},
        {"run", required_argument, NULL, 'r'},
        {"run-b", required_argument, NULL, 'b'},
        {"job", required_argument, NULL, 'j'},
        {"jobs", required_argument, NULL, 'n'},
        {"gap", required_argument, NULL, 'g'},
        {"width", required_argument, NULL, 'c'},
        {"colour", required_argument, NULL, 'C'},
        {"color", required_argument, NULL, 'C'},
        {"what-if", required_argument, NULL, 'W'},
        {"help", no_argument, NULL, 'h'},
        {"workers-per-device", required_argument, NULL, 'w'},
        {NULL, 0, NULL, 0},
    };
    struct request request = {.render = waterfall_render_text, .colour = "auto"};
    bool comparing = argc > 1 && strcmp(argv[1], "compare") == 0;
    if (comparing) {
        argc--;
        argv++;
    }
    optind = 1;
    for (int option; (option = getopt_long(argc, argv, "f:o:h", options, NULL)) != -1;) {
        if (option == 'h') {
            print_help(stdout);
            return EXIT_CODE_OK;
        }
        int code = set_option(&request, option, optarg);
        if (code)
            return code;
    }
    request.style.colour =
        strcmp(request.colour, "always") == 0 ||
        (strcmp(request.colour, "auto") == 0 && !request.output && isatty(STDOUT_FILENO));
    size_t count = (size_t)(argc - optind);
    if (request.what_if && (comparing || (request.render != waterfall_render_text &&
                                          request.render != waterfall_render_json)))
        return usage_error("--what-if goes with one log and the formats text and json, not with",
                           comparing ? "compare" : "this format");
    if (comparing) {
        bool one_log = request.style.run && request.run_b;
        if (count != 2 && !(count == 1 && one_log))
            return usage_error("two logs (or one with --run and --run-b) are needed after",
                               "compare");
        return compare(&request, argv + optind, count);
    }
    if (count == 0) {
        print_help(stderr);
        return EXIT_CODE_USAGE;
    }
    return explain(&request, argv + optind, count);
}
