/// Linux calls and flags that the Glibc module hides because Swift imports it without _GNU_SOURCE.
/// Each goes when that module shows it.
#ifndef CNETSPOOL_SYSTEM_FILE_H
#define CNETSPOOL_SYSTEM_FILE_H

#include <stdint.h>

/// O_DIRECT, O_PATH and O_TMPFILE; their values differ between processors.
extern const int cnetspool_o_direct, cnetspool_o_path, cnetspool_o_tmpfile;

/// fallocate(2) keeping the length. 0, or -1 and errno.
int cnetspool_reserve(int descriptor, int64_t offset, int64_t bytes);
/// preadv2(2) of what the page cache has (RWF_NOWAIT): fewer bytes, or -1 and EAGAIN, where the disk would be waited for.
int64_t cnetspool_read_cached(int descriptor, void *_Nonnull buffer, int64_t bytes, int64_t offset);
/// renameat2(2) inside one directory that fails with EEXIST instead of replacing. 0, or -1 and errno.
int cnetspool_rename_new(int directory, const char *_Nonnull from, const char *_Nonnull to);

#endif
