/* TLS over non-blocking sockets, with OpenSSL. HTTP/2 only (ALPN "h2"), TLS 1.2 or newer. */
#ifndef RPC_TLS_H
#define RPC_TLS_H

#include "rpc/rpc.h"

#include <openssl/ssl.h>
#include <sys/types.h>

/* Contexts for the two sides; free with SSL_CTX_free. Errors name the file. */
enum cuzk_status tls_server_context(const struct rpc_tls_files *files, SSL_CTX **context,
                                    struct cuzk_error *err);

/* ca NULL: the system's certificates. cert NULL: none of our own. */
enum cuzk_status tls_client_context(const char *ca, const char *cert, const char *key,
                                    SSL_CTX **context, struct cuzk_error *err);

/* A connection on a socket (which stays the caller's); host: the name that the server's certificate
   must have, NULL on the server's side. NULL without memory. Free with SSL_free. */
SSL *tls_connection(SSL_CTX *context, int fd, const char *host);

/* Reading, writing and the handshake (buffer NULL): bytes moved (1 for a finished handshake), 0
   when the peer has closed, TLS_AGAIN to wait for the socket, or TLS_BROKEN. tls may be NULL:
   plain. */
enum { TLS_AGAIN = -1, TLS_BROKEN = -2 };
ssize_t tls_handshake(SSL *tls);
ssize_t tls_read(SSL *tls, int fd, void *buffer, size_t len);
ssize_t tls_write(SSL *tls, int fd, const void *buffer, size_t len);

/* The newest error of OpenSSL, as one line. */
void tls_error_text(char *out, size_t out_bytes);

/* Common name of the peer's certificate; empty if it has shown none. */
void tls_peer_name(SSL *tls, char *out, size_t out_bytes);

#endif
