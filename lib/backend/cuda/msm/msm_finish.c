#include "backend/cuda/msm/msm_finish.h"

static unsigned highest(const unsigned *positions, unsigned count)
{
    unsigned most = 0;
    for (unsigned i = 0; i < count; i++)
        most = positions[i] > most ? positions[i] : most;
    return most;
}

/* Horner's rule over the bits. */
void msm_finish_g1(struct g1 *out, const struct msm_size *size, const struct g1_affine *sums)
{
    unsigned positions[MSM_SUMS_MAX];
    msm_positions(size, positions);
    const unsigned count = msm_sum_count(size);
    g1_set_infinity(out);
    for (unsigned bit = highest(positions, count) + 1; bit-- > 0;) {
        g1_add(out, out, out);
        for (unsigned i = 0; i < count; i++) {
            if (positions[i] == bit)
                g1_add_affine(out, out, &sums[i]);
        }
    }
}

void msm_finish_g2(struct g2 *out, const struct msm_size *size, const struct g2_affine *sums)
{
    unsigned positions[MSM_SUMS_MAX];
    msm_positions(size, positions);
    const unsigned count = msm_sum_count(size);
    g2_set_infinity(out);
    for (unsigned bit = highest(positions, count) + 1; bit-- > 0;) {
        g2_add(out, out, out);
        for (unsigned i = 0; i < count; i++) {
            if (positions[i] == bit)
                g2_add_affine(out, out, &sums[i]);
        }
    }
}
