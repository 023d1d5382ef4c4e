/* How a circuit uses a device's memory: what of the proving key stays there, what is brought there
   again for every batch of partitions, and where in the one block everything lies. No device is
   touched here.

   Partitions are proven in batches: each its rows, quotient, h and tails, one after the other, then
   for all of them together the sums over bits, which take an addition a point whatever their number
   (msm.h). A key of a 32 GiB PoRep takes 80 GB in the form that sums want. On a card that does not
   hold it all, h is brought for every partition, behind whose additions the transfer hides, and the
   other sections once for a batch (docs/spec/gpu.md, section 4.6). */
#ifndef CUDA_MEMORY_PLAN_H
#define CUDA_MEMORY_PLAN_H

#include "backend/cuda/msm/msm.h"
#include "key/key_vectors.h"

#include <cuzk/status.h>
#include <stdbool.h>

/* The sums over full-size variables (tails), in pairs of the same scalars: l with a, and b in its
   two groups. */
enum cuda_tail { TAIL_LA, TAIL_B, TAIL_COUNT };

/* A batch has room for the ten partitions of a 32 GiB PoRep and two of a job that came before;
   there are slots for two more witnesses, which are uploaded meanwhile. A batch of BATCH_ENOUGH
   partitions takes in no further jobs, whose other partitions would have to wait for the next
   batch. */
enum { BATCH_ENOUGH = 8, BATCH_MAX = 12, SLOTS_MAX = BATCH_MAX + 2 };

/* Multiplications of h, at most. */
enum { H_PIECES_MAX = 16 };

/* What a plan follows from. */
struct circuit_counts {
    unsigned log2_domain;
    uint32_t n_aux;
    uint32_t n_values; /* inputs and full-size variables */
    uint32_t n_points[KEY_VECTORS];
    uint32_t n_scalars[TAIL_COUNT];
    size_t rows_bytes; /* of the image, rows.h */
    bool a_is_dense, b_is_dense;
};

struct memory_plan {
    bool resident[KEY_VECTORS]; /* on the device while the circuit is loaded */
    unsigned n_batch;           /* partitions of a batch, at most */
    unsigned n_slots;           /* witnesses that the device holds */
    uint32_t h_piece;           /* points of h that are multiplied at once */
    uint32_t chunk_points;      /* of a section, while it is loaded or streamed */
    uint32_t sum_points;        /* of a resident section, whose bits are summed up at once */
    struct msm_size tail_size[TAIL_COUNT];

    /* Bytes of the block's parts. */
    size_t rows_bytes, tables_bytes, points_bytes, tails_bytes, witness_bytes, work_bytes,
        total_bytes;
};

/* Device memory of one witness. */
struct witness_slot {
    void *memory; /* of all of it: the bits, … */
    size_t bytes;
    uint64_t *bits;       /* with 64 more bytes */
    void *values;         /* inputs, then full-size variables */
    uint64_t *selected_a; /* the bits in the order of section a's points, and of b's */
    uint64_t *selected_b;
    bool taken;
};

struct cuda_density {
    uint64_t *bits; /* NULL: all variables have a point */
    uint32_t *ranks;
};

/* Where the parts of the block are. */
struct circuit_block {
    void *image;  /* rows */
    void *tables; /* transforms */
    struct cuda_density a_dense, b_dense;
    void *points[KEY_VECTORS];     /* slots; NULL: not resident */
    void *tails[TAIL_COUNT][2];    /* points of full-size variables */
    uint32_t *sources[TAIL_COUNT]; /* where their values are among a slot's */
    struct witness_slot slots[SLOTS_MAX];
    void *a_rows, *b_rows, *c_rows; /* h's scalars end up in a_rows */
    void *h_work;                   /* scratch of h, over b_rows and c_rows */
    void *h_staging;                /* behind it, if h is streamed */
    void *work;                     /* over these: scratch of one of the other sums, or staging */
    void *scalars[TAIL_COUNT];      /* of the partition at work */
    void *own_sums;                 /* likewise, own_bytes of struct sums_map */
    void *sums;                     /* see struct sums_map */
};

/* Byte offsets of results among a batch's sums, which come back to the host in one piece: for each
   witness own_bytes with the sums of its multiplications, and what the batch shares. */
struct sums_map {
    size_t own_bytes;
    size_t h;                    /* among a witness's own: for each piece h_stride bytes */
    size_t tails[TAIL_COUNT][2]; /* likewise: the sums of a multiplication */
    size_t bits[KEY_VECTORS];    /* for each part of a section the sums of plan_bits_size */
    size_t faults;               /* struct points_faults of what was streamed */
    size_t h_stride;
    size_t bytes;
};

static inline enum msm_group section_group(enum key_vector section)
{
    return section == KEY_B_G2 ? MSM_G2 : MSM_G1;
}

/* The section behind one of a tail's two sets. */
static inline enum key_vector tail_section(enum cuda_tail tail, unsigned set)
{
    return tail == TAIL_LA ? (set ? KEY_A : KEY_L) : (set ? KEY_B_G2 : KEY_B_G1);
}

/* The fastest plan that takes at most `limit` bytes. If there is none, CUZK_RESOURCE_EXHAUSTED with
   the numbers of the smallest. */
enum cuzk_status plan_circuit(const struct circuit_counts *counts, uint64_t limit,
                              struct memory_plan *out, struct cuzk_error *err);

/* Divides a block of plan->total_bytes. */
void plan_lay_out(const struct circuit_counts *counts, const struct memory_plan *plan, void *block,
                  struct circuit_block *out);
void plan_sums(const struct circuit_counts *counts, const struct memory_plan *plan,
               struct sums_map *out);

/* Whether nothing is streamed. */
bool plan_is_resident(const struct memory_plan *plan);

/* Multiplications of h, and their size: all but the last one have plan->h_piece points. */
uint32_t plan_h_pieces(const struct circuit_counts *counts, const struct memory_plan *plan);
struct msm_size plan_h_size(const struct circuit_counts *counts, const struct memory_plan *plan,
                            uint32_t piece);

/* Room for a chunk of a section on its way. */
size_t plan_staging_bytes(const struct memory_plan *plan, enum key_vector section);

/* A section's bits are summed up in parts: the points of a part (of all but the last one), the
   number of parts, and the size of a subset sum over n points for n_witnesses. */
uint32_t plan_part_points(const struct memory_plan *plan, enum key_vector section);
uint32_t plan_parts(const struct circuit_counts *counts, const struct memory_plan *plan,
                    enum key_vector section);
struct msm_size plan_bits_size(enum key_vector section, uint32_t n, unsigned n_witnesses);

/* "h, b_g2 on the card; l, a, b_g1 streamed" */
void plan_describe(const struct memory_plan *plan, char *text, size_t bytes);

#endif
