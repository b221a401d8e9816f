#define _GNU_SOURCE
#include "system_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>

const int cnetspool_o_direct = O_DIRECT;
const int cnetspool_o_path = O_PATH;
const int cnetspool_o_tmpfile = O_TMPFILE;

int cnetspool_reserve(int descriptor, int64_t offset, int64_t bytes) {
  return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, bytes);
}

int64_t cnetspool_read_cached(int descriptor, void *buffer, int64_t bytes, int64_t offset) {
  return preadv2(descriptor, &(struct iovec){buffer, bytes}, 1, offset, RWF_NOWAIT);
}

int cnetspool_rename_new(int directory, const char *from, const char *to) {
  return renameat2(directory, from, directory, to, RENAME_NOREPLACE);
}
