#include "backend/cuda/msm_finish.h"

/* The highest bit at which a sum enters Horner's rule; windows go from the lowest position up. */
static unsigned top_bit(const struct msm_window *windows, unsigned count)
{
    return windows[count - 1].position + windows[count - 1].row_bits;
}

/* result = Σ 2^position·(2^row_bits·P + Q) by Horner's rule over the bits: P enters row_bits above
   its window's position, Q at it. */
void msm_finish_g1(struct g1 *out, const struct msm_size *size, const struct g1_affine *sums)
{
    struct msm_window windows[MSM_WINDOWS_MAX];
    const unsigned count = msm_windows(size, windows);
    g1_set_infinity(out);
    for (unsigned bit = top_bit(windows, count) + 1; bit-- > 0;) {
        g1_add(out, out, out);
        for (unsigned w = 0; w < count; w++) {
            if (windows[w].position + windows[w].row_bits == bit)
                g1_add_affine(out, out, &sums[2 * w]);
            if (windows[w].position == bit)
                g1_add_affine(out, out, &sums[2 * w + 1]);
        }
    }
}

void msm_finish_g2(struct g2 *out, const struct msm_size *size, const struct g2_affine *sums)
{
    struct msm_window windows[MSM_WINDOWS_MAX];
    const unsigned count = msm_windows(size, windows);
    g2_set_infinity(out);
    for (unsigned bit = top_bit(windows, count) + 1; bit-- > 0;) {
        g2_add(out, out, out);
        for (unsigned w = 0; w < count; w++) {
            if (windows[w].position + windows[w].row_bits == bit)
                g2_add_affine(out, out, &sums[2 * w]);
            if (windows[w].position == bit)
                g2_add_affine(out, out, &sums[2 * w + 1]);
        }
    }
}
