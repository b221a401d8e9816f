#include "lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

// Swift's Mutex is a futex that inherits priorities: contended, the kernel hands it from one thread to the next, at most a
// hundred thousand times a second, whatever it guards. This one may be taken by whichever thread comes first, so that a thread
// that is running goes on.
//
// Three states (Drepper, "Futexes are tricky", mutex 3):
//   free     no thread has it.
//   taken    a thread has it, and none sleeps for it.
//   awaited  a thread has it, and others may sleep for it.
//
// Mutual exclusion: a thread has the lock after it has changed `free` into another state by one atomic step, and only its
// holder writes `free`.
// No lost wake-up: a thread sleeps only while the state is `awaited`, which the kernel compares as it puts it to sleep. The
// holder that leaves `awaited` wakes one. What that one does next is to write `awaited` again: it cannot know whether others
// sleep, so whoever leaves after it wakes the next. A thread that takes a free lock by that write is awaited by none, perhaps,
// and wakes in vain once.
// ThreadSanitizer sees the atomic steps, and with them the order that they make.
// BusyMutexTests walks through all interleavings of three threads.
enum { FREE, TAKEN, AWAITED };

static inline void rest(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// So often a thread looks at most before it sleeps: a few microseconds. None does where there is one processor, as it would keep
// the holder from it.
static int looks_max(void) {
  static int known = -1;
  int max = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (max >= 0) return max;
  max = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 200 : 0;
  __atomic_store_n(&known, max, __ATOMIC_RELAXED);
  return max;
}

int cnetspool_lock_try(cnetspool_lock *lock) {
  uint32_t expected = FREE;
  return __atomic_compare_exchange_n(&lock->state, &expected, TAKEN, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static int look(cnetspool_lock *lock) {
  const int usual = __atomic_load_n(&lock->looks, __ATOMIC_RELAXED);
  const int max = looks_max() < 2 * usual + 20 ? looks_max() : 2 * usual + 20;
  int count = 0, is_ours = 0;
  while (count < max && !is_ours) {
    count++;
    rest();
    is_ours = __atomic_load_n(&lock->state, __ATOMIC_RELAXED) == FREE && cnetspool_lock_try(lock);
  }
  // What is seldom free so soon is not looked at for long the next time.
  const int seen = is_ours ? count : 0;
  __atomic_store_n(&lock->looks, usual + (seen - usual) / 8, __ATOMIC_RELAXED);
  return is_ours;
}

void cnetspool_lock_take(cnetspool_lock *lock) {
  if (cnetspool_lock_try(lock) || look(lock)) return;
  while (__atomic_exchange_n(&lock->state, AWAITED, __ATOMIC_ACQUIRE) != FREE)
    syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, AWAITED, 0, 0, 0);
}

void cnetspool_lock_give(cnetspool_lock *lock) {
  if (__atomic_exchange_n(&lock->state, FREE, __ATOMIC_RELEASE) == AWAITED)
    syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
