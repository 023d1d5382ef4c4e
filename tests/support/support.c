#include "support/support.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *vector_path(const char *name)
{
    static _Thread_local char path[PATH_MAX];
    snprintf(path, sizeof path, "vectors/%s", name);
    if (access(path, R_OK) == 0)
        return path;
    const char *shared = getenv("CUZK_SHARED_VECTORS");
    snprintf(path, sizeof path, "%s/%s", shared ? shared : "../shared/vectors", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

const char *vector_path_or_skip(const char *name)
{
    const char *path = vector_path(name);
    if (!path) {
        print_message("SKIP: known answers %s are not on this machine\n", name);
        skip();
    }
    return path;
}

static uint8_t *read_through(const char *program, const char *path, size_t *len)
{
    char command[PATH_MAX + 32];
    snprintf(command, sizeof command, "%s -dc '%s'", program, path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    uint8_t *data = NULL;
    size_t capacity = 0;
    *len = 0;
    for (size_t got = 1; got > 0; *len += got) {
        assert_true(MEM_GROW(data, capacity, *len + 65536));
        got = fread(data + *len, 1, 65535, pipe);
    }
    assert_int_equal(pclose(pipe), 0);
    data[*len] = 0;
    return data;
}

uint8_t *vector_read_or_skip(const char *name, size_t *len)
{
    const char *path = vector_path_or_skip(name);
    const char *ending = strrchr(path, '.');
    if (ending && strcmp(ending, ".xz") == 0)
        return read_through("xz", path, len);
    if (ending && strcmp(ending, ".gz") == 0)
        return read_through("gzip", path, len);
    uint8_t *data;
    struct cuzk_error err;
    assert_ok(file_read(path, SIZE_MAX / 2, &data, len, &err), err);
    return data;
}

const char *dev_params_or_skip(void)
{
    static const char name[] =
        "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
        "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.params";
    static char folder[PATH_MAX];
    char file[2 * PATH_MAX];
    const char *given = getenv("CUZK_DEV_PARAMS");
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (given)
        snprintf(folder, sizeof folder, "%s", given);
    else if (cache)
        snprintf(folder, sizeof folder, "%s/cuzk/dev-params", cache);
    else
        snprintf(folder, sizeof folder, "%s/.cache/cuzk/dev-params", home ? home : "");
    snprintf(file, sizeof file, "%s/%s", folder, name);
    if (access(file, R_OK) != 0) {
        print_message("SKIP: no 2 KiB development parameters in %s\n", folder);
        skip();
    }
    return folder;
}

void assert_hex_equal(const uint8_t *bytes, size_t len, const char *hex)
{
    char *text = mem_alloc(2 * len + 1, 1);
    assert_non_null(text);
    hex_encode(bytes, len, text);
    assert_string_equal(text, hex);
    mem_free(text);
}
