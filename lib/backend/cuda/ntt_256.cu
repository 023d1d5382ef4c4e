#include "ntt_pass_impl.cuh"

void ntt_pass_256(const Pass &pass, bool contiguous, After after, cudaStream_t stream)
{
    if (contiguous)
        launch<2, true>(pass, after, stream);
    else
        launch<2, false>(pass, after, stream);
}
