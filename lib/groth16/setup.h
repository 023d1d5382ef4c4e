/* Development parameters from known trapdoors: insecure by construction, since everyone knows the
   trapdoors and can prove anything with them. ARCHITECTURE.md, "Development parameters". */
#ifndef GROTH16_SETUP_H
#define GROTH16_SETUP_H

#include "r1cs/shape.h"

struct pool;

/* Trapdoors of part A.8. */
struct setup_trapdoor {
    struct fr alpha, beta, gamma, delta, tau;
};

/* The development trapdoors: FrSafe(SHA-256("cuzk-dev-params-v1/" ‖ name)). */
void setup_dev_trapdoor(struct setup_trapdoor *out);
/* FrSafe(SHA-256("cuzk-dev-params-v1/" ‖ name)) for any name ("test-r"). */
void setup_dev_scalar(struct fr *out, const char *name);

/* Called now and then with the share done (0 … 1) and what is being made ("columns", "h", …); from
   any of the pool's threads, one call at a time. */
typedef void setup_progress_fn(void *context, double done, const char *what);

/* Writes path (a .params file) and the .vk file beside it (its ending replaced), each by way of
   path.part, fsync and rename. The bytes depend on shape and trapdoors only. pool and progress may
   be NULL. CUZK_INVALID_ARGUMENT: a trapdoor is zero, τ is in the domain, or some variable gets the
   point at infinity where none may be (part A.8). CUZK_IO names the file. CUZK_FAILED_PRECONDITION:
   another process writes it now. Memory: 96 bytes a variable, 190 MiB of tables and 8 MiB a thread;
   for a 2 KiB PoRep about 460 MiB. The Lagrange form of what it writes: setup_lagrange.h. */
enum cuzk_status setup_write(const struct shape *shape, const struct setup_trapdoor *trapdoor,
                             const char *path, struct pool *pool, setup_progress_fn *progress,
                             void *progress_context, struct cuzk_error *err);

/* (τ^m - 1) / δ, m the size of the circuit's domain: the common factor of the vector h. */
void setup_quotient(struct fr *out, const struct shape *shape,
                    const struct setup_trapdoor *trapdoor);

#endif
