/* A kind of proof that does not exist: "I know two factors of this number." It shows the seam
   prover/kind.h. This file, one row in the table of circuits and one in the table of kinds are all
   that a kind takes; parameters, the pipeline, devices, proofs and their verification come from
   what all kinds share. */
#include "unit/prover/kind_made_up.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "gadgets/num.h"

#include <stdio.h>
#include <string.h>

enum { PARTITIONS_MAX = 8 };

/* A partition's input, as it comes: two factors, and the product that they are said to have. */
struct factors {
    uint8_t a, b;
    uint16_t product;
};

struct made_up_work {
    struct kind_work base;
    struct factors factors[PARTITIONS_MAX];
    struct fr products[PARTITIONS_MAX];
};

/* --- The circuit ------------------------------------------------------------------------------ */

static void synthesize(struct cs *cs, const void *input)
{
    const struct factors *factors = input;
    struct fr a, b;
    fr_from_u64(&a, factors->a);
    fr_from_u64(&b, factors->b);
    struct num x = num_alloc(cs, &a);
    struct num y = num_alloc(cs, &b);
    num_inputize(cs, num_mul(cs, x, y));
}

static const struct factors no_factors;
const struct circuit_program made_up_blank = {synthesize, &no_factors};

const struct circuit_info made_up_circuit = {
    .id = "made-up",
    .kind = CUZK_SNAP,
    .size_text = "4B",
    .partitions = 1,
    .n_inputs = 2,
    .params_bytes = 2520,
    .params_name = "v28-made-up",
    .params_digest = "",
    .vk_digest = "",
};

/* --- The kind --------------------------------------------------------------------------------- */

static const struct made_up_work *made_up_of(const struct kind_work *work)
{
    return CONTAINER_OF(unconst(work), struct made_up_work, base);
}

static enum cuzk_status admit(const struct request *request, const struct circuit_info **circuit,
                              struct cuzk_error *err)
{
    *circuit = &made_up_circuit;
    if (request->n_payloads <= PARTITIONS_MAX)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT, "made up: %zu partitions", request->n_payloads);
}

static void free_work(struct kind_work *work)
{
    mem_free(CONTAINER_OF(work, struct made_up_work, base));
}

static enum cuzk_status parse(const struct request *request, struct pool *pool,
                              struct kind_work **out, struct cuzk_error *err)
{
    (void)pool;
    struct made_up_work *work = mem_zalloc(1, sizeof *work);
    if (!work)
        return error_set(err, CUZK_NO_MEMORY, "made up: no memory");
    snprintf(work->base.base.circuit_id, WORK_CIRCUIT_ID_BYTES, "%s", made_up_circuit.id);
    work->base.base.n_partitions = (unsigned)request->n_payloads;
    for (size_t p = 0; p < request->n_payloads; p++) {
        if (request->payloads[p].len != sizeof work->factors[p]) {
            free_work(&work->base);
            return error_set(err, CUZK_INVALID_ARGUMENT, "made up: payload %zu: length", p);
        }
        memcpy(&work->factors[p], request->payloads[p].bytes, sizeof work->factors[p]);
        fr_from_u64(&work->products[p], work->factors[p].product);
    }
    *out = &work->base;
    return CUZK_OK;
}

static enum cuzk_status check(struct kind_work *work, unsigned partition, struct pool *pool,
                              struct cuzk_error *err)
{
    (void)pool;
    const struct factors *factors = &made_up_of(work)->factors[partition];
    if (factors->a * factors->b == factors->product)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT, "made up: partition %u: %u is not %u times %u",
                     partition, factors->product, factors->a, factors->b);
}

static struct circuit_program program(const struct kind_work *work, unsigned partition)
{
    return (struct circuit_program){synthesize, &made_up_of(work)->factors[partition]};
}

static const struct fr *public_inputs(const struct kind_work *work, unsigned partition, size_t *n)
{
    *n = 1;
    return &made_up_of(work)->products[partition];
}

const struct proof_kind kind_made_up = {
    .admit = admit,
    .parse = parse,
    .check = check,
    .program = program,
    .public_inputs = public_inputs,
    .free = free_work,
};
