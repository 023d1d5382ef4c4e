/* The daemon: configuration → timeline, engine, service, servers; then signals until the end. */
#include "commands.h"
#include "config.h"
#include "exit_codes.h"
#include "service.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "rpc/http.h"
#include "rpc/rpc.h"
#include "waterfall/live.h"
#include "trace/event.h"

#include <cuzk/engine.h>
#include <cuzk/v1/descriptors.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef CUZK_HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

enum { LISTEN_MAX = 16, LIVE_EVENTS = 20000 };
static const char default_config[] = "/data/zk/cuzk.toml";

struct daemon {
    struct config config;
    struct trace *trace;
    struct cuzk_engine *engine;
    struct service *service;
    struct rpc_server *server;
    struct http_server *http;
};

static void notify(const char *state)
{
#ifdef CUZK_HAVE_SYSTEMD
    sd_notify(0, state);
#else
    (void)state;
#endif
}

/* ---- command line ---------------------------------------------------------------------------- */

static void print_usage(FILE *out)
{
    fputs(
        "Usage: cuzk [serve] [--config FILE] [--set KEY=VALUE]...\n"
        "\n"
        "Runs the proving daemon in the foreground. Stops on SIGTERM or SIGINT after the running\n"
        "jobs are done (a second signal stops at once); SIGHUP reads log settings and TLS files "
        "again.\n"
        "\n"
        "  -c, --config FILE      configuration (default: /data/zk/cuzk.toml if it is there)\n"
        "  -l, --listen ADDRESS   short for --set daemon.listen=ADDRESS\n"
        "      --log-level LEVEL  short for --set logging.level=LEVEL\n"
        "      --set KEY=VALUE    any key of 'cuzk config reference'\n"
        "  -h, --help             this text\n",
        out);
}

static enum cuzk_status apply_setting(struct config *config, const char *text,
                                      struct cuzk_error *err)
{
    const char *equals = strchr(text, '=');
    char name[64];
    if (!equals || (size_t)(equals - text) >= sizeof name)
        return error_set(err, CUZK_INVALID_ARGUMENT, "--set %s: expected KEY=VALUE", text);
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    enum config_key key;
    if (!config_find(name, &key))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "--set: unknown key %s ('cuzk config reference' lists all)", name);
    return config_set(config, key, equals + 1, CONFIG_FROM_FLAG, err);
}

/* Flags are applied after the file is read, so the first pass only finds the file. Returns an exit
   code, or −1 to go on. */
static int read_options(int argc, char **argv, struct config *config, const char **config_path)
{
    static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                            {"listen", required_argument, NULL, 'l'},
                                            {"log-level", required_argument, NULL, 'L'},
                                            {"set", required_argument, NULL, 's'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct cuzk_error err = {0};
    *config_path = access(default_config, F_OK) == 0 ? default_config : NULL;
    for (int pass = 0; pass < 2; pass++) {
        int option;
        optind = 1;
        enum cuzk_status status = CUZK_OK;
        if (pass == 1)
            status = config_load(*config_path, config, &err);
        while (status == CUZK_OK &&
               (option = getopt_long(argc, argv, "c:l:h", options, NULL)) != -1) {
            if (option == 'h')
                return print_usage(stdout), EXIT_CODE_OK;
            if (option == '?')
                return EXIT_CODE_USAGE;
            if (option == 'c')
                *config_path = optarg;
            else if (pass == 1 && option == 'l')
                status = config_set(config, CONFIG_LISTEN, optarg, CONFIG_FROM_FLAG, &err);
            else if (pass == 1 && option == 'L')
                status = config_set(config, CONFIG_LOG_LEVEL, optarg, CONFIG_FROM_FLAG, &err);
            else if (pass == 1)
                status = apply_setting(config, optarg, &err);
        }
        if (status == CUZK_OK && optind < argc)
            status =
                error_set(&err, CUZK_INVALID_ARGUMENT, "unexpected argument: %s", argv[optind]);
        if (status != CUZK_OK) {
            exit_with_error("cuzk", &err);
            return EXIT_CODE_USAGE;
        }
    }
    return -1;
}

static enum cuzk_status apply_logging(const struct config *config, struct cuzk_error *err)
{
    enum log_level level;
    const char *format = config_text(config, CONFIG_LOG_FORMAT);
    if (!log_parse_level(config_text(config, CONFIG_LOG_LEVEL), &level))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "logging.level = '%s': expected error, warn, info or debug",
                         config_text(config, CONFIG_LOG_LEVEL));
    if (strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
        return error_set(err, CUZK_INVALID_ARGUMENT, "logging.format = '%s': expected text or json",
                         format);
    log_set_level(level);
    log_set_json(strcmp(format, "json") == 0);
    return CUZK_OK;
}

/* ---- starting -------------------------------------------------------------------------------- */

static const char *text_or_null(const struct config *config, enum config_key key)
{
    const char *text = config_text(config, key);
    return *text ? text : NULL;
}

/* A GPU whose context is lost can only be used by another process. Ending at once, like a crash,
   leaves every accepted job in the journal; the service manager starts the next daemon. */
static void end_for_lost_devices(void *context, const char *why)
{
    (void)context;
    log_error("daemon", "no device is left to this process (%s): it ends, to be started again",
              why);
    _exit(EXIT_CODE_FAILED);
}

static enum cuzk_status start_engine(struct daemon *daemon, struct cuzk_error *err)
{
    const struct config *config = &daemon->config;
    struct trace_options trace = {
        .fd = config_number(config, CONFIG_TIMELINE) ? STDERR_FILENO : -1,
        .say_gpu_queue = config_number(config, CONFIG_TIMELINE_GPU_QUEUE) != 0,
        .history_events = LIVE_EVENTS,
    };
    TRY(trace_create(&trace, &daemon->trace, err));
    const char *backend = config_text(config, CONFIG_BACKEND);
    struct cuzk_engine_options options = {
        .param_cache = config_text(config, CONFIG_PARAM_CACHE),
        .state_dir = text_or_null(config, CONFIG_STATE_DIR),
        .backend = strcmp(backend, "auto") == 0 ? NULL : backend,
        .devices = text_or_null(config, CONFIG_DEVICES),
        .vram_budget_bytes = config_number(config, CONFIG_VRAM_BUDGET),
        .threads = (unsigned)config_number(config, CONFIG_SYNTHESIS_THREADS),
        .synthesis_concurrency = (unsigned)config_number(config, CONFIG_SYNTHESIS_CONCURRENCY),
        .synthesis_lookahead = (unsigned)config_number(config, CONFIG_SYNTHESIS_LOOKAHEAD),
        .workers_per_device = (unsigned)config_number(config, CONFIG_WORKERS_PER_DEVICE),
        .memory_budget_bytes = config_number(config, CONFIG_TOTAL_BUDGET),
        .memory_margin_bytes = config_number(config, CONFIG_SAFETY_MARGIN),
        .queue_max = (unsigned)config_number(config, CONFIG_QUEUE_MAX),
        .keep_result_ms = config_number(config, CONFIG_KEEP_RESULT),
        .trace = daemon->trace,
        .devices_lost = end_for_lost_devices,
    };
    return cuzk_engine_open(&options, &daemon->engine, err);
}

/* Splits daemon.listen in place into at most LISTEN_MAX addresses. */
static enum cuzk_status split_addresses(char *list, const char **addresses, size_t *count,
                                        struct cuzk_error *err)
{
    *count = 0;
    for (char *rest = list, *address; (address = strsep(&rest, ",")) != NULL;) {
        while (*address == ' ')
            address++;
        if (!*address)
            continue;
        if (*count == LISTEN_MAX)
            return error_set(err, CUZK_INVALID_ARGUMENT, "daemon.listen: more than %d addresses",
                             LISTEN_MAX);
        addresses[(*count)++] = address;
    }
    return CUZK_OK;
}

static enum cuzk_status check_exposure(const struct config *config, const char *const *addresses,
                                       size_t count, struct cuzk_error *err)
{
    bool safe =
        *config_text(config, CONFIG_TLS_CERT) || config_number(config, CONFIG_ALLOW_INSECURE_TCP);
    for (size_t i = 0; i < count; i++) {
        bool private_only;
        TRY(rpc_address_check(addresses[i], &private_only, err));
        if (!private_only && !safe)
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "daemon.listen: %s is reachable from outside without TLS; set "
                             "tls.cert and tls.key, or daemon.allow_insecure_tcp = true",
                             addresses[i]);
    }
    return CUZK_OK;
}

static enum cuzk_status start_rpc(struct daemon *daemon, struct cuzk_error *err)
{
    const struct config *config = &daemon->config;
    const char *addresses[LISTEN_MAX];
    size_t count;
    char *list = mem_strdup(config_text(config, CONFIG_LISTEN));
    if (!list)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the addresses");
    const char *mode_text = config_text(config, CONFIG_SOCKET_MODE);
    char *end;
    unsigned long mode = strtoul(mode_text, &end, 8);
    enum cuzk_status status = split_addresses(list, addresses, &count, err);
    if (status == CUZK_OK && (*end || mode == 0 || mode > 0777))
        status =
            error_set(err, CUZK_INVALID_ARGUMENT,
                      "daemon.socket_mode = '%s': expected octal permissions like 0660", mode_text);
    if (status == CUZK_OK)
        status = check_exposure(config, addresses, count, err);
    if (status == CUZK_OK)
        status = service_create(daemon->engine, daemon->trace,
                                config_number(config, CONFIG_CANCEL_ON_DISCONNECT) != 0,
                                &daemon->service, err);
    if (status == CUZK_OK) {
        struct rpc_server_config server = {
            .listen = addresses,
            .listen_count = count,
            .unix_mode = (mode_t)mode,
            .inherit = true,
            .tls = {text_or_null(config, CONFIG_TLS_CERT), text_or_null(config, CONFIG_TLS_KEY),
                    text_or_null(config, CONFIG_TLS_CLIENT_CA)},
            .methods = service_methods(daemon->service),
            .method_count = SERVICE_METHOD_COUNT,
            .descriptors = cuzk_descriptors,
            .descriptors_len = cuzk_descriptors_len,
        };
        status = rpc_server_start(&server, &daemon->server, err);
    }
    mem_free(list);
    return status;
}

static enum cuzk_status add_text(char *body, struct text *out, struct cuzk_error *err)
{
    if (!body)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the answer");
    text_add_bytes(out, body, strlen(body));
    cuzk_text_free(body);
    return CUZK_OK;
}

static enum cuzk_status metrics_body(void *user, struct text *out, struct cuzk_error *err)
{
    struct daemon *daemon = user;
    return add_text(cuzk_engine_metrics_text(daemon->engine), out, err);
}

static enum cuzk_status status_body(void *user, struct text *out, struct cuzk_error *err)
{
    struct daemon *daemon = user;
    return add_text(cuzk_engine_status_json(daemon->engine), out, err);
}

static enum cuzk_status waterfall_body(void *user, struct text *out, struct cuzk_error *err)
{
    struct daemon *daemon = user;
    return waterfall_live_page(daemon->trace, out, err);
}

static enum cuzk_status start_http(struct daemon *daemon, struct cuzk_error *err)
{
    const char *address = config_text(&daemon->config, CONFIG_STATUS_LISTEN);
    if (!*address)
        return CUZK_OK;
    const struct http_route routes[] = {
        {"/metrics", "text/plain; version=0.0.4; charset=utf-8", metrics_body, daemon},
        {"/status", "application/json", status_body, daemon},
        {"/timeline", "text/html; charset=utf-8", waterfall_body, daemon},
    };
    return http_server_start(address, routes, sizeof routes / sizeof routes[0], &daemon->http, err);
}

static enum cuzk_status preload_circuits(struct daemon *daemon, struct cuzk_error *err)
{
    char *list = mem_strdup(config_text(&daemon->config, CONFIG_PRELOAD));
    if (!list)
        return error_set(err, CUZK_NO_MEMORY, "no memory for srs.preload");
    enum cuzk_status status = CUZK_OK;
    for (char *rest = list, *id; status == CUZK_OK && (id = strsep(&rest, ", ")) != NULL;) {
        bool already;
        uint64_t ms;
        if (!*id)
            continue;
        status = cuzk_engine_preload(daemon->engine, id, &already, &ms, err);
        if (status == CUZK_OK)
            log_info("serve", "%s loaded in %llu ms", id, (unsigned long long)ms);
        else
            error_prefix(err, "srs.preload");
    }
    mem_free(list);
    return status;
}

/* ---- running and stopping ---------------------------------------------------------------------
 */

static void reload(struct daemon *daemon, const char *path)
{
    struct config fresh;
    struct cuzk_error err = {0};
    enum cuzk_status status = config_load(path, &fresh, &err);
    if (status == CUZK_OK) {
        status = apply_logging(&fresh, &err);
        config_free(&fresh);
    }
    if (status == CUZK_OK && *config_text(&daemon->config, CONFIG_TLS_CERT))
        status = rpc_server_reload_tls(daemon->server, &err);
    if (status == CUZK_OK)
        log_info("serve", "configuration reloaded");
    else
        log_error("serve", "reload failed, the old settings stay: %s", err.text);
}

/* Waits for a signal, at most a second when `poll` is set; 0 for none. */
static int next_signal(const sigset_t *signals, bool poll)
{
    struct timespec second = {.tv_sec = 1};
    int got;
    do {
        got = poll ? sigtimedwait(signals, NULL, &second) : sigwaitinfo(signals, NULL);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? 0 : got;
}

/* Ends gracefully: no new calls, running jobs finish, their answers go out. False when it was cut
   short by a second signal or by the time limit. */
static bool drain(struct daemon *daemon, const sigset_t *signals)
{
    uint64_t limit = clock_now_ms() + config_number(&daemon->config, CONFIG_DRAIN_TIMEOUT);
    bool keeps_queue = *config_text(&daemon->config, CONFIG_STATE_DIR) != '\0';
    notify("STOPPING=1");
    log_info("serve", "draining: no new jobs, running ones finish");
    rpc_server_set_serving(daemon->server, false);
    cuzk_engine_drain(daemon->engine, !keeps_queue);
    while (!cuzk_engine_wait_idle(daemon->engine, 200)) {
        int got = next_signal(signals, true);
        if (got == SIGTERM || got == SIGINT || clock_now_ms() >= limit) {
            log_warn("serve", "%s, unfinished jobs are %s", got ? "second signal" : "drain_timeout",
                     keeps_queue ? "kept for the next start" : "lost");
            return false;
        }
    }
    rpc_server_drain(daemon->server);
    return rpc_server_wait(daemon->server, 5000);
}

static void stop(struct daemon *daemon)
{
    http_server_stop(daemon->http);
    if (daemon->server)
        rpc_server_stop(daemon->server);
    /* Closing the engine answers every call that still waits for a proof. */
    if (daemon->engine)
        cuzk_engine_close(daemon->engine);
    service_free(daemon->service);
    rpc_server_free(daemon->server);
    trace_destroy(daemon->trace);
    config_free(&daemon->config);
}

static enum cuzk_status start(struct daemon *daemon, struct cuzk_error *err)
{
    TRY(apply_logging(&daemon->config, err));
    TRY(start_engine(daemon, err));
    TRY(start_rpc(daemon, err));
    TRY(start_http(daemon, err));
    TRY(preload_circuits(daemon, err));
    for (size_t i = 0; rpc_server_address(daemon->server, i); i++)
        log_info("serve", "listening on %s", rpc_server_address(daemon->server, i));
    if (daemon->http)
        log_info("serve", "status on http://%s", http_server_address(daemon->http));
    return CUZK_OK;
}

int command_serve(int argc, char **argv)
{
    struct daemon daemon = {0};
    const char *config_path;
    int code = read_options(argc, argv, &daemon.config, &config_path);
    if (code >= 0)
        return code;

    /* Threads inherit the mask, so signals reach only the loop below. A peer that goes away must
       not kill the daemon either. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);

    struct cuzk_error err = {0};
    if (start(&daemon, &err) != CUZK_OK) {
        code = exit_with_error("cuzk", &err);
        stop(&daemon);
        return code;
    }
    notify("READY=1");
    for (;;) {
        int got = next_signal(&signals, false);
        if (got == SIGHUP)
            reload(&daemon, config_path);
        else if (got == SIGTERM || got == SIGINT)
            break;
    }
    code = drain(&daemon, &signals) ? EXIT_CODE_OK : EXIT_CODE_FAILED;
    stop(&daemon);
    return code;
}
