/// An HTTP/1.1 origin on 127.0.0.1 that answers at once, on several threads: what sixteen clients ask, one nginx worker could
/// not serve, and nginx with many workers costs several times as much for each answer.
///
///     prompt THREADS LIFE_SECONDS
///
/// Every request gets the same 8 KiB, with the head that nginx would give it. All threads listen on one port, of 127.0.0.1 and
/// of the addresses behind it, so that there are several origins; the kernel deals the connections out. Prints its URL, ends
/// when standard input does, and in any case after LIFE_SECONDS.
/// Enough of HTTP for a benchmark: requests without a body, one at a time per connection.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BODY_BYTES = 8192, REQUEST_BYTES_MAX = 4096, BACKLOG = 4096, ADDRESSES = 16, THREADS_MAX = 256, EVENTS = 256 };

typedef struct {
  int socket;
  int listens;
  size_t length; ///< of the request so far
  size_t left;   ///< bytes of the answer that the socket had no room for
  char request[REQUEST_BYTES_MAX];
} connection;

/// What one thread watches: its own listeners, one for each address, and the connections that they have taken.
typedef struct {
  int poll;
  pthread_t thread;
} server;

static char answer[512 + BODY_BYTES];
static size_t answer_length;

static _Noreturn void fail(const char *what) {
  perror(what);
  exit(71);
}

static void watch(int poll, connection *c, unsigned events, int change) {
  struct epoll_event event = {.events = events, .data.ptr = c};
  if (epoll_ctl(poll, change, c->socket, &event) != 0) fail("epoll_ctl");
}

static connection *connection_make(int socket, int listens) {
  connection *c = calloc(1, sizeof *c);
  if (!c) fail("calloc");
  c->socket = socket;
  c->listens = listens;
  return c;
}

/// A listener for one address. With port 0 the kernel chooses one; the number is returned.
static int listen_at(int poll, int address, int port) {
  int on = 1, s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in name = {
    .sin_family = AF_INET, .sin_port = htons((unsigned short)port),
    .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (unsigned)address)};
  socklen_t length = sizeof name;
  if (s < 0 || setsockopt(s, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0 ||
      bind(s, (struct sockaddr *)&name, sizeof name) != 0 || listen(s, BACKLOG) != 0 ||
      getsockname(s, (struct sockaddr *)&name, &length) != 0)
    fail("listen");
  watch(poll, connection_make(s, 1), EPOLLIN, EPOLL_CTL_ADD);
  return ntohs(name.sin_port);
}

static void take_all(int poll, int listener) {
  for (int s, on = 1; (s = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(poll, connection_make(s, 0), EPOLLIN, EPOLL_CTL_ADD);
  }
}

/// Sends what is left of the answer. Answers whether the connection still stands.
static int send_rest(int poll, connection *c) {
  size_t before = c->left;
  ssize_t sent = send(c->socket, answer + answer_length - c->left, c->left, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN) return 0;
  if (sent > 0) c->left -= (size_t)sent;
  // Most answers fit at once, and cost no call here.
  if (c->left) watch(poll, c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
  else if (before < answer_length) watch(poll, c, EPOLLIN, EPOLL_CTL_MOD);
  return 1;
}

/// Reads, and answers a request that is whole. Answers whether the connection still stands.
static int read_some(int poll, connection *c) {
  ssize_t count = recv(c->socket, c->request + c->length, sizeof c->request - c->length, 0);
  if (count < 0 && errno == EAGAIN) return 1;
  if (count <= 0) return 0; // also when a request outgrows its room
  c->length += (size_t)count;
  if (c->length < 4 || memcmp(c->request + c->length - 4, "\r\n\r\n", 4) != 0) return 1;
  c->length = 0;
  c->left = answer_length;
  return send_rest(poll, c);
}

static void *serve(void *argument) {
  const server *own = argument;
  struct epoll_event events[EVENTS];
  for (;;) {
    int count = epoll_wait(own->poll, events, EVENTS, -1);
    for (int i = 0; i < count; i++) {
      connection *c = events[i].data.ptr;
      if (c->listens) {
        take_all(own->poll, c->socket);
        continue;
      }
      int stands = !(events[i].events & EPOLLOUT) || !c->left || send_rest(own->poll, c);
      if (stands && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) stands = read_some(own->poll, c);
      if (stands) continue;
      close(c->socket);
      free(c);
    }
  }
  return NULL;
}

static void make_answer(void) {
  int head = snprintf(answer, 512, "HTTP/1.1 200 OK\r\nServer: prompt\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
                                   "Content-Type: application/octet-stream\r\nContent-Length: %d\r\n"
                                   "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nConnection: keep-alive\r\n"
                                   "ETag: \"6955b900-2000\"\r\nAccept-Ranges: bytes\r\n\r\n", BODY_BYTES);
  memset(answer + head, 'x', BODY_BYTES);
  answer_length = (size_t)head + BODY_BYTES;
}

int main(int argc, char **argv) {
  static server servers[THREADS_MAX];
  int threads = argc == 3 ? atoi(argv[1]) : 0;
  if (threads < 1 || threads > THREADS_MAX) {
    fputs("prompt THREADS LIFE_SECONDS\n", stderr);
    return 64;
  }
  alarm((unsigned)strtoul(argv[2], NULL, 10));
  make_answer();
  int port = 0;
  for (int i = 0; i < threads; i++) {
    servers[i].poll = epoll_create1(EPOLL_CLOEXEC);
    for (int address = 0; address < ADDRESSES; address++) port = listen_at(servers[i].poll, address, port);
  }
  // Only when all listen: a connection is dealt out once, and for good.
  for (int i = 0; i < threads; i++)
    if (pthread_create(&servers[i].thread, NULL, serve, &servers[i]) != 0) fail("pthread_create");
  printf("{\"http\":\"http://127.0.0.1:%d\"}\n", port);
  fflush(stdout);
  char nothing[64];
  while (read(STDIN_FILENO, nothing, sizeof nothing) > 0) continue;
  return 0;
}
