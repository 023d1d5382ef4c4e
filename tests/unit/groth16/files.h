/* A temporary folder as the state of a group of tests, and files in it. */
#ifndef TESTS_UNIT_GROTH16_FILES_H
#define TESTS_UNIT_GROTH16_FILES_H

#include "base/bytes.h"
#include "base/check.h"
#include "base/file.h"
#include "base/mem.h"
#include "key/params.h"
#include "support/support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int make_folder(void **state)
{
    char name[] = "/tmp/cuzk-test-XXXXXX";
    if (!mkdtemp(name))
        return -1;
    *state = mem_strdup(name);
    return *state ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline int remove_folder(void **state)
{
    int result = nftw(*state, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    mem_free(*state);
    return result;
}

/* "folder/name"; valid until the fourth next call. */
static inline const char *folder_path(const char *folder, const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static inline uint8_t *read_whole(const char *path, size_t *len)
{
    uint8_t *bytes;
    struct cuzk_error err;
    assert_ok(file_read(path, (size_t)64 << 20, &bytes, len, &err), err);
    return bytes;
}

static inline void write_whole(const char *path, const void *bytes, size_t len)
{
    struct cuzk_error err;
    assert_ok(file_write(path, bytes, len, &err), err);
}

#endif
