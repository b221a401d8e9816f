/// A file that takes a body in large writes, through the page cache or around it.
#ifndef RAW_SINK_H
#define RAW_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  int descriptor;
  char *buffer; ///< aligned to a page, as O_DIRECT wants it
  size_t filled, capacity;
  int64_t offset;
  bool direct;
} sink;

/// Creates or empties `path`. False with errno set if it cannot be written that way.
bool sink_open(sink *s, const char *path, size_t write_bytes, bool direct);

/// Collects the bytes and writes whenever `write_bytes` are together.
bool sink_write(sink *s, const char *bytes, size_t count);

/// Writes the rest and closes.
bool sink_close(sink *s);

#endif
