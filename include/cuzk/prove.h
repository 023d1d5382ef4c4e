/* Proofs without a daemon: one call proves or synthesizes a PoRep C1 in this process. */
#ifndef CUZK_PROVE_H
#define CUZK_PROVE_H

#include <cuzk/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* What a call did, in nanoseconds of wall time. A phase that did not take place is 0. */
struct cuzk_phase_times {
    uint64_t parse_ns; /* C1 read and decoded, paths, columns and labels checked, inputs computed */
    uint64_t shape_ns; /* circuit compiled */
    uint64_t params_ns;    /* parameters mapped, checked, moved to the device */
    uint64_t synthesis_ns; /* sum over partitions */
    uint64_t device_ns;    /* devices at work: the three below and what lies between them */
    uint64_t eval_ns;      /* row values a and b */
    uint64_t ntt_ns;       /* quotient polynomial */
    uint64_t msm_ns;       /* the five group sums, which may overlap */
    uint64_t finish_ns;    /* blinding, assembly */
    uint64_t verify_ns;    /* every partition and the whole proof */
    uint64_t total_ns;
    uint64_t cpu_ns;         /* user and system time of the process during the call */
    uint64_t peak_rss_bytes; /* of the process so far */
};

/* Called on the thread that called cuzk_prove_c1, within a tenth of a second after a phase is done.
   partition counts from 0; -1: the phase was one of the whole proof. A partition that is done again
   has its phases reported again. */
typedef void cuzk_progress_fn(void *context, const char *phase, int partition,
                              unsigned n_partitions, uint64_t phase_ns);

/* Zero-initialise, then set what differs from the default. */
struct cuzk_prove_options {
    const char *param_cache; /* folder of parameter files; required */
    const char *backend;     /* "cpu", "cuda"; NULL: the best that this machine can run */
    unsigned threads;        /* 0: all of this process */
    bool has_sector_number;  /* compare replica_id with this sector of this miner */
    uint64_t sector_number;
    bool has_miner_id;
    uint64_t miner_id;
    cuzk_progress_fn *progress; /* may be NULL */
    void *progress_context;
};

/* Proves all partitions of a C1 (plain JSON or its wrapper) and verifies them, each by itself and
   all together: one job of an engine (cuzk/engine.h) that is opened for it. *proof receives
   CUZK_PROOF_BYTES for each partition; free with cuzk_proof_free. times may be NULL. Errors are
   those of opening an engine, of a submission, and of the job. */
enum cuzk_status cuzk_prove_c1(const struct cuzk_prove_options *options, const uint8_t *c1,
                               size_t c1_len, uint8_t **proof, size_t *proof_len,
                               struct cuzk_phase_times *times, struct cuzk_error *err);
void cuzk_proof_free(uint8_t *proof);

/* Writes one line about a backend ("cuda", "cpu", "sim") to out: what it finds on this machine, or
   why it cannot be used ("not built in", "no device"). */
void cuzk_backend_describe(const char *name, char *out, size_t out_bytes);

/* Synthesis alone, for benches and comparison with the reference. */
struct cuzk_synth_options {
    unsigned partition;
    unsigned iterations; /* 0: 1; the fastest one is reported */
    unsigned threads;    /* 0: all of this process */
    bool digests;
};

struct cuzk_synth_report {
    /* All partitions are checked in parse_ns, none in synthesis_ns. */
    uint64_t parse_ns, shape_ns, synthesis_ns, rows_ns, total_ns;
    uint64_t synthesis_cpu_ns; /* of the fastest iteration */
    uint64_t peak_rss_bytes;
    uint64_t witness_bytes, shape_bytes;
    uint64_t n_rows, n_aux, n_inputs; /* n_inputs with the constant 1 */
    /* SHA-256 over canonical little-endian elements, as in the reference vectors; with digests
     * only. */
    uint8_t inputs_sha256[32], aux_sha256[32], a_sha256[32], b_sha256[32], c_sha256[32];
};

/* CUZK_INVALID_ARGUMENT for a bad C1 or a partition that it has not. */
enum cuzk_status cuzk_synth_c1(const struct cuzk_synth_options *options, const uint8_t *c1,
                               size_t c1_len, struct cuzk_synth_report *out,
                               struct cuzk_error *err);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
