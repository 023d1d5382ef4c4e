#include "math/msm.h"

#include "base/error.h"
#include "base/mem.h"
#include "math/msm_plan.h"
#include "math/spread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define G(name) g1_##name
#define FIELD_OP(name) blst_fp_##name
#define JACOBIAN g1
#define POINT_BYTES G1_BYTES
#include "math/summer_impl.h"
#include "math/msm_impl.h"
