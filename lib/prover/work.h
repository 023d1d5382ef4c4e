/* What the engine schedules, made of kinds and resident circuits. Private to lib/prover. */
#ifndef PROVER_WORK_H
#define PROVER_WORK_H

#include "prover/residency.h"

/* The setup of an engine on these devices. The engine that is opened with it owns the residency.
   *out points into the residency. */
void prover_setup(struct residency *residency, struct work_setup *out);

#endif
