/* All circuits: proof kind and sector size → shape, partitions, parameter file, name. */
#ifndef CIRCUITS_REGISTRY_H
#define CIRCUITS_REGISTRY_H

#include "r1cs/shape.h"

/* Values are those of the wire interface. */
enum proof_kind {
    PROOF_KIND_NONE = 0,
    PROOF_KIND_POREP = 1,   /* "porep" */
    PROOF_KIND_UPDATE = 2,  /* "snap": empty sector update */
    PROOF_KIND_WINDOW = 3,  /* "wpost" */
    PROOF_KIND_WINNING = 4, /* "winning" */
};

/* One circuit. Entries are static and never change. */
struct circuit_info {
    const char *id; /* "porep-32g", "winning-2k", …: <kind>-<size> */
    enum proof_kind kind;
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
const struct circuit_info *circuit_find(enum proof_kind kind, uint64_t sector_bytes);
/* The circuit with the id, case-sensitive; NULL if there is none. */
const struct circuit_info *circuit_by_id(const char *id);

/* Compiles the shape of the circuit, which takes up to about 2 s for the largest one. The caller
   frees it with shape_free. Errors are those of shape_record. */
enum cuzk_status circuit_shape(const struct circuit_info *circuit, struct shape **out,
                               struct cuzk_error *err);

#endif
