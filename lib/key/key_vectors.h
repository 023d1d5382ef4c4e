/* The five vectors of points of a proving key (docs/spec/groth16.md, part A.6): one type for the
   parameter file, the seam to the backends, and the devices.

   Points are those of the file: uncompressed, big-endian (part A.3), 96 bytes in G1 and 192 in G2.
   In a parameter file each vector is a section: the number of its points and the points. */
#ifndef KEY_KEY_VECTORS_H
#define KEY_KEY_VECTORS_H

#include "key/lagrange.h"
#include "r1cs/shape.h"

/* In the order of the file. All are in G1 but the last one. */
enum key_vector { KEY_H, KEY_L, KEY_A, KEY_B_G1, KEY_B_G2, KEY_VECTORS };

/* The vectors of one key. The points belong to what made the struct (an opened file, a test) and
   outlive every backend's circuit that was loaded with it. */
struct key_vectors {
    struct {
        const uint8_t *at; /* the first point */
        uint32_t n;        /* points */
    } v[KEY_VECTORS];
    bool is_file_map; /* read-only map of a file: its pages may be given back and read again */
    /* The form of h and l that spares transforms; lagrange.h NULL: there is none. A backend may use
       it in place of them: then h and l of its sums differ, h + l does not. */
    struct lagrange_points lagrange;
};

/* "h", "l", "a", "b_g1" or "b_g2". */
const char *key_vector_name(enum key_vector which);

/* Bytes of one of its points. */
size_t key_point_bytes(enum key_vector which);

/* Does the key fit the circuit? CUZK_BAD_PARAMS names the first vector that has not as many points
   as the circuit needs. */
enum cuzk_status key_check(const struct key_vectors *key, const struct shape *shape,
                           struct cuzk_error *err);

/* The same for the two vectors from which a Lagrange form is made. */
enum cuzk_status key_check_h_and_l(const struct key_vectors *key, const struct shape *shape,
                                   struct cuzk_error *err);

#endif
