#define _GNU_SOURCE
#include "CNetSpoolShims.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

CURLcode cnetspool_easy_allow_http_only(CURL *easy) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  return code;
}

size_t cnetspool_receive(char *bytes, size_t size, size_t count, void *context) {
  struct cnetspool_receiver *to = context;
  int begins_line = !to->is_inside_line;
  if (to->is_head && count > 0) to->is_inside_line = bytes[count - 1] != '\n';
  if (to->is_head && !(begins_line && (bytes[0] == ' ' || bytes[0] == '\t'))) return count;
  return to->receive(bytes, size, count, to->transfer);
}

int64_t cnetspool_easy_offset(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  curl_easy_getinfo(easy, info, &value);
  return (int64_t)value;
}

long cnetspool_easy_long(CURL *easy, CURLINFO info) {
  long value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

void *cnetspool_easy_pointer(CURL *easy, CURLINFO info) {
  void *value = NULL;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

void cnetspool_easy_info(CURL *easy, struct cnetspool_transfer_info *info) {
  info->name_lookup = cnetspool_easy_offset(easy, CURLINFO_NAMELOOKUP_TIME_T);
  info->connect = cnetspool_easy_offset(easy, CURLINFO_CONNECT_TIME_T);
  info->app_connect = cnetspool_easy_offset(easy, CURLINFO_APPCONNECT_TIME_T);
  info->first_byte = cnetspool_easy_offset(easy, CURLINFO_STARTTRANSFER_TIME_T);
  info->total = cnetspool_easy_offset(easy, CURLINFO_TOTAL_TIME_T);
  info->bytes_received = cnetspool_easy_offset(easy, CURLINFO_SIZE_DOWNLOAD_T);
  info->bytes_sent = cnetspool_easy_offset(easy, CURLINFO_SIZE_UPLOAD_T);
  info->new_connections = cnetspool_easy_long(easy, CURLINFO_NUM_CONNECTS);
  info->os_errno = cnetspool_easy_long(easy, CURLINFO_OS_ERRNO);
}

int cnetspool_easy_has_alternative_name(CURL *easy) {
  static const char name[] = "X509v3 Subject Alternative Name:";
  struct curl_certinfo *chain = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &chain) != CURLE_OK || !chain || chain->num_of_certs < 1) return 0;
  for (struct curl_slist *line = chain->certinfo[0]; line; line = line->next)
    if (strncmp(line->data, name, sizeof name - 1) == 0) return 1;
  return 0;
}

void *cnetspool_easy_tls_session(CURL *easy, curl_sslbackend *backend) {
  struct curl_tlssessioninfo *session = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return NULL;
  *backend = session->backend;
  return session->internals;
}

void *cnetspool_easy_private(CURL *easy) {
  char *context = NULL;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context);
  return context;
}

CURL *cnetspool_multi_next_done(CURLM *multi, CURLcode *code) {
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *code = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}

_Thread_local int64_t cnetspool_model_time;

void cnetspool_keep_openssl(void) {
  const uint64_t no_atexit = 0x00080000;
  int (*init)(uint64_t, const void *) = (int (*)(uint64_t, const void *))dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
  if (init) init(no_atexit, NULL);
}

static _Thread_local int delivery_depth;

int cnetspool_delivery_depth(void) { return delivery_depth; }
void cnetspool_delivery_enter(void) { delivery_depth += 1; }
void cnetspool_delivery_leave(void) { delivery_depth -= 1; }

static _Thread_local int is_ours;
static _Thread_local int is_counted;

int cnetspool_thread_is_ours(void) { return is_ours; }
int cnetspool_thread_is_counted(void) { return is_counted; }
void cnetspool_thread_count(int counts) { is_counted = counts; }

void cnetspool_thread_begin(const char *name) {
  is_ours = is_counted = 1;
  char kept[16];
  snprintf(kept, sizeof kept, "%s", name);
  pthread_setname_np(pthread_self(), kept);
}
