/* cuzk verify: is this proof valid? Under a verifying key with given public inputs, or for a C1. */
#include "commands.h"
#include "exit_codes.h"
#include "param_cache.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"

#include <cuzk/verify.h>
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest is a C1. */
#define FILE_BYTES_MAX ((size_t)256 << 20)

struct verify_flags {
    const char *vk;
    const char *inputs;
    const char *proof;
    const char *c1;
    bool quiet;
    struct cuzk_verify_options options;
};

static void print_usage(FILE *out)
{
    fputs(
        "Usage: cuzk verify --c1 FILE --proof FILE [--param-cache DIR]\n"
        "       cuzk verify --vk FILE --inputs FILE --proof FILE\n\n"
        "Exit code 0: valid; 6: not valid; 2: the files are not what they should be.\n\n"
        "      --c1 FILE          the C1 that the proof is for\n"
        "      --proof FILE       192 bytes a partition, or their hexadecimal text\n"
        "      --param-cache DIR  folder of v28-*.vk (default: $FIL_PROOFS_PARAMETER_CACHE, else\n"
        "                         /var/tmp/filecoin-proof-parameters)\n"
        "      --vk FILE          a .vk file, or a .params file for the key at its head\n"
        "      --inputs FILE      public inputs of all partitions, one a line, 64 hexadecimal "
        "digits,\n"
        "                         least significant byte first, without the constant 1; lines with "
        "#\n"
        "                         are skipped\n"
        "  -q, --quiet            the exit code alone\n",
        out);
}

/* Returns an exit code, or −1 to go on. */
static int read_flags(int argc, char **argv, struct verify_flags *flags)
{
    static const struct option known[] = {
        {"c1", required_argument, NULL, 'C'}, {"proof", required_argument, NULL, 'P'},
        {"vk", required_argument, NULL, 'v'}, {"inputs", required_argument, NULL, 'i'},
        {"quiet", no_argument, NULL, 'q'},    {"param-cache", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},     {NULL, 0, NULL, 0},
    };
    flags->options.param_cache = param_cache_or(PARAM_CACHE_DEFAULT);
    int option;
    while ((option = getopt_long(argc, argv, "qh", known, NULL)) != -1) {
        switch (option) {
        case 'C':
            flags->c1 = optarg;
            break;
        case 'P':
            flags->proof = optarg;
            break;
        case 'v':
            flags->vk = optarg;
            break;
        case 'i':
            flags->inputs = optarg;
            break;
        case 'p':
            flags->options.param_cache = optarg;
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
    bool by_key = flags->vk && flags->inputs && !flags->c1;
    bool by_c1 = flags->c1 && !flags->vk && !flags->inputs;
    if (optind == argc && flags->proof && (by_key || by_c1))
        return -1;
    fprintf(stderr, "cuzk verify: --proof with either --c1, or --vk and --inputs; see --help\n");
    return EXIT_CODE_USAGE;
}

/* A block of bytes read from a file. */
struct content {
    uint8_t *bytes;
    size_t len;
};

/* Replaces hexadecimal text, with white space between the digits, by its bytes. Any other content
   is left as it is, and false returned. */
static bool decode_hex(struct content *content)
{
    size_t digits = 0;
    for (size_t i = 0; i < content->len; i++) {
        if (isspace(content->bytes[i]))
            continue;
        if (!isxdigit(content->bytes[i]))
            return false;
        digits++;
    }
    if (digits % 2 != 0)
        return false;
    size_t done = 0;
    for (size_t i = 0; i < content->len; i++) {
        char pair[3] = {0};
        while (i < content->len && isspace(content->bytes[i]))
            i++;
        if (i == content->len)
            break;
        pair[0] = (char)content->bytes[i++];
        while (isspace(content->bytes[i]))
            i++;
        pair[1] = (char)content->bytes[i];
        hex_decode(pair, &content->bytes[done++], 1);
    }
    content->len = done;
    return true;
}

/* Overwrites lines that start with # by blanks. */
static void blank_comments(struct content *content)
{
    bool comment = false;
    for (size_t i = 0; i < content->len; i++) {
        bool line_start = i == 0 || content->bytes[i - 1] == '\n';
        if (content->bytes[i] == '\n')
            comment = false;
        else if (line_start && content->bytes[i] == '#')
            comment = true;
        if (comment)
            content->bytes[i] = ' ';
    }
}

/* Raw proof bytes are no text: their first bit is set. */
static enum cuzk_status read_proof(const char *path, struct content *out, struct cuzk_error *err)
{
    TRY(file_read(path, FILE_BYTES_MAX, &out->bytes, &out->len, err));
    decode_hex(out);
    return CUZK_OK;
}

static enum cuzk_status read_inputs(const char *path, struct content *out, struct cuzk_error *err)
{
    TRY(file_read(path, FILE_BYTES_MAX, &out->bytes, &out->len, err));
    blank_comments(out);
    if (decode_hex(out))
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT, "%s: expected lines of 64 hexadecimal digits",
                     path);
}

static enum cuzk_status verify_by_key(const struct verify_flags *flags, const struct content *proof,
                                      struct cuzk_error *err)
{
    struct content inputs = {0};
    struct cuzk_vk *vk = NULL;
    enum cuzk_status status = cuzk_vk_open(flags->vk, &vk, err);
    if (status == CUZK_OK)
        status = read_inputs(flags->inputs, &inputs, err);
    if (status == CUZK_OK)
        status = cuzk_verify(vk, proof->bytes, proof->len, inputs.bytes, inputs.len, err);
    mem_free(inputs.bytes);
    cuzk_vk_close(vk);
    return status;
}

static enum cuzk_status verify_by_c1(const struct verify_flags *flags, const struct content *proof,
                                     struct cuzk_error *err)
{
    struct content c1 = {0};
    enum cuzk_status status = file_read(flags->c1, FILE_BYTES_MAX, &c1.bytes, &c1.len, err);
    if (status == CUZK_OK)
        status = cuzk_verify_c1(&flags->options, c1.bytes, c1.len, proof->bytes, proof->len, err);
    mem_free(c1.bytes);
    return status;
}

int command_verify(int argc, char **argv)
{
    struct verify_flags flags = {0};
    struct cuzk_error err = {0};
    struct content proof = {0};
    int code = read_flags(argc, argv, &flags);
    if (code >= 0)
        return code;
    enum cuzk_status status = read_proof(flags.proof, &proof, &err);
    if (status == CUZK_OK)
        status =
            flags.c1 ? verify_by_c1(&flags, &proof, &err) : verify_by_key(&flags, &proof, &err);
    if (status == CUZK_OK && !flags.quiet)
        printf("valid: %zu proof%s\n", proof.len / CUZK_PROOF_BYTES,
               proof.len == CUZK_PROOF_BYTES ? "" : "s");
    mem_free(proof.bytes);
    if (status == CUZK_OK)
        return EXIT_CODE_OK;
    return flags.quiet ? exit_code_of(status) : exit_with_error("cuzk verify", &err);
}
