/// Linux calls that the Glibc module hides and the stores need. Each goes when that module shows it.
#ifndef CNETSPOOL_SYSTEM_STORE_H
#define CNETSPOOL_SYSTEM_STORE_H

#include <stdint.h>

/// The magic number of the file system a descriptor is on, as fstatfs(2) gives it; -1 when it does not say.
int64_t cnetspool_file_system_type(int descriptor);

/// sem_clockwait(3) of a sem_t on CLOCK_MONOTONIC, until that clock shows so many microseconds. 0, or -1 and errno.
int cnetspool_semaphore_wait_until(void *_Nonnull semaphore, int64_t microseconds);

#endif
