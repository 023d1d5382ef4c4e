/* cuzk params: list, check, generate and derive parameter files. */
#include "commands.h"
#include "exit_codes.h"
#include "flag_number.h"
#include "param_cache.h"

#include "base/clock.h"

#include <cuzk/params.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CIRCUITS_MAX = 64, CIRCUIT_NAME_MAX = 32 };

struct params_flags {
    const char *folder;
    const char *circuits[CIRCUITS_MAX];
    size_t n_circuits;
    enum cuzk_params_depth depth;
    const char *backend, *device;
    unsigned threads;
    bool lagrange, quiet;
};

static void print_usage(FILE *out)
{
    fputs(
        "Usage: cuzk params list   [--param-cache DIR]\n"
        "       cuzk params check  [--param-cache DIR] [--circuit ID]... [--digest | --deep] "
        "[FILE...]\n"
        "       cuzk params gen    --circuit ID... --out DIR [--lagrange] [--threads N]\n"
        "                          [--quiet]\n"
        "       cuzk params derive --circuit ID... [--param-cache DIR] [--backend NAME]\n"
        "                          [--device ID] [--threads N] [--quiet]\n\n"
        "list    all circuits, their files, and which of them are there\n"
        "check   are files whole and the right ones? Without --circuit and FILE: all that are "
        "there\n"
        "gen     make development parameters: insecure, for tests only, in a folder of their own\n"
        "derive  make the Lagrange form of parameters: a file beside them (25 GB for porep-32g),\n"
        "        with which a GPU proves faster. Once, in minutes, with a GPU to itself\n\n"
        "      --param-cache DIR  folder of v28-*.params (default: $FIL_PROOFS_PARAMETER_CACHE, "
        "else\n"
        "                         /var/tmp/filecoin-proof-parameters)\n"
        "      --circuit ID       porep-32g, winning-2k, ... (see list); may be repeated\n"
        "      --digest           also read the whole file and compare its digest (1 s a "
        "gigabyte)\n"
        "      --deep             also check every point (a minute of a core for a million "
        "points),\n"
        "                         and the Lagrange form against the parameters\n"
        "      --out DIR          where gen writes\n"
        "      --lagrange         gen makes the Lagrange form too, from the trapdoors\n"
        "      --backend NAME     what derive works on: cuda (default), or cpu for small circuits\n"
        "      --device ID        index or UUID of the GPU (default: the first)\n"
        "      --threads N        default: all processors\n"
        "  -q, --quiet            no progress\n",
        out);
}

/* Returns an exit code, or −1 to go on. */
static int read_flags(int argc, char **argv, struct params_flags *flags)
{
    static const struct option known[] = {
        {"param-cache", required_argument, NULL, 'p'},
        {"out", required_argument, NULL, 'p'},
        {"circuit", required_argument, NULL, 'c'},
        {"digest", no_argument, NULL, 'd'},
        {"deep", no_argument, NULL, 'D'},
        {"lagrange", no_argument, NULL, 'l'},
        {"backend", required_argument, NULL, 'b'},
        {"device", required_argument, NULL, 'g'},
        {"threads", required_argument, NULL, 't'},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "qh", known, NULL)) != -1) {
        uint64_t number;
        switch (option) {
        case 'p':
            flags->folder = optarg;
            break;
        case 'c':
            if (flags->n_circuits == CIRCUITS_MAX) {
                fprintf(stderr, "cuzk params: at most %d circuits at once\n", CIRCUITS_MAX);
                return EXIT_CODE_USAGE;
            }
            flags->circuits[flags->n_circuits++] = optarg;
            break;
        case 'd':
            if (flags->depth < CUZK_PARAMS_DIGEST)
                flags->depth = CUZK_PARAMS_DIGEST;
            break;
        case 'D':
            flags->depth = CUZK_PARAMS_POINTS;
            break;
        case 'l':
            flags->lagrange = true;
            break;
        case 'b':
            flags->backend = optarg;
            break;
        case 'g':
            flags->device = optarg;
            break;
        case 't':
            if (!flag_number("cuzk params", "threads", optarg, 0, 1024, &number))
                return EXIT_CODE_USAGE;
            flags->threads = (unsigned)number;
            break;
        case 'q':
            flags->quiet = true;
            break;
        case 'h':
            print_usage(stdout);
            return EXIT_CODE_OK;
        default:
            return EXIT_CODE_USAGE;
        }
    }
    return -1;
}

/* --- list ------------------------------------------------------------------------------------ */

static void print_entry(void *context, const struct cuzk_params_entry *entry)
{
    (void)context;
    const char *state = !entry->present                               ? "absent"
                        : entry->found_bytes != entry->expected_bytes ? "WRONG SIZE"
                        : entry->published_digest[0]                  ? "present"
                                                                      : "present (unpublished)";
    printf("%-12s %14llu  %-21s %s%s\n", entry->circuit, (unsigned long long)entry->expected_bytes,
           state, entry->file_name, entry->lagrange_bytes ? " + Lagrange form" : "");
}

static int run_list(const struct params_flags *flags)
{
    printf("%s%s\n", flags->folder,
           cuzk_params_folder_is_dev(flags->folder) ? " (development parameters: INSECURE)" : "");
    cuzk_params_list(flags->folder, print_entry, NULL);
    return EXIT_CODE_OK;
}

/* --- check ----------------------------------------------------------------------------------- */

static void print_report(const char *name, const struct cuzk_params_report *report,
                         enum cuzk_params_depth depth)
{
    printf("%s: good%s\n  file    %s\n  bytes   %llu", name,
           report->dev ? " (development parameters: INSECURE)" : "", report->path,
           (unsigned long long)report->bytes);
    if (report->trailing_bytes)
        printf(", of them %llu behind the last section",
               (unsigned long long)report->trailing_bytes);
    printf("\n  points  %u inputs, h %u, l %u, a %u, b_g1 %u, b_g2 %u\n  vk      %s\n",
           report->n_inputs, report->n_h, report->n_l, report->n_a, report->n_b_g1, report->n_b_g2,
           report->vk_digest);
    if (report->file_digest[0])
        printf("  digest  %s\n", report->file_digest);
    if (report->lagrange_bytes)
        printf("  form    %llu bytes (Lagrange form%s)\n",
               (unsigned long long)report->lagrange_bytes,
               depth == CUZK_PARAMS_POINTS ? ", compared with the parameters" : "");
}

/* Prints the outcome of one file; *code keeps the exit code of the first failure. */
static void print_outcome(const char *name, enum cuzk_status status,
                          const struct cuzk_params_report *report, enum cuzk_params_depth depth,
                          const struct cuzk_error *err, int *code)
{
    if (status == CUZK_OK) {
        print_report(name, report, depth);
        return;
    }
    int failed = exit_with_error("cuzk params", err);
    if (*code == EXIT_CODE_OK)
        *code = failed;
}

struct found_circuits {
    char names[CIRCUITS_MAX][CIRCUIT_NAME_MAX];
    size_t n;
};

static void collect_present(void *context, const struct cuzk_params_entry *entry)
{
    struct found_circuits *found = context;
    if (entry->present && found->n < CIRCUITS_MAX)
        snprintf(found->names[found->n++], CIRCUIT_NAME_MAX, "%s", entry->circuit);
}

static int run_check(struct params_flags *flags, char **files, size_t n_files)
{
    struct found_circuits found = {.n = 0};
    struct cuzk_params_report report;
    struct cuzk_error err;
    int code = EXIT_CODE_OK;
    if (flags->n_circuits == 0 && n_files == 0) {
        cuzk_params_list(flags->folder, collect_present, &found);
        for (size_t i = 0; i < found.n; i++)
            flags->circuits[flags->n_circuits++] = found.names[i];
        if (found.n == 0) {
            fprintf(stderr, "cuzk params: no parameters in %s\n", flags->folder);
            return EXIT_CODE_BAD_PARAMS;
        }
    }
    for (size_t i = 0; i < flags->n_circuits; i++) {
        enum cuzk_status status = cuzk_params_check(flags->folder, flags->circuits[i], flags->depth,
                                                    flags->threads, &report, &err);
        print_outcome(flags->circuits[i], status, &report, flags->depth, &err, &code);
    }
    for (size_t i = 0; i < n_files; i++) {
        enum cuzk_status status =
            cuzk_params_check_file(files[i], flags->depth, flags->threads, &report, &err);
        print_outcome(files[i], status, &report, flags->depth, &err, &code);
    }
    return code;
}

/* --- gen ------------------------------------------------------------------------------------- */

struct shown {
    bool on;
    int percent;
};

static void show_progress(void *context, double done, const char *what)
{
    struct shown *shown = context;
    int percent = (int)(100 * done + 1e-6);
    if (!shown->on || percent == shown->percent)
        return;
    shown->percent = percent;
    fprintf(stderr, "\r%3d %% %-8s", percent, what);
    if (percent == 100)
        fputc('\n', stderr);
}

/* Ends the line of progress, prints the failure, returns its exit code. */
static int exit_while_shown(const char *command, const struct shown *shown,
                            const struct cuzk_error *err)
{
    if (shown->percent >= 0 && shown->percent < 100)
        fputc('\n', stderr);
    return exit_with_error(command, err);
}

typedef enum cuzk_status make_form_fn(const char *folder, const char *circuit,
                                      const struct cuzk_derive_options *options,
                                      struct cuzk_derive_report *report, struct cuzk_error *err);

/* Makes a circuit's Lagrange form and prints the outcome; returns an exit code. */
static int run_make_form(const struct params_flags *flags, const char *circuit, make_form_fn *make,
                         const char *command)
{
    struct cuzk_error err;
    struct shown shown = {.on = !flags->quiet && isatty(STDERR_FILENO), .percent = -1};
    struct cuzk_derive_report report;
    const struct cuzk_derive_options options = {.backend = flags->backend,
                                                .device = flags->device,
                                                .threads = flags->threads,
                                                .progress = show_progress,
                                                .progress_context = &shown};
    const uint64_t start = clock_now_ns();
    if (make(flags->folder, circuit, &options, &report, &err) != CUZK_OK)
        return exit_while_shown(command, &shown, &err);
    printf("%s: %s, %s, %llu bytes", circuit, report.made ? "made" : "already there", report.path,
           (unsigned long long)report.bytes);
    if (report.made)
        printf(", %.1f s", (double)(clock_now_ns() - start) / 1e9);
    putchar('\n');
    return EXIT_CODE_OK;
}

static int run_gen(const struct params_flags *flags)
{
    static const char command[] = "cuzk params gen";
    if (flags->n_circuits == 0 || !flags->folder) {
        fprintf(stderr, "cuzk params gen: --circuit ID and --out DIR are needed\n");
        return EXIT_CODE_USAGE;
    }
    for (size_t i = 0; i < flags->n_circuits; i++) {
        const char *circuit = flags->circuits[i];
        struct cuzk_error err;
        struct shown shown = {.on = !flags->quiet && isatty(STDERR_FILENO), .percent = -1};
        bool made;
        int code = EXIT_CODE_OK;
        if (cuzk_params_generate(flags->folder, circuit, flags->threads, show_progress, &shown,
                                 &made, &err) != CUZK_OK)
            return exit_while_shown(command, &shown, &err);
        printf("%s: %s in %s (development parameters: INSECURE)\n", circuit,
               made ? "made" : "already there", flags->folder);
        if (flags->lagrange)
            code = run_make_form(flags, circuit, cuzk_params_generate_lagrange, command);
        if (code != EXIT_CODE_OK)
            return code;
    }
    return EXIT_CODE_OK;
}

/* --- derive ---------------------------------------------------------------------------------- */

static int run_derive(const struct params_flags *flags)
{
    if (flags->n_circuits == 0) {
        fprintf(stderr, "cuzk params derive: --circuit ID is needed\n");
        return EXIT_CODE_USAGE;
    }
    for (size_t i = 0; i < flags->n_circuits; i++) {
        int code =
            run_make_form(flags, flags->circuits[i], cuzk_params_derive, "cuzk params derive");
        if (code != EXIT_CODE_OK)
            return code;
    }
    return EXIT_CODE_OK;
}

int command_params(int argc, char **argv)
{
    struct params_flags flags = {0};
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_CODE_USAGE : EXIT_CODE_OK;
    }
    const char *verb = argv[1];
    argc--;
    argv++;
    int code = read_flags(argc, argv, &flags);
    if (code >= 0)
        return code;
    bool takes_files = strcmp(verb, "check") == 0;
    if (optind < argc && !takes_files) {
        fprintf(stderr, "cuzk params %s: unexpected '%s'\n", verb, argv[optind]);
        return EXIT_CODE_USAGE;
    }
    if (strcmp(verb, "gen") == 0)
        return run_gen(&flags);
    if (!flags.folder)
        flags.folder = param_cache_or(PARAM_CACHE_DEFAULT);
    if (strcmp(verb, "list") == 0)
        return run_list(&flags);
    if (strcmp(verb, "derive") == 0)
        return run_derive(&flags);
    if (takes_files)
        return run_check(&flags, argv + optind, (size_t)(argc - optind));
    fprintf(stderr, "cuzk params: no '%s'; list, check, gen or derive\n", verb);
    return EXIT_CODE_USAGE;
}
