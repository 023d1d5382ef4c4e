#include "backend/cuda/ntt/ntt_pass_impl.cuh"

void ntt_pass_256(const Pass &pass, After after, cudaStream_t stream)
{
    launch<2>(pass, after, stream);
}
