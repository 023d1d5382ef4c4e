#include "backend/cuda/ntt/ntt_pass_impl.cuh"

void ntt_pass_64(const Pass &pass, After after, cudaStream_t stream)
{
    launch<0>(pass, after, stream);
}
