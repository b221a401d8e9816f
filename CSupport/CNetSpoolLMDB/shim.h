#if !__has_include(<lmdb.h>)
#error "NetSpool needs libcurl, libuv, LMDB and zlib, and LMDB is missing: run CSupport/install"
#endif
#include <lmdb.h>
#if MDB_VERSION_FULL < MDB_VERINT(0, 9, 24)
#error "NetSpool needs LMDB 0.9.24 or later, as Debian 12 and Ubuntu 22.04 have it: use a newer system or build LMDB into /usr/local"
#endif
