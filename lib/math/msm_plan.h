/* How scalars are cut into windows, the same for both groups. Private to lib/math.

   256 bits are cut into windows whose widths differ by at most one: an uneven cut would leave a
   narrow top window with few, overfull buckets. Digits are signed: half of a window's range is
   added to the scalar in every window but the top one, which turns a window's bits v into the digit
   v - half. The top window needs no sign, because a scalar is below 2^255. Digits are in
   -2^(width-1) … 2^(width-1), so a window has 2^(width-1) buckets, bucket b for the digits ±(b +
   1). */
#ifndef MATH_MSM_PLAN_H
#define MATH_MSM_PLAN_H

#include "math/fr.h"

enum { MSM_WINDOWS_MAX = 64 };

struct msm_plan {
    unsigned n_windows;
    unsigned position[MSM_WINDOWS_MAX + 1]; /* first bit of each window; then 256 */
    size_t first_bucket[MSM_WINDOWS_MAX + 1];
    uint64_t offset[4]; /* added to every scalar */
};

/* A scalar plus the plan's offset. */
struct msm_digits {
    uint64_t words[4];
};

/* The cheapest cut for n scalars whose buckets are at most buckets_max, a limit of memory. */
void msm_plan_make(struct msm_plan *plan, size_t n, size_t buckets_max);

void msm_digits_make(struct msm_digits *out, const struct msm_plan *plan, const struct fr *scalar);

static inline unsigned msm_width(const struct msm_plan *plan, unsigned window)
{
    return plan->position[window + 1] - plan->position[window];
}

static inline size_t msm_buckets(const struct msm_plan *plan, unsigned window)
{
    return plan->first_bucket[window + 1] - plan->first_bucket[window];
}

/* How to cut one window out of digits. */
struct msm_window {
    unsigned word, shift;
    uint64_t mask;
    int64_t half; /* 0 in the top window */
};

static inline struct msm_window msm_window(const struct msm_plan *plan, unsigned window)
{
    const unsigned position = plan->position[window];
    const unsigned width = msm_width(plan, window);
    return (struct msm_window){
        .word = position / 64,
        .shift = position % 64,
        .mask = (UINT64_C(1) << width) - 1,
        .half = window + 1 == plan->n_windows ? 0 : INT64_C(1) << (width - 1),
    };
}

static inline int64_t msm_digit(const struct msm_digits *digits, const struct msm_window *window)
{
    const uint64_t low = digits->words[window->word];
    const uint64_t high = window->word < 3 ? digits->words[window->word + 1] : 0;
    const uint64_t bits = low >> window->shift | high << 1 << (63 - window->shift);
    return (int64_t)(bits & window->mask) - window->half;
}

#endif
