/* Proves a PoRep in this process with libcuzk, and verifies the proof.

     cc prove.c $(pkg-config --cflags --libs cuzk) -o prove
     ./prove PARAMS             lists the parameter files in the folder PARAMS
     ./prove PARAMS C1 PROOF    proves the C1 in the file C1 and writes the proof to the file PROOF

   Development parameters of a 2 KiB sector, to try it with (insecure, 1.1 GB):

     cuzk params gen --circuit porep-2k --out PARAMS
     cuzk-bench gen-c1 --size 2KiB -o C1 */
#include <cuzk/log.h>
#include <cuzk/params.h>
#include <cuzk/prove.h>
#include <cuzk/verify.h>
#include <stdio.h>
#include <stdlib.h>

/* The library writes nowhere by itself. This is where its entries go: warnings and errors to
   stderr, the rest is dropped. The library calls it on several threads. */
static void print_entry(void *context, enum cuzk_log_level level, const char *area,
                        const char *text)
{
    (void)context;
    if (level <= CUZK_LOG_WARN)
        fprintf(stderr, "%s: %s\n", area, text);
}

static void print_params(void *context, const struct cuzk_params_entry *entry)
{
    (void)context;
    printf("%-12s %-8s %s\n", entry->circuit, entry->present ? "present" : "missing",
           entry->file_name);
}

/* Every function that can fail fills a cuzk_error: a status, and one line of text. */
static int print_failure(const char *what, const struct cuzk_error *err)
{
    fprintf(stderr, "%s: %s (%s)\n", what, err->text, cuzk_status_text(err->status));
    return EXIT_FAILURE;
}

/* The whole file; the caller frees it. NULL, with a line on stderr, if it cannot be read. */
static unsigned char *read_file(const char *path, size_t *len)
{
    unsigned char *bytes = NULL;
    FILE *file = fopen(path, "rb");
    if (file && fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        bytes = size > 0 ? malloc((size_t)size) : NULL;
        *len = bytes ? fread(bytes, 1, (size_t)size, file) : 0;
    }
    if (file)
        fclose(file);
    if (!bytes)
        fprintf(stderr, "%s: cannot be read\n", path);
    return bytes;
}

static int write_file(const char *path, const unsigned char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    size_t written = file ? fwrite(bytes, 1, len, file) : 0;
    if (!file || fclose(file) != 0 || written != len) {
        fprintf(stderr, "%s: cannot be written\n", path);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static int prove(const char *params, const unsigned char *c1, size_t c1_len, const char *proof_path)
{
    /* Options are zero-initialised; a zero means the default. */
    struct cuzk_prove_options options = {.param_cache = params};
    struct cuzk_phase_times times;
    struct cuzk_error err;
    uint8_t *proof;
    size_t proof_len;
    if (cuzk_prove_c1(&options, c1, c1_len, &proof, &proof_len, &times, &err) != CUZK_OK)
        return print_failure("proving", &err);
    printf("proved: %zu bytes in %.1f s\n", proof_len, (double)times.total_ns / 1e9);

    /* A proof that cuzk_prove_c1 returns was verified already. This is how another program, which
       has only the C1 and the proof, verifies it. */
    int code = EXIT_SUCCESS;
    const struct cuzk_verify_options checking = {.param_cache = options.param_cache};
    if (cuzk_verify_c1(&checking, c1, c1_len, proof, proof_len, &err) != CUZK_OK)
        code = print_failure("verifying", &err);
    else
        printf("verified\n");
    if (code == EXIT_SUCCESS)
        code = write_file(proof_path, proof, proof_len);
    cuzk_proof_free(proof);
    return code;
}

int main(int argc, char **argv)
{
    cuzk_log_set_sink(print_entry, NULL);
    if (argc == 2) {
        cuzk_params_list(argv[1], print_params, NULL);
        return EXIT_SUCCESS;
    }
    if (argc != 4) {
        fprintf(stderr, "usage: prove PARAMS [C1 PROOF]\n");
        return 2;
    }
    size_t c1_len;
    unsigned char *c1 = read_file(argv[2], &c1_len);
    if (!c1)
        return EXIT_FAILURE;
    int code = prove(argv[1], c1, c1_len, argv[3]);
    free(c1);
    return code;
}
