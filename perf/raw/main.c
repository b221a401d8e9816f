/// The lower limit the library is held to: what libcurl and libuv cost when nothing stands on them.
#include "modes.h"
#include "options.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  options o = options_read(argc, argv);
  alarm((unsigned)o.limit_seconds); // no transfer here has a timeout of its own
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) abort();
  uv_loop_t loop;
  if (uv_loop_init(&loop) != 0) abort();
  if (o.mode == MODE_DOWNLOAD) run_download(&loop, &o);
  else run_gets(&loop, &o);
  curl_global_cleanup();
  return 0;
}
