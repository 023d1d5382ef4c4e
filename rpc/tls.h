/* TLS over non-blocking sockets, with OpenSSL. HTTP/2 only (ALPN "h2"), TLS 1.2 or newer.
   Private to rpc. */
#ifndef RPC_TLS_H
#define RPC_TLS_H

#include "rpc/rpc.h"

#include <openssl/ssl.h>
#include <sys/types.h>

/* A context for a server; free with SSL_CTX_free. Errors: INVALID_ARGUMENT, which names the file;
   NO_MEMORY. */
enum cuzk_status tls_server_context(const struct rpc_tls_files *files, SSL_CTX **context,
                                    struct cuzk_error *err);

/* A context for a client; errors as above. ca NULL: the system's CAs. cert NULL: the client shows
   no certificate. */
enum cuzk_status tls_client_context(const char *ca, const char *cert, const char *key,
                                    SSL_CTX **context, struct cuzk_error *err);

/* A TLS connection on a socket, which stays the caller's. host: the name that the server's
   certificate must have; NULL on the server's side. Returns NULL without memory. Free with
   SSL_free. */
SSL *tls_connection(SSL_CTX *context, int fd, const char *host);

/* Each returns the number of bytes moved (tls_handshake: 1 when it is finished), 0 when the peer
   has closed the connection, TLS_AGAIN to wait for the socket, or TLS_BROKEN. tls_read and
   tls_write take tls == NULL for a plain socket. */
enum { TLS_AGAIN = -1, TLS_BROKEN = -2 };
ssize_t tls_handshake(SSL *tls);
ssize_t tls_read(SSL *tls, int fd, void *buffer, size_t len);
ssize_t tls_write(SSL *tls, int fd, const void *buffer, size_t len);

/* Writes OpenSSL's newest error of this thread as one line. */
void tls_error_text(char *out, size_t out_bytes);

/* Writes the common name of the peer's certificate; empty if the peer has shown none. */
void tls_peer_name(SSL *tls, char *out, size_t out_bytes);

#endif
