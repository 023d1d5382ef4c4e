/* Time. Durations and timeouts come from the monotonic clock only. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Monotonic nanoseconds / milliseconds since an arbitrary point. */
uint64_t clock_now_ns(void);
uint64_t clock_now_ms(void);

/* CPU time (user + system) of this process in nanoseconds. */
uint64_t clock_cpu_ns(void);

/* Wall-clock seconds since 1970, for people to read; never for arithmetic on durations. */
uint64_t clock_unix_s(void);

#endif
