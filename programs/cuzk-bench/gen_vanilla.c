/* Made-up vanilla proofs of PoSts and sector updates, in the form that --vanilla takes. */
#include "bench.h"
#include "exit_codes.h"
#include "flag_number.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/mem.h"

#include <cuzk/dev.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct gen_flags {
    enum cuzk_proof_kind kind;
    uint64_t sector_bytes;
    unsigned sectors;
    uint8_t randomness[32];
    const char *out;
};

/* cuzk_vanilla_fn: an element of the JSON array. */
static enum cuzk_status write_element(void *context, unsigned index, const uint8_t *bytes,
                                      size_t len, struct cuzk_error *err)
{
    FILE *file = context;
    unsigned char *text = mem_alloc(1, 4 * ((len + 2) / 3) + 1);
    if (!text)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a vanilla proof of %zu bytes", len);
    EVP_EncodeBlock(text, bytes, (int)len);
    int written = fprintf(file, "%s\"%s\"", index > 0 ? ",\n" : "[", (char *)text);
    mem_free(text);
    return written > 0 ? CUZK_OK : error_errno(err, CUZK_IO, errno, "cannot write vanilla proofs");
}

static enum cuzk_status write_all(const struct gen_flags *flags, FILE *file,
                                  struct cuzk_gen_commitments *commitments, struct cuzk_error *err)
{
    if (flags->kind == CUZK_SNAP)
        TRY(cuzk_gen_update(flags->sector_bytes, commitments, write_element, file, err));
    else
        TRY(cuzk_gen_post(flags->kind, flags->sector_bytes, flags->sectors, flags->randomness,
                          write_element, file, err));
    if (fputs("]\n", file) < 0)
        return error_errno(err, CUZK_IO, errno, "cannot write vanilla proofs");
    return CUZK_OK;
}

/* Writes under a temporary name, so that an interrupted run leaves no half file behind. */
static enum cuzk_status write_file(const struct gen_flags *flags,
                                   struct cuzk_gen_commitments *commitments, struct cuzk_error *err)
{
    char part[4096];
    if (snprintf(part, sizeof part, "%s.part", flags->out) >= (int)sizeof part)
        return error_set(err, CUZK_INVALID_ARGUMENT, "file name too long: %s", flags->out);
    FILE *file = fopen(part, "wb");
    if (!file)
        return error_errno(err, CUZK_IO, errno, "cannot create %s", part);
    enum cuzk_status status = write_all(flags, file, commitments, err);
    if (fclose(file) != 0 && status == CUZK_OK)
        status = error_errno(err, CUZK_IO, errno, "cannot write %s", part);
    if (status == CUZK_OK && rename(part, flags->out) != 0)
        status = error_errno(err, CUZK_IO, errno, "cannot rename %s", part);
    if (status != CUZK_OK)
        unlink(part);
    return status;
}

static void print_hex(const char *flag, const uint8_t bytes[32])
{
    char hex[65];
    hex_encode(bytes, 32, hex);
    printf(" --%s %s", flag, hex);
}

/* The rest of the command line that proves the file. */
static void print_flags(const struct gen_flags *flags,
                        const struct cuzk_gen_commitments *commitments)
{
    printf("-t %s --vanilla %s", cuzk_proof_kind_name(flags->kind), flags->out);
    if (flags->kind == CUZK_SNAP) {
        print_hex("comm-r-old", commitments->comm_r_old);
        print_hex("comm-r-new", commitments->comm_r_new);
        print_hex("comm-d-new", commitments->comm_d_new);
    } else {
        print_hex("randomness", flags->randomness);
    }
    putchar('\n');
}

static void print_usage(FILE *out)
{
    fputs("Usage: cuzk-bench gen-vanilla -t TYPE --size SIZE [--sectors N] -o FILE\n\n"
          "Makes valid vanilla proofs of sectors that were never sealed, for benchmarks at full\n"
          "scale, and prints the flags with which `single` and `batch` prove them.\n\n"
          "  -t, --type TYPE        winning, wpost or snap\n"
          "      --size SIZE        2KiB, 8MiB, 512MiB, 32GiB or 64GiB\n"
          "      --sectors N        wpost: sectors of the partition (default: 1)\n"
          "      --randomness HEX   winning, wpost: 32 bytes (default: zeros)\n"
          "  -o, --out FILE         a JSON array of base64 texts\n",
          out);
}

static bool take_flag(struct gen_flags *flags, int option)
{
    uint64_t number;
    switch (option) {
    case 't':
        return (flags->kind = (enum cuzk_proof_kind)bench_kind(optarg)) != 0 &&
               flags->kind != CUZK_POREP;
    case 's':
        return (flags->sector_bytes = bench_sector_size(optarg)) != 0;
    case 'n':
        if (!flag_number("cuzk-bench gen-vanilla", "--sectors", optarg, 1, 4096, &number))
            return false;
        flags->sectors = (unsigned)number;
        return true;
    case 'r':
        return hex_decode(optarg, flags->randomness, sizeof flags->randomness);
    case 'o':
        flags->out = optarg;
        return true;
    default:
        return false;
    }
}

int command_gen_vanilla(const struct bench_globals *globals, int argc, char **argv)
{
    (void)globals;
    static const struct option options[] = {{"type", required_argument, NULL, 't'},
                                            {"size", required_argument, NULL, 's'},
                                            {"sectors", required_argument, NULL, 'n'},
                                            {"randomness", required_argument, NULL, 'r'},
                                            {"out", required_argument, NULL, 'o'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct gen_flags flags = {.sectors = 1};
    struct cuzk_gen_commitments commitments;
    struct cuzk_error err = {0};
    bool good = true;
    int option;
    optind = 1;
    while (good && (option = getopt_long(argc, argv, "t:o:h", options, NULL)) != -1) {
        if (option == 'h')
            return print_usage(stdout), EXIT_CODE_OK;
        good = take_flag(&flags, option);
    }
    if (!good || flags.kind == 0 || flags.sector_bytes == 0 || !flags.out || optind < argc)
        return print_usage(stderr), EXIT_CODE_USAGE;
    if (write_file(&flags, &commitments, &err) != CUZK_OK)
        return exit_with_error("cuzk-bench", &err);
    print_flags(&flags, &commitments);
    return EXIT_CODE_OK;
}
