#if !__has_include(<zlib.h>)
#error "NetSpool needs libcurl, libuv, LMDB and zlib, and zlib is missing: run CSupport/install"
#endif
#include <zlib.h>
