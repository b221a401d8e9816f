/// An HTTP/1.1 origin on 127.0.0.1 that thinks before it answers: every request gets 8 KiB after a fixed delay.
///
///     waiting MILLISECONDS LIFE_SECONDS
///
/// A path may name another delay, and how many such requests it bears at once; the others get a 429 without delay:
/// `/wait/MILLISECONDS/AT_ONCE/anything`.
///
/// `/break/anything` gets half an answer, and the end of the connection.
///
/// nginx on loopback often has the answer there before a client's loop goes to sleep, which hides what sleeping
/// and waking cost. Prints its port, ends when standard input does, and in any case after LIFE_SECONDS.
/// Enough of HTTP for a benchmark: requests without a body, one at a time per connection.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum { BODY_BYTES = 8192, REQUEST_BYTES_MAX = 16 * 1024, BACKLOG = 4096, KINDS_MAX = 16 };

/// What paths of one delay and one limit ask for: nobody is refused for what is under way for others.
typedef struct {
  unsigned long milliseconds;
  long limit;
  long at_once; ///< under way
} kind;

typedef struct {
  uv_tcp_t tcp;
  uv_timer_t timer;
  uv_write_t write;
  int handles; ///< open ones; the memory goes with the last
  kind *counted; ///< whose `at_once` it is one of
  int breaks; ///< the connection ends with what is being written
  size_t length;
  char request[REQUEST_BYTES_MAX];
} connection;

static uint64_t delay_ms;
static char answer[512 + BODY_BYTES];
static size_t answer_length;
static char refusal[] = "HTTP/1.1 429 Too Many Requests\r\nServer: waiting\r\nContent-Length: 0\r\n\r\n";
static kind kinds[KINDS_MAX]; ///< those that came; all that come later count as the last
static int kinds_known;

static kind *find_kind(unsigned long milliseconds, long limit) {
  for (int i = 0; i < kinds_known; i++)
    if (kinds[i].milliseconds == milliseconds && kinds[i].limit == limit) return &kinds[i];
  if (kinds_known == KINDS_MAX) return &kinds[KINDS_MAX - 1];
  kinds[kinds_known] = (kind){milliseconds, limit, 0};
  return &kinds[kinds_known++];
}

static void did_close(uv_handle_t *handle) {
  connection *c = handle->data;
  if (--c->handles == 0) free(c);
}

static void stop_counting(connection *c) {
  if (c->counted) c->counted->at_once -= 1;
  c->counted = NULL;
}

static void hang_up(connection *c) {
  stop_counting(c);
  if (uv_is_closing((uv_handle_t *)&c->tcp)) return;
  uv_close((uv_handle_t *)&c->tcp, did_close);
  uv_close((uv_handle_t *)&c->timer, did_close);
}

static void did_write(uv_write_t *write, int status) {
  connection *c = write->data;
  if (status < 0 || c->breaks) hang_up(c);
}

static void send_answer(connection *c, char *base, size_t length) {
  uv_buf_t bytes = uv_buf_init(base, (unsigned)length);
  if (uv_write(&c->write, (uv_stream_t *)&c->tcp, &bytes, 1, did_write) != 0) hang_up(c);
}

static void did_wait(uv_timer_t *timer) {
  connection *c = timer->data;
  stop_counting(c);
  send_answer(c, answer, answer_length);
}

static void think(connection *c) {
  unsigned long milliseconds = delay_ms;
  long limit = 0;
  if (strncmp(c->request, "GET /break/", 11) == 0) {
    c->breaks = 1;
    return send_answer(c, answer, answer_length / 2);
  }
  if (sscanf(c->request, "GET /wait/%lu/%ld/", &milliseconds, &limit) == 2) {
    kind *own = find_kind(milliseconds, limit);
    if (own->at_once >= limit) return send_answer(c, refusal, sizeof refusal - 1);
    own->at_once += 1;
    c->counted = own;
  }
  uv_timer_start(&c->timer, did_wait, milliseconds, 0);
}

static void make_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
  (void)suggested;
  connection *c = handle->data;
  *buffer = uv_buf_init(c->request + c->length, (unsigned)(sizeof c->request - c->length));
}

static void did_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
  (void)buffer;
  connection *c = stream->data;
  if (count < 0) { // also when a request outgrows its room: uv reports ENOBUFS
    hang_up(c);
    return;
  }
  c->length += (size_t)count;
  if (c->length < 4 || memcmp(c->request + c->length - 4, "\r\n\r\n", 4) != 0) return;
  c->length = 0;
  think(c);
}

static void did_connect(uv_stream_t *listener, int status) {
  connection *c = status == 0 ? calloc(1, sizeof *c) : NULL;
  if (!c) return;
  uv_tcp_init(listener->loop, &c->tcp);
  uv_timer_init(listener->loop, &c->timer);
  c->tcp.data = c->timer.data = c->write.data = c;
  c->handles = 2;
  if (uv_accept(listener, (uv_stream_t *)&c->tcp) != 0 || uv_tcp_nodelay(&c->tcp, 1) != 0 ||
      uv_read_start((uv_stream_t *)&c->tcp, make_room, did_read) != 0)
    hang_up(c);
}

static void make_answer(void) {
  int head = snprintf(answer, 512, "HTTP/1.1 200 OK\r\nServer: waiting\r\nContent-Type: application/octet-stream\r\n"
                                   "Content-Length: %d\r\nConnection: keep-alive\r\n\r\n", BODY_BYTES);
  memset(answer + head, 'x', BODY_BYTES);
  answer_length = (size_t)head + BODY_BYTES;
}

static int listen_on_free_port(uv_loop_t *loop, uv_tcp_t *listener) {
  struct sockaddr_in address;
  struct sockaddr_storage bound;
  int length = sizeof bound;
  uv_ip4_addr("127.0.0.1", 0, &address);
  if (uv_tcp_init(loop, listener) != 0 || uv_tcp_bind(listener, (struct sockaddr *)&address, 0) != 0 ||
      uv_listen((uv_stream_t *)listener, BACKLOG, did_connect) != 0 ||
      uv_tcp_getsockname(listener, (struct sockaddr *)&bound, &length) != 0)
    return -1;
  return ntohs(((struct sockaddr_in *)&bound)->sin_port);
}

static void did_lose_parent(uv_stream_t *input, ssize_t count, const uv_buf_t *buffer) {
  (void)input, (void)buffer;
  if (count < 0) exit(0);
}

static void lend_scratch(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
  static char scratch[64];
  (void)handle, (void)suggested;
  *buffer = uv_buf_init(scratch, sizeof scratch);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("waiting MILLISECONDS LIFE_SECONDS\n", stderr);
    return 64;
  }
  delay_ms = strtoul(argv[1], NULL, 10);
  alarm((unsigned)strtoul(argv[2], NULL, 10));
  make_answer();
  uv_loop_t *loop = uv_default_loop();
  uv_tcp_t listener;
  uv_pipe_t input;
  int port = listen_on_free_port(loop, &listener);
  if (port < 0) return 71;
  printf("{\"http\":\"http://127.0.0.1:%d\"}\n", port);
  fflush(stdout);
  uv_pipe_init(loop, &input, 0);
  if (uv_pipe_open(&input, STDIN_FILENO) != 0 || uv_read_start((uv_stream_t *)&input, lend_scratch, did_lose_parent) != 0)
    return 71;
  return uv_run(loop, UV_RUN_DEFAULT);
}
