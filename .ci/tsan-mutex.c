// What ThreadSanitizer must know of Swift's Mutex.
//
// The uncontended half of Synchronization.Mutex is inlined into our code and instrumented. The contended half
// waits in libswiftSynchronization.so, which is not: ThreadSanitizer then misses that the lock was handed over,
// and reports every second access under it. Suppressing those reports would hide real races in the same
// functions, so this library, preloaded, says what happened. Only for test runs:
//
//   clang -shared -fPIC -O1 -o tsan-mutex.so .ci/tsan-mutex.c
//   LD_PRELOAD=$PWD/tsan-mutex.so swift test --sanitize=thread
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Weak: the programs that start the tests are not instrumented.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lockSlow(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT bool tryLockSlow(SELF void *handle) __asm__(TRY_LOCK);
SWIFT void unlockSlow(SELF void *handle) __asm__(UNLOCK);

SWIFT void lockSlow(uint32_t thread, SELF void *handle) {
  static SWIFT void (*next)(uint32_t, SELF void *);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, LOCK);
  next(thread, handle);
  if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT bool tryLockSlow(SELF void *handle) {
  static SWIFT bool (*next)(SELF void *);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, TRY_LOCK);
  bool isLocked = next(handle);
  if (isLocked && __tsan_acquire) __tsan_acquire(handle);
  return isLocked;
}

SWIFT void unlockSlow(SELF void *handle) {
  static SWIFT void (*next)(SELF void *);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, UNLOCK);
  if (__tsan_release) __tsan_release(handle);
  next(handle);
}
