/* The names of a key's files: <folder>/<name>.params (the proving key), <name>.vk (the verifying
   key) and <name>.lagrange (the proving key's Lagrange form) lie side by side. <name> is
   params_name of struct circuit_info. Nothing else builds or takes apart such a path. */
#ifndef KEY_PATHS_H
#define KEY_PATHS_H

#include <cuzk/status.h>
#include <limits.h>
#include <stdbool.h>

enum key_file { KEY_FILE_PARAMS, KEY_FILE_VK, KEY_FILE_LAGRANGE, KEY_FILES };

/* The file in a folder. CUZK_INVALID_ARGUMENT: the path would be PATH_MAX bytes or longer. */
enum cuzk_status key_path(const char *folder, const char *name, enum key_file file,
                          char path[PATH_MAX], struct cuzk_error *err);

/* The file beside another file of the same key: the other one's ending is replaced. A path without
   one of the three endings gets the new one appended. Errors as above. */
enum cuzk_status key_path_beside(const char *other, enum key_file file, char path[PATH_MAX],
                                 struct cuzk_error *err);

/* Does the path have the ending of such a file? */
bool key_path_is(const char *path, enum key_file file);

/* A file of this name, empty or not, marks a folder as one of development parameters: insecure,
   made from known trapdoors (groth16/setup.h). Such files are used from marked folders only, real
   ones from other folders only. */
#define PARAMS_DEV_MARKER "CUZK-DEV-PARAMETERS-INSECURE"

/* Is the file in a marked folder? */
bool params_in_dev_folder(const char *path);

#endif
