/* Runs a fuzz target on every file of a folder, so that a corpus is an ordinary test.

   usage: regress-NAME FOLDER */
#include "fuzz.h"

#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: regress-NAME FOLDER\n");
        return 2;
    }
    unsigned files = 0;
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        char path[PATH_MAX];
        uint8_t *data;
        size_t len;
        struct cuzk_error err = {0};
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        if (file_read(path, (size_t)1 << 20, &data, &len, &err) != CUZK_OK) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        LLVMFuzzerTestOneInput(data, len);
        mem_free(data);
        files++;
    }
    closedir(folder);
    printf("%u files\n", files);
    return files > 0 ? 0 : 1;
}
