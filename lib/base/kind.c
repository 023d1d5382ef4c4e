/* The names of the kinds of proofs. */
#include <cuzk/kind.h>

const char *cuzk_proof_kind_name(enum cuzk_proof_kind kind)
{
    switch (kind) {
#define X(NAME, number, name, label)                                                               \
    case CUZK_##NAME:                                                                              \
        return name;
        CUZK_PROOF_KIND_MAP(X)
#undef X
    }
    return "unknown";
}

const char *cuzk_proof_kind_label(enum cuzk_proof_kind kind)
{
    switch (kind) {
#define X(NAME, number, name, label)                                                               \
    case CUZK_##NAME:                                                                              \
        return label;
        CUZK_PROOF_KIND_MAP(X)
#undef X
    }
    return "unknown";
}
