#include "backend/cuda/ntt/ntt_pass_impl.cuh"

void ntt_pass_128(const Pass &pass, After after, cudaStream_t stream)
{
    launch<1>(pass, after, stream);
}
