/* A large file in the making. It lies under "path.part" until it is whole: under its own name there
   is the old file, the whole new one, or none. One process at a time makes it, and what a process
   left that died is no obstacle to the next. */
#ifndef BASE_FILE_PART_H
#define BASE_FILE_PART_H

#include <cuzk/status.h>
#include <limits.h>
#include <stddef.h>

struct file_part {
    char path[PATH_MAX]; /* its name to be */
    char part[PATH_MAX]; /* and until then */
    int fd;              /* open for reading and writing */
};

/* Begins a file of so many bytes, all zero. Space for all of it is taken now, so that a full disk
   is told before the work, and later writes through a map cannot fail for it. CUZK_IO names the
   file; CUZK_FAILED_PRECONDITION: another process makes it now. After a failure there is nothing to
   end. */
enum cuzk_status file_part_begin(struct file_part *file, const char *path, size_t bytes,
                                 struct cuzk_error *err);
/* Writes some of its bytes; from any thread. CUZK_IO names the file. */
enum cuzk_status file_part_write(const struct file_part *file, size_t offset, const void *bytes,
                                 size_t len, struct cuzk_error *err);
/* Ends it: durable, and under its own name. If that fails, it is removed. */
enum cuzk_status file_part_finish(struct file_part *file, struct cuzk_error *err);
/* Ends it: removed. */
void file_part_drop(struct file_part *file);

#endif
