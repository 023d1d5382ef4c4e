/* Time. Durations and timeouts come from the monotonic clock only. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Monotonic nanoseconds / milliseconds since an arbitrary point. */
uint64_t clock_now_ns(void);
uint64_t clock_now_ms(void);

/* CPU time (user + system) of this process in nanoseconds. */
uint64_t clock_cpu_ns(void);

/* Wall-clock seconds since 1970, for display only: a duration is never computed from them. */
uint64_t clock_unix_s(void);

#endif
