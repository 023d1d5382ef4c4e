/* Handing out pieces of one block of device memory, in the same order when sizing and when
   using. */
#ifndef CUDA_ARENA_CUH
#define CUDA_ARENA_CUH

#include <cstddef>
#include <cstdint>

class Arena
{
  public:
    /* base NULL: only counts. */
    explicit Arena(void *base) : base_(static_cast<unsigned char *>(base)) {}

    template <class T> T *take(size_t count)
    {
        size_t at = used_;
        used_ += (count * sizeof(T) + 255) / 256 * 256;
        return base_ ? reinterpret_cast<T *>(base_ + at) : nullptr;
    }
    size_t used() const { return used_; }

  private:
    unsigned char *base_;
    size_t used_ = 0;
};

#endif
