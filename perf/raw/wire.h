/// libcurl's multi_socket interface on a libuv loop, with the event costs taken out that can be.
///
/// Three things make it cheaper than the usual binding:
/// 1. A descriptor keeps its poll handle until libcurl closes the descriptor. Between two transfers on a warm
///    connection nothing is told to the kernel. Should it fire while no transfer wants it (the server closed
///    an idle connection, say), watching stops until a transfer wants it again.
/// 2. Timeout 0 means now. It is served in the same iteration, after the finished transfers were drained, so
///    that a refill and its first step share one pass.
/// 3. Finished transfers are drained once per iteration and not once per socket event.
#ifndef RAW_WIRE_H
#define RAW_WIRE_H

#include <curl/curl.h>
#include <stdbool.h>
#include <uv.h>

struct watch;

/// A transfer has ended and its handle is out of the multi. May call `wire_add`.
typedef void (*wire_done)(void *context, CURL *easy, CURLcode result);

typedef struct {
  CURLM *multi;
  uv_loop_t *loop;
  uv_check_t check;
  uv_timer_t timer;
  struct watch **watches; ///< by descriptor
  size_t watch_capacity;
  bool now;               ///< libcurl asked for timeout 0 and was not yet served
  bool naive;             ///< give up point 1, as libcurl's own example does
  wire_done done;
  void *context;
} wire;

/// Prepares `w` on `loop`. Ends the process with a sentence if libcurl or libuv refuse.
void wire_open(wire *w, uv_loop_t *loop, bool naive, wire_done done, void *context);

/// Sets what every easy handle on this wire needs: the hook that tells of a closing descriptor.
void wire_equip(wire *w, CURL *easy);

void wire_add(wire *w, CURL *easy);

/// Runs the loop until `*finished` is true.
void wire_run(wire *w, const bool *finished);

/// Closes connections and handles and runs the loop empty. The easy handles must be out of the multi by then.
void wire_close(wire *w);

#endif
