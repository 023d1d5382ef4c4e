#include "backend/cuda/ntt/ntt_pass_impl.cuh"

void ntt_pass_512(const Pass &pass, After after, cudaStream_t stream)
{
    launch<3>(pass, after, stream);
}
