/* Parameter files: which there should be, whether they are good, making development ones, and what
   makes proving with them faster.

   A circuit is named as in "porep-32g", "winning-2k", "wpost-32g", "snap-32g". A folder holds
   v28-*.params and .vk files under the names of the Filecoin network. */
#ifndef CUZK_PARAMS_H
#define CUZK_PARAMS_H

#include <cuzk/status.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* A circuit and its file in a folder. Texts belong to the library. */
struct cuzk_params_entry {
    const char *circuit;
    const char *file_name; /* "v28-….params" */
    uint64_t expected_bytes;
    bool present;
    uint64_t found_bytes; /* 0 unless present */
    const char
        *published_digest;   /* as in parameters.json; "" if the network publishes no such file */
    uint64_t lagrange_bytes; /* size of the Lagrange form beside it; 0 if there is none */
};

typedef void cuzk_params_entry_fn(void *context, const struct cuzk_params_entry *entry);

/* Calls fn for every known circuit. Looks at sizes only. */
void cuzk_params_list(const char *folder, cuzk_params_entry_fn *fn, void *context);

/* Is the folder marked as one of development parameters? */
bool cuzk_params_folder_is_dev(const char *folder);

/* How closely to look. Each depth includes those before it. */
enum cuzk_params_depth {
    CUZK_PARAMS_LAYOUT, /* size, sections, the whole verifying key, its digest against the published
                           one */
    CUZK_PARAMS_DIGEST, /* BLAKE2b of the file against the published one; a second a gigabyte */
    CUZK_PARAMS_POINTS, /* every point on the curve and in its subgroup; a minute of a core for a
                           million. The Lagrange form against the parameters, on a GPU if there is
                           one */
};

struct cuzk_params_report {
    char path[1024];
    bool dev;
    uint64_t bytes;
    uint64_t
        trailing_bytes; /* behind the last section; only of files that no circuit was named for */
    uint32_t n_inputs;  /* with the constant 1 */
    uint32_t n_h, n_l, n_a, n_b_g1, n_b_g2;
    char vk_digest[33];
    char file_digest[33];    /* "" unless asked for */
    uint64_t lagrange_bytes; /* size of the Lagrange form beside it; 0 if there is none */
};

/* Checks a circuit's file in a folder, and its Lagrange form if there is one. CUZK_BAD_PARAMS:
   missing or wrong, the text says what, where and what was expected; CUZK_INVALID_ARGUMENT: no such
   circuit. threads 0: all processors. */
enum cuzk_status cuzk_params_check(const char *folder, const char *circuit,
                                   enum cuzk_params_depth depth, unsigned threads,
                                   struct cuzk_params_report *report, struct cuzk_error *err);

/* Checks any .params file by itself: no circuit to compare with. */
enum cuzk_status cuzk_params_check_file(const char *path, enum cuzk_params_depth depth,
                                        unsigned threads, struct cuzk_params_report *report,
                                        struct cuzk_error *err);

/* done: 0 … 1; what is being made ("h", "b_g2"). From any thread, one call at a time. */
typedef void cuzk_params_progress_fn(void *context, double done, const char *what);

/* Makes a circuit's development parameters: insecure by construction, for tests and devnets only,
   the same bytes on every machine. The folder is made and marked if need be. A good file that is
   already there is kept; *made tells. CUZK_INVALID_ARGUMENT: no such circuit, or the folder holds
   parameters and is not marked; CUZK_FAILED_PRECONDITION: another process makes the same file. */
enum cuzk_status cuzk_params_generate(const char *folder, const char *circuit, unsigned threads,
                                      cuzk_params_progress_fn *progress, void *context, bool *made,
                                      struct cuzk_error *err);

/* Making a Lagrange form. Zero-initialise, then set what differs from the default. */
struct cuzk_derive_options {
    const char *backend;               /* NULL: "cuda". "cpu" takes hours but for small circuits */
    const char *device;                /* index or UUID of the GPU; NULL: the first */
    unsigned threads;                  /* 0: all processors */
    cuzk_params_progress_fn *progress; /* may be NULL */
    void *progress_context;
};

struct cuzk_derive_report {
    char path[1024];
    uint64_t bytes;
    bool made; /* false: it was already there */
};

/* Makes the Lagrange form of a circuit's parameters, a file beside them ("v28-….lagrange") with
   which a GPU proves faster; proofs are the same. It is checked before it gets its name. A good
   file that is already there is kept. CUZK_INVALID_ARGUMENT: no such circuit; CUZK_BAD_PARAMS;
   CUZK_NO_DEVICE: none of that backend, or the backend cannot; CUZK_IO names the file;
   CUZK_FAILED_PRECONDITION: another process makes the same file. */
enum cuzk_status cuzk_params_derive(const char *folder, const char *circuit,
                                    const struct cuzk_derive_options *options,
                                    struct cuzk_derive_report *report, struct cuzk_error *err);

/* The same for development parameters (cuzk_params_generate), the same bytes: from their trapdoors,
   on the processors alone and in a fraction of the time. options->backend and device do not count.
   CUZK_BAD_PARAMS also if the parameters come from other trapdoors. */
enum cuzk_status cuzk_params_generate_lagrange(const char *folder, const char *circuit,
                                               const struct cuzk_derive_options *options,
                                               struct cuzk_derive_report *report,
                                               struct cuzk_error *err);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
