// Records what a process asks of the file system, so that what a power loss could have left can be made afterwards.
//
//   clang -shared -fPIC -O1 -o recorder.so recorder.c
//   LD_PRELOAD=$PWD/recorder.so CRASH_ROOT=/directory CRASH_TRACE=/file program
//
// Noted are the calls on files and directories below CRASH_ROOT, and what is printed to standard output. CRASH_TRACE
// is appended to. A note is a `struct note` and `length` bytes; one call of write(2), so that a killed process leaves
// no half of it.
//
// A call that changes something is noted before it is made, because it may be half done when the power goes. A sync,
// and the return of a write to a descriptor with O_DSYNC, is noted after it: from then on the disk has it. Stores
// through a map are not seen: LMDB makes none without MDB_WRITEMAP.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
  WRITTEN = 1,    // file, offset, bytes; flags 1: to a descriptor with O_DSYNC
  TRUNCATED = 2,  // file, offset: the new length
  SYNCED = 3,     // file
  CREATED = 4,    // file, path
  REMOVED = 5,    // path
  RENAMED = 6,    // path, NUL, path
  MADE = 7,       // a directory: path
  LISTED = 8,     // a directory was synced: path
  SAID = 9,       // bytes
  LANDED = 10,    // file, offset, bytes: a write to a descriptor with O_DSYNC returned
};

struct note {
  uint32_t kind, flags;
  uint64_t file, offset, length;
};

#define FILES_MAX 1024
static struct {
  int known, is_directory, is_synced;
  uint64_t file;
  char path[PATH_MAX];
} files[FILES_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *root;
static size_t root_length;
static int trace = -1;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("CRASH_TRACE");
  root = getenv("CRASH_ROOT");
  if (!path || !root) return;
  root_length = strlen(root);
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  trace = fcntl(file, F_DUPFD_CLOEXEC, 900);  // where no program looks for its own
  syscall(SYS_close, file);
}

static void note(enum kind kind, uint32_t flags, uint64_t file, uint64_t offset, const void *bytes, size_t length) {
  if (trace < 0) return;
  struct note head = {kind, flags, file, offset, length};
  struct iovec parts[2] = {{&head, sizeof head}, {(void *)bytes, length}};
  int saved = errno;
  pthread_mutex_lock(&lock);
  if (syscall(SYS_writev, trace, parts, 2) != (long)(sizeof head + length)) abort();
  pthread_mutex_unlock(&lock);
  errno = saved;
}

static int knows(int fd) { return fd >= 0 && fd < FILES_MAX && files[fd].known; }

static const char *below_root(const char *path) {
  if (!root || strncmp(path, root, root_length) != 0) return NULL;
  return path[root_length] == '/' ? path + root_length + 1 : path[root_length] ? NULL : "";
}

// A path as its directory's descriptor sees it; NULL when it is not ours.
static const char *resolve(int at, const char *name, char *buffer) {
  if (trace < 0) return NULL;
  if (name[0] == '/') return below_root(name);
  if (!knows(at)) return NULL;
  snprintf(buffer, PATH_MAX, "%s%s%s", files[at].path, files[at].path[0] ? "/" : "", name);
  return buffer;
}

static void did_open(int fd, int flags, int is_new, const char *path) {
  struct stat status;
  if (fd < 0 || fd >= FILES_MAX || !path || fstat(fd, &status) != 0) return;
  snprintf(files[fd].path, PATH_MAX, "%s", path);
  files[fd].file = status.st_ino;
  files[fd].is_directory = S_ISDIR(status.st_mode);
  files[fd].is_synced = (flags & O_DSYNC) != 0;
  files[fd].known = 1;
  if (is_new) note(CREATED, 0, status.st_ino, 0, path, strlen(path));
}

static int open_any(int at, const char *name, int flags, mode_t mode) {
  char buffer[PATH_MAX], copy[PATH_MAX];
  const char *path = resolve(at, name, buffer);
  if (path) path = strcpy(copy, path);
  struct stat status;
  int is_new = path && (flags & O_CREAT) && fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) != 0;
  int fd = (int)syscall(SYS_openat, at, name, flags, mode);
  if (path && fd >= 0 && !is_new && (flags & O_TRUNC)) abort();  // nobody here does that
  did_open(fd, flags, is_new, path);
  return fd;
}

#define OPEN(name, parameters, at, path)                        \
  int name parameters {                                         \
    va_list rest;                                               \
    va_start(rest, flags);                                      \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                               \
    return open_any(at, path, flags, mode);                     \
  }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD, path)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, path)
OPEN(openat, (int at, const char *path, int flags, ...), at, path)
OPEN(openat64, (int at, const char *path, int flags, ...), at, path)

int close(int fd) {
  if (knows(fd)) files[fd].known = 0;
  return (int)syscall(SYS_close, fd);
}

// MARK: Bytes

static void will_write(int fd, const void *bytes, size_t length, off_t offset) {
  if (fd == STDOUT_FILENO) note(SAID, 0, 0, 0, bytes, length);
  if (knows(fd)) note(WRITTEN, files[fd].is_synced, files[fd].file, offset, bytes, length);
}

static ssize_t did_write(int fd, const void *bytes, ssize_t count, off_t offset) {
  if (count > 0 && knows(fd) && files[fd].is_synced) note(LANDED, 0, files[fd].file, offset, bytes, count);
  return count;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  will_write(fd, bytes, length, offset);
  return did_write(fd, bytes, syscall(SYS_pwrite64, fd, bytes, length, offset), offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) { return pwrite(fd, bytes, length, offset); }

ssize_t write(int fd, const void *bytes, size_t length) {
  off_t offset = knows(fd) ? lseek(fd, 0, SEEK_CUR) : 0;
  will_write(fd, bytes, length, offset);
  return did_write(fd, bytes, syscall(SYS_write, fd, bytes, length), offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  off_t offset = knows(fd) ? lseek(fd, 0, SEEK_CUR) : 0, at = offset;
  for (int part = 0; knows(fd) && part < count; at += parts[part++].iov_len) {
    will_write(fd, parts[part].iov_base, parts[part].iov_len, at);
  }
  if (knows(fd) && files[fd].is_synced) abort();  // LMDB writes no meta page so
  return syscall(SYS_writev, fd, parts, count);
}

int ftruncate(int fd, off_t length) {
  if (knows(fd)) note(TRUNCATED, 0, files[fd].file, length, NULL, 0);
  return (int)syscall(SYS_ftruncate, fd, length);
}
int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

static int did_sync(int fd, int result) {
  if (result != 0 || !knows(fd)) return result;
  if (files[fd].is_directory) note(LISTED, 0, 0, 0, files[fd].path, strlen(files[fd].path));
  else note(SYNCED, 0, files[fd].file, 0, NULL, 0);
  return result;
}
int fsync(int fd) { return did_sync(fd, (int)syscall(SYS_fsync, fd)); }
int fdatasync(int fd) { return did_sync(fd, (int)syscall(SYS_fdatasync, fd)); }

// A map that is written back would have to be recorded too.
int msync(void *address, size_t length, int flags) {
  if (trace >= 0) abort();
  return (int)syscall(SYS_msync, address, length, flags);
}

// MARK: Names

int mkdir(const char *name, mode_t mode) {
  int result = (int)syscall(SYS_mkdirat, AT_FDCWD, name, mode);
  const char *path = trace < 0 ? NULL : below_root(name);
  if (result == 0 && path) note(MADE, 0, 0, 0, path, strlen(path));
  return result;
}

static int remove_any(int at, const char *name, int flags) {
  char buffer[PATH_MAX];
  const char *path = resolve(at, name, buffer);
  struct stat status;
  if (path && fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) == 0) note(REMOVED, 0, 0, 0, path, strlen(path));
  return (int)syscall(SYS_unlinkat, at, name, flags);
}
int unlink(const char *path) { return remove_any(AT_FDCWD, path, 0); }
int unlinkat(int at, const char *path, int flags) { return remove_any(at, path, flags); }

int renameat(int from_at, const char *from, int to_at, const char *to) {
  char first[PATH_MAX], second[PATH_MAX], both[2 * PATH_MAX];
  const char *source = resolve(from_at, from, first), *target = resolve(to_at, to, second);
  if (source && target) {
    size_t length = (size_t)snprintf(both, sizeof both, "%s%c%s", source, 0, target);
    note(RENAMED, 0, 0, 0, both, length);
  }
  return (int)syscall(SYS_renameat2, from_at, from, to_at, to, 0);
}
int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }
