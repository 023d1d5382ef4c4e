#include "base/file.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum cuzk_status open_regular(const char *path, int *fd, struct stat *info,
                                     struct cuzk_error *err)
{
    /* Non-blocking: opening a named pipe in place of a file must not wait for a writer. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return error_errno(err, CUZK_IO, errno, "cannot open %s", path);
    if (fstat(*fd, info) != 0 || !S_ISREG(info->st_mode)) {
        close(*fd);
        return error_set(err, CUZK_IO, "%s: not a regular file", path);
    }
    return CUZK_OK;
}

static enum cuzk_status read_whole(int fd, uint8_t *data, size_t len, const char *path,
                                   struct cuzk_error *err)
{
    for (size_t done = 0; done < len;) {
        ssize_t got = read(fd, data + done, len - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, CUZK_IO, errno, "cannot read %s", path);
        if (got == 0)
            return error_set(err, CUZK_IO, "%s: got shorter while it was read", path);
        done += (size_t)got;
    }
    return CUZK_OK;
}

enum cuzk_status file_read(const char *path, size_t max_bytes, uint8_t **data, size_t *len,
                           struct cuzk_error *err)
{
    int fd;
    struct stat info;
    TRY(open_regular(path, &fd, &info, err));
    size_t bytes = (size_t)info.st_size;
    enum cuzk_status status = CUZK_OK;
    uint8_t *buffer = NULL;
    if (bytes > max_bytes)
        status = error_set(err, CUZK_RESOURCE_EXHAUSTED, "%s: %zu bytes, at most %zu are taken",
                           path, bytes, max_bytes);
    else if (!(buffer = mem_alloc(bytes + 1, 1)))
        status = error_set(err, CUZK_NO_MEMORY, "%s: no memory for %zu bytes", path, bytes);
    else
        status = read_whole(fd, buffer, bytes, path, err);
    close(fd);
    if (status != CUZK_OK) {
        mem_free(buffer);
        return status;
    }
    buffer[bytes] = 0;
    *data = buffer;
    *len = bytes;
    return CUZK_OK;
}

static int64_t modified_ns(const struct stat *info)
{
    return (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
}

enum cuzk_status file_map_open(const char *path, struct file_map *map, struct cuzk_error *err)
{
    struct stat info;
    int fd;
    TRY(open_regular(path, &fd, &info, err));
    if (info.st_size == 0) {
        close(fd);
        return error_set(err, CUZK_IO, "%s: the file is empty", path);
    }
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
        int saved = errno;
        close(fd);
        return error_errno(err, CUZK_IO, saved, "cannot map %s", path);
    }
    *map = (struct file_map){
        .data = data, .len = (size_t)info.st_size, .fd = fd, .modified_ns = modified_ns(&info)};
    return CUZK_OK;
}

void file_map_close(struct file_map *map)
{
    if (!map->data)
        return;
    munmap(unconst(map->data), map->len);
    close(map->fd);
    *map = (struct file_map){.fd = -1};
}

enum cuzk_status file_map_check(const struct file_map *map, struct cuzk_error *err)
{
    struct stat info;
    if (fstat(map->fd, &info) != 0)
        return error_errno(err, CUZK_IO, errno, "cannot look at a mapped file");
    if ((size_t)info.st_size != map->len)
        return error_set(err, CUZK_IO, "the file changed under the map: %zu bytes, was %zu",
                         (size_t)info.st_size, map->len);
    if (modified_ns(&info) != map->modified_ns)
        return error_set(err, CUZK_IO, "the file was written to under the map");
    return CUZK_OK;
}

enum cuzk_status file_write(const char *path, const void *data, size_t len, struct cuzk_error *err)
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return error_set(err, CUZK_INVALID_ARGUMENT, "file name too long: %s", path);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_errno(err, CUZK_IO, errno, "cannot create %s", part);
    const uint8_t *bytes = data;
    int saved = 0;
    for (size_t done = 0; done < len && !saved;) {
        ssize_t put = write(fd, bytes + done, len - done);
        if (put >= 0)
            done += (size_t)put;
        else if (errno != EINTR)
            saved = errno;
    }
    if (!saved && fsync(fd) != 0)
        saved = errno;
    close(fd);
    if (!saved && rename(part, path) != 0)
        saved = errno;
    if (saved) {
        unlink(part);
        return error_errno(err, CUZK_IO, saved, "cannot write %s", path);
    }
    return CUZK_OK;
}

enum cuzk_status file_make_dirs(const char *path, struct cuzk_error *err)
{
    char partial[PATH_MAX];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof partial)
        return error_set(err, CUZK_INVALID_ARGUMENT, "bad folder name: '%s'", path);
    memcpy(partial, path, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (partial[i] != '/' && partial[i] != '\0')
            continue;
        char kept = partial[i];
        partial[i] = '\0';
        if (mkdir(partial, 0755) != 0 && errno != EEXIST)
            return error_errno(err, CUZK_IO, errno, "cannot create folder %s", partial);
        partial[i] = kept;
    }
    return CUZK_OK;
}
