/* The backend that needs no GPU: everything on the threads of one pool. */
#ifndef BACKEND_CPU_CPU_H
#define BACKEND_CPU_CPU_H

#include "backend/backend.h"

extern const struct backend backend_cpu;

#endif
