#include "backend/cuda/msm/rounds_impl.cuh"

template void run_round<Fp>(cudaStream_t, const RoundMemory<Fp> &, const uint2 *,
                            const RoundRange *, size_t, Operands);
template cudaError_t prepare_rounds<Fp>();
