/* Listening sockets: opening them, but never in place of a live one, and closing them.
   Private to rpc. */
#ifndef RPC_LISTEN_H
#define RPC_LISTEN_H

#include "rpc/address.h"

enum { LISTEN_NAME_BYTES = 320 };

struct listener {
    int fd; /* non-blocking */
    bool local;
    char name[LISTEN_NAME_BYTES]; /* "unix:/path", "127.0.0.1:9820" */
    char *path;   /* of a socket file that this process made and will remove; else NULL */
    int lock_fd;  /* of PATH.lock, else -1 */
    dev_t device; /* device and inode of that socket file: another process's is not removed */
    ino_t inode;
};

struct listeners {
    struct listener *items;
    size_t count;
    size_t capacity;
};

/* Opens all sockets of an address and adds them. A Unix socket gets `mode` before a client can
   reach it. Nothing is done for an address that is in the list already. Errors: FAILED_PRECONDITION
   when another process serves the address or the path is not a socket, INVALID_ARGUMENT,
   UNAVAILABLE, IO, NO_MEMORY; nothing is added then. */
enum cuzk_status listen_open(struct listeners *list, const char *address, mode_t mode,
                             struct cuzk_error *err);

/* Adds the stream sockets that a service manager handed to this process (sd_listen_fds(3):
   LISTEN_PID, LISTEN_FDS, descriptors from 3 on) and removes these variables, so that the sockets
   are taken once. Does nothing if the variables are not set. */
enum cuzk_status listen_inherit(struct listeners *list, struct cuzk_error *err);

/* Closes all sockets, removes the socket files that this process made, and releases their locks. */
void listen_close(struct listeners *list);

#endif
