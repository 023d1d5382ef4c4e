/* Roots of unity in Fr on the device, and the generator 7 that shifts the domain to its coset. */
#ifndef CUDA_ROOTS_CUH
#define CUDA_ROOTS_CUH

#include "backend/cuda/field/field.cuh"

__device__ inline Fr small_power(const Fr &base, uint32_t exponent)
{
    return base.power(&exponent, 1);
}

/* Of order 2^log2_n: 7^((r-1)/2^log2_n), Montgomery form. */
__device__ inline Fr root_of_unity(unsigned log2_n)
{
    Fr root = {0x5f0e466au, 0xb9b58d8cu, 0x1819d7ecu, 0x5b1b4c80u,
               0x52a31e64u, 0x0af53ae3u, 0x19e9b27bu, 0x5bf3addau};
    for (unsigned i = log2_n; i < 32; i++)
        root = root.squared();
    return root;
}

/* 7, likewise. */
__device__ inline Fr generator()
{
    return {0xfffffff1u, 0x0000000eu, 0x00189c0fu, 0x17e363d3u,
            0x6f8457b0u, 0xff9c5787u, 0x8fc5a8c4u, 0x35133220u};
}

#endif
