/// What a body by key costs in a bare store: the lower limit of a cache, and what others stand on.
///
///   stores --store lmdb|lmdb-copy|sqlite|file --folder DIR [--distinct N] [--body-bytes N] [--requests N]
///          [--warmup N] [--threads N] [--limit-seconds N]
///
///   stores --per-commit N --folder DIR [--body-bytes N] [--requests N] [--sync 0]
///
/// With --per-commit it writes records to LMDB in a new folder, so many with each commit, synced unless told otherwise. Else it
/// fills the folder if it is not filled yet, then looks bodies up in a scattered order; with --threads so many threads do, each
/// as often as --requests says, which only lmdb is fit for. Prints one line of JSON.
#include "stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

/// Lookups that are timed together: a clock reading costs as much as a tenth of one.
enum { BATCH = 1000, PUTS_PER_COMMIT = 1000 };

/// Scatters the order of the lookups; the other clients use the same. Prime.
enum { STRIDE = 7919 };

typedef struct {
  const store *store;
  const char *folder;
  long distinct, body_bytes, requests, warmup, per_commit, sync, threads, limit_seconds;
} options;

uint8_t *store_buffer;

void store_fail(const char *what, const char *why) {
  fprintf(stderr, "stores: %s: %s\n", what, why);
  exit(1);
}

uint64_t store_touch(const uint8_t *body, size_t length) {
  uint64_t sum = 1;
  for (size_t i = 0; i < length; i += 4096) sum += ((const volatile uint8_t *)body)[i];
  return sum;
}

static uint64_t mixed(uint64_t x) {
  x ^= x >> 30, x *= 0xbf58476d1ce4e5b9, x ^= x >> 27, x *= 0x94d049bb133111eb;
  return x ^ x >> 31;
}

static store_key key_of(long index) {
  uint64_t number = (uint64_t)index + 1;
  return (store_key){{mixed(number), mixed(number ^ 0x9e3779b97f4a7c15)}};
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static const store *store_named(const char *name) {
  const store *all[] = {&store_lmdb, &store_lmdb_copy, &store_sqlite, &store_file};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(all[i]->name, name)) return all[i];
  return NULL;
}

static options options_read(int argc, char **argv) {
  options o = {.distinct = 10000, .body_bytes = 8192, .requests = 20000, .warmup = 1000, .sync = 1, .limit_seconds = 120};
  struct { const char *flag; long *field; } numbers[] = {
    {"--distinct", &o.distinct}, {"--body-bytes", &o.body_bytes}, {"--requests", &o.requests},
    {"--sync", &o.sync}, {"--threads", &o.threads}, {"--warmup", &o.warmup}, {"--per-commit", &o.per_commit}, {"--limit-seconds", &o.limit_seconds},
  };
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--store")) o.store = store_named(argv[i + 1]);
    else if (!strcmp(argv[i], "--folder")) o.folder = argv[i + 1];
    else for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
      if (!strcmp(argv[i], numbers[n].flag)) *numbers[n].field = atol(argv[i + 1]);
  }
  if ((o.store || o.per_commit > 0) && o.folder && o.distinct > 0 && o.body_bytes > 0 && o.requests > 0) return o;
  fputs("stores: --store and --folder are needed, and numbers above zero\n", stderr);
  exit(EX_USAGE);
}

/// The last one put is the first one looked for: if it is there, all are.
static void fill(const options *o) {
  if (o->store->get(key_of(o->distinct - 1))) return;
  uint8_t *body = malloc((size_t)o->body_bytes);
  if (!body) abort();
  o->store->begin();
  for (long i = 0; i < o->distinct; i++) {
    memset(body, (int)i, (size_t)o->body_bytes);
    o->store->put(key_of(i), body, (size_t)o->body_bytes);
    if (i % PUTS_PER_COMMIT == PUTS_PER_COMMIT - 1) o->store->commit(), o->store->begin();
  }
  o->store->commit();
  free(body);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static long look_up(const void *context, long first, long count) {
  const options *o = context;
  long missing = 0;
  for (long i = first; i < first + count; i++)
    missing += o->store->get(key_of(i * STRIDE % o->distinct)) == 0;
  return missing;
}

static double processor_us(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static int write_records(const options *o) {
  uint64_t begin = now();
  double cpu = processor_us(), count = (double)o->requests;
  store_write(o->folder, o->requests, o->per_commit, (size_t)o->body_bytes, o->sync != 0);
  printf("{\"client\":\"stores\",\"mode\":\"write\",\"requests\":%ld,\"freeze_ns\":%.1f,\"cpu_us_per_request\":%.3f,\"errors\":0}\n",
    o->requests, (double)(now() - begin) / count, (processor_us() - cpu) / count);
  return 0;
}

static int look_up_by_threads(const options *o) {
  if (strcmp(o->store->name, "lmdb") != 0) store_fail("--threads", "only for lmdb");
  double cpu = processor_us(), count = (double)(o->threads * o->requests);
  threads_result result = threads_look_up(o->threads, o->requests, look_up, o);
  printf("{\"client\":\"stores\",\"mode\":\"threads\",\"requests\":%.0f,\"requests_per_second\":%.3f", count, count / result.seconds);
  printf(",\"cpu_us_per_request\":%.3f,\"errors\":%ld}\n", (processor_us() - cpu) / count, result.missing);
  return 0;
}

int main(int argc, char **argv) {
  options o = options_read(argc, argv);
  alarm((unsigned)o.limit_seconds);
  store_buffer = malloc((size_t)o.body_bytes);
  if (!store_buffer) abort();
  mkdir(o.folder, 0700);
  if (o.per_commit > 0) return write_records(&o);
  o.store->open(o.folder, (size_t)o.distinct * (size_t)(o.body_bytes + 4096));
  fill(&o);
  if (o.threads > 0) return look_up_by_threads(&o);
  long errors = look_up(&o, 0, o.warmup), batch = o.requests < BATCH ? o.requests : BATCH;
  long batches = o.requests / batch;
  double *costs = calloc((size_t)batches, sizeof *costs);
  if (!costs) abort();
  for (long i = 0; i < batches; i++) {
    uint64_t begin = now();
    errors += look_up(&o, o.warmup + i * batch, batch);
    costs[i] = (double)(now() - begin) / (double)batch;
  }
  qsort(costs, (size_t)batches, sizeof *costs, ascending);
  printf("{\"client\":\"stores\",\"mode\":\"%s\",\"requests\":%ld,\"lookup_ns\":%.1f,\"lookup_p99_ns\":%.1f,\"errors\":%ld}\n",
    o.store->name, batches * batch, costs[batches / 2], costs[(batches - 1) * 99 / 100], errors);
  return 0;
}
