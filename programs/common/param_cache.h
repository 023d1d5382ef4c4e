/* Where parameter files are looked for unless a flag says otherwise. */
#ifndef CUZK_PARAM_CACHE_H
#define CUZK_PARAM_CACHE_H

/* $FIL_PROOFS_PARAMETER_CACHE if it is set and not empty, else `fallback`. */
const char *param_cache_or(const char *fallback);

/* The folder that Filecoin's other programs use by default. */
#define PARAM_CACHE_DEFAULT "/var/tmp/filecoin-proof-parameters"

#endif
