#include "ntt_pass_impl.cuh"

void ntt_pass_128(const Pass &pass, bool contiguous, After after, cudaStream_t stream)
{
    if (contiguous)
        launch<1, true>(pass, after, stream);
    else
        launch<1, false>(pass, after, stream);
}
