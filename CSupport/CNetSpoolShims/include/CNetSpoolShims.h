/// What Swift cannot call by itself: variadic functions, function-like macros and thread-local variables,
/// as typed functions. Each group says why it exists and what would remove it.
#ifndef CNETSPOOL_SHIMS_H
#define CNETSPOOL_SHIMS_H

#if !__has_include(<curl/curl.h>)
#error "NetSpool needs libcurl, libuv, LMDB and zlib, and libcurl is missing: run CSupport/install"
#endif
#include <time.h>
#include <curl/curl.h>
#include <stdint.h>

#if LIBCURL_VERSION_NUM < 0x075801
#error "NetSpool needs libcurl 7.88.1 or later, as Debian 12 and Ubuntu 24.04 have it: use a newer system or build libcurl into /usr/local"
#endif

#include "lock.h"
#include "sha256.h"
#include "system_file.h"
#include "system_netlink.h"
#include "system_socket.h"
#include "system_store.h"

// curl_easy_setopt is variadic, which Swift cannot call: one typed wrapper per kind of argument.
// Gone when Swift imports variadic C functions.

static inline CURLcode cnetspool_easy_set_long(CURL *_Nonnull easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode cnetspool_easy_set_offset(CURL *_Nonnull easy, CURLoption option, int64_t value) {
  return curl_easy_setopt(easy, option, (curl_off_t)value);
}

static inline CURLcode cnetspool_easy_set_string(
    CURL *_Nonnull easy, CURLoption option, const char *_Nullable value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode cnetspool_easy_set_pointer(
    CURL *_Nonnull easy, CURLoption option, void *_Nullable value) {
  return curl_easy_setopt(easy, option, value);
}

typedef size_t (*cnetspool_data_callback)(
    char *_Nullable bytes, size_t size, size_t count, void *_Nullable context);
typedef int (*cnetspool_seek_callback)(void *_Nullable context, curl_off_t offset, int origin);
typedef curl_socket_t (*cnetspool_open_callback)(
    void *_Nullable context, curlsocktype purpose, struct curl_sockaddr *_Nonnull address);
typedef int (*cnetspool_close_callback)(void *_Nullable context, curl_socket_t socket);
typedef int (*cnetspool_prereq_callback)(
    void *_Nullable context, char *_Nullable primary, char *_Nullable local, int primary_port, int local_port);

#define CNETSPOOL_CALLBACK(handle, what, option) \
  static inline int cnetspool_##handle##_set_##what##_callback( \
      void *_Nonnull on, cnetspool_##what##_callback _Nullable callback) { \
    return (int)curl_##handle##_setopt(on, option, callback); \
  }

static inline CURLcode cnetspool_easy_set_data_callback(
    CURL *_Nonnull easy, CURLoption option, cnetspool_data_callback _Nullable callback) {
  return curl_easy_setopt(easy, option, callback);
}

CNETSPOOL_CALLBACK(easy, seek, CURLOPT_SEEKFUNCTION)
CNETSPOOL_CALLBACK(easy, open, CURLOPT_OPENSOCKETFUNCTION)
CNETSPOOL_CALLBACK(easy, close, CURLOPT_CLOSESOCKETFUNCTION)
CNETSPOOL_CALLBACK(easy, prereq, CURLOPT_PREREQFUNCTION)

/// An enumerator up to libcurl 8.13, and a macro since, which Swift imports as another type. Gone when 8.14 is the floor.
static inline CURLcode cnetspool_easy_ignore_netrc(CURL *_Nonnull easy) {
  return curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
}

/// With CURLOPT_HEADER every piece of a head comes to the body's callback first. Only a line that begins with a blank matters
/// to us; the others are waved through in C, as a call into Swift costs more than the look. The transfer sets `is_head`.
struct cnetspool_receiver {
  void *_Nullable transfer;
  cnetspool_data_callback _Nullable receive;
  int is_head, is_inside_line;
};
size_t cnetspool_receive(char *_Nullable bytes, size_t size, size_t count, void *_Nullable context);

CURLcode cnetspool_easy_allow_http_only(CURL *_Nonnull easy);

/// CURLE_TOO_LARGE, which came with libcurl 8.6 in place of CURLE_OUT_OF_MEMORY. Gone when 8.6 is the floor.
enum { cnetspool_curle_too_large = 100 };

// curl_easy_getinfo is variadic as well. What is asked once per transfer comes in one call.

/// Times in microseconds since the transfer began.
struct cnetspool_transfer_info {
  int64_t name_lookup;
  int64_t connect;
  int64_t app_connect;
  int64_t first_byte;
  int64_t total;
  int64_t bytes_received;
  int64_t bytes_sent;
  long new_connections;
  long os_errno;
};

void cnetspool_easy_info(CURL *_Nonnull easy, struct cnetspool_transfer_info *_Nonnull info);

/// One fact that is a long, or a number of bytes or microseconds; 0 where there is none.
long cnetspool_easy_long(CURL *_Nonnull easy, CURLINFO info);
int64_t cnetspool_easy_offset(CURL *_Nonnull easy, CURLINFO info);

/// One fact that is a text of libcurl's own, or a list, which the caller frees (CURLINFO_COOKIELIST); null where there is none.
void *_Nullable cnetspool_easy_pointer(CURL *_Nonnull easy, CURLINFO info);

/// With CURLOPT_CERTINFO: whether the origin's own certificate, the first of the chain, has a subject alternative name.
/// The list is one of lists of C strings.
int cnetspool_easy_has_alternative_name(CURL *_Nonnull easy);

/// The TLS library's own session of the connection in use, and which library that is; null outside of callbacks.
void *_Nullable cnetspool_easy_tls_session(CURL *_Nonnull easy, curl_sslbackend *_Nonnull backend);

typedef int (*cnetspool_debug_callback)(
    CURL *_Nullable easy, curl_infotype kind, char *_Nullable bytes, size_t count, void *_Nullable context);

CNETSPOOL_CALLBACK(easy, debug, CURLOPT_DEBUGFUNCTION)

// curl_share_setopt is variadic too.

static inline CURLSHcode cnetspool_share_add(CURLSH *_Nonnull share, curl_lock_data what) {
  return curl_share_setopt(share, CURLSHOPT_SHARE, what);
}

/// The context given as CURLOPT_PRIVATE.
void *_Nullable cnetspool_easy_private(CURL *_Nonnull easy);

static inline CURLMcode cnetspool_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode cnetspool_multi_set_pointer(
    CURLM *_Nonnull multi, CURLMoption option, void *_Nullable value) {
  return curl_multi_setopt(multi, option, value);
}

typedef int (*cnetspool_socket_callback)(
    CURL *_Nullable easy, curl_socket_t socket, int what, void *_Nullable context, void *_Nullable watch);
typedef int (*cnetspool_timer_callback)(CURLM *_Nullable multi, long milliseconds, void *_Nullable context);

CNETSPOOL_CALLBACK(multi, socket, CURLMOPT_SOCKETFUNCTION)
CNETSPOOL_CALLBACK(multi, timer, CURLMOPT_TIMERFUNCTION)

/// CURL_SOCKET_TIMEOUT and the write callback's pause and abort values are casts in macros, which Swift does not import.
static inline CURLMcode cnetspool_multi_timed_out(CURLM *_Nonnull multi, int *_Nonnull running) {
  return curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, running);
}

/// The next finished transfer: its handle and code, or null. CURLMsg holds a union that Swift imports awkwardly.
CURL *_Nullable cnetspool_multi_next_done(CURLM *_Nonnull multi, CURLcode *_Nonnull code);

enum {
  cnetspool_write_pause = CURL_WRITEFUNC_PAUSE,
  cnetspool_read_pause = CURL_READFUNC_PAUSE,
  cnetspool_read_abort = CURL_READFUNC_ABORT,
};

/// The schemes of CURLOPT_HTTPAUTH and CURLOPT_PROXYAUTH are casts in macros too.
enum {
  cnetspool_auth_basic = CURLAUTH_BASIC,
  cnetspool_auth_digest = CURLAUTH_DIGEST,
  cnetspool_auth_ntlm = CURLAUTH_NTLM,
};

/// How deep this thread is inside a delivery of user closures; Swift has no thread-local variables.
int cnetspool_delivery_depth(void);
void cnetspool_delivery_enter(void);
void cnetspool_delivery_leave(void);

/// The time of a model that runs on this thread, in microseconds; 0: there is none.
extern _Thread_local int64_t cnetspool_model_time;

static inline void cnetspool_set_model_time(int64_t time) { cnetspool_model_time = time; }

/// Microseconds of CLOCK_MONOTONIC (clock_gettime(2)), or of this thread's model. In C, because a thread's own variable
/// costs nothing to look at here.
static inline int64_t cnetspool_monotonic_now(void) {
  if (cnetspool_model_time != 0) return cnetspool_model_time;
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/// Keeps OpenSSL, where libcurl uses it, from taking itself apart at exit(3) while other threads are still inside of it
/// (OPENSSL_init_crypto(3), OPENSSL_INIT_NO_ATEXIT). In force when nobody has used OpenSSL before.
void cnetspool_keep_openssl(void);

/// pthread_setname_np(3) is a GNU extension that the Glibc module does not show. At most 15 bytes are kept.
void cnetspool_thread_begin(const char *_Nonnull name);
/// Whether this thread is one of the library's own.
int cnetspool_thread_is_ours(void);
/// Whether it is, and is at work, so that an exit waits for it.
int cnetspool_thread_is_counted(void);
void cnetspool_thread_count(int counts);

#endif
