/* The constraint-system interface that all gadgets are written against.

   A gadget allocates variables with their values and enforces rows ⟨A,z⟩·⟨B,z⟩ = ⟨C,z⟩. What
   happens is up to the driver: the recorder compiles a shape (r1cs/shape.h), the witness driver
   keeps values only (r1cs/witness.h), the check driver evaluates every row and names the first
   that fails. Allocation order and row order are part of the circuit (docs/spec/groth16.md,
   part A).

   Values are always passed, so that gadgets need no second code path; the recorder ignores them.
   A gadget that runs out of memory, or whose driver did, marks the system as failed (cs_fail) and
   goes on; variables allocated after that are the constant 1. The function that ran the program
   reports it. */
#ifndef R1CS_CS_H
#define R1CS_CS_H

#include "math/fr.h"

/* A variable: input i is i, aux i is i + VAR_AUX (the numbering of the R1CS digest, part I.1).
   Input 0 is the constant 1. */
#define VAR_AUX 0x80000000u
struct var {
    uint32_t id;
};

#define VAR_ONE ((struct var){0})

static inline bool var_is_aux(struct var v)
{
    return (v.id & VAR_AUX) != 0;
}

static inline uint32_t var_index(struct var v)
{
    return v.id & ~VAR_AUX;
}

static inline struct var var_aux(uint32_t index)
{
    return (struct var){index | VAR_AUX};
}

struct term {
    struct var var;
    struct fr coeff;
};

/* A linear combination. Terms may repeat a variable and may have zero coefficients; drivers see
   them summed, without zeros, inputs before aux, by index. Zero-initialise; lc_free when done;
   reusable after lc_clear. Adding without memory sets `failed`, which enforce hands to the
   system. */
struct lc {
    struct term *terms;
    size_t len;
    size_t capacity;
    bool failed;
};

void lc_clear(struct lc *lc);
void lc_free(struct lc *lc);
void lc_add(struct lc *lc, struct var var, const struct fr *coeff);
/* coeff = 1, −1 */
void lc_add_var(struct lc *lc, struct var var);
void lc_sub_var(struct lc *lc, struct var var);
/* lc += coeff · other */
void lc_add_scaled(struct lc *lc, const struct fr *coeff, const struct lc *other);
/* Sorts, sums equal variables, drops zeros. */
void lc_normalise(struct lc *lc);

enum var_kind {
    VAR_KIND_INPUT, /* public input */
    VAR_KIND_NUM,   /* private field element */
    VAR_KIND_BIT,   /* private variable that the rows force to be 0 or 1: kept as one bit; the
                       recorder proves it from the rows, or refuses */
};

/* One use of a template: a gadget whose rows are the same at every use, up to the numbers of its
   variables. Rows with the same name are recorded once, later uses only as placements. A use
   allocates aux variables (never inputs) and refers otherwise only to its externals and to the
   constant 1; all its variables and rows are contiguous. Uses do not nest: a template begun inside
   another one is part of the outer one. */
struct cs_template {
    const char *name; /* static; identifies the rows, up to: */
    /* Uses of one name with other A-side coefficients of the constant 1 are other variants (the
       layer number in a label's first block). */
    uint32_t variant;
    /* In an order fixed by the gadget; distinct, none is the constant 1, and in at most 256 runs of
       consecutive variables. Uses where they are not so are recorded as ordinary rows. */
    const struct var *externals;
    size_t n_externals;
};

struct cs;
struct pool;
struct witness;

/* One of several like parts of a circuit, see cs_parts. */
typedef void cs_part_fn(struct cs *cs, void *context, size_t index);

/* What a driver implements. Private to r1cs/ and its drivers. */
struct cs_driver {
    struct var (*alloc)(struct cs *cs, enum var_kind kind, const struct fr *value);
    void (*enforce)(struct cs *cs, struct lc *a, struct lc *b, struct lc *c);
    bool (*template_begin)(struct cs *cs, const struct cs_template *use, struct var *outs,
                           size_t n_outs);
    void (*template_end)(struct cs *cs, const struct var *outs, size_t n_outs);
    /* NULL: the parts run one after the other. */
    void (*parts)(struct cs *cs, size_t count, cs_part_fn *part, void *context);
};

struct cs {
    const struct cs_driver *driver;
    struct witness *witness; /* non-NULL in the witness driver: fast paths write to it directly */
    enum cuzk_status status; /* sticky first failure */
    uint32_t n_inputs; /* including the constant 1, which the driver's constructor allocates */
    uint32_t n_aux;    /* in the witness driver, witness->n_aux is the count */
    uint64_t n_rows;
    const char **scopes; /* gadget path for messages */
    size_t n_scopes;
    size_t scopes_capacity;
    size_t n_unnamed; /* scopes above them for which there was no memory */
    unsigned template_depth;
};

/* Allocates the next input / aux variable. value is canonical; bits take a bool. */
struct var cs_input(struct cs *cs, const struct fr *value);
struct var cs_num(struct cs *cs, const struct fr *value);
struct var cs_bit(struct cs *cs, bool value);

/* Appends the row a · b = c. The combinations may be normalised in place; NULL stands for the empty
   one. They remain the caller's: lc_clear them for the next row. */
void cs_enforce(struct cs *cs, struct lc *a, struct lc *b, struct lc *c);

/* True: run the gadget and finish with cs_template_end, naming the variables that later gadgets
   use (outs). False: the driver has the rows already, outs are filled in, nothing more is to be
   done. Values of outs are then of no interest to the driver either. */
bool cs_template_begin(struct cs *cs, const struct cs_template *use, struct var *outs,
                       size_t n_outs);
void cs_template_end(struct cs *cs, const struct var *outs, size_t n_outs);

/* The rest of a circuit, nothing comes after it: part(cs, context, i) for each i < count in order.
   All parts allocate the same numbers of variables, and none uses variables of another. So the
   witness driver can run them at the same time, each on a system of its own. */
void cs_parts(struct cs *cs, size_t count, cs_part_fn *part, void *context);

/* Names a part of the circuit for messages ("challenge 3", "tree_d path"). text must be static. */
void cs_push(struct cs *cs, const char *text);
void cs_pop(struct cs *cs);

/* Marks the system as failed, if it is not already. */
void cs_fail(struct cs *cs, enum cuzk_status status);

/* A circuit: allocates and enforces everything, from an input that the function knows. */
struct circuit_program {
    void (*synthesize)(struct cs *cs, const void *input);
    const void *input;
};

/* --- The check driver: keeps all values and tests every row as it comes. ---------------------- */

struct check_result {
    uint32_t n_inputs;
    uint32_t n_aux;
    uint64_t n_rows;            /* circuit rows */
    uint64_t unsatisfied;       /* rows with a·b ≠ c */
    uint64_t first_unsatisfied; /* row number from 0, valid if unsatisfied > 0 */
    char first_path[256];       /* gadget path of that row, " / " between scopes */
};

/* Receives each row as it is evaluated; may be NULL. For digests of row values in tests. */
typedef void row_value_fn(void *context, const struct fr *a, const struct fr *b,
                          const struct fr *c);

/* Runs the program. inputs/aux: if non-NULL they receive all values (mem_alloc'ed). */
enum cuzk_status cs_check(const struct circuit_program *program, struct check_result *result,
                          row_value_fn *on_row, void *row_context, struct fr **inputs,
                          struct fr **aux, struct cuzk_error *err);

/* --- The digest driver: R1CS digest (part I.1) straight from the gadgets, without templates --- */

struct cs_digest {
    uint8_t sha256[32];
    uint32_t n_inputs;
    uint32_t n_aux;
    uint64_t n_rows;
    uint32_t a_dense_aux; /* aux with a nonzero A coefficient in some row */
    uint32_t b_dense_aux;
    uint32_t b_dense_inputs;
};

/* on_row, if non-NULL, sees each row with its combinations normalised (for the row texts). */
typedef void row_fn(void *context, uint64_t row, const struct lc *a, const struct lc *b,
                    const struct lc *c);
enum cuzk_status cs_digest(const struct circuit_program *program, struct cs_digest *digest,
                           row_fn *on_row, void *row_context, struct cuzk_error *err);

#endif
