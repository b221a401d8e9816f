#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <uv.h>

static double microseconds(struct timeval t) { return (double)t.tv_sec * 1e6 + (double)t.tv_usec; }

usage usage_now(void) {
  struct rusage r;
  getrusage(RUSAGE_SELF, &r);
  return (usage){uv_hrtime(), microseconds(r.ru_utime), microseconds(r.ru_stime)};
}

usage usage_since(usage begin) {
  usage end = usage_now();
  return (usage){
    end.nanoseconds - begin.nanoseconds, end.user_us - begin.user_us, end.system_us - begin.system_us};
}

long resident_max(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  long kibibytes = 0;
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "VmHWM: %ld", &kibibytes) == 1) break;
  if (status) fclose(status);
  return kibibytes * 1024;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

void report_begin(const options *o, usage spent, long requests) {
  double seconds = (double)spent.nanoseconds / 1e9, count = (double)requests;
  printf("{\"client\":\"raw\",\"mode\":\"%s\",\"requests\":%ld,\"seconds\":%.3f", options_mode_name(o), requests, seconds);
  report_double("requests_per_second", count / seconds);
  report_double("cpu_us_per_request", (spent.user_us + spent.system_us) / count);
  report_double("cpu_user_us_per_request", spent.user_us / count);
  report_double("cpu_system_us_per_request", spent.system_us / count);
}

/// The microseconds below which so many thousandths of a percent lie.
static double percentile(const uint32_t *sorted, long count, long thousandths) {
  return sorted[(count - 1) * thousandths / 100000] / 1e3;
}

void report_latencies(uint32_t *nanoseconds, long count) {
  static const long points[] = {0, 25000, 50000, 75000, 90000, 95000, 99000, 99500, 99900, 99950, 99990, 100000};
  qsort(nanoseconds, (size_t)count, sizeof *nanoseconds, ascending);
  report_double("p50_us", percentile(nanoseconds, count, 50000));
  report_double("p99_us", percentile(nanoseconds, count, 99000));
  printf(",\"latency_us\":[");
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    printf("%s[%.3f,%.3f]", i ? "," : "", (double)points[i] / 1e3, percentile(nanoseconds, count, points[i]));
  printf("]");
}

void report_timeline(const uint32_t *worst, long count) {
  printf(",\"timeline_us\":[");
  for (long i = 0; i < count; i++) printf("%s[%.1f,%.3f]", i ? "," : "", (double)i / 10, worst[i] / 1e3);
  printf("]");
}

void report_long(const char *key, long value) { printf(",\"%s\":%ld", key, value); }
void report_double(const char *key, double value) { printf(",\"%s\":%.3f", key, value); }

void report_end(long rss_max, long errors) {
  report_long("rss_max_bytes", rss_max);
  report_long("errors", errors);
  puts("}");
}
