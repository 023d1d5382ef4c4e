/* What a backend finds on this machine, in one line. */
#include "backend/backend.h"

#include <cuzk/prove.h>
#include <stdio.h>

void cuzk_backend_describe(const char *name, char *out, size_t out_bytes)
{
    const struct backend *backend = backend_find(name);
    if (!backend) {
        snprintf(out, out_bytes, "not in this build");
        return;
    }
    struct backend_options options = {0};
    struct backend_device *device;
    struct cuzk_error err = {0};
    unsigned n = 0;
    if (backend->count(&options, &n, &err) != CUZK_OK ||
        backend->open(&options, 0, &device, &err) != CUZK_OK) {
        snprintf(out, out_bytes, "not usable here: %s", err.text);
        return;
    }
    snprintf(out, out_bytes, "%s%s", backend->describe(device), n > 1 ? ", and more" : "");
    backend->close(device);
}
