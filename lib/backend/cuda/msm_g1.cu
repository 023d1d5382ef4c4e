#include "msm_impl.cuh"

template struct Adder<Fp>;
