/* Which instructions this processor and operating system run. */
#ifndef MATH_CPU_H
#define MATH_CPU_H

#include <stdbool.h>

static inline bool cpu_has_avx2(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/* AVX-512 with products of 52-bit integers. */
static inline bool cpu_has_ifma(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512ifma");
#else
    return false;
#endif
}

#endif
