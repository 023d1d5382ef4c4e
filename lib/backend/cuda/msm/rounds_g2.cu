#include "backend/cuda/msm/rounds_impl.cuh"

template void run_round<Fp2>(cudaStream_t, const RoundMemory<Fp2> &, const uint2 *,
                             const RoundRange *, size_t, Operands);
template cudaError_t prepare_rounds<Fp2>();
