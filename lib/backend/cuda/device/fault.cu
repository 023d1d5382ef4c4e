/* A kernel that fails, for tests of what happens then. */
#ifdef CUZK_CUDA_FAULTS
#include <cuda_runtime_api.h>

__global__ void fail_now()
{
    asm volatile("trap;");
}

extern "C" int device_fail_kernel(struct CUstream_st *stream)
{
    fail_now<<<1, 1, 0, stream>>>();
    return cudaGetLastError();
}
#endif
