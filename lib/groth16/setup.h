/* Development parameters from known trapdoors (insecure by construction; ARCHITECTURE.md, "Development parameters"). */
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

/* Called now and then with the share done (0 … 1) and what is being made; may be NULL. */
typedef void setup_progress_fn(void *context, double done, const char *what);

/* Writes path (a .params file) and the .vk file beside it, each by temporary name and rename. The bytes depend on shape
   and trapdoors only. CUZK_INVALID_ARGUMENT if some aux variable gets no l point (part A.8). */
enum cuzk_status setup_write(const struct shape *shape, const struct setup_trapdoor *trapdoor,
                             const char *path, struct pool *pool, setup_progress_fn *progress,
                             void *progress_context, struct cuzk_error *err);

#endif
