#define _GNU_SOURCE
#include "system_file.h"

#include <fcntl.h>
#include <stdio.h>

const int cnetspool_o_direct = O_DIRECT;
const int cnetspool_o_path = O_PATH;
const int cnetspool_o_tmpfile = O_TMPFILE;

int cnetspool_reserve(int descriptor, int64_t offset, int64_t bytes) {
  return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, bytes);
}

int cnetspool_rename_new(int directory, const char *from, const char *to) {
  return renameat2(directory, from, directory, to, RENAME_NOREPLACE);
}
