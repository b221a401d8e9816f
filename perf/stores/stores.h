/// Places for bodies, each as bare as it can be used: open, put, get.
#ifndef STORES_H
#define STORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// 16 bytes that look like a hash: what a key of that length costs, without the hashing.
typedef struct {
  uint64_t halves[2];
} store_key;

typedef struct {
  const char *name;
  /// Opens what lies in a folder, or makes it; ends the process when it cannot. `bytes`: room for all bodies.
  void (*open)(const char *folder, size_t bytes);
  /// Between `begin` and `commit` only.
  void (*begin)(void);
  void (*put)(store_key key, const uint8_t *body, size_t length);
  void (*commit)(void);
  /// Finds a body and touches it; answers what `store_touch` did, or 0 if it is not there.
  uint64_t (*get)(store_key key);
} store;

extern const store store_lmdb, store_lmdb_copy, store_sqlite, store_file;

/// Reads a byte of each page, as somebody who was given the body would at least. Never 0.
uint64_t store_touch(const uint8_t *body, size_t length);

/// Writes `count` records in commits of `per_commit`; with `sync` each is on the disk before the next begins.
void store_write(const char *folder, long count, long per_commit, size_t bytes, bool sync);

/// The time that all threads took together, from a common start to the end of the last, and what they did not find.
typedef struct {
  double seconds;
  long missing;
} threads_result;

enum { THREADS_MAX = 120 }; // LMDB has room for 126 readers unless told otherwise

/// Has so many threads make `count` lookups each; `look_up` answers how many of those from `first` on were not there.
threads_result threads_look_up(long threads, long count, long (*look_up)(const void *, long first, long count), const void *context);

/// Room for a copy of the largest body.
extern uint8_t *store_buffer;

/// Says what could not be done and ends the process with status 1.
_Noreturn void store_fail(const char *what, const char *why);

#endif
