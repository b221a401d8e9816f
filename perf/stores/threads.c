/// Lookups by several threads at once: what a cache in the same store could reach if its readers shared nothing else.
#include "stores.h"

#include <pthread.h>
#include <time.h>

typedef struct {
  pthread_t thread;
  pthread_barrier_t *start;
  long (*look_up)(const void *context, long first, long count);
  const void *context;
  long first, count, missing;
} reader;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *read_all(void *context) {
  reader *own = context;
  own->missing = own->look_up(own->context, own->first, own->count / 10); // opens its transaction and touches the code
  pthread_barrier_wait(own->start);
  own->missing += own->look_up(own->context, own->first, own->count);
  return NULL;
}

threads_result threads_look_up(long threads, long count, long (*look_up)(const void *, long, long), const void *context) {
  static reader readers[THREADS_MAX];
  pthread_barrier_t start;
  threads_result result = {0};
  if (threads > THREADS_MAX) store_fail("--threads", "too many");
  pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
  for (long i = 0; i < threads; i++) {
    // Each begins elsewhere, so that they do not read one body after another in step.
    readers[i] = (reader){.start = &start, .look_up = look_up, .context = context, .first = i * 131, .count = count};
    if (pthread_create(&readers[i].thread, NULL, read_all, &readers[i]) != 0) store_fail("pthread_create", "no thread");
  }
  pthread_barrier_wait(&start);
  double begin = seconds();
  for (long i = 0; i < threads; i++) {
    pthread_join(readers[i].thread, NULL);
    result.missing += readers[i].missing;
  }
  result.seconds = seconds() - begin;
  pthread_barrier_destroy(&start);
  return result;
}
