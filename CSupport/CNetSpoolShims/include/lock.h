/// A lock for words that many threads meet at (lock.c says why and how). It goes when Swift's own does not hand over through
/// the kernel.
#ifndef CNETSPOOL_LOCK_H
#define CNETSPOOL_LOCK_H

#include <stdint.h>

/// Zeroed: free.
typedef struct {
  uint32_t state;
  /// How often a thread lately had to look before it was free. A guess: written without order.
  int32_t looks;
} cnetspool_lock;

void cnetspool_lock_take(cnetspool_lock *_Nonnull lock);
/// 1 when it was free and is taken now.
int cnetspool_lock_try(cnetspool_lock *_Nonnull lock);
void cnetspool_lock_give(cnetspool_lock *_Nonnull lock);

#endif
