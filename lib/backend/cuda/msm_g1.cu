#include "msm_impl.cuh"

template size_t msm_bytes<Fp>(uint32_t);
template int msm_run<Fp>(const msm_job &, cudaStream_t);
