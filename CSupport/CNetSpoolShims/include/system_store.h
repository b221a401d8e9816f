/// Linux calls that the Glibc module hides and the stores need. Each goes when that module shows it.
#ifndef CNETSPOOL_SYSTEM_STORE_H
#define CNETSPOOL_SYSTEM_STORE_H

#include <stdint.h>

/// The magic number of the file system a descriptor is on, as fstatfs(2) gives it; -1 when it does not say.
int64_t cnetspool_file_system_type(int descriptor);

/// sem_clockwait(3) of a sem_t on CLOCK_MONOTONIC, until that clock shows so many microseconds. 0, or -1 and errno.
int cnetspool_semaphore_wait_until(void *_Nonnull semaphore, int64_t microseconds);

/// What the stores ask of a file. Here because Swift cannot name `struct stat` for certain: it belongs to
/// whichever module happened to read <sys/stat.h> first.
struct cnetspool_file_facts {
  uint64_t device;
  uint64_t inode;
  int64_t bytes;
  uint32_t owner;
  uint32_t mode;
};

/// fstat(2) of a descriptor, or fstatat(2) of a name in it that is no followed symlink. 0, or -1 and errno.
int cnetspool_file_facts(int descriptor, const char *_Nullable name, struct cnetspool_file_facts *_Nonnull facts);

#endif
