#include "ntt_pass_impl.cuh"

void ntt_pass_512(const Pass &pass, bool contiguous, After after, cudaStream_t stream)
{
    if (contiguous)
        launch<3, true>(pass, after, stream);
    else
        launch<3, false>(pass, after, stream);
}
