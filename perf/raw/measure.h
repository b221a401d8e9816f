/// Clocks, processor time, memory, percentiles, and the one line of JSON.
#ifndef RAW_MEASURE_H
#define RAW_MEASURE_H

#include "options.h"

#include <stdint.h>

typedef struct {
  uint64_t nanoseconds;
  double user_us, system_us;
} usage;

usage usage_now(void);
usage usage_since(usage begin);

/// The highest resident memory of this process, in bytes. Not `ru_maxrss`, which is inherited over fork and exec.
long resident_max(void);

/// Opens the JSON object with client, mode, time and processor time.
void report_begin(const options *o, usage spent, long requests);
/// p50, p99 and a curve of percentiles; sorts what it is given.
void report_latencies(uint32_t *nanoseconds, long count);
/// The slowest of each tenth of a second: `worst[i]` nanoseconds, 0 where none was due.
void report_timeline(const uint32_t *worst, long count);
void report_long(const char *key, long value);
void report_double(const char *key, double value);
/// Adds memory and errors and closes the line.
void report_end(long rss_max, long errors);

#endif
