/* The standard service grpc.reflection, versions v1 and v1alpha. Private to rpc. */
#ifndef RPC_REFLECTION_H
#define RPC_REFLECTION_H

#include "rpc/hub.h"

/* ServerReflectionInfo: answers one question about the services. */
void reflection_info(struct stream *stream, const uint8_t *message, size_t len);

#endif
