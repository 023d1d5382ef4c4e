/* The backend on NVIDIA GPUs: everything of a proof on the card. */
#ifndef BACKEND_CUDA_CUDA_H
#define BACKEND_CUDA_CUDA_H

#include "backend/backend.h"

extern const struct backend backend_cuda;

#endif
