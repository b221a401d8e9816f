#include "modes.h"

#include "easy.h"
#include "measure.h"
#include "sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

typedef struct {
  const options *o;
  sink sinks[OUTPUTS_MAX];
  int64_t bytes;
  CURLcode result;
  bool finished;
} download;

static size_t did_receive(char *bytes, size_t size, size_t count, void *context) {
  download *d = context;
  (void)size; // always 1
  for (int i = 0; i < d->o->output_count; i++)
    if (!sink_write(&d->sinks[i], bytes, count)) return 0;
  d->bytes += (int64_t)count;
  return count;
}

static void did_finish(void *context, CURL *easy, CURLcode result) {
  (void)easy;
  download *d = context;
  d->result = result;
  d->finished = true;
}

static void open_sinks(download *d) {
  for (int i = 0; i < d->o->output_count; i++) {
    if (sink_open(&d->sinks[i], d->o->outputs[i], (size_t)d->o->write_bytes, d->o->sink == SINK_DIRECT)) continue;
    perror(d->o->outputs[i]);
    exit(EX_CANTCREAT);
  }
}

static bool close_sinks(download *d) {
  bool written = true;
  for (int i = 0; i < d->o->output_count; i++) written = sink_close(&d->sinks[i]) && written;
  return written;
}

void run_download(uv_loop_t *loop, const options *o) {
  download d = {.o = o};
  wire w;
  open_sinks(&d);
  wire_open(&w, loop, o->naive, did_finish, &d);
  CURL *easy = easy_make(&w, o, did_receive, &d);
  curl_easy_setopt(easy, CURLOPT_URL, o->download);
  usage begin = usage_now();
  wire_add(&w, easy);
  wire_run(&w, &d.finished);
  bool written = close_sinks(&d);
  usage spent = usage_since(begin);
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_cleanup(easy);
  wire_close(&w);
  report_begin(o, spent, 1);
  report_long("bytes", d.bytes);
  report_double("cpu_seconds", (spent.user_us + spent.system_us) / 1e6);
  report_end(resident_max(), !(written && d.result == CURLE_OK && status == 200));
}
