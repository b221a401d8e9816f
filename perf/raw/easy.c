#include "easy.h"

#include <stdlib.h>

/// The library's own lines, in one element as it has them: libcurl looks at each element several times a request.
static char same_lines[] = "User-Agent: bench-netspool/1.0\r\nAccept-Encoding: gzip, deflate";
static struct curl_slist header_lines = {.data = same_lines};

CURL *easy_make(wire *w, const options *o, curl_write_callback write, void *context) {
  CURL *easy = curl_easy_init();
  if (!easy) abort();
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L); // saves six signal calls per request
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, o->receive_buffer);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)(o->h2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  if (o->h2) curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L); // one connection, not one per stream
  if (o->ca) curl_easy_setopt(easy, CURLOPT_CAINFO, o->ca);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, &header_lines);
  wire_equip(w, easy);
  return easy;
}
