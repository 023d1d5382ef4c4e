/* The seam between the prover and the kinds of proofs. Private to lib/prover.

   A kind knows what its requests say, how its input is read and checked, and which circuit values
   and public inputs follow from it. Everything else is the same for all kinds: parameters
   (residency.h), synthesis, proving and verifying (prove.h). A new kind is one file in kinds/ and
   one entry in kind.c. */
#ifndef PROVER_KIND_H
#define PROVER_KIND_H

#include "circuits/registry.h"
#include "engine/work.h"

struct pool;
struct proof_kind;

/* A parsed request of any kind. Each kind puts this at the head of its own struct. */
struct kind_work {
    struct work base;
    const struct proof_kind *kind; /* set by kind_parse */
};

struct proof_kind {
    /* Can such a request be served at all? Cheap. *circuit is the circuit that the request names,
       or NULL if only the payload tells. CUZK_INVALID_ARGUMENT, CUZK_UNSUPPORTED. */
    enum cuzk_status (*admit)(const struct request *request, const struct circuit_info **circuit,
                              struct cuzk_error *err);
    /* Reads all payloads, compares them with the request, computes the public inputs, and fills
       work->base. The request may be freed afterwards. The pool may be used. */
    enum cuzk_status (*parse)(const struct request *request, struct pool *pool,
                              struct kind_work **work, struct cuzk_error *err);
    /* Recomputes everything that the input claims about a partition. CUZK_INVALID_ARGUMENT names
       the place of the first fault. Several threads may check partitions of the same work. A
       partition that was found true is not looked at again. */
    enum cuzk_status (*check)(struct kind_work *work, unsigned partition, struct pool *pool,
                              struct cuzk_error *err);
    /* The circuit with a partition's values. Only after the partition was found true. Valid as long
       as the work. */
    struct circuit_program (*program)(const struct kind_work *work, unsigned partition);
    /* A partition's public inputs without the constant 1; *n is their number, the same for all
       partitions. Valid as long as the work. */
    const struct fr *(*public_inputs)(const struct kind_work *work, unsigned partition, size_t *n);
    void (*free)(struct kind_work *work);
};

/* NULL, with CUZK_UNSUPPORTED and a text that lists those that are served, for other kinds. */
const struct proof_kind *kind_find(enum cuzk_proof_kind number, struct cuzk_error *err);

/* The request's parse, and frees what it made. kind_free accepts NULL. */
enum cuzk_status kind_parse(const struct request *request, struct pool *pool,
                            struct kind_work **out, struct cuzk_error *err);
void kind_free(struct kind_work *work);

/* For tests: serves the kind of this number as the entry says (NULL: not at all). Not
   while an engine is asked for a proof. */
void kind_replace(enum cuzk_proof_kind number, const struct proof_kind *kind);

/* The kinds, one in each file of kinds/. */
extern const struct proof_kind kind_porep;
extern const struct proof_kind kind_post; /* WinningPoSt and WindowPoSt */
extern const struct proof_kind kind_update;

#endif
