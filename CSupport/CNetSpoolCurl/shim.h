#if !__has_include(<curl/curl.h>)
#error "NetSpool needs libcurl, libuv, LMDB and zlib: apt-get install libcurl4-openssl-dev libuv1-dev liblmdb-dev zlib1g-dev"
#endif
#include <curl/curl.h>
