/* Checks of a test program: one line a failure, counted. */
#ifndef TESTS_CUDA_EXPECT_CUH
#define TESTS_CUDA_EXPECT_CUH

#include "known_logs.cuh"

static int failures, checks;

#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        checks++;                                                                                  \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            printf("FAILED %s:%d: ", __FILE__, __LINE__);                                          \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

/* Whether a point from the device is the expected one. */
template <class F> bool matches(const Affine<F> &point, const typename Group<F>::Point &expected)
{
    typename Group<F>::Coordinates coordinates;
    typename Group<F>::Point got;
    memcpy(&coordinates, &point, sizeof coordinates);
    Group<F>::from_affine(&got, &coordinates);
    return Group<F>::equal(&got, &expected);
}

#endif
