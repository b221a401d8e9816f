#define _GNU_SOURCE // O_DIRECT
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

bool sink_open(sink *s, const char *path, size_t write_bytes, bool direct) {
  *s = (sink){.capacity = write_bytes, .direct = direct};
  int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (direct ? O_DIRECT : 0);
  s->descriptor = open(path, flags, 0644);
  if (s->descriptor < 0) return false;
  return (errno = posix_memalign((void **)&s->buffer, PAGE, write_bytes)) == 0;
}

static bool flush(sink *s, size_t count) {
  for (size_t done = 0; done < count;) {
    ssize_t n = pwrite(s->descriptor, s->buffer + done, count - done, s->offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
    s->offset += n;
  }
  s->filled = 0;
  return true;
}

bool sink_write(sink *s, const char *bytes, size_t count) {
  while (count > 0) {
    size_t room = s->capacity - s->filled, part = count < room ? count : room;
    memcpy(s->buffer + s->filled, bytes, part);
    s->filled += part;
    bytes += part;
    count -= part;
    if (s->filled == s->capacity && !flush(s, s->capacity)) return false;
  }
  return true;
}

/// O_DIRECT writes whole pages: the last one is padded and the file then cut to its length.
static bool flush_tail(sink *s) {
  if (!s->direct || s->filled % PAGE == 0) return flush(s, s->filled);
  int64_t length = s->offset + (int64_t)s->filled;
  size_t padded = (s->filled + PAGE - 1) / PAGE * PAGE;
  memset(s->buffer + s->filled, 0, padded - s->filled);
  return flush(s, padded) && ftruncate(s->descriptor, length) == 0;
}

bool sink_close(sink *s) {
  bool written = flush_tail(s);
  free(s->buffer);
  return close(s->descriptor) == 0 && written;
}
