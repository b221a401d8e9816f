/// Wakes the loop at the times at which requests should leave, whatever those before have come to.
#ifndef RAW_PACE_H
#define RAW_PACE_H

#include <stdint.h>
#include <uv.h>

/// Requests may be due. On the loop's thread.
typedef void (*pace_due)(void *context);

typedef struct {
  uv_async_t async;
  uv_thread_t thread;
  uint64_t begin; ///< of `uv_hrtime`
  long rate;      ///< requests per second
  long total;
  pace_due due;
  void *context;
} pace;

/// Starts the thread that keeps time. Ends the process if there is none to be had.
void pace_open(pace *p, uv_loop_t *loop, long rate, long total, pace_due due, void *context);

/// When request number `index`, from 0, should leave.
uint64_t pace_time(const pace *p, long index);

/// Waits for the thread, which ends with its last request, and closes the handle; the loop must run once more.
void pace_close(pace *p);

#endif
