/* Files: whole reads with a limit, read-only maps, and writes that appear completely or not at
   all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <cuzk/status.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a regular file of at most max_bytes. *data gets one extra terminating zero byte; free with
   mem_free. */
enum cuzk_status file_read(const char *path, size_t max_bytes, uint8_t **data, size_t *len,
                           struct cuzk_error *err);

/* A file mapped read-only. */
struct file_map {
    const uint8_t *data;
    size_t len;
    int fd;
    int64_t modified_ns; /* modification time when it was mapped */
};

/* Maps a regular, non-empty file. The descriptor stays open, so that file_map_check notices when
   the file was truncated or written to. */
enum cuzk_status file_map_open(const char *path, struct file_map *map, struct cuzk_error *err);
void file_map_close(struct file_map *map);

/* CUZK_IO if the size or the modification time of the file has changed since it was mapped. */
enum cuzk_status file_map_check(const struct file_map *map, struct cuzk_error *err);

/* Writes the file through "path.part", fsync and rename: a reader sees either the old file or the
   whole new one. */
enum cuzk_status file_write(const char *path, const void *data, size_t len, struct cuzk_error *err);

/* Creates the folder and its missing parents (mode 0755). */
enum cuzk_status file_make_dirs(const char *path, struct cuzk_error *err);

#endif
