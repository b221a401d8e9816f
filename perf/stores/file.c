#include "stores.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// 256 folders, as caches of this kind have.
static int root = -1;

static void name_of(store_key key, char *name) {
  sprintf(name, "%02x/%016llx%016llx", (unsigned)(key.halves[0] & 255), (unsigned long long)key.halves[0],
    (unsigned long long)key.halves[1]);
}

static void open_folder(const char *folder, size_t bytes) {
  (void)bytes;
  root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) store_fail(folder, strerror(errno));
  for (unsigned i = 0; i < 256; i++) {
    char name[4];
    sprintf(name, "%02x", i);
    if (mkdirat(root, name, 0700) != 0 && errno != EEXIST) store_fail(name, strerror(errno));
  }
}

static void nothing(void) {}

static void put(store_key key, const uint8_t *body, size_t length) {
  char name[40];
  name_of(key, name);
  int file = openat(root, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || write(file, body, length) != (ssize_t)length) store_fail(name, strerror(errno));
  close(file);
}

static uint64_t get(store_key key) {
  char name[40];
  name_of(key, name);
  int file = openat(root, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  struct stat status;
  ssize_t length = fstat(file, &status) == 0 ? read(file, store_buffer, (size_t)status.st_size) : -1;
  close(file);
  return length < 0 ? 0 : store_touch(store_buffer, (size_t)length);
}

const store store_file = {"file", open_folder, nothing, put, nothing, get};
