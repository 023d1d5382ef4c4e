#include "groth16/multiples.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"

#include <pthread.h>

/* The weight of a G2 point in G1 points: measured, for progress only. */
static const double g2_weight = 2.7;

struct writing {
    const struct multiples_writer *writer;
    const struct multiples *vectors; /* their tasks are numbered through */
    double work_total;
    pthread_mutex_t lock; /* of what follows, and of calls to progress */
    double work_done;
    enum cuzk_status status; /* first failure of a task, as err */
    struct cuzk_error err;
};

/* What one task works with. */
struct task_memory {
    struct fr scalars[MULTIPLES_AT_ONCE];
    union {
        struct g1_affine g1[MULTIPLES_AT_ONCE];
        struct g2_affine g2[MULTIPLES_AT_ONCE];
    } points;
    uint8_t bytes[MULTIPLES_AT_ONCE * G2_BYTES];
};

static size_t task_count(const struct multiples *vector)
{
    return (vector->count + MULTIPLES_AT_ONCE - 1) / MULTIPLES_AT_ONCE;
}

static double points_weight(const struct multiples *vector, size_t n)
{
    return (double)n * (vector->in_g2 ? g2_weight : 1);
}

static enum cuzk_status make_points(const struct multiples_writer *writer,
                                    const struct multiples *vector, size_t first, size_t n,
                                    struct task_memory *memory, struct cuzk_error *err)
{
    const struct fr *scalars = memory->scalars;
    if (vector->scalars)
        scalars = vector->scalars + first;
    else
        TRY(vector->make(vector->context, first, memory->scalars, n, err));
    const size_t size = vector->in_g2 ? G2_BYTES : G1_BYTES;
    if (vector->in_g2) {
        TRY(fixed_base_g2_mul(writer->g2, scalars, n, memory->points.g2, err));
        for (size_t i = 0; i < n; i++)
            g2_encode(memory->bytes + i * size, &memory->points.g2[i]);
    } else {
        TRY(fixed_base_g1_mul(writer->g1, scalars, n, memory->points.g1, err));
        for (size_t i = 0; i < n; i++)
            g1_encode(memory->bytes + i * size, &memory->points.g1[i]);
    }
    return file_part_write(writer->file, vector->offset + first * size, memory->bytes, n * size,
                           err);
}

static bool has_failed(struct writing *writing)
{
    pthread_mutex_lock(&writing->lock);
    bool failed = writing->status != CUZK_OK;
    pthread_mutex_unlock(&writing->lock);
    return failed;
}

static void points_task(void *context, size_t task)
{
    struct writing *writing = context;
    if (has_failed(writing))
        return;
    const struct multiples_writer *writer = writing->writer;
    const struct multiples *vector = writing->vectors;
    for (; task >= task_count(vector); vector++)
        task -= task_count(vector);
    size_t first = task * MULTIPLES_AT_ONCE;
    size_t n =
        vector->count - first < MULTIPLES_AT_ONCE ? vector->count - first : MULTIPLES_AT_ONCE;
    struct cuzk_error err;
    struct task_memory *memory = mem_alloc(1, sizeof *memory);
    enum cuzk_status status = memory ? make_points(writer, vector, first, n, memory, &err)
                                     : error_set(&err, CUZK_NO_MEMORY, "no memory to make points");
    mem_free(memory);
    pthread_mutex_lock(&writing->lock);
    if (status != CUZK_OK && writing->status == CUZK_OK) {
        writing->status = status;
        writing->err = err;
    }
    writing->work_done += points_weight(vector, n);
    if (writer->progress)
        writer->progress(writer->progress_context,
                         writer->progress_from +
                             (1 - writer->progress_from) * writing->work_done / writing->work_total,
                         vector->name);
    pthread_mutex_unlock(&writing->lock);
}

enum cuzk_status multiples_write(const struct multiples_writer *writer,
                                 const struct multiples *vectors, size_t n_vectors,
                                 struct cuzk_error *err)
{
    struct writing writing = {
        .writer = writer, .vectors = vectors, .lock = PTHREAD_MUTEX_INITIALIZER};
    size_t n_tasks = 0;
    for (size_t i = 0; i < n_vectors; i++) {
        n_tasks += task_count(&vectors[i]);
        writing.work_total += points_weight(&vectors[i], vectors[i].count);
    }
    pool_run(writer->pool, n_tasks, points_task, &writing);
    if (writing.status != CUZK_OK && err)
        *err = writing.err;
    return writing.status;
}
