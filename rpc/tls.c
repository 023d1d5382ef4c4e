#include "rpc/tls.h"

#include "base/error.h"
#include "base/pointer.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

void tls_error_text(char *out, size_t out_bytes)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    snprintf(out, out_bytes, "%s", reason ? reason : "unknown TLS error");
    ERR_clear_error();
}

/* --- The socket under OpenSSL: like its own, but without SIGPIPE ------------------------------ */

static int socket_of(BIO *bio)
{
    return (int)(intptr_t)BIO_get_data(bio);
}

static bool would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static int socket_write(BIO *bio, const char *data, int len)
{
    BIO_clear_retry_flags(bio);
    ssize_t sent = send(socket_of(bio), data, (size_t)len, MSG_NOSIGNAL);
    if (sent < 0 && would_block())
        BIO_set_retry_write(bio);
    return (int)sent;
}

static int socket_read(BIO *bio, char *data, int len)
{
    BIO_clear_retry_flags(bio);
    ssize_t got = recv(socket_of(bio), data, (size_t)len, 0);
    if (got < 0 && would_block())
        BIO_set_retry_read(bio);
    return (int)got;
}

static long socket_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *socket_method;
static CRYPTO_ONCE socket_method_once = CRYPTO_ONCE_STATIC_INIT;

static void make_socket_method(void)
{
    socket_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "cuzk socket");
    if (!socket_method)
        return;
    BIO_meth_set_write(socket_method, socket_write);
    BIO_meth_set_read(socket_method, socket_read);
    BIO_meth_set_ctrl(socket_method, socket_control);
}

SSL *tls_connection(SSL_CTX *context, int fd, const char *host)
{
    CRYPTO_THREAD_run_once(&socket_method_once, make_socket_method);
    SSL *tls = SSL_new(context);
    BIO *bio = socket_method ? BIO_new(socket_method) : NULL;
    if (!tls || !bio) {
        BIO_free(bio);
        SSL_free(tls);
        return NULL;
    }
    BIO_set_data(bio, (void *)(intptr_t)fd);
    BIO_set_init(bio, 1);
    SSL_set_bio(tls, bio, bio);
    if (!host) {
        SSL_set_accept_state(tls);
        return tls;
    }
    SSL_set_connect_state(tls);
    X509_VERIFY_PARAM *verify = SSL_get0_param(tls);
    bool named = X509_VERIFY_PARAM_set1_ip_asc(verify, host) == 1 ||
                 (X509_VERIFY_PARAM_set1_host(verify, host, 0) == 1 &&
                  SSL_ctrl(tls, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                           unconst(host)) == 1);
    if (!named) {
        SSL_free(tls);
        return NULL;
    }
    ERR_clear_error();
    return tls;
}

/* --- Contexts --------------------------------------------------------------------------------- */

static const unsigned char alpn_h2[] = {2, 'h', '2'};

static int choose_protocol(SSL *tls, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *in, unsigned in_len, void *user)
{
    (void)tls;
    (void)user;
    for (unsigned at = 0; at < in_len; at += 1u + in[at]) {
        if (in[at] == 2 && in_len - at >= 3 && memcmp(in + at + 1, "h2", 2) == 0) {
            *out = in + at + 1;
            *out_len = 2;
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static SSL_CTX *new_context(const SSL_METHOD *method)
{
    SSL_CTX *context = SSL_CTX_new(method);
    if (!context)
        return NULL;
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    /* Connections live for hours, so resuming them saves nothing, and a ticket would stay valid
       after the certificates were reloaded. */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 0);
    return context;
}

static enum cuzk_status use_certificate(SSL_CTX *context, const char *cert, const char *key,
                                        struct cuzk_error *err)
{
    char why[200];
    const char *file = cert;
    bool good = SSL_CTX_use_certificate_chain_file(context, cert) == 1;
    if (good) {
        file = key ? key : "(no key file)";
        good = key && SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 &&
               SSL_CTX_check_private_key(context) == 1;
    }
    if (good)
        return CUZK_OK;
    tls_error_text(why, sizeof why);
    return error_set(err, CUZK_INVALID_ARGUMENT, "TLS file %s: %s", file, why);
}

static enum cuzk_status use_ca(SSL_CTX *context, const char *ca, struct cuzk_error *err)
{
    if (SSL_CTX_load_verify_file(context, ca) == 1)
        return CUZK_OK;
    char why[200];
    tls_error_text(why, sizeof why);
    return error_set(err, CUZK_INVALID_ARGUMENT, "TLS file %s: %s", ca, why);
}

enum cuzk_status tls_server_context(const struct rpc_tls_files *files, SSL_CTX **context,
                                    struct cuzk_error *err)
{
    SSL_CTX *made = new_context(TLS_server_method());
    if (!made)
        return error_set(err, CUZK_NO_MEMORY, "no memory for TLS");
    enum cuzk_status status = use_certificate(made, files->cert, files->key, err);
    if (status == CUZK_OK && files->client_ca)
        status = use_ca(made, files->client_ca, err);
    if (status != CUZK_OK) {
        SSL_CTX_free(made);
        return status;
    }
    if (files->client_ca)
        SSL_CTX_set_verify(made, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_alpn_select_cb(made, choose_protocol, NULL);
    *context = made;
    return CUZK_OK;
}

enum cuzk_status tls_client_context(const char *ca, const char *cert, const char *key,
                                    SSL_CTX **context, struct cuzk_error *err)
{
    SSL_CTX *made = new_context(TLS_client_method());
    if (!made)
        return error_set(err, CUZK_NO_MEMORY, "no memory for TLS");
    enum cuzk_status status = CUZK_OK;
    if (ca)
        status = use_ca(made, ca, err);
    else
        SSL_CTX_set_default_verify_paths(made);
    if (status == CUZK_OK && cert)
        status = use_certificate(made, cert, key, err);
    if (status != CUZK_OK) {
        SSL_CTX_free(made);
        return status;
    }
    SSL_CTX_set_verify(made, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_alpn_protos(made, alpn_h2, sizeof alpn_h2);
    *context = made;
    return CUZK_OK;
}

/* --- Bytes ------------------------------------------------------------------------------------ */

static ssize_t tls_result(SSL *tls, int rv)
{
    switch (SSL_get_error(tls, rv)) {
    case SSL_ERROR_NONE:
        return rv;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return TLS_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        return TLS_BROKEN;
    }
}

ssize_t tls_handshake(SSL *tls)
{
    ERR_clear_error();
    return tls_result(tls, SSL_do_handshake(tls));
}

ssize_t tls_read(SSL *tls, int fd, void *buffer, size_t len)
{
    if (tls) {
        ERR_clear_error();
        return tls_result(tls, SSL_read(tls, buffer, len < 1 << 30 ? (int)len : 1 << 30));
    }
    ssize_t got = recv(fd, buffer, len, 0);
    return got >= 0 ? got : would_block() ? TLS_AGAIN : TLS_BROKEN;
}

ssize_t tls_write(SSL *tls, int fd, const void *buffer, size_t len)
{
    if (tls) {
        ERR_clear_error();
        return tls_result(tls, SSL_write(tls, buffer, len < 1 << 30 ? (int)len : 1 << 30));
    }
    ssize_t sent = send(fd, buffer, len, MSG_NOSIGNAL);
    return sent >= 0 ? sent : would_block() ? TLS_AGAIN : TLS_BROKEN;
}

void tls_peer_name(SSL *tls, char *out, size_t out_bytes)
{
    out[0] = '\0';
    X509 *certificate = SSL_get0_peer_certificate(tls);
    if (certificate)
        X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, out,
                                  (int)out_bytes);
    for (char *c = out; *c; c++) {
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
            *c = '?';
    }
}
