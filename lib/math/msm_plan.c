#include "math/msm_plan.h"

static void set_windows(struct msm_plan *plan, unsigned n_windows)
{
    plan->n_windows = n_windows;
    plan->first_bucket[0] = 0;
    for (unsigned w = 0; w <= n_windows; w++)
        plan->position[w] = w * 256 / n_windows;
    for (unsigned w = 0; w < n_windows; w++)
        plan->first_bucket[w + 1] = plan->first_bucket[w] + ((size_t)1 << (msm_width(plan, w) - 1));
}

void msm_plan_make(struct msm_plan *plan, size_t n, size_t buckets_max)
{
    unsigned best = MSM_WINDOWS_MAX;
    size_t best_cost = SIZE_MAX;
    for (unsigned n_windows = 10; n_windows <= MSM_WINDOWS_MAX; n_windows++) {
        set_windows(plan, n_windows);
        const size_t buckets = plan->first_bucket[n_windows];
        /* Additions: one for each digit, two for each bucket (its row's and its column's sum). */
        const size_t cost = n_windows * n + 2 * buckets;
        if (cost < best_cost && buckets <= buckets_max) {
            best_cost = cost;
            best = n_windows;
        }
    }
    set_windows(plan, best);
    memset(plan->offset, 0, sizeof plan->offset);
    for (unsigned w = 0; w + 1 < best; w++) {
        const unsigned bit = plan->position[w + 1] - 1;
        plan->offset[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
}

void msm_digits_make(struct msm_digits *out, const struct msm_plan *plan, const struct fr *scalar)
{
    uint64_t limbs[4];
    fr_to_limbs(limbs, scalar);
    unsigned char carry = 0;
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t sum = limbs[i] + plan->offset[i];
        out->words[i] = sum + carry;
        carry = (unsigned char)((sum < limbs[i]) | (out->words[i] < sum));
    }
}
