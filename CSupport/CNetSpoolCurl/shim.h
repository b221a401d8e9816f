#if !__has_include(<curl/curl.h>)
#error "NetSpool needs libcurl, libuv, LMDB and zlib, and libcurl is missing: run CSupport/install"
#endif
#include <curl/curl.h>
#if LIBCURL_VERSION_NUM < 0x075801
#error "NetSpool needs libcurl 7.88.1 or later, as Debian 12 and Ubuntu 24.04 have it: use a newer system or build libcurl into /usr/local"
#endif
