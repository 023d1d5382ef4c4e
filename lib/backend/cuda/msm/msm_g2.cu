#include "backend/cuda/msm/msm_impl.cuh"

template struct Adder<Fp2>;
