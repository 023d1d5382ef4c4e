#include "backend/cuda/msm_finish.h"

/* Horner's rule from the topmost window down: result = Σ 2^position·(2^row_bits·P + Q). Bits are
   gone through once; P enters row_bits above its window's position, Q at it. */
void msm_finish_g1(struct g1 *out, uint32_t n, const struct g1_affine *sums)
{
    struct msm_window windows[32];
    unsigned count = msm_windows(n, windows);
    g1_set_infinity(out);
    for (unsigned w = count; w-- > 0;) {
        unsigned above = w + 1 < count ? windows[w + 1].position : windows[w].position;
        unsigned middle = windows[w].position + windows[w].row_bits;
        for (unsigned bit = above; bit > middle; bit--)
            g1_add(out, out, out);
        g1_add_affine(out, out, &sums[2 * w]);
        for (unsigned bit = 0; bit < windows[w].row_bits; bit++)
            g1_add(out, out, out);
        g1_add_affine(out, out, &sums[2 * w + 1]);
    }
}

void msm_finish_g2(struct g2 *out, uint32_t n, const struct g2_affine *sums)
{
    struct msm_window windows[32];
    unsigned count = msm_windows(n, windows);
    g2_set_infinity(out);
    for (unsigned w = count; w-- > 0;) {
        unsigned above = w + 1 < count ? windows[w + 1].position : windows[w].position;
        unsigned middle = windows[w].position + windows[w].row_bits;
        for (unsigned bit = above; bit > middle; bit--)
            g2_add(out, out, out);
        g2_add_affine(out, out, &sums[2 * w]);
        for (unsigned bit = 0; bit < windows[w].row_bits; bit++)
            g2_add(out, out, out);
        g2_add_affine(out, out, &sums[2 * w + 1]);
    }
}
