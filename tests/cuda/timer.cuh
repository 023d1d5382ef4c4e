/* Times on the device, for benchmarks. */
#ifndef TESTS_CUDA_TIMER_CUH
#define TESTS_CUDA_TIMER_CUH

#include "known_logs.cuh"

#include <algorithm>

class Timer
{
  public:
    Timer()
    {
        CUDA_OK(cudaEventCreate(&begin_));
        CUDA_OK(cudaEventCreate(&end_));
    }
    void start() { CUDA_OK(cudaEventRecord(begin_)); }
    float stop_ms()
    {
        float ms;
        CUDA_OK(cudaEventRecord(end_));
        CUDA_OK(cudaEventSynchronize(end_));
        CUDA_OK(cudaEventElapsedTime(&ms, begin_, end_));
        return ms;
    }

  private:
    cudaEvent_t begin_, end_;
};

static inline double median(std::vector<float> times)
{
    std::sort(times.begin(), times.end());
    return double(times[times.size() / 2]);
}

#endif
