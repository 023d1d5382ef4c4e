#include "base/file_part.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The process that held the lock before may have finished or removed the file after this one opened
   it. The locked file is then the finished file or one without a name. */
static bool has_its_name(const struct file_part *file)
{
    struct stat ours, named;
    return fstat(file->fd, &ours) == 0 && stat(file->part, &named) == 0 &&
           ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

static enum cuzk_status take_space(const struct file_part *file, size_t bytes,
                                   struct cuzk_error *err)
{
    int failed = ftruncate(file->fd, 0) != 0 ? errno : 0;
    if (!failed && bytes > 0)
        do
            failed = posix_fallocate(file->fd, 0, (off_t)bytes);
        while (failed == EINTR);
    return failed
               ? error_errno(err, CUZK_IO, failed, "cannot write %s (%zu bytes)", file->part, bytes)
               : CUZK_OK;
}

enum cuzk_status file_part_begin(struct file_part *file, const char *path, size_t bytes,
                                 struct cuzk_error *err)
{
    if (snprintf(file->path, sizeof file->path, "%s", path) >= (int)sizeof file->path ||
        snprintf(file->part, sizeof file->part, "%s.part", path) >= (int)sizeof file->part)
        return error_set(err, CUZK_INVALID_ARGUMENT, "file name too long: %.100s…", path);
    file->fd = open(file->part, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file->fd < 0)
        return error_errno(err, CUZK_IO, errno, "cannot create %s", file->part);
    if (flock(file->fd, LOCK_EX | LOCK_NB) != 0 || !has_its_name(file)) {
        close(file->fd);
        return error_set(err, CUZK_FAILED_PRECONDITION, "%s: another process is writing it",
                         file->part);
    }
    enum cuzk_status status = take_space(file, bytes, err);
    if (status != CUZK_OK)
        file_part_drop(file);
    return status;
}

enum cuzk_status file_part_write(const struct file_part *file, size_t offset, const void *bytes,
                                 size_t len, struct cuzk_error *err)
{
    for (size_t done = 0; done < len;) {
        ssize_t put =
            pwrite(file->fd, (const char *)bytes + done, len - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return error_errno(err, CUZK_IO, put < 0 ? errno : ENOSPC, "cannot write %s",
                               file->part);
        done += (size_t)put;
    }
    return CUZK_OK;
}

/* A new name is durable once its folder is synced. */
static enum cuzk_status sync_folder(const struct file_part *file, struct cuzk_error *err)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", file->path);
    const char *folder = dirname(copy);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return failed ? error_errno(err, CUZK_IO, failed, "cannot sync %s", folder) : CUZK_OK;
}

enum cuzk_status file_part_finish(struct file_part *file, struct cuzk_error *err)
{
    enum cuzk_status status = CUZK_OK;
    if (fsync(file->fd) != 0)
        status = error_errno(err, CUZK_IO, errno, "cannot write %s", file->part);
    else if (rename(file->part, file->path) != 0)
        status = error_errno(err, CUZK_IO, errno, "cannot rename %s", file->part);
    if (status != CUZK_OK) {
        file_part_drop(file);
        return status;
    }
    close(file->fd); /* only now: the lock is held until the name is gone */
    return sync_folder(file, err);
}

void file_part_drop(struct file_part *file)
{
    unlink(file->part);
    close(file->fd);
}
