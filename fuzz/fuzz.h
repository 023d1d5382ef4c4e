/* The function that libFuzzer calls, or regress.c in its place. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Runs one input; returns 0. Faults show as crashes, sanitizer reports or failed CHECKs. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
