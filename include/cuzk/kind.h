/* The kinds of proofs and their names. */
#ifndef CUZK_KIND_H
#define CUZK_KIND_H

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* X(NAME, number, name, label). Numbers are those of the wire interface. The name begins the
   circuits' names ("porep-32g") and is what command lines take and print; the label is what the
   status, the metrics and the timeline print. */
#define CUZK_PROOF_KIND_MAP(X)                                                                     \
    X(POREP, 1, "porep", "porep_c2")                                                               \
    X(SNAP, 2, "snap", "snap_update") /* an empty sector update */                                 \
    X(WINDOW_POST, 3, "wpost", "window_post")                                                      \
    X(WINNING_POST, 4, "winning", "winning_post")

enum cuzk_proof_kind {
#define X(NAME, number, name, label) CUZK_##NAME = number,
    CUZK_PROOF_KIND_MAP(X)
#undef X
};

#define CUZK_PROOF_KINDS 4

/* Name and label of a kind ("porep", "porep_c2"); "unknown" for a number that is no kind. */
const char *cuzk_proof_kind_name(enum cuzk_proof_kind kind);
const char *cuzk_proof_kind_label(enum cuzk_proof_kind kind);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
