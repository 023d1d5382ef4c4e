/* The C interface of multi-scalar multiplication; the work is in msm_impl.cuh. */
#include "digits.h"
#include "msm.h"

template <class F> size_t msm_bytes(uint32_t n);
template <class F> int msm_run(const msm_job &job, cudaStream_t stream);

extern "C" int msm_prepare(void)
{
    cudaError_t result = prepare_rounds<Fp>();
    return result == cudaSuccess ? prepare_rounds<Fp2>() : result;
}

extern "C" size_t msm_slot_bytes(enum msm_group group)
{
    return group == MSM_G1 ? Slot<Fp>::BYTES : Slot<Fp2>::BYTES;
}

extern "C" size_t msm_point_bytes(enum msm_group group)
{
    return group == MSM_G1 ? sizeof(Affine<Fp>) : sizeof(Affine<Fp2>);
}

extern "C" size_t msm_scratch_bytes(enum msm_group group, uint32_t n)
{
    return group == MSM_G1 ? msm_bytes<Fp>(n) : msm_bytes<Fp2>(n);
}

extern "C" uint32_t msm_sum_count(uint32_t n)
{
    return 2 * uint32_t(make_windows(n).count);
}

extern "C" unsigned msm_windows(uint32_t n, struct msm_window out[32])
{
    Windows windows = make_windows(n);
    for (int w = 0; w < windows.count; w++)
        out[w] = {unsigned(windows.position[w]), unsigned(row_bits_of(windows.width[w]))};
    return unsigned(windows.count);
}

extern "C" int msm_enqueue(const struct msm_job *job, struct CUstream_st *stream)
{
    return job->group == MSM_G1 ? msm_run<Fp>(*job, stream) : msm_run<Fp2>(*job, stream);
}
