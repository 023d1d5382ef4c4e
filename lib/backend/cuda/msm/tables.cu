/* One window's multiples follow from those of the window below: doublings in XYZZ coordinates, then
   back to affine ones with an inversion shared by a thread's points (Montgomery's trick). */
#include "backend/cuda/msm/tables.cuh"

namespace
{

constexpr int TABLE_THREADS = 128;
constexpr uint32_t CHAIN = 32; /* points of a thread */

/* What has to be kept of a point until its inverse is known; X and Y wait in its slot. */
template <class F> struct Pending {
    F zz, zzz, prefix;
};

/* to[i] = 2^doublings·from[i]. A thread takes every `threads`-th point, so that neighbours are
   worked on by neighbours. Infinity (ZZZ = 0) stays out of the product. */
template <class F>
__global__ void __launch_bounds__(TABLE_THREADS)
    multiply_up(const unsigned char *from, uint32_t n, int doublings, Pending<F> *pending,
                unsigned char *to)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    if (thread >= n)
        return;
    F product = F::one();
    uint32_t last = thread;
    for (uint32_t i = thread; i < n; i += threads) {
        Xyzz<F> sum = Xyzz<F>::from(Affine<F>::load(from, i));
        for (int k = 0; k < doublings; k++)
            sum = sum.doubled();
        Affine<F>{sum.x, sum.y}.store(to, i);
        store_element(&pending[i].zz, sum.zz);
        store_element(&pending[i].zzz, sum.zzz);
        store_element(&pending[i].prefix, product);
        if (!sum.is_infinity())
            product = product * sum.zzz;
        last = i;
    }
    F inverse = product.inverse();
    for (uint32_t i = last;; i -= threads) {
        F zz = load_element<F>(&pending[i].zz), zzz = load_element<F>(&pending[i].zzz);
        Affine<F> point = {F::zero(), F::zero()};
        if (!zz.is_zero()) {
            F own = inverse * load_element<F>(&pending[i].prefix); /* 1/ZZZ */
            inverse = inverse * zzz;
            point = Affine<F>::load(to, i);
            point.x = point.x * (own * zz).squared();
            point.y = point.y * own;
        }
        point.store(to, i);
        if (i == thread)
            break;
    }
}

template <class F>
int build(const Windows &windows, uint32_t n, void *slots, void *scratch, cudaStream_t stream)
{
    uint32_t threads = (n + CHAIN - 1) / CHAIN;
    unsigned char *to = static_cast<unsigned char *>(slots);
    for (int w = 1; w < windows.count; w++) {
        const unsigned char *from = to;
        to += size_t(n) * Slot<F>::BYTES;
        multiply_up<F><<<(threads + TABLE_THREADS - 1) / TABLE_THREADS, TABLE_THREADS, 0, stream>>>(
            from, n, windows.width[w - 1], static_cast<Pending<F> *>(scratch), to);
    }
    return cudaGetLastError();
}

} // namespace

size_t tables_scratch_bytes(enum msm_group group, uint32_t n)
{
    return n * (group == MSM_G1 ? sizeof(Pending<Fp>) : sizeof(Pending<Fp2>));
}

int tables_build(enum msm_group group, const Windows &windows, uint32_t n, void *slots,
                 void *scratch, cudaStream_t stream)
{
    return group == MSM_G1 ? build<Fp>(windows, n, slots, scratch, stream)
                           : build<Fp2>(windows, n, slots, scratch, stream);
}
