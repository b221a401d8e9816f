#include "pace.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

uint64_t pace_time(const pace *p, long index) {
  return p->begin + (uint64_t)index * 1000000000u / (uint64_t)p->rate;
}

static void keep_time(void *context) {
  pace *p = context;
  prctl(PR_SET_TIMERSLACK, 1); // else the kernel adds 50 us to each sleep, which would count as latency
  for (long index = 0; index < p->total; index++) {
    uint64_t time = pace_time(p, index);
    struct timespec until = {(time_t)(time / 1000000000u), (long)(time % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {}
    uv_async_send(&p->async);
  }
}

static void did_wake(uv_async_t *async) {
  pace *p = async->data;
  p->due(p->context);
}

void pace_open(pace *p, uv_loop_t *loop, long rate, long total, pace_due due, void *context) {
  *p = (pace){.rate = rate, .total = total, .due = due, .context = context};
  if (uv_async_init(loop, &p->async, did_wake) != 0) abort();
  p->async.data = p;
  p->begin = uv_hrtime();
  if (uv_thread_create(&p->thread, keep_time, p) != 0) abort();
}

void pace_close(pace *p) {
  uv_thread_join(&p->thread);
  uv_close((uv_handle_t *)&p->async, NULL);
}
