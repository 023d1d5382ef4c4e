/* Stands in for libFuzzer where there is none: runs a target on every file of the given files and
   folders, and on seeded variations of each, the same on every machine. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { INPUT_BYTES_MAX = 1 << 20, VARIATIONS = 500 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t random_state = 0x9e3779b97f4a7c15;

static size_t random_below(size_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return limit ? (size_t)(random_state % limit) : 0;
}

/* Changes a few places: another bit, another byte, a part taken out, a part repeated, an end cut.
 */
static size_t vary(uint8_t *data, size_t len)
{
    for (size_t changes = 1 + random_below(3); changes > 0 && len > 0; changes--) {
        size_t at = random_below(len);
        size_t part = 1 + random_below(len - at < 64 ? len - at : 64);
        switch (random_below(5)) {
        case 0:
            data[at] ^= (uint8_t)(1 << random_below(8));
            break;
        case 1:
            data[at] = (uint8_t)random_below(256);
            break;
        case 2:
            memmove(data + at, data + at + part, len - at - part);
            len -= part;
            break;
        case 3:
            if (len + part <= INPUT_BYTES_MAX) {
                memmove(data + at + part, data + at, len - at);
                len += part;
            }
            break;
        default:
            len = at;
        }
    }
    return len;
}

/* The target gets a block of exactly the input's size, so that a sanitizer sees every byte too far.
 */
static void run(const uint8_t *data, size_t len)
{
    uint8_t *exact = malloc(len ? len : 1);
    if (!exact)
        abort();
    memcpy(exact, data, len);
    LLVMFuzzerTestOneInput(exact, len);
    free(exact);
}

static unsigned run_file(const char *path)
{
    static uint8_t original[INPUT_BYTES_MAX];
    static uint8_t varied[INPUT_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    size_t len = fread(original, 1, sizeof original, file);
    fclose(file);
    run(original, len);
    for (unsigned i = 0; i < VARIATIONS; i++) {
        memcpy(varied, original, len);
        run(varied, vary(varied, len));
    }
    return 1;
}

static unsigned run_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return run_file(path);
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    unsigned files = 0;
    for (int i = 0; i < count; i++) {
        char inner[1024];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            files += run_path(inner);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return files;
}

int main(int argc, char **argv)
{
    unsigned files = 0;
    for (int i = 1; i < argc; i++)
        files += run_path(argv[i]);
    printf("%u files, %u variations of each\n", files, VARIATIONS);
    return files > 0 ? 0 : 1;
}
