/* Devices that fail: blame and quarantine. Engine thread only. Private to lib/engine. */
#ifndef ENGINE_DEVICES_H
#define ENGINE_DEVICES_H

enum { DEVICES_FAILURES_MAX = 2 /* after so many a device is quarantined */ };

struct core;

/* A failure that the device is to blame for. The last device is never quarantined. */
void devices_blame(struct core *core, unsigned device, const char *why);
/* This process cannot use the device any more: it gets no more work. If it was the last one, the
   program hears of it (devices_lost of the engine's options) before any job fails for it. */
void devices_lose(struct core *core, unsigned device, const char *why);

#endif
