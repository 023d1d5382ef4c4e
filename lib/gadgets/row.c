#include "gadgets/row.h"

#include <pthread.h>

static struct fr powers[256];
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

static void compute_powers(void)
{
    powers[0] = fr_one;
    for (size_t i = 1; i < 256; i++)
        fr_double(&powers[i], &powers[i - 1]);
}

const struct fr *row_pow2(unsigned exponent)
{
    pthread_once(&powers_once, compute_powers);
    return &powers[exponent];
}
