#include "r1cs/sort.h"

#include <string.h>

/* End of the ascending run that begins at `from`. */
static size_t run_end(const uint64_t *keys, size_t n, size_t from)
{
    size_t at = from + 1;
    while (at < n && keys[at - 1] <= keys[at])
        at++;
    return at;
}

static void sort_by_insertion(uint64_t *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t moving = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1] > moving; at--)
            keys[at] = keys[at - 1];
        keys[at] = moving;
    }
}

/* Merges [0, middle) and [middle, end), both sorted. */
static void merge_runs(uint64_t *keys, size_t middle, size_t end, uint64_t *scratch)
{
    memcpy(scratch, keys, middle * sizeof *keys);
    size_t left = 0, right = middle, out = 0;
    while (left < middle) {
        if (right == end || scratch[left] <= keys[right])
            keys[out++] = scratch[left++];
        else
            keys[out++] = keys[right++];
    }
}

void sort_keys(uint64_t *keys, size_t n, uint64_t *scratch)
{
    enum { INSERTION_MAX = 16 };
    if (n <= INSERTION_MAX) {
        sort_by_insertion(keys, n);
        return;
    }
    for (;;) { /* each pass merges neighbouring runs in pairs */
        size_t runs = 0;
        for (size_t from = 0; from < n; runs++) {
            size_t middle = run_end(keys, n, from);
            size_t end = middle < n ? run_end(keys, n, middle) : n;
            if (middle < n)
                merge_runs(keys + from, middle - from, end - from, scratch);
            from = end;
        }
        if (runs <= 1)
            return;
    }
}
