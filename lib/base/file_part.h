/* A large file while it is written. It is "path.part" until it is complete, so `path` itself is the
   old file, the complete new one, or absent. One process at a time writes it. The remains of a
   process that died are overwritten by the next one. */
#ifndef BASE_FILE_PART_H
#define BASE_FILE_PART_H

#include <cuzk/status.h>
#include <limits.h>
#include <stddef.h>

struct file_part {
    char path[PATH_MAX]; /* final name */
    char part[PATH_MAX]; /* name until then */
    int fd;              /* open for reading and writing */
};

/* Begins a file of `bytes` bytes, all zero. All of the space is allocated now: a full disk is
   reported before the work starts, and later writes through a map cannot fail for lack of space.
   CUZK_IO names the file. CUZK_FAILED_PRECONDITION: another process is writing it. After a failure
   there is nothing to finish or drop. */
enum cuzk_status file_part_begin(struct file_part *file, const char *path, size_t bytes,
                                 struct cuzk_error *err);
/* Writes `len` bytes at `offset`. Any thread may call it. CUZK_IO names the file. */
enum cuzk_status file_part_write(const struct file_part *file, size_t offset, const void *bytes,
                                 size_t len, struct cuzk_error *err);
/* Makes the file durable and gives it its final name. If that fails, the file is removed. */
enum cuzk_status file_part_finish(struct file_part *file, struct cuzk_error *err);
/* Removes the file. */
void file_part_drop(struct file_part *file);

#endif
