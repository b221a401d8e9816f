#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Passes over "drain, then timeout 0" in one iteration before the sockets get their turn again.
enum { PASSES_MAX = 16 };

typedef struct watch {
  uv_poll_t poll;
  wire *wire;
  curl_socket_t descriptor;
  int wanted; ///< what libcurl waits for; 0 between transfers
  int armed;  ///< what the kernel was told
  bool connected; ///< has been wanted for reading, so it is a connection and not an attempt at one
} watch;

static void require(bool ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "raw: %s failed\n", what);
  abort();
}

static void drain(wire *w) {
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(w->multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL *easy = message->easy_handle;
    CURLcode result = message->data.result; // the message dies with the removal
    curl_multi_remove_handle(w->multi, easy);
    w->done(w->context, easy, result);
  }
}

static void did_expire(uv_timer_t *timer);

/// Drains, and serves timeout 0 until libcurl no longer asks for it.
static void settle(wire *w) {
  int running = 0;
  for (int pass = 0; pass < PASSES_MAX; pass++) {
    drain(w);
    if (!w->now) return;
    w->now = false;
    curl_multi_socket_action(w->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
  // Still asking: let the sockets have a turn, without sleeping.
  uv_timer_start(&w->timer, did_expire, 0, 0);
}

static void did_check(uv_check_t *check) { settle(check->data); }

/// The timer fires before the poll phase, so what it starts must be settled here: the poll might sleep.
static void did_expire(uv_timer_t *timer) {
  wire *w = timer->data;
  w->now = true;
  settle(w);
}

static int did_set_timeout(CURLM *multi, long milliseconds, void *context) {
  (void)multi;
  wire *w = context;
  w->now = milliseconds == 0;
  if (milliseconds > 0) uv_timer_start(&w->timer, did_expire, (uint64_t)milliseconds, 0);
  else uv_timer_stop(&w->timer);
  return 0;
}

static void did_become_ready(uv_poll_t *poll, int status, int events) {
  watch *h = poll->data;
  if (!h->wanted) { // nobody asked: level-triggered, so it would fire for ever
    uv_poll_stop(poll);
    h->armed = 0;
    return;
  }
  int flags = status < 0 ? CURL_CSELECT_ERR : 0;
  if (events & UV_READABLE) flags |= CURL_CSELECT_IN;
  if (events & UV_WRITABLE) flags |= CURL_CSELECT_OUT;
  int running = 0;
  curl_multi_socket_action(h->wire->multi, h->descriptor, flags, &running);
}

static void arm(watch *h, int events) {
  h->wanted = events;
  h->connected = h->connected || (events & UV_READABLE);
  if (h->armed == events) return; // uv_poll_start would delete and add it again
  require(uv_poll_start(&h->poll, events, did_become_ready) == 0, "uv_poll_start");
  h->armed = events;
}

static void grow(wire *w, size_t count) {
  size_t capacity = w->watch_capacity ? w->watch_capacity : 256;
  while (capacity < count) capacity *= 2;
  if (capacity == w->watch_capacity) return;
  w->watches = realloc(w->watches, capacity * sizeof *w->watches);
  require(w->watches != NULL, "realloc");
  memset(w->watches + w->watch_capacity, 0, (capacity - w->watch_capacity) * sizeof *w->watches);
  w->watch_capacity = capacity;
}

static watch *make_watch(wire *w, curl_socket_t descriptor) {
  grow(w, (size_t)descriptor + 1);
  watch *h = calloc(1, sizeof *h);
  require(h && uv_poll_init_socket(w->loop, &h->poll, descriptor) == 0, "uv_poll_init_socket");
  h->wire = w;
  h->descriptor = descriptor;
  h->poll.data = h;
  w->watches[descriptor] = h;
  return h;
}

static watch *find_watch(wire *w, curl_socket_t descriptor) {
  return (size_t)descriptor < w->watch_capacity ? w->watches[descriptor] : NULL;
}

static void did_close_poll(uv_handle_t *handle) { free(handle->data); }

static void close_watch(watch *h) {
  h->wire->watches[h->descriptor] = NULL;
  uv_close((uv_handle_t *)&h->poll, did_close_poll);
}

/// libcurl 7.88.1 closes the descriptor of an abandoned connection attempt without calling the hook below, and
/// only then gives up its interest. So a watch that never was a connection must not outlive that interest.
static bool may_keep(const watch *h) { return h->connected && !h->wire->naive; }

static int did_change_interest(CURL *easy, curl_socket_t s, int what, void *context, void *socket_context) {
  (void)easy, (void)socket_context;
  static const int events[] = {
    [CURL_POLL_IN] = UV_READABLE, [CURL_POLL_OUT] = UV_WRITABLE, [CURL_POLL_INOUT] = UV_READABLE | UV_WRITABLE,
  };
  wire *w = context;
  watch *h = find_watch(w, s);
  if (what != CURL_POLL_REMOVE) arm(h ? h : make_watch(w, s), events[what]);
  else if (h && may_keep(h)) h->wanted = 0;
  else if (h) close_watch(h);
  return 0;
}

/// The one moment at which a poll handle must go: libuv aborts on a descriptor that closes under it.
static int did_close_socket(void *context, curl_socket_t descriptor) {
  watch *h = find_watch(context, descriptor);
  if (h) close_watch(h);
  return close(descriptor);
}

void wire_open(wire *w, uv_loop_t *loop, bool naive, wire_done done, void *context) {
  *w = (wire){.loop = loop, .naive = naive, .done = done, .context = context};
  grow(w, 1);
  w->multi = curl_multi_init();
  require(w->multi != NULL, "curl_multi_init");
  curl_multi_setopt(w->multi, CURLMOPT_SOCKETFUNCTION, did_change_interest);
  curl_multi_setopt(w->multi, CURLMOPT_SOCKETDATA, w);
  curl_multi_setopt(w->multi, CURLMOPT_TIMERFUNCTION, did_set_timeout);
  curl_multi_setopt(w->multi, CURLMOPT_TIMERDATA, w);
  curl_multi_setopt(w->multi, CURLMOPT_MAXCONNECTS, 256L);
  require(uv_timer_init(loop, &w->timer) == 0 && uv_check_init(loop, &w->check) == 0, "libuv");
  w->timer.data = w;
  w->check.data = w;
  uv_check_start(&w->check, did_check);
}

void wire_equip(wire *w, CURL *easy) {
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, did_close_socket);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, w);
}

void wire_add(wire *w, CURL *easy) {
  require(curl_multi_add_handle(w->multi, easy) == CURLM_OK, "curl_multi_add_handle");
}

void wire_run(wire *w, const bool *finished) {
  settle(w);
  while (!*finished) uv_run(w->loop, UV_RUN_ONCE);
}

void wire_close(wire *w) {
  curl_multi_cleanup(w->multi); // calls the socket hooks once more
  uv_close((uv_handle_t *)&w->timer, NULL);
  uv_close((uv_handle_t *)&w->check, NULL);
  uv_run(w->loop, UV_RUN_DEFAULT);
  require(uv_loop_close(w->loop) == 0, "closing an empty loop");
  free(w->watches);
}
