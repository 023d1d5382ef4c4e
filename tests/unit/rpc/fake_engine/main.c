/* A ProvingEngine that proves nothing, over the real transport: the server for checks of foreign
   clients and for tests of cuzk-bench. Every job fails, except jobs whose id begins with "slow",
   which never end.

   usage: fake-engine [--listen ADDRESS]… [--inherit] [--cert F --key F [--client-ca F]]
   Prints "ready ADDRESS" for every address, and ends in order on SIGTERM. */
#include "base/clock.h"
#include "base/mem.h"
#include "rpc/message.h"
#include "rpc/rpc.h"

#include <cuzk/v1/descriptors.h>
#include <cuzk/v1/proving.pb-c.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls of AwaitProof for slow jobs, until their timeout or until nobody waits any more. */
struct waiting {
    struct waiting *next;
    struct rpc_call *call;
    char job_id[128];
    uint64_t until_ms;
    bool cancelled;
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct waiting *first;
    bool stop;
} waiters = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void reply(struct rpc_call *call, const ProtobufCMessage *message)
{
    uint8_t *bytes;
    size_t len;
    struct cuzk_error err = {0};
    enum cuzk_status status = message_encode(message, &bytes, &len, &err);
    if (status == CUZK_OK)
        rpc_reply(call, bytes, len);
    else
        rpc_fail(call, rpc_code_of_status(status), "%s", err.text);
}

/* The request of a call, decoded; NULL when the call was answered with an error. */
static void *decode(struct rpc_call *call, const ProtobufCMessageDescriptor *type)
{
    size_t len;
    const uint8_t *bytes = rpc_call_message(call, &len);
    ProtobufCMessage *message;
    struct cuzk_error err = {0};
    enum cuzk_status status = message_decode(type, bytes, len, &message, &err);
    if (status != CUZK_OK) {
        rpc_fail(call, rpc_code_of_status(status), "%s", err.text);
        return NULL;
    }
    rpc_call_drop_message(call);
    return message;
}

/* --- Waiting ---------------------------------------------------------------------------------- */

static void on_cancelled(void *user, enum rpc_code reason)
{
    (void)reason;
    struct waiting *waiting = user;
    pthread_mutex_lock(&waiters.mutex);
    waiting->cancelled = true;
    pthread_cond_signal(&waiters.changed);
    pthread_mutex_unlock(&waiters.mutex);
}

static void on_released(void *user)
{
    mem_free(user);
}

static void answer_waiting(struct waiting *waiting)
{
    Cuzk__V1__AwaitProofResponse response = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    response.job_id = waiting->job_id;
    response.status = CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT;
    if (waiting->cancelled)
        rpc_fail(waiting->call, RPC_CANCELLED, "nobody waits");
    else
        reply(waiting->call, &response.base);
}

/* Removes the calls that are over and returns when the next one will be. */
static uint64_t answer_finished(void)
{
    uint64_t next_ms = UINT64_MAX;
    struct waiting **link = &waiters.first;
    while (*link) {
        struct waiting *waiting = *link;
        if (waiting->cancelled || waiters.stop || waiting->until_ms <= clock_now_ms()) {
            *link = waiting->next;
            answer_waiting(waiting);
            continue;
        }
        next_ms = waiting->until_ms < next_ms ? waiting->until_ms : next_ms;
        link = &waiting->next;
    }
    return next_ms;
}

static void *wait_loop(void *context)
{
    (void)context;
    pthread_mutex_lock(&waiters.mutex);
    while (!waiters.stop || waiters.first) {
        uint64_t next_ms = answer_finished();
        struct timespec until = {.tv_sec = (time_t)(next_ms / 1000),
                                 .tv_nsec = (long)(next_ms % 1000) * 1000000};
        if (waiters.stop)
            continue;
        if (next_ms == UINT64_MAX)
            pthread_cond_wait(&waiters.changed, &waiters.mutex);
        else
            pthread_cond_timedwait(&waiters.changed, &waiters.mutex, &until);
    }
    pthread_mutex_unlock(&waiters.mutex);
    return NULL;
}

static void wait_for(struct rpc_call *call, const char *job_id, uint64_t timeout_ms)
{
    struct waiting *waiting = mem_zalloc(1, sizeof *waiting);
    if (!waiting) {
        rpc_fail(call, RPC_RESOURCE_EXHAUSTED, "no memory");
        return;
    }
    waiting->call = call;
    waiting->until_ms = timeout_ms > 0 ? clock_now_ms() + timeout_ms : UINT64_MAX;
    snprintf(waiting->job_id, sizeof waiting->job_id, "%s", job_id);
    rpc_call_attach(call, waiting, on_cancelled, on_released);
    pthread_mutex_lock(&waiters.mutex);
    waiting->next = waiters.first;
    waiters.first = waiting;
    pthread_cond_signal(&waiters.changed);
    pthread_mutex_unlock(&waiters.mutex);
}

/* --- Methods ---------------------------------------------------------------------------------- */

static bool slow(const char *job_id)
{
    return strncmp(job_id, "slow", 4) == 0;
}

static bool refuse(struct rpc_call *call, const Cuzk__V1__SubmitProofRequest *submit)
{
    if (!submit)
        rpc_fail(call, RPC_INVALID_ARGUMENT, "submit: expected a request");
    else if (submit->proof_kind < 1 || submit->proof_kind > 4)
        rpc_fail(call, RPC_INVALID_ARGUMENT, "proof_kind %d: expected 1 to 4",
                 (int)submit->proof_kind);
    else
        return false;
    return true;
}

static void prove(struct rpc_call *call, void *user)
{
    (void)user;
    Cuzk__V1__ProveRequest *request = decode(call, &cuzk__v1__prove_request__descriptor);
    if (!request)
        return;
    if (!refuse(call, request->submit)) {
        char message[] = "the fake engine proves nothing";
        Cuzk__V1__AwaitProofResponse result = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
        Cuzk__V1__ProveResponse response = CUZK__V1__PROVE_RESPONSE__INIT;
        result.job_id = request->submit->request_id;
        result.status = CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED;
        result.error_message = message;
        response.result = &result;
        if (slow(result.job_id))
            wait_for(call, result.job_id, 0);
        else
            reply(call, &response.base);
    }
    message_free(&request->base);
}

static void submit_proof(struct rpc_call *call, void *user)
{
    (void)user;
    Cuzk__V1__SubmitProofRequest *request =
        decode(call, &cuzk__v1__submit_proof_request__descriptor);
    if (!request)
        return;
    if (!refuse(call, request)) {
        Cuzk__V1__SubmitProofResponse response = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
        response.job_id = request->request_id;
        reply(call, &response.base);
    }
    message_free(&request->base);
}

static void await_proof(struct rpc_call *call, void *user)
{
    (void)user;
    Cuzk__V1__AwaitProofRequest *request = decode(call, &cuzk__v1__await_proof_request__descriptor);
    if (!request)
        return;
    char message[] = "the fake engine proves nothing";
    Cuzk__V1__AwaitProofResponse response = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    response.job_id = request->job_id;
    response.status = CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED;
    response.error_message = message;
    if (slow(request->job_id))
        wait_for(call, request->job_id, request->timeout_ms);
    else if (strncmp(request->job_id, "conf-submit", 11) == 0)
        reply(call, &response.base);
    else
        rpc_fail(call, RPC_NOT_FOUND, "no job %s", request->job_id);
    message_free(&request->base);
}

static void cancel_proof(struct rpc_call *call, void *user)
{
    (void)user;
    Cuzk__V1__CancelProofResponse response = CUZK__V1__CANCEL_PROOF_RESPONSE__INIT;
    reply(call, &response.base);
}

static void get_status(struct rpc_call *call, void *user)
{
    (void)user;
    Cuzk__V1__GetStatusResponse response = CUZK__V1__GET_STATUS_RESPONSE__INIT;
    response.uptime_seconds = 1;
    reply(call, &response.base);
}

static void get_metrics(struct rpc_call *call, void *user)
{
    (void)user;
    char text[] = "# TYPE cuzk_uptime_seconds gauge\ncuzk_uptime_seconds 1\n";
    Cuzk__V1__GetMetricsResponse response = CUZK__V1__GET_METRICS_RESPONSE__INIT;
    response.prometheus_text = text;
    reply(call, &response.base);
}

static void preload_srs(struct rpc_call *call, void *user)
{
    (void)user;
    rpc_fail(call, RPC_NOT_FOUND, "the fake engine has no parameters");
}

static void evict_srs(struct rpc_call *call, void *user)
{
    (void)user;
    Cuzk__V1__EvictSrsResponse response = CUZK__V1__EVICT_SRS_RESPONSE__INIT;
    reply(call, &response.base);
}

static const struct rpc_method methods[] = {
    {"/cuzk.v1.ProvingEngine/Prove", prove, NULL},
    {"/cuzk.v1.ProvingEngine/SubmitProof", submit_proof, NULL},
    {"/cuzk.v1.ProvingEngine/AwaitProof", await_proof, NULL},
    {"/cuzk.v1.ProvingEngine/CancelProof", cancel_proof, NULL},
    {"/cuzk.v1.ProvingEngine/GetStatus", get_status, NULL},
    {"/cuzk.v1.ProvingEngine/GetMetrics", get_metrics, NULL},
    {"/cuzk.v1.ProvingEngine/PreloadSRS", preload_srs, NULL},
    {"/cuzk.v1.ProvingEngine/EvictSRS", evict_srs, NULL},
};

static bool read_options(int argc, char **argv, struct rpc_server_config *config,
                         const char *listen[8])
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--inherit") == 0) {
            config->inherit = true;
            continue;
        }
        if (!value)
            return false;
        if (strcmp(argv[i], "--listen") == 0 && config->listen_count < 8)
            listen[config->listen_count++] = value;
        else if (strcmp(argv[i], "--cert") == 0)
            config->tls.cert = value;
        else if (strcmp(argv[i], "--key") == 0)
            config->tls.key = value;
        else if (strcmp(argv[i], "--client-ca") == 0)
            config->tls.client_ca = value;
        else
            return false;
        i++;
    }
    config->listen = listen;
    return config->listen_count > 0 || config->inherit;
}

static void stop_waiters(pthread_t thread)
{
    pthread_mutex_lock(&waiters.mutex);
    waiters.stop = true;
    pthread_cond_signal(&waiters.changed);
    pthread_mutex_unlock(&waiters.mutex);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *listen[8];
    struct rpc_server_config config = {.methods = methods,
                                       .method_count = sizeof methods / sizeof methods[0],
                                       .descriptors = cuzk_descriptors,
                                       .descriptors_len = cuzk_descriptors_len};
    if (!read_options(argc, argv, &config, listen)) {
        fprintf(stderr, "usage: fake-engine [--listen ADDRESS]... [--inherit]"
                        " [--cert F --key F [--client-ca F]]\n");
        return 2;
    }
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&waiters.changed, &attributes);
    pthread_condattr_destroy(&attributes);

    struct rpc_server *server;
    struct cuzk_error err = {0};
    if (rpc_server_start(&config, &server, &err) != CUZK_OK) {
        fprintf(stderr, "fake-engine: %s\n", err.text);
        return err.status == CUZK_FAILED_PRECONDITION ? 5 : 1;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_loop, NULL) != 0)
        return 1;
    for (size_t i = 0; rpc_server_address(server, i); i++)
        printf("ready %s\n", rpc_server_address(server, i));
    fflush(stdout);
    int signal_number;
    sigwait(&signals, &signal_number);
    rpc_server_drain(server);
    rpc_server_wait(server, 2000);
    rpc_server_stop(server);
    stop_waiters(thread);
    rpc_server_free(server);
    return 0;
}
