#include "backend/cuda/host/derive.h"

#include "backend/cuda/device/layout.h"
#include "backend/cuda/msm/msm_finish.h"
#include "backend/cuda/points/points.h"
#include "base/error.h"

/* Points at a time. */
enum { PART = 1 << 22 };

struct summing {
    cudaStream_t stream;
    void *memory; /* one block of device memory, divided into: */
    void *bytes, *slots, *scalars, *scratch;
    size_t scratch_bytes;
    struct result {
        struct g1_affine sums[MSM_SUMS_MAX];
        struct points_faults faults;
    } * result;
};

static const char what[] = "summing up points";

static struct msm_size size_of(uint32_t n)
{
    return (struct msm_size){.n = n, .g1_sets = 1};
}

/* Divides the block for parts of n points; base NULL: only its size. */
static size_t lay_out(struct summing *summing, char *base, uint32_t n)
{
    const struct msm_size size = size_of(n);
    struct layout layout = {base, 0};
    summing->scratch_bytes = msm_scratch_bytes(&size);
    summing->bytes = take(&layout, n * points_file_bytes(MSM_G1));
    summing->slots = take(&layout, n * msm_slot_bytes(MSM_G1));
    summing->scalars = take(&layout, n * sizeof(struct fr));
    summing->scratch = take(&layout, summing->scratch_bytes);
    summing->result = take(&layout, sizeof *summing->result);
    return layout.used;
}

static enum cuzk_status copy_in(const struct summing *summing, void *to, const void *from,
                                size_t bytes, struct cuzk_error *err)
{
    return device_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, summing->stream),
                        what, err);
}

static enum cuzk_status add_part(const struct summing *summing, const uint8_t *points, uint32_t n,
                                 const struct fr *scalars, struct g1 *sum, struct cuzk_error *err)
{
    struct result result;
    struct g1 part;
    const struct msm_job msm = {
        .size = size_of(n),
        .sets[0] = {summing->slots, summing->result->sums},
        .scalars = summing->scalars,
        .scratch = summing->scratch,
        .scratch_bytes = summing->scratch_bytes,
    };
    const cudaStream_t stream = summing->stream;
    TRY(copy_in(summing, summing->bytes, points, n * points_file_bytes(MSM_G1), err));
    TRY(copy_in(summing, summing->scalars, scalars, n * sizeof *scalars, err));
    TRY(device_check(cudaMemsetAsync(&summing->result->faults, 0, sizeof result.faults, stream),
                     what, err));
    TRY(device_check(
        points_convert(MSM_G1, summing->bytes, n, summing->slots, &summing->result->faults, stream),
        what, err));
    TRY(device_check(msm_enqueue(&msm, stream), what, err));
    TRY(device_download(&result, summing->result, sizeof result, stream, what, err));
    TRY(device_check(cudaStreamSynchronize(stream), what, err));
    if (result.faults.malformed + result.faults.off_curve > 0)
        return error_set(err, CUZK_BAD_PARAMS, "of %u points %u are malformed, %u not on the curve",
                         n, result.faults.malformed, result.faults.off_curve);
    msm_finish_g1(&part, &msm.size, result.sums);
    g1_add(sum, sum, &part);
    return CUZK_OK;
}

static enum cuzk_status add_parts(const struct summing *summing, const uint8_t *points, uint32_t n,
                                  const struct fr *scalars, struct g1 *sum, struct cuzk_error *err)
{
    for (uint32_t first = 0; first < n; first += PART)
        TRY(add_part(summing, points + first * points_file_bytes(MSM_G1),
                     n - first < PART ? n - first : PART, scalars + first, sum, err));
    return CUZK_OK;
}

enum cuzk_status sum_points(struct backend_device *device, const uint8_t *points, uint32_t n,
                            const struct fr *scalars, struct g1 *out, struct cuzk_error *err)
{
    struct summing summing = {0};
    const uint32_t most = n < PART ? n : PART;
    g1_set_infinity(out);
    if (n == 0)
        return CUZK_OK;
    TRY(device_use(device, err));
    TRY(device_take(device, lay_out(&summing, NULL, most), what, &summing.memory, err));
    lay_out(&summing, summing.memory, most);
    enum cuzk_status status =
        device_check(cudaStreamCreateWithFlags(&summing.stream, cudaStreamNonBlocking), what, err);
    if (status == CUZK_OK)
        status = add_parts(&summing, points, n, scalars, out, err);
    device_settle();
    if (summing.stream)
        cudaStreamDestroy(summing.stream);
    cudaFree(summing.memory);
    return status;
}
