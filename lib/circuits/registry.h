/* All circuits: proof kind and sector size → shape, partitions, parameter file, name. */
#ifndef CIRCUITS_REGISTRY_H
#define CIRCUITS_REGISTRY_H

#include "r1cs/shape.h"

#include <cuzk/kind.h>

/* One circuit. Entries are static and never change. */
struct circuit_info {
    const char *id; /* "porep-32g", "winning-2k", …: <kind>-<size> */
    enum cuzk_proof_kind kind;
    uint64_t sector_bytes;
    const char *size_text;     /* "32GiB" */
    unsigned partitions;       /* of one proof; 1 for PoSt (window: the caller chooses) */
    uint32_t n_inputs;         /* with the constant 1: the params file's ic count */
    uint64_t params_bytes;     /* size of the .params file, part I.2 */
    const char *params_name;   /* "v28-….params" without the ending, part H */
    const char *params_digest; /* 32 hex digits, part H; "" if unpublished */
    const char *vk_digest;
};

size_t circuit_count(void);
const struct circuit_info *circuit_at(size_t index);

/* The circuit of a kind and a sector size; NULL if there is none. */
const struct circuit_info *circuit_find(enum cuzk_proof_kind kind, uint64_t sector_bytes);
/* The circuit with the id, case-sensitive; NULL if there is none. */
const struct circuit_info *circuit_by_id(const char *id);

/* For tests: one more circuit, the last of the table, with its program for any values. NULL takes
   it out again. Both stay the caller's, and nothing else may use the table meanwhile. */
void circuit_add(const struct circuit_info *circuit, const struct circuit_program *blank);

/* Compiles the shape of the circuit, which takes up to about 2 s for the largest one. The caller
   frees it with shape_free. Errors are those of shape_record. */
enum cuzk_status circuit_shape(const struct circuit_info *circuit, struct shape **out,
                               struct cuzk_error *err);

#endif
