/* valgrind 3.19 changes the mask that sigsuspend(2) is given in place, and dies when it stands in read-only memory,
 * as that of libdispatch's main thread does. Preloaded, this hands over a copy. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
  sigset_t copy = *mask;
  return (int)syscall(SYS_rt_sigsuspend, &copy, _NSIG / 8);
}
