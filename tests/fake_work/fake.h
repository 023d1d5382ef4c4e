/* A made-up kind of work for tests of the engine: phases stop at gates that the test opens, proofs
   are a few bytes that the fake's verifier understands, and any step can be made to fail. */
#ifndef TESTS_ENGINE_FAKE_H
#define TESTS_ENGINE_FAKE_H

#include "engine/work.h"

#include <pthread.h>
#include <semaphore.h>

enum fake_phase { FAKE_PARSE, FAKE_SYNTH, FAKE_PROVE, FAKE_VERIFY, FAKE_LOAD, FAKE_PHASES };

enum { FAKE_LOG_MAX = 8192, FAKE_DEVICES_MAX = 8 };

/* One partition taken by a device, in the order of the takings. */
struct fake_taken {
    char tag;
    unsigned partition, device;
};

struct fake {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    long permits[FAKE_PHASES];     /* how many may pass the gate; negative: all */
    unsigned inside[FAKE_PHASES];  /* waiting at the gate */
    unsigned entered[FAKE_PHASES]; /* ever */
    unsigned most_inside[FAKE_PHASES];
    struct fake_taken taken[FAKE_LOG_MAX];
    unsigned n_taken;
    unsigned witnesses; /* alive */
    unsigned works;     /* alive */
    unsigned loads;     /* alive */

    /* How it behaves. prove_status is asked with the lock held; CUZK_VERIFY_FAILED makes a bad
       proof. */
    enum cuzk_status (*prove_status)(const struct fake_taken *take, unsigned attempt);
    unsigned attempts[256][64]; /* by tag and partition */
    enum cuzk_status parse_status, synth_status, load_status, check_status, verify_all_status;
    uint64_t host_bytes, partition_bytes;
    unsigned n_devices;
    bool simulated, results_anyway;
};

/* Everything open, nothing fails, n devices. */
void fake_init(struct fake *fake, unsigned n_devices);
void fake_destroy(struct fake *fake);

/* Gates. fake_hold closes one; fake_pass lets n through; fake_open opens it for good. */
void fake_hold(struct fake *fake, enum fake_phase phase);
void fake_pass(struct fake *fake, enum fake_phase phase, long n);
void fake_open(struct fake *fake, enum fake_phase phase);
/* Waits until n are waiting at a closed gate. */
void fake_wait_inside(struct fake *fake, enum fake_phase phase, unsigned n);
/* Waits until n have come to a gate since the beginning. */
void fake_wait_entered(struct fake *fake, enum fake_phase phase, unsigned n);

struct cuzk_engine_options;
struct cuzk_engine *fake_engine(struct fake *fake, const struct cuzk_engine_options *options);

/* Submits "tag, n partitions" and gives the job id. kind POREP unless priority is CRITICAL. */
enum cuzk_status fake_submit(struct cuzk_engine *engine, const char *request_id, char tag,
                             unsigned n_partitions, enum cuzk_priority priority,
                             char job_id[CUZK_JOB_ID_BYTES], bool *attached,
                             struct cuzk_error *err);

/* A result that a test waits for. */
struct fake_result {
    sem_t arrived;
    unsigned calls;
    enum cuzk_job_outcome outcome;
    char job_id[CUZK_JOB_ID_BYTES];
    uint8_t proof[64 * CUZK_PROOF_BYTES];
    size_t proof_len;
    struct cuzk_error error;
    uint64_t total_ms, queue_ms, synthesis_ms, device_ms;
};

void fake_result_init(struct fake_result *result);
void fake_result_fn(void *context, const struct cuzk_result *result);
/* Watches and waits. */
void fake_await(struct cuzk_engine *engine, const char *job_id, uint64_t timeout_ms,
                struct fake_result *result);
/* Is this the proof of that job? */
bool fake_proof_is_of(const struct fake_result *result, char tag, unsigned n_partitions);

#endif
