/* Functions that the drivers of struct cs share. Private to lib/r1cs. */
#ifndef R1CS_DRIVER_H
#define R1CS_DRIVER_H

#include "r1cs/cs.h"

/* Prepares the system and allocates input 0 = 1 through the driver. The driver's own struct, which
   contains struct cs, must be initialised before. */
void cs_start(struct cs *cs, const struct cs_driver *driver);

/* Frees what cs_start and the scopes hold. */
void cs_free(struct cs *cs);

/* Runs the program on a started system and turns a failed system into an error. */
enum cuzk_status cs_run(struct cs *cs, const struct circuit_program *program,
                        struct cuzk_error *err);

/* Counts the next variable of the kind; fails the system when there are 2^31 of them. */
struct var cs_next_var(struct cs *cs, enum var_kind kind);

/* The current scopes as "scope / scope / scope", cut to size bytes with the terminator. */
void cs_path(const struct cs *cs, char *path, size_t size);

/* For drivers that take every row as it comes: templates have no effect. */
bool cs_template_begin_rows(struct cs *cs, const struct cs_template *use, struct var *outs,
                            size_t n_outs);
void cs_template_end_rows(struct cs *cs, const struct var *outs, size_t n_outs);

#endif
