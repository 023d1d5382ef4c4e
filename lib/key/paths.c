#include "key/paths.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const endings[KEY_FILES] = {".params", ".vk", ".lagrange"};

enum cuzk_status key_path(const char *folder, const char *name, enum key_file file,
                          char path[PATH_MAX], struct cuzk_error *err)
{
    if (snprintf(path, PATH_MAX, "%s/%s%s", folder, name, endings[file]) < PATH_MAX)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT, "folder name too long: %.100s…", folder);
}

bool key_path_is(const char *path, enum key_file file)
{
    const size_t len = strlen(path), ending_len = strlen(endings[file]);
    return len >= ending_len && strcmp(path + len - ending_len, endings[file]) == 0;
}

enum cuzk_status key_path_beside(const char *other, enum key_file file, char path[PATH_MAX],
                                 struct cuzk_error *err)
{
    size_t stem = strlen(other);
    for (enum key_file i = 0; i < KEY_FILES; i++) {
        if (key_path_is(other, i)) {
            stem -= strlen(endings[i]);
            break;
        }
    }
    if (stem < PATH_MAX &&
        snprintf(path, PATH_MAX, "%.*s%s", (int)stem, other, endings[file]) < PATH_MAX)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT, "file name too long: %.100s…", other);
}

bool params_in_dev_folder(const char *path)
{
    char marker[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int folder_len = slash ? (int)(slash - path + 1) : 0;
    const int len = snprintf(marker, sizeof marker, "%.*s%s", folder_len, path, PARAMS_DEV_MARKER);
    return len < (int)sizeof marker && access(marker, F_OK) == 0;
}
