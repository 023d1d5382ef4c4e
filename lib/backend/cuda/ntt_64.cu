#include "ntt_pass_impl.cuh"

void ntt_pass_64(const Pass &pass, bool contiguous, After after, cudaStream_t stream)
{
    if (contiguous)
        launch<0, true>(pass, after, stream);
    else
        launch<0, false>(pass, after, stream);
}
