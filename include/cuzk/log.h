/* What the library has to say beside its results: parameters loaded, a device quarantined, a job
   done. The library itself writes nowhere: it hands each entry to the sink that the program has
   set. A failure of a call is never only logged: that is what struct cuzk_error is for.

   One exception: before the library ends the process because of a bug of its own (a failed internal
   check), it writes one line to stderr, as assert does. */
#ifndef CUZK_LOG_H
#define CUZK_LOG_H

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* In the order of falling importance. */
enum cuzk_log_level {
    CUZK_LOG_ERROR, /* something failed that the operator should look at */
    CUZK_LOG_WARN,  /* work goes on, but not as configured or not as well as it could */
    CUZK_LOG_INFO,
    CUZK_LOG_DEBUG,
};

/* Receives one entry. area: the part of the library that speaks ("engine", "cuda"); text: one line
   without a newline, all control characters replaced by '?', at most 2,047 bytes. Both are valid
   during the call only. The function is called on whatever thread has something to say, on several
   at the same time; it must not block for long, and must not call cuzk_log_set_sink. */
typedef void cuzk_log_fn(void *context, enum cuzk_log_level level, const char *area,
                         const char *text);

/* Sets the sink of this process; NULL (as at the start): entries are dropped. May be called at any
   time from any thread. When it returns, the sink that was set before is not called any more and is
   in no call. */
void cuzk_log_set_sink(cuzk_log_fn *sink, void *context);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
