#include "modes.h"

#include "easy.h"
#include "measure.h"
#include "pace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES_MAX = 16 * 1024, SLICE_NANOSECONDS = 100 * 1000 * 1000 };

struct gets;

/// One place on the wire: an easy handle used again and again, and the body of its request.
typedef struct {
  struct gets *gets;
  CURL *easy;
  char *body;
  size_t length, capacity;
  char *headers;
  size_t headers_length;
  uint64_t started;
} slot;

typedef struct gets {
  const options *o;
  wire wire;
  slot *slots;
  char **urls;      ///< made before anything is counted
  long url_count;
  long started, completed, errors;
  uint32_t *latencies;
  pace pace;        ///< with a rate
  slot **idle;      ///< places on the wire that wait for the next request to be due
  long idle_count;
  uint32_t *worst;  ///< latency by slice of time
  long slices;
  usage begin, spent;
  long rss_max;
  bool finished;
} gets;

/// Makes room for `more` bytes: at first exactly the announced length, later by doubling.
static bool reserve(slot *s, size_t more) {
  size_t needed = s->length + more;
  if (needed <= s->capacity) return true;
  curl_off_t announced = -1;
  curl_easy_getinfo(s->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
  size_t capacity = s->capacity ? s->capacity * 2 : announced > 0 && announced < 1 << 26 ? (size_t)announced : 4096;
  if (capacity < needed) capacity = needed;
  char *body = realloc(s->body, capacity);
  if (!body) return false;
  s->body = body;
  s->capacity = capacity;
  return true;
}

static size_t did_receive(char *bytes, size_t size, size_t count, void *context) {
  slot *s = context;
  (void)size; // always 1
  if (!reserve(s, count)) return 0;
  memcpy(s->body + s->length, bytes, count);
  s->length += count;
  return count;
}

static size_t did_receive_header(char *bytes, size_t size, size_t count, void *context) {
  slot *s = context;
  (void)size;
  if (s->headers_length + count > HEADER_BYTES_MAX) return 0;
  memcpy(s->headers + s->headers_length, bytes, count);
  s->headers_length += count;
  return count;
}

static void start(slot *s) {
  gets *g = s->gets;
  long index = g->started++;
  s->body = NULL; // a body is its request's own, as if it were handed to a user
  s->length = s->capacity = s->headers_length = 0;
  // By the rate it is when it should have left: what a stall holds up counts as held up.
  s->started = g->o->rate ? pace_time(&g->pace, index) : uv_hrtime();
  curl_easy_setopt(s->easy, CURLOPT_URL, g->urls[index % g->url_count]);
  wire_add(&g->wire, s->easy);
}

/// All that should have left by now and has a place on the wire.
static void start_due(void *context) {
  gets *g = context;
  while (!g->finished && g->idle_count && g->started < g->pace.total && pace_time(&g->pace, g->started) <= uv_hrtime())
    start(g->idle[--g->idle_count]);
}

static bool is_right(const slot *s, CURLcode result) {
  long status = 0;
  curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
  return result == CURLE_OK && status == 200 && s->length == (size_t)s->gets->o->body_bytes;
}

static void keep_worst(gets *g, const slot *s, uint32_t latency) {
  if (!g->worst) return;
  long slice = (long)((s->started - pace_time(&g->pace, g->o->warmup)) / SLICE_NANOSECONDS);
  if (s->started >= pace_time(&g->pace, g->o->warmup) && slice < g->slices && g->worst[slice] < latency) g->worst[slice] = latency;
}

/// Counting starts with completion number `warmup` and ends `requests` later, with all slots still busy.
static void count(gets *g, const slot *s, bool right) {
  long index = g->completed++ - g->o->warmup;
  if (!right) g->errors++;
  if (index >= 0) {
    uint64_t latency = uv_hrtime() - s->started;
    g->latencies[index] = latency < UINT32_MAX ? (uint32_t)latency : UINT32_MAX;
    keep_worst(g, s, g->latencies[index]);
  }
  if (index == -1) g->begin = usage_now();
  if (index + 1 < g->o->requests) return;
  g->spent = usage_since(g->begin);
  g->rss_max = resident_max();
  g->finished = true;
}

static void did_finish(void *context, CURL *easy, CURLcode result) {
  gets *g = context;
  slot *s = NULL;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&s);
  if (!g->finished) count(g, s, is_right(s, result));
  free(s->body);
  s->body = NULL;
  if (g->finished) return;
  if (!g->o->rate) return start(s);
  g->idle[g->idle_count++] = s;
  start_due(g);
}

/// Of unique ones as many as can be started; else as many as are different.
static void make_urls(gets *g) {
  const options *o = g->o;
  char url[512];
  g->url_count = o->unique ? o->warmup + o->requests + o->concurrency : o->distinct;
  g->urls = malloc((size_t)g->url_count * sizeof *g->urls);
  if (!g->urls) abort();
  for (long index = 0; index < g->url_count; index++) {
    long number = index % o->distinct + 1;
    if (o->unique) snprintf(url, sizeof url, "%s/t/%06ld.bin?%ld", o->url_prefix, number, index);
    else snprintf(url, sizeof url, "%s/t/%06ld.bin", o->url_prefix, number);
    if (!(g->urls[index] = strdup(url))) abort();
  }
}

static void free_urls(gets *g) {
  for (long index = 0; index < g->url_count; index++) free(g->urls[index]);
  free(g->urls);
}

static void open_slots(gets *g) {
  g->slots = calloc((size_t)g->o->concurrency, sizeof *g->slots);
  if (!g->slots) abort();
  for (long i = 0; i < g->o->concurrency; i++) {
    slot *s = &g->slots[i];
    s->gets = g;
    s->easy = easy_make(&g->wire, g->o, did_receive, s);
    if (!g->o->headers) continue;
    s->headers = malloc(HEADER_BYTES_MAX);
    curl_easy_setopt(s->easy, CURLOPT_HEADERFUNCTION, did_receive_header);
    curl_easy_setopt(s->easy, CURLOPT_HEADERDATA, s);
  }
}

static void close_slots(gets *g) {
  for (long i = 0; i < g->o->concurrency; i++) {
    slot *s = &g->slots[i];
    curl_multi_remove_handle(g->wire.multi, s->easy);
    curl_easy_cleanup(s->easy);
    free(s->body);
    free(s->headers);
  }
  free(g->slots);
}

/// Every place on the wire waits for its time.
static void open_pace(gets *g, uv_loop_t *loop) {
  g->slices = g->o->requests * 10 / g->o->rate + 1;
  g->worst = calloc((size_t)g->slices, sizeof *g->worst);
  g->idle = malloc((size_t)g->o->concurrency * sizeof *g->idle);
  if (!g->worst || !g->idle) abort();
  while (g->idle_count < g->o->concurrency) {
    g->idle[g->idle_count] = &g->slots[g->idle_count];
    g->idle_count++;
  }
  pace_open(&g->pace, loop, g->o->rate, g->o->requests + g->o->warmup, start_due, g);
}

void run_gets(uv_loop_t *loop, const options *o) {
  gets g = {.o = o};
  size_t bytes = (size_t)o->requests * sizeof *g.latencies;
  g.latencies = malloc(bytes);
  if (!g.latencies) abort();
  memset(g.latencies, 0, bytes); // touched now, not while counting
  wire_open(&g.wire, loop, o->naive, did_finish, &g);
  if (o->h2) curl_multi_setopt(g.wire.multi, CURLMOPT_MAX_CONCURRENT_STREAMS, o->streams);
  make_urls(&g);
  open_slots(&g);
  g.begin = usage_now();
  if (o->rate) open_pace(&g, loop);
  else for (long i = 0; i < o->concurrency; i++) start(&g.slots[i]);
  wire_run(&g.wire, &g.finished);
  if (o->rate) pace_close(&g.pace);
  close_slots(&g);
  wire_close(&g.wire);
  report_begin(o, g.spent, o->requests);
  report_latencies(g.latencies, o->requests);
  if (o->rate) report_timeline(g.worst, g.slices);
  report_end(g.rss_max, g.errors);
  free(g.latencies);
  free(g.idle);
  free(g.worst);
  free_urls(&g);
}
