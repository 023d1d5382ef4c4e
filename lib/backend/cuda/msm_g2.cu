#include "msm_impl.cuh"

template size_t msm_bytes<Fp2>(uint32_t);
template int msm_run<Fp2>(const msm_job &, cudaStream_t);
