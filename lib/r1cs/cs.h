/* The constraint-system interface that all gadgets are written against.

   A gadget allocates variables with their values and enforces rows ⟨A,z⟩·⟨B,z⟩ = ⟨C,z⟩. The driver
   decides what happens: the recorder compiles a shape (r1cs/shape.h), the witness driver keeps
   values only (r1cs/witness.h). Tests have drivers of their own (tests/oracle). The order of
   allocations and the order of rows are part of the circuit (docs/spec/groth16.md, part A).

   The generic code of a gadget serves all drivers: it always passes values, which the recorder
   ignores. A gadget may have a fast path beside it. When the system has a witness (row_wanted in
   gadgets/row.h is false), the rows are not built, and gadgets such as SHA-256 append the values of
   all their variables at once. A fast path makes the same values in the same order as the generic
   code; tests compare the two.

   A gadget that runs out of memory, or whose driver does, marks the system as failed (cs_fail) and
   goes on. Variables allocated after that are the constant 1. The function that runs the program
   reports the failure. */
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

/* A linear combination. Terms may repeat a variable and may have zero coefficients. Drivers get
   terms summed by variable, without zeros, inputs before aux, by index. Zero-initialise; lc_free
   when done; reusable after lc_clear. When memory is lacking, adding sets `failed`, and cs_enforce
   then fails the system. */
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
   variables. Rows with the same name are recorded once; later uses are recorded as placements. A
   use allocates aux variables only, refers otherwise only to its externals and the constant 1, and
   its variables and rows are contiguous. Uses do not nest: a template that begins inside another
   one is part of the outer one. */
struct cs_template {
    const char *name; /* static; identifies the rows, up to: */
    /* Uses of one name that differ in A-side coefficients of the constant 1 are different variants
       (the layer number in the first block of a label). */
    uint32_t variant;
    /* In an order that the gadget fixes. They are distinct, none is the constant 1, and they form
       at most 256 runs of consecutive variables. A use where this does not hold is recorded as
       ordinary rows. */
    const struct var *externals;
    size_t n_externals;
};

struct cs;
struct pool;
struct witness;

/* One of the equal parts of a circuit, see cs_parts. */
typedef void cs_part_fn(struct cs *cs, void *context, size_t index);

/* The functions of a driver. For drivers only: gadgets call cs_…. */
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

/* Appends the row a · b = c. The combinations may be normalised in place; NULL is the empty one.
   They remain the caller's, who calls lc_clear before the next row. */
void cs_enforce(struct cs *cs, struct lc *a, struct lc *b, struct lc *c);

/* True: the caller runs the gadget and ends with cs_template_end, passing the variables that later
   gadgets use (outs). False: the driver knows the rows already and has filled in outs, and the
   gadget is done. The driver then does not need the values of outs either. */
bool cs_template_begin(struct cs *cs, const struct cs_template *use, struct var *outs,
                       size_t n_outs);
void cs_template_end(struct cs *cs, const struct var *outs, size_t n_outs);

/* The last section of a circuit: part(cs, context, i) for each i < count, in order. All parts
   allocate the same numbers of variables, and no part uses variables of another. So the witness
   driver may run them at the same time, each on a system of its own. */
void cs_parts(struct cs *cs, size_t count, cs_part_fn *part, void *context);

/* Names a part of the circuit for messages ("challenge 3", "tree_d path"). text must be static. */
void cs_push(struct cs *cs, const char *text);
void cs_pop(struct cs *cs);

/* Marks the system as failed; the first status is kept. */
void cs_fail(struct cs *cs, enum cuzk_status status);

/* A circuit: synthesize allocates all variables and enforces all rows for `input`, the type of
   which it knows. */
struct circuit_program {
    void (*synthesize)(struct cs *cs, const void *input);
    const void *input;
};

#endif
