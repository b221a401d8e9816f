#if !__has_include(<uv.h>)
#error "NetSpool needs libcurl, libuv, LMDB and zlib, and libuv is missing: run CSupport/install"
#endif
#include <uv.h>
#if UV_VERSION_HEX < 0x012c00
#error "NetSpool needs libuv 1.44 or later, as Debian 12 and Ubuntu 24.04 have it: use a newer system or build libuv into /usr/local"
#endif
