#define _GNU_SOURCE
#include "system_store.h"

#include <semaphore.h>
#include <sys/vfs.h>
#include <time.h>

int64_t cnetspool_file_system_type(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 ? (int64_t)(uint32_t)status.f_type : -1;
}

int cnetspool_semaphore_wait_until(void *semaphore, int64_t microseconds) {
  struct timespec time = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000};
  return sem_clockwait(semaphore, CLOCK_MONOTONIC, &time);
}
