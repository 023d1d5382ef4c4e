/* Listening sockets: opening them without taking them from anybody, and giving them up. */
#ifndef RPC_LISTEN_H
#define RPC_LISTEN_H

#include "rpc/address.h"

enum { LISTEN_NAME_BYTES = 320 };

struct listener {
    int fd; /* non-blocking */
    bool local;
    char name[320]; /* "unix:/path", "127.0.0.1:9820" */
    char *path;     /* a socket file that we made and remove, else NULL */
    int lock_fd;    /* of PATH.lock, else -1 */
    dev_t device;   /* of the socket file: only our own one is removed */
    ino_t inode;
};

struct listeners {
    struct listener *items;
    size_t count;
    size_t capacity;
};

/* Opens all sockets of an address and adds them. A Unix socket gets `mode` before anyone can reach
   it. Errors: FAILED_PRECONDITION when the address is served by another process or the path is no
   socket, INVALID_ARGUMENT, UNAVAILABLE, IO, NO_MEMORY; nothing is added then. An address that is
   in the list already is left alone. */
enum cuzk_status listen_open(struct listeners *list, const char *address, mode_t mode,
                             struct cuzk_error *err);

/* Adds the stream sockets that a service manager handed to this process (sd_listen_fds(3):
   LISTEN_PID, LISTEN_FDS, descriptors from 3 on), and removes the variables, so that they are taken
   once. Without them nothing happens. */
enum cuzk_status listen_inherit(struct listeners *list, struct cuzk_error *err);

/* Closes everything; removes our own socket files, then lets go of their locks. */
void listen_close(struct listeners *list);

#endif
