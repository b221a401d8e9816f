/// SHA-256 (FIPS 180-4). Here because the toolchain brings none and a crypto library is too heavy for a
/// digest of what was downloaded. Uses the CPU's SHA instructions where it has them (x86-64).
#ifndef CNETSPOOL_SHA256_H
#define CNETSPOOL_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A digest in progress. A plain value: a copy is a second digest of the same beginning.
typedef struct cnetspool_sha256 {
  uint32_t state[8];
  uint64_t length;    // bytes taken so far
  uint8_t block[64];  // its first length % 64 bytes are waiting for the rest of the block
  bool accelerated;
} cnetspool_sha256;

/// A digest of nothing yet. `accelerated`: false takes the portable path whatever the CPU can do.
cnetspool_sha256 cnetspool_sha256_make(bool accelerated);
void cnetspool_sha256_update(cnetspool_sha256 *_Nonnull digest, const void *_Nullable bytes, size_t count);
void cnetspool_sha256_finish(cnetspool_sha256 *_Nonnull digest, uint8_t *_Nonnull out32);

#endif
